//! `cargo xtask docs`: the tables of models and of mutants in the documentation.
//!
//! The tables stand between `<!-- generated: NAME -->` and `<!-- end -->`. They are made from the
//! sources and from what the last recorded run of the mutants found; see [`crate::recorded`].

use std::{fmt::Write, fs, path::Path};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::{
    models::{self, Declared},
    mutants::{Library, Mutant},
    recorded::Recorded,
};

/// The file with the tables.
const PAGE: &str = "src/docs/verification.md";
/// What ends a generated part.
const END: &str = "<!-- end -->";

/// What can be asked of the command.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Change nothing, and fail if the tables are out of date.
    #[arg(long)]
    check: bool,
}

/// Runs the command; `false` when the tables are out of date.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let root = crate::root();
    let path = root.join(PAGE);
    let old = fs::read_to_string(&path).context(PAGE)?;
    let new = page(&root, &old)?;
    if old == new {
        return Ok(true);
    }
    if options.check {
        eprintln!("{PAGE} is out of date: run `cargo xtask docs`");
        return Ok(false);
    }
    fs::write(path, new)?;
    println!("{PAGE} has been updated");
    Ok(true)
}

/// The page with the tables as they should be.
fn page(root: &Path, old: &str) -> Result<String> {
    let models = models::declared(root)?;
    let library = Library::read(root)?;
    let recorded = Recorded::read(root)?;
    let new = with_part(old, "models", &table_of_models(&models, &recorded)?)?;
    with_part(&new, "mutants", &table_of_mutants(&library.mutants, &models, &recorded)?)
}

/// The page with another text in the generated part of this name.
fn with_part(page: &str, name: &str, text: &str) -> Result<String> {
    let start = format!("<!-- generated: {name} -->\n");
    let parts: Vec<&str> = page.split(&start).collect();
    let [before, rest] = parts[..] else {
        bail!("{PAGE} has {} lines `{}`, not one", parts.len() - 1, start.trim())
    };
    let (_, after) = rest.split_once(END).with_context(|| format!("no `{END}` ends {name}"))?;
    Ok(format!("{before}{start}\n{text}\n{END}{after}"))
}

/// A number with a space between groups of three digits.
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
        for &build in mutant.builds {
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
    use super::*;

    #[test]
    fn a_part_is_replaced_and_nothing_else() {
        let page = "a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n<!-- end -->\n";
        let new = with_part(page, "x", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- generated: x -->\n\nnew\n\n<!-- end -->\nb\n<!-- end -->\n");
        assert_eq!(with_part(&new, "x", "new\n").unwrap(), new);
        assert!(with_part(page, "y", "").is_err());
        assert!(with_part("<!-- generated: x -->\n", "x", "").is_err());
    }

    #[test]
    fn digits_in_groups() {
        assert_eq!([7, 1_000, 276_241].map(grouped), ["7", "1,000", "276,241"]);
    }
}
