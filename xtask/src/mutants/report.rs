//! What the user sees: the mutants, what became of each, and the verdict.

use std::time::Duration;

use super::{Build, Model, Mutant, Outcome, Run, switch::VARIABLE};

/// Prints the mutants.
pub(super) fn list(mutants: &[(usize, &Mutant)]) {
    let width = |of: fn(&Mutant) -> &str| mutants.iter().map(|(_, m)| of(m).len()).max();
    let place = width(|mutant| &mutant.place).unwrap_or(0);
    let name = width(|mutant| &mutant.name).unwrap_or(0);
    for (number, mutant) in mutants {
        println!("{number:4}  {:place$}  {:name$}  {}", mutant.place, mutant.name, mutant.what);
        for &build in mutant.builds() {
            if let Some(reason) = mutant.explanation(build) {
                println!("{:1$}may survive{2}: {reason}", "", place + 8, build.suffix());
            }
        }
    }
    println!("{} mutants", mutants.len());
}

/// Says how many models there are, and how long the builds took.
pub(super) fn built(models: &[Model], took: Duration) {
    eprintln!("{} models built after {:.0} s", models.len(), took.as_secs_f64());
}

/// Says that the models pass, and how long that took.
pub(super) fn baseline(models: &[Model], took: Duration) {
    let running: Duration =
        models.iter().filter_map(Model::baseline).map(|baseline| baseline.took).sum();
    eprintln!(
        "{} models pass: {:.0} s of running, ready after {:.0} s",
        models.len(),
        running.as_secs_f64(),
        took.as_secs_f64()
    );
}

/// Says that one more mutant has been run.
pub(super) fn progress(of: usize, run: &Run) {
    let Run { mutant, build, number, took, .. } = run;
    let (name, seconds) = (format!("{}{}", mutant.name, build.suffix()), took.as_secs_f64());
    eprintln!("[{number}; {of} in all] {name}: {} ({seconds:.1} s)", sentence(run));
}

/// Prints the mutants that are failures and a summary; `false` when there is one.
pub(super) fn verdict(runs: &[Run], took: Duration) -> bool {
    let name = |run: &Run| format!("{}{}", run.mutant.name, run.build.suffix());
    let of = |wanted: fn(&Run) -> bool| runs.iter().filter(|run| wanted(run)).count();
    let failures = of(is_failure);
    for run in runs.iter().filter(|run| is_failure(run)) {
        let Run { mutant, number, .. } = run;
        println!("\n{} at {}: {}", name(run), mutant.place, mutant.what);
        println!("  Run a model of target/mutants/tree with {VARIABLE}={number} to see it.");
    }
    println!(
        "{} mutants with plain words, {} with semi-sorted words: {} killed, {} explained, \
         {failures} not noticed; {:.0} s",
        of(|run| run.build == Build::Plain),
        of(|run| run.build == Build::SemiSorted),
        of(|run| matches!(run.outcome, Outcome::Killed { .. })),
        of(is_explained),
        took.as_secs_f64()
    );
    failures == 0
}

/// An outcome, told in full.
fn sentence(run: &Run) -> String {
    match (&run.outcome, run.mutant.explanation(run.build)) {
        (Outcome::Killed { model, message }, None) => format!("killed by {model}: {message}"),
        (Outcome::Killed { model, message }, Some(_)) => {
            format!("killed by {model}: {message} (the reason is needless)")
        }
        (Outcome::Survived, Some(reason)) => format!("survived, explained: {reason}"),
        (Outcome::TimedOut { model }, Some(reason)) => {
            format!("timed out in {model}, explained: {reason}")
        }
        (Outcome::Survived, None) => "SURVIVED".to_owned(),
        (Outcome::TimedOut { model }, None) => {
            format!("SURVIVED, though {model} did not come to an end")
        }
    }
}

/// Whether no model noticed the mutant, and the source does not say why.
fn is_failure(run: &Run) -> bool {
    !matches!(run.outcome, Outcome::Killed { .. }) && run.mutant.explanation(run.build).is_none()
}

/// Whether no model noticed the mutant, and the source says why.
fn is_explained(run: &Run) -> bool {
    !matches!(run.outcome, Outcome::Killed { .. }) && !is_failure(run)
}
