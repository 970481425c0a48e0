//! Runs models: how many preemptions they allow and why that is enough, and what they must see.
//!
//! # Bounds
//!
//! A *preemption* is a switch away from a thread that could go on. A model explores every schedule
//! with at most `DEFAULT_BOUND` of them at each change (the longest ones with one), and one
//! more in `.ci/slow`, which then runs every model without a bound for two minutes. A model with
//! another bound gives its reason to [`check_deep`] or [`check_shallow`], which fail without one.
//!
//! **Why two are enough, as a rule.** The races that the library argues are between one thread that
//! stands between two of its steps, such as a lookup between its loads or an insert between its
//! load and its change, and another one that acts meanwhile, or stands between two steps of its
//! own. The way into the other thread is one preemption, and the way back is another one, unless
//! the other thread has ended. An error needs more if a thread is disturbed twice and must not
//! notice. That is known of the models of `check_deep`. This is no proof, but the mutants are
//! evidence: each is killed within these bounds, unless its entry says why it may survive.
//!
//! **Clones and snapshots need no third preemption**, as far as their known faults go. Of the 49
//! mutants that `cargo xtask ordering-mutants --only clone --only copy- --only snapshot` selects,
//! 44 die with one preemption, those of the missing pause and of locks that are released early
//! among them. Two are needed for the other five: a generation of before the words
//! (`copy-early-now`, `clone-early-now`, `split-clone-early-now`) or of the end of the call
//! (`copy-late-now`), and ghosts that are counted after the locks were released
//! (`split-clone-late-ghosts`). There, one thread has to change the words and the clock within the
//! window of the other.

use std::{
    collections::BTreeSet,
    io::Write,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

/// Largest number of preemptions in a schedule, unless `GUIRA_LOOM_BOUND` is set.
const DEFAULT_BOUND: usize = 2;

/// The outcomes that a model has seen over all its executions. loom does not know of them: they are
/// kept by std's atomics.
#[derive(Debug)]
pub struct Seen {
    executions: AtomicUsize,
    outcomes: Mutex<BTreeSet<&'static str>>,
}

impl Seen {
    /// Notes that an outcome was seen.
    ///
    /// # Panics
    /// Never: the lock is not held over anything that panics.
    pub fn note(&self, outcome: &'static str) {
        self.outcomes.lock().expect("no panics under this lock").insert(outcome);
    }

    /// Notes one of two outcomes, and returns the condition.
    pub fn note_if(&self, condition: bool, yes: &'static str, no: &'static str) -> bool {
        self.note(if condition { yes } else { no });
        condition
    }
}

/// The bound on preemptions: `GUIRA_LOOM_BOUND`, a number or `none`.
fn bound() -> Option<usize> {
    match std::env::var("GUIRA_LOOM_BOUND") {
        Ok(text) if text == "none" => None,
        Ok(text) => Some(text.parse().expect("GUIRA_LOOM_BOUND is a number or `none`")),
        Err(_) => Some(DEFAULT_BOUND),
    }
}

/// Explores a model and prints one line about it. Fails unless it explored at least `floor`
/// executions and saw all of `outcomes` and no other.
///
/// The floor is about 0.8 of the executions with two preemptions. Change it with the model, or with
/// the steps of the protocol.
///
/// If `GUIRA_LOOM_ASSERTIONS_ONLY` is set, only the model's own assertions count: mutants of the
/// library must violate these, and not just explore less.
///
/// # Panics
/// If the model fails, or explored too little.
pub fn check(
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    model: impl Fn(&Arc<Seen>) + Send + Sync + 'static,
) {
    check_within(bound(), name, floor, outcomes, [model]);
}

/// As [`check`], for several models in turn, whose executions and outcomes are those of one.
///
/// # Panics
/// If a model fails, or they explored too little.
pub fn check_each(
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    models: impl IntoIterator<Item = impl Fn(&Arc<Seen>) + Send + Sync + 'static>,
) {
    check_within(bound(), name, floor, outcomes, models);
}

/// As [`check`], with at least this many preemptions, for an error that needs more than two. `why`
/// says which one, and why it needs them.
///
/// # Panics
/// If the model fails, or explored too little; or if there is no reason.
pub fn check_deep(
    preemptions: usize,
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    why: &str,
    model: impl Fn(&Arc<Seen>) + Send + Sync + 'static,
) {
    demand(name, why);
    let bound = bound().map(|bound| bound.max(preemptions));
    check_within(bound, name, floor, outcomes, [model]);
}

/// As [`check`], with one preemption fewer, for a model of long operations. `why` says why one is
/// enough at each change. (`.ci/slow` allows two, and then any number.)
///
/// # Panics
/// If the model fails, or explored too little; or if there is no reason.
pub fn check_shallow(
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    why: &str,
    model: impl Fn(&Arc<Seen>) + Send + Sync + 'static,
) {
    demand(name, why);
    check_within(bound().map(|bound| bound - 1), name, floor, outcomes, [model]);
}

/// Checks that there is a reason for the bound of a model.
fn demand(name: &str, why: &str) {
    assert!(why.split_whitespace().count() > 5, "{name}: no reason why its bound is enough");
}

/// Implements [`check`] and its variants.
fn check_within(
    bound: Option<usize>,
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    models: impl IntoIterator<Item = impl Fn(&Arc<Seen>) + Send + Sync + 'static>,
) {
    let seen = Arc::new(Seen { executions: AtomicUsize::new(0), outcomes: Mutex::default() });
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    builder.max_branches = 100_000;
    let started = std::time::Instant::now();
    for model in models {
        let inside = Arc::clone(&seen);
        builder.check(move || {
            inside.executions.fetch_add(1, SeqCst);
            model(&inside);
        });
    }
    let executions = seen.executions.load(SeqCst);
    let printed_bound = bound.map_or("none".into(), |bound| bound.to_string());
    let found = seen.outcomes.lock().expect("no panics under this lock").clone();
    // The test harness does not capture direct writes to standard output. One write, one line.
    let seconds = started.elapsed().as_secs_f64();
    let outcomes_seen = found.iter().copied().collect::<Vec<_>>().join(", ");
    let line = format!(
        "model {name}: {executions} executions, bound {printed_bound}; {seconds:.1} s; \
         seen: {outcomes_seen}\n"
    );
    std::io::stdout().write_all(line.as_bytes()).expect("standard output");
    if std::env::var_os("GUIRA_LOOM_ASSERTIONS_ONLY").is_some() {
        return;
    }
    assert!(executions > 1, "{name}: explored one execution, which proves nothing");
    assert!(executions >= floor, "{name}: explored {executions} executions, fewer than {floor}");
    if bound.is_none() {
        // Without a bound loom skips schedules that differ from others only in the order of steps
        // between which it sees no conflict, and with them some outcomes.
        return;
    }
    let expected: BTreeSet<_> = outcomes.iter().copied().collect();
    assert_eq!(found, expected, "{name}: the outcomes seen are not those that must be possible");
}

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic(expected = "no reason why its bound is enough")]
    fn a_bound_needs_a_reason() {
        super::check_shallow("unexplained", 0, &[], "", |_| {});
    }

    #[test]
    #[should_panic(expected = "no reason why its bound is enough")]
    fn more_preemptions_need_a_reason() {
        super::check_deep(3, "unexplained", 0, &[], "it is so", |_| {});
    }
}
