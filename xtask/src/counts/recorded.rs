//! The recorded counts: a line with the compiler, then a line for each operation, with a tab before
//! its count.

use std::{fmt::Write, fs, path::Path};

use anyhow::{Context, Result};

/// The file, from the root of the repository.
const PATH: &str = "xtask/counts.tsv";

/// Counts, and the compiler with which they were made.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Counts {
    /// What `rustc -V` prints.
    pub(super) compiler: String,
    /// Operations with their instructions per key, in the order in which they were counted.
    pub(super) operations: Vec<(String, f64)>,
}

impl Counts {
    /// Reads the file; nothing is recorded where it is missing.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let path = root.join(PATH);
        if !path.exists() {
            return Ok(Self::default());
        }
        Self::parse(&fs::read_to_string(path)?).context(PATH)
    }

    /// Writes the file.
    pub(super) fn write(&self, root: &Path) -> Result<()> {
        Ok(fs::write(root.join(PATH), self.to_text())?)
    }

    /// The name of the compiler's toolchain; empty where nothing is recorded.
    pub(super) fn toolchain(&self) -> &str {
        self.compiler.split(' ').nth(1).unwrap_or_default()
    }

    fn parse(text: &str) -> Result<Self> {
        let (compiler, lines) = text.split_once('\n').context("the file is empty")?;
        let operations = (2..).zip(lines.lines()).map(|(number, line)| {
            let (name, count) = line.split_once('\t').with_context(|| format!("line {number}"))?;
            Ok((name.to_owned(), count.parse().with_context(|| format!("line {number}"))?))
        });
        Ok(Self { compiler: compiler.to_owned(), operations: operations.collect::<Result<_>>()? })
    }

    fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.compiler);
        for (name, count) in &self.operations {
            writeln!(text, "{name}\t{count:.1}").expect("a string takes all");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn what_is_written_is_read() {
        let text = "rustc 1.95.0 (59807616e 2026-04-14)\na: b\t1.0\nc\t23.4\n";
        let counts = Counts::parse(text).unwrap();
        assert_eq!(counts.toolchain(), "1.95.0");
        assert_eq!(counts.operations[1], ("c".to_owned(), 23.4));
        assert_eq!(counts.to_text(), text);
        assert!(Counts::parse("rustc\na 1.0\n").is_err());
    }
}
