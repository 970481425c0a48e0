//! Tables, as Markdown and as CSV.

use std::{fmt::Write, path::Path};

use anyhow::Result;

/// Rows under a head.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Also the name of the CSV file.
    pub name: &'static str,
    /// One name for each column.
    pub head: Vec<String>,
    /// As many cells in each as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(name: &'static str, head: &[&str]) -> Self {
        Self { name, head: head.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not as many cells as the head.
    pub fn push(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.head.len(), "a row has a cell for each column");
        self.rows.push(row);
    }

    /// The table in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            writeln!(text, "| {} |", cells.join(" | ")).expect("a string takes all");
        };
        line(&self.head);
        line(&vec!["---".to_string(); self.head.len()]);
        self.rows.iter().for_each(|row| line(row));
        text
    }

    /// Writes `NAME.csv` into a folder.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_csv(&self, folder: &Path) -> Result<()> {
        let mut file = csv::Writer::from_path(folder.join(self.name).with_extension("csv"))?;
        file.write_record(&self.head)?;
        for row in &self.rows {
            file.write_record(row)?;
        }
        Ok(file.flush()?)
    }
}

/// A figure for people, or a dash where there is none.
#[must_use]
pub fn cell(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".into(), |value| format!("{value:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::{Table, cell};

    #[test]
    fn markdown_has_a_head_a_rule_and_rows_with_bars_escaped() {
        let mut table = Table::new("test", &["a", "b"]);
        table.push(vec!["1 | 2".into(), cell(None, 1)]);
        assert_eq!(table.markdown(), "| a | b |\n| --- | --- |\n| 1 \\| 2 | – |\n");
        assert_eq!(cell(Some(1.25), 1), "1.2");
    }
}
