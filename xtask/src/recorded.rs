//! What the last recorded run of the mutants found: executions of models, and killers of mutants.
//!
//! The file has a line for each, with tabs between its fields.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use anyhow::{Context, Result, bail};

/// The file, from the root of the repository.
const PATH: &str = "xtask/recorded.tsv";

/// The contents of the file.
#[derive(Debug, Default, PartialEq, Eq)]
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
