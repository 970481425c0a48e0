//! The structural mutants: a step of the protocol left out or misplaced. `loom-tests/mutants.txt`
//! has them, beside the models. Its head shows the form of an entry.
//!
//! | flag | what it says |
//! |---|---|
//! | `both` | two mutants, one in tables of a fixed size, one in those that grow: they share the code |
//! | `fixed`, `growing` | only in these tables, though they share the code |
//! | `plain`, `semi-sorted` | only models with these words can notice it |
//! | `may-hang` | a model that runs out of time has noticed it |
//!
//! The code of a change is Rust; `$` in it stands for the original code. A statement's *value* is
//! the initializer of a `let`, the operand of a `return`, the right side of an assignment, the body
//! of an arm, or the expression itself.
//!
//! | change | what becomes of the statement |
//! |---|---|
//! | `delete` | it does not run |
//! | `instead CODE` | its value is replaced |
//! | `if CODE` | the condition of an `if` or `while`, or the guard of an arm, is replaced |
//! | `before CODE`, `after CODE` | the code runs before it or after it |
//! | `let NAME = CODE` | before it, a local variable takes another value |
//! | `delay N` | it runs only after N of the following statements |
//! | `during MUTANT` | while its value is computed, that mutant is on: for one caller of a shared step |
//! | `without Acquire`, `without Release` | while its value is computed, orderings lack this half |
//!
//! `survives: REASON` at the end allows the mutant to survive; after `survives in plain words` or
//! `survives in semi-sorted words`, with these words only. If a name ends in `*`, the entry stands
//! for several: `*` takes each of the words in braces in `during`. A `*` in the few words is what
//! is said of the mutant that is on.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, bail, ensure};

use super::{
    copy::Build,
    library::{Mutant, words_of},
};

/// The catalogue, from the root of the repository.
const PATH: &str = "loom-tests/mutants.txt";

/// A statement, or what else can be changed, and the mutants that are planted there.
#[derive(Debug)]
pub(super) struct Place {
    /// The path from the root of the repository.
    pub(super) file: String,
    pub(super) function: String,
    /// How its code begins.
    pub(super) statement: String,
    pub(super) mutants: Vec<Mutant>,
}

/// A change of a statement, a match arm, or a field of a struct expression.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Delete,
    Instead(String),
    If(String),
    Before(String),
    After(String),
    Let(String, String),
    Delay(usize),
    During(String),
    WithoutAcquire,
    WithoutRelease,
}

/// Tables that share the code of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tables {
    All,
    Fixed,
    Growing,
}

/// Reads the catalogue.
pub(super) fn read(root: &Path) -> Result<Vec<Place>> {
    parse(&fs::read_to_string(root.join(PATH)).context(PATH)?).context(PATH)
}

/// The places of a catalogue, in its order.
pub(super) fn parse(text: &str) -> Result<Vec<Place>> {
    let mut entries: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match entries.last_mut() {
            Some(entry) if line.starts_with(' ') => *entry += &format!(" {}", line.trim()),
            _ => entries.push(line.to_owned()),
        }
    }
    let (mut places, mut file) = (Vec::<Place>::new(), String::new());
    for entry in entries {
        if entry.starts_with("src/") {
            file = entry;
        } else if let Some(place) = entry.strip_prefix("@ ") {
            let (function, statement) =
                place.split_once(": ").with_context(|| format!("`{entry}` has no statement"))?;
            let [file, function, statement] = [&file, function, statement].map(str::to_owned);
            places.push(Place { file, function, statement, mutants: Vec::new() });
        } else {
            let place = places.last_mut().with_context(|| format!("`{entry}` has no place"))?;
            place.mutants.append(&mut mutants(&entry, &place.file).context(entry)?);
        }
    }
    complete(&mut places);
    Ok(places)
}

/// Completes the names of mutants in tables that grow if the same one is in other tables too, and
/// the words about those that plant the fault of another one.
fn complete(places: &mut [Place]) {
    let all = || places.iter().flat_map(|place| &place.mutants);
    let of_fixed = all().filter(|mutant| mutant.tables == Tables::Fixed);
    let of_fixed: Vec<String> = of_fixed.map(|mutant| mutant.name.clone()).collect();
    let whats: BTreeMap<String, String> =
        all().map(|mutant| (mutant.name.clone(), mutant.what.clone())).collect();
    for mutant in places.iter_mut().flat_map(|place| &mut place.mutants) {
        if mutant.tables == Tables::Growing && of_fixed.contains(&mutant.name) {
            mutant.name += ", growing";
        }
        if let Some(Change::During(other)) = &mutant.change
            && let Some(what) = whats.get(other.trim_end_matches(", growing"))
        {
            mutant.what = mutant.what.replace('*', what);
        }
    }
}

/// The mutants of an entry.
fn mutants(entry: &str, file: &str) -> Result<Vec<Mutant>> {
    let (head, rest) = entry.split_once(" | ").context("no change")?;
    let (head, what) = head.split_once(": ").context("no words about the fault")?;
    let mut flags = head.split(", ");
    let name = flags.next().unwrap_or_default();
    let (change, reasons) = match rest.split_once(" survives") {
        None => (rest, [None, None]),
        Some((change, reason)) => {
            let (of, reason) = reason.split_once(": ").context("no reason")?;
            let reason_of = |words| (of.is_empty() || of == words).then(|| reason.to_owned());
            (change, [" in plain words", " in semi-sorted words"].map(reason_of))
        }
    };
    let mut mutant = Mutant {
        name: name.to_owned(),
        what: what.to_owned(),
        place: String::new(),
        change: None,
        tables: Tables::All,
        may_hang: false,
        only: words_of(file),
        reasons,
    };
    let mut is_in_both = false;
    for flag in flags {
        match flag {
            "both" => is_in_both = true,
            "fixed" => mutant.tables = Tables::Fixed,
            "growing" => mutant.tables = Tables::Growing,
            "plain" => mutant.only = Some(Build::Plain),
            "semi-sorted" => mutant.only = Some(Build::SemiSorted),
            "may-hang" => mutant.may_hang = true,
            other => bail!("there is no flag `{other}`"),
        }
    }
    let mut mutants = Vec::new();
    if let Some(prefix) = name.strip_suffix('*') {
        let (before, rest) = change.split_once('{').context("no braces")?;
        let (words, after) = rest.split_once('}').context("no braces")?;
        for word in words.split(' ') {
            let change = Some(parse_change(&format!("{before}{word}{after}"))?);
            mutants.push(Mutant { name: format!("{prefix}{word}"), change, ..mutant.clone() });
        }
    } else {
        mutants.push(Mutant { change: Some(parse_change(change)?), ..mutant });
    }
    let in_both = |mutant| [Tables::Fixed, Tables::Growing].map(|tables| (mutant, tables));
    if is_in_both {
        let twins = mutants.iter().flat_map(in_both);
        mutants = twins.map(|(mutant, tables)| Mutant { tables, ..mutant.clone() }).collect();
    }
    for mutant in &mut mutants {
        if mutant.tables == Tables::Growing {
            // Words with levels are plain words.
            mutant.only = Some(Build::Plain);
        }
    }
    Ok(mutants)
}

/// Reads a change.
fn parse_change(text: &str) -> Result<Change> {
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    let code = rest.to_owned();
    ensure!(rest.is_empty() == (verb == "delete"), "`{text}` is incomplete, or too much");
    Ok(match verb {
        "delete" => Change::Delete,
        "instead" => Change::Instead(code),
        "if" => Change::If(code),
        "before" => Change::Before(code),
        "after" => Change::After(code),
        "let" => {
            let (name, value) = rest.split_once(" = ").context("no value")?;
            Change::Let(name.to_owned(), value.to_owned())
        }
        "delay" => Change::Delay(rest.parse()?),
        "during" => Change::During(code),
        "without" if rest == "Acquire" => Change::WithoutAcquire,
        "without" if rest == "Release" => Change::WithoutRelease,
        _ => bail!("there is no change `{text}`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_become_mutants() {
        let text = "# Comment\n\nsrc/a.rs\n@ f: x: y\na, both, may-hang: no b\n    | if c\n    d\n    \
                    survives in plain words: e\n\nsrc/table/split/b.rs\n@ g: @ z\nc-*, both: for c, * \
                    | during {a b}\n";
        let places = parse(text).unwrap();
        let [place, other] = &places[..] else { panic!("{places:?}") };
        assert_eq!([&place.file, &place.function, &place.statement], ["src/a.rs", "f", "x: y"]);
        let [fixed, growing] = &place.mutants[..] else { panic!("{place:?}") };
        assert_eq!([&*fixed.name, &*growing.name, &*growing.what], ["a", "a, growing", "no b"]);
        assert!(matches!(&fixed.change, Some(Change::If(code)) if code == "c d"));
        let plain = Some(Build::Plain);
        assert!(fixed.may_hang && [fixed.only, growing.only] == [None, plain]);
        assert_eq!(fixed.reasons, [Some("e".to_owned()), None]);
        let named: Vec<_> = other.mutants.iter().map(|it| (&*it.name, &*it.what)).collect();
        let [first, second] = ["for c, no b", "for c, *"];
        assert_eq!(
            named,
            [("c-a", first), ("c-a, growing", first), ("c-b", second), ("c-b, growing", second)]
        );
        assert!(other.mutants.iter().all(|mutant| mutant.only == plain));
        for wrong in ["a: b | delete", "@ f: x\na | delete", "@ f: x\na: b | erase", "@ f"] {
            assert!(parse(&format!("src/a.rs\n{wrong}")).is_err(), "{wrong}");
        }
    }
}
