//! Tables, as Markdown and as CSV.

use std::{fmt::Write, path::Path};

use anyhow::Result;

/// The heading of a column, and its cell for an item.
pub type Column<'a, T> = (&'a str, &'a dyn Fn(&T) -> String);

/// Rows under a head.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Name of the table, and of its CSV file.
    pub name: &'static str,
    /// Names of the columns.
    pub head: Vec<String>,
    /// One cell per column in each row.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns a table without rows.
    #[must_use]
    pub fn new(name: &'static str, head: &[&str]) -> Self {
        Self { name, head: head.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    /// Returns a table with a row for each item, from the heading and the cells of each column.
    #[must_use]
    pub fn of<'a, T: 'a>(
        name: &'static str,
        items: impl IntoIterator<Item = &'a T>,
        columns: &[Column<'_, T>],
    ) -> Self {
        let head: Vec<&str> = columns.iter().map(|column| column.0).collect();
        let mut table = Self::new(name, &head);
        let row = |item| columns.iter().map(|column| (column.1)(item)).collect();
        table.rows = items.into_iter().map(row).collect();
        table
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If the row does not have one cell per column.
    pub fn push(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.head.len(), "a row has a cell for each column");
        self.rows.push(row);
    }

    /// Returns the table in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            writeln!(text, "| {} |", cells.join(" | ")).expect("a string accepts everything");
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

/// Formats a figure, or a dash where there is none.
#[must_use]
pub fn cell(value: Option<f64>, digits: usize) -> String {
    match value {
        Some(value) if value.is_finite() => format!("{value:.digits$}"),
        _ => "–".into(),
    }
}
