//! The module that the instrumented copy gets: it knows which mutant is selected.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::{catalogue::Change, library::Mutant};

/// The variable that selects a mutant by its number; without it, or with 0, there is none.
pub(super) const VARIABLE: &str = "GUIRA_MUTANT";

/// What the module has besides the table of effects. It uses std's atomics alone, so that loom
/// schedules nothing by it; loom's thread-local variables are no steps either.
const CODE: &str = r#"
use core::{cell::RefCell, sync::atomic::Ordering};
use std::sync::OnceLock;

/// What a mutant does while an extent of it lasts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    None,
    /// Another mutant is on.
    On(usize),
    WithoutAcquire,
    WithoutRelease,
}

fn selected() -> usize {
    static SELECTED: OnceLock<usize> = OnceLock::new();
    *SELECTED.get_or_init(|| {
        let number = match std::env::var("VARIABLE") {
            Ok(text) => text.parse().expect("VARIABLE is a number"),
            Err(_) => 0,
        };
        assert!(number < EFFECTS.len(), "there is no mutant {number}");
        number
    })
}

loom::thread_local! {
    /// The mutants whose extents this thread is in.
    static EXTENTS: RefCell<Vec<usize>> = RefCell::default();
}

/// Whether this thread is in an extent with one of these effects.
fn has(is_wanted: impl Fn(Effect) -> bool) -> bool {
    // A mutant without an effect has no extents.
    EFFECTS[selected()] != Effect::None
        && EXTENTS
            .try_with(|extents| extents.borrow().iter().any(|&number| is_wanted(EFFECTS[number])))
            .unwrap_or(false)
}

/// Whether a mutant is on here.
pub(crate) fn on(number: usize) -> bool {
    selected() == number || has(|effect| effect == Effect::On(number))
}

/// An ordering, weakened by these mutants, each with what it leaves of it.
pub(crate) fn order(original: Ordering, mutants: &[(usize, Ordering)]) -> Ordering {
    use Ordering::{AcqRel, Acquire, Relaxed, Release};
    if let Some(&(_, weaker)) = mutants.iter().find(|&&(number, _)| on(number)) {
        return weaker;
    }
    match original {
        Acquire | AcqRel if has(|effect| effect == Effect::WithoutAcquire) => {
            if original == AcqRel { Release } else { Relaxed }
        }
        Release | AcqRel if has(|effect| effect == Effect::WithoutRelease) => {
            if original == AcqRel { Acquire } else { Relaxed }
        }
        original => original,
    }
}

/// Releases all stripes, and holds others in their place, which no other thread knows.
pub(crate) fn released(stripes: crate::table::AllStripes<'_>) -> crate::table::AllStripes<'static> {
    drop(stripes);
    Box::leak(Box::new(crate::table::Stripes::with_count(1).unwrap())).lock_all()
}

/// Ends an extent when dropped.
pub(crate) struct Extent(bool);

/// Begins an extent of a mutant, if that is on.
pub(crate) fn extent(number: usize, is_on: bool) -> Extent {
    if is_on {
        EXTENTS.with(|extents| extents.borrow_mut().push(number));
    }
    Extent(is_on)
}

impl Drop for Extent {
    fn drop(&mut self) {
        if self.0 {
            let _ = EXTENTS.try_with(|extents| extents.borrow_mut().pop());
        }
    }
}
"#;

/// The text of the module for these mutants, which are numbered from 1.
pub(super) fn module(mutants: &[Mutant]) -> Result<String> {
    let numbers: BTreeMap<&str, usize> =
        mutants.iter().zip(1..).map(|(mutant, number)| (mutant.name.as_str(), number)).collect();
    let mut effects = String::new();
    for mutant in mutants {
        let effect = match &mutant.change {
            Some(Change::During(other)) => {
                // In tables that grow, the fault of the same name in these, if there is one.
                let twin = numbers.get(&*format!("{other}, growing"));
                let number = twin.filter(|_| mutant.name.ends_with(", growing"));
                let number = number.or_else(|| numbers.get(&**other)).with_context(|| {
                    format!("{} is to switch on {other}, which is no mutant", mutant.name)
                })?;
                format!("On({number})")
            }
            Some(Change::WithoutAcquire) => "WithoutAcquire".to_owned(),
            Some(Change::WithoutRelease) => "WithoutRelease".to_owned(),
            _ => "None".to_owned(),
        };
        effects += &format!("Effect::{effect}, ");
    }
    let code = CODE.replace("VARIABLE", VARIABLE);
    Ok(format!("{code}\n/// By number.\nconst EFFECTS: &[Effect] = &[Effect::None, {effects}];\n"))
}
