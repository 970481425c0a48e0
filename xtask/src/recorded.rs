//! `cargo xtask recorded`: what the last recorded run of the mutants found: executions of models,
//! and killers of mutants.
//!
//! The file has a line for each, with tabs between its fields.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use anyhow::{Context, Result, bail};

use crate::{
    models::{self, Declared},
    mutants::{Library, Mutant},
};

/// The file, from the root of the repository.
const PATH: &str = "xtask/recorded.tsv";

/// The contents of the file.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// By model: executions with the plain and with the semi-sorted layout.
    pub(crate) executions: BTreeMap<String, [u64; 2]>,
    /// By mutant: the models that killed it, one with each layout. Empty where none did.
    pub(crate) killers: BTreeMap<String, [String; 2]>,
}

impl Recorded {
    /// Reads the file; nothing is recorded where it is missing.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let path = root.join(PATH);
        if !path.exists() {
            return Ok(Self::default());
        }
        Self::parse(&fs::read_to_string(path)?).context(PATH)
    }

    /// Writes the file.
    pub(crate) fn write(&self, root: &Path) -> Result<()> {
        Ok(fs::write(root.join(PATH), self.to_text())?)
    }

    fn parse(text: &str) -> Result<Self> {
        let mut recorded = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            match *line.split('\t').collect::<Vec<_>>() {
                ["model", name, plain, semi_sorted] => {
                    let executions = [plain.parse()?, semi_sorted.parse()?];
                    recorded.executions.insert(name.to_owned(), executions);
                }
                ["mutant", name, plain, semi_sorted] => {
                    let killers = [plain, semi_sorted].map(str::to_owned);
                    recorded.killers.insert(name.to_owned(), killers);
                }
                _ => bail!("line {number} is neither of a model nor of a mutant"),
            }
        }
        Ok(recorded)
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        for (name, [plain, semi_sorted]) in &self.executions {
            writeln!(text, "model\t{name}\t{plain}\t{semi_sorted}").expect("a string takes all");
        }
        for (name, [plain, semi_sorted]) in &self.killers {
            writeln!(text, "mutant\t{name}\t{plain}\t{semi_sorted}").expect("a string takes all");
        }
        text
    }
}

/// Says how to mend the record.
const MEND: &str = "`cargo xtask ordering-mutants --record`";

/// Prints a table of the models and one of the mutants. An error if the record lacks one of them,
/// or names a model that is gone.
pub(crate) fn run() -> Result<bool> {
    let root = crate::root();
    let (models, library) = (models::declared(&root)?, Library::read(&root)?);
    let recorded = Recorded::read(&root)?;
    println!("| model | what it is for | executions |\n|---|---|---|");
    for Declared { name, what, .. } in &models {
        let executions = recorded.executions.get(name);
        let [plain, semi_sorted] =
            executions.with_context(|| format!("the model {name} has no recorded run: {MEND}"))?;
        let mut executions = plain.to_string();
        if semi_sorted != plain && *semi_sorted > 0 {
            write!(executions, ", semi-sorted {semi_sorted}")?;
        }
        println!("| `{name}` | {what} | {executions} |");
    }
    let mut rows = String::new();
    let mut noticed = 0;
    for mutant in &library.mutants {
        let Mutant { name, what, .. } = mutant;
        let killers = recorded.killers.get(name);
        let killers =
            killers.with_context(|| format!("the mutant {name} has no recorded run: {MEND}"))?;
        noticed += usize::from(killers.iter().any(|killer| !killer.is_empty()));
        let mut by = Vec::new();
        for &build in mutant.builds() {
            let killer = &killers[build as usize];
            let text = match mutant.explanation(build) {
                _ if models.iter().any(|declared| declared.name == *killer) => {
                    format!("`{killer}`")
                }
                Some(reason) if killer.is_empty() => format!("none: {reason}"),
                _ => bail!("the killer of {name}, {killer:?}, is gone: {MEND}"),
            };
            if !by.contains(&text) {
                by.push(text);
            }
        }
        writeln!(rows, "| `{name}` | {what} | {} |", by.join("; "))?;
    }
    let count = library.mutants.len();
    let orderings = library.mutants.iter().filter(|mutant| mutant.is_of_an_ordering()).count();
    println!(
        "\n{count} mutants: {orderings} weakened orderings, and {} steps left out or misplaced. The \
         models kill {noticed}.\n\n| mutant | fault | killed by |\n|---|---|---|\n{rows}",
        count - orderings
    );
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::Recorded;

    #[test]
    fn what_is_written_is_read() {
        let text = "model\ta\t1\t2\nmodel\tb\t3\t4\nmutant\tc: d to e\ta\t\n";
        let recorded = Recorded::parse(text).unwrap();
        assert_eq!(recorded.executions["b"], [3, 4]);
        assert_eq!(recorded.killers["c: d to e"], ["a", ""]);
        assert_eq!(recorded.to_text(), text);
        assert!(Recorded::parse("model\ta\t1").is_err());
    }
}
