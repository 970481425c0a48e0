//! `cargo xtask recorded`: what the last recorded run of the models and of the mutants found.

use std::fmt::Write;

use anyhow::{Context, Result, bail};

use crate::{
    models::{self, Declared},
    mutants::{Library, Mutant},
    recorded::Recorded,
};

/// Prints a table of the models and one of the mutants. An error if the record lacks one of them,
/// or names a model that is gone.
pub(crate) fn run() -> Result<bool> {
    let root = crate::root();
    let (models, library) = (models::declared(&root)?, Library::read(&root)?);
    let recorded = Recorded::read(&root)?;
    println!("{}", table_of_models(&models, &recorded)?);
    print!("{}", table_of_mutants(&library.mutants, &models, &recorded)?);
    Ok(true)
}

/// A number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The table of models.
fn table_of_models(models: &[Declared], recorded: &Recorded) -> Result<String> {
    let mut table = "| model | what it is for | executions |\n|---|---|---|\n".to_owned();
    for Declared { name, what, .. } in models {
        let [plain, semi_sorted] = recorded.executions.get(name).with_context(|| {
            format!("the model {name} has no recorded run: `cargo xtask ordering-mutants --record`")
        })?;
        let mut executions = grouped(*plain);
        if semi_sorted != plain && *semi_sorted > 0 {
            write!(executions, ", semi-sorted {}", grouped(*semi_sorted))?;
        }
        writeln!(table, "| `{name}` | {what} | {executions} |")?;
    }
    Ok(table)
}

/// The table of mutants.
fn table_of_mutants(
    mutants: &[Mutant],
    models: &[Declared],
    recorded: &Recorded,
) -> Result<String> {
    let orderings = mutants.iter().filter(|mutant| mutant.is_of_an_ordering()).count();
    let is_killed = |mutant: &&Mutant| {
        recorded.killers.get(&mutant.name).is_some_and(|by| by.iter().any(|by| !by.is_empty()))
    };
    let noticed = mutants.iter().filter(is_killed);
    let mut table = format!(
        "{} mutants: {orderings} weakened orderings, and {} steps left out or misplaced. The models \
         kill {}.\n\n| mutant | fault | killed by |\n|---|---|---|\n",
        mutants.len(),
        mutants.len() - orderings,
        noticed.count(),
    );
    for mutant in mutants {
        let Mutant { name, what, .. } = mutant;
        let Some(killers) = recorded.killers.get(name) else {
            bail!("the mutant {name} has no recorded run: `cargo xtask ordering-mutants --record`");
        };
        let mut by = Vec::new();
        for &build in mutant.builds() {
            let killer = &killers[build as usize];
            let text = match mutant.explanation(build) {
                _ if models.iter().any(|declared| declared.name == *killer) => {
                    format!("`{killer}`")
                }
                Some(reason) if killer.is_empty() => format!("none: {reason}"),
                _ => bail!(
                    "the killer of {name}, {killer:?}, is gone: \
                     `cargo xtask ordering-mutants --record`"
                ),
            };
            if !by.contains(&text) {
                by.push(text);
            }
        }
        writeln!(table, "| `{name}` | {what} | {} |", by.join("; "))?;
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_in_groups() {
        assert_eq!([7, 1_000, 276_241].map(grouped), ["7", "1,000", "276,241"]);
    }
}
