//! What the user sees: the mutants, what became of each, and the verdict.

use std::time::Duration;

use super::{Mutant, Outcome, Run, Suite};

/// Prints the mutants.
pub(super) fn list(mutants: &[Mutant]) {
    let width = mutants.iter().map(|mutant| mutant.place.len()).max().unwrap_or(0);
    for mutant in mutants {
        println!("{:width$}  {}", mutant.place, mutant.name);
        if let Some(reason) = &mutant.explanation {
            println!("{:width$}    may survive: {reason}", "");
        }
    }
    println!("{} mutants", mutants.len());
}

/// Says that the models pass, and how long that took.
pub(super) fn baseline(suites: &[Suite], took: Duration) {
    let running: Duration = suites.iter().map(Suite::usual).sum();
    eprintln!(
        "{} models pass: {:.0} s of running, ready after {:.0} s",
        suites.iter().map(Suite::len).sum::<usize>(),
        running.as_secs_f64(),
        took.as_secs_f64()
    );
}

/// Says that one more mutant has been run.
pub(super) fn progress(number: usize, of: usize, Run { mutant, outcome, took }: &Run) {
    let (seconds, sentence) = (took.as_secs_f64(), sentence(mutant, outcome));
    eprintln!("[{number}/{of}] {} {}: {sentence} ({seconds:.0} s)", mutant.place, mutant.name);
}

/// Prints the table of all mutants and the summary; `false` when one of them is a failure.
pub(super) fn verdict(runs: &[Run], took: Duration) -> bool {
    let place = runs.iter().map(|run| run.mutant.place.len()).max().unwrap_or(0);
    let name = runs.iter().map(|run| run.mutant.name.len()).max().unwrap_or(0);
    for Run { mutant, outcome, took } in runs {
        let seconds = took.as_secs_f64();
        println!(
            "{:place$}  {:name$}  {seconds:4.0} s  {}",
            mutant.place,
            mutant.name,
            sentence(mutant, outcome)
        );
    }
    let of = |wanted: fn(&Run) -> bool| runs.iter().filter(|run| wanted(run)).count();
    let failures = of(is_failure);
    println!(
        "{} mutants: {} killed, {} explained, {failures} not noticed or not to be run; {:.0} s",
        runs.len(),
        of(|run| matches!(run.outcome, Outcome::Killed { .. })),
        of(is_explained),
        took.as_secs_f64()
    );
    failures == 0
}

/// An outcome, told in full.
fn sentence(mutant: &Mutant, outcome: &Outcome) -> String {
    match (outcome, &mutant.explanation) {
        (Outcome::Killed { model, message }, explanation) => {
            let needless = explanation.as_ref().map_or("", |_| " (its explanation is needless)");
            format!("killed by {model}: {message}{needless}")
        }
        (Outcome::Survived, Some(reason)) => format!("survived, explained: {reason}"),
        (Outcome::TimedOut { model }, Some(reason)) => {
            format!("timed out in {model}, explained: {reason}")
        }
        (Outcome::Survived, None) => "SURVIVED".to_owned(),
        (Outcome::TimedOut { model }, None) => {
            format!("SURVIVED, though {model} did not come to an end")
        }
        (Outcome::DoesNotCompile { errors }, _) => format!("DOES NOT COMPILE:\n{errors}"),
    }
}

/// Whether nobody noticed the mutant, and nobody explained why.
fn is_failure(run: &Run) -> bool {
    match run.outcome {
        Outcome::Killed { .. } => false,
        Outcome::DoesNotCompile { .. } => true,
        Outcome::Survived | Outcome::TimedOut { .. } => run.mutant.explanation.is_none(),
    }
}

/// Whether nobody noticed the mutant, and the source says why.
fn is_explained(run: &Run) -> bool {
    !matches!(run.outcome, Outcome::Killed { .. }) && !is_failure(run)
}
