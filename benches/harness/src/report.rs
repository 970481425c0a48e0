//! A report: a page in Markdown, a CSV file for each table and plot, and the plots as SVG.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Result, ensure};

use crate::{plot::Chart, table::Table};

/// A report in a folder. Tables without rows and plots without points are left out.
#[derive(Debug)]
pub struct Report {
    folder: PathBuf,
    text: String,
    /// The names of the tables and plots so far.
    names: Vec<&'static str>,
}

impl Report {
    /// Begins a report in a folder that exists.
    #[must_use]
    pub fn new(folder: &Path, title: &str) -> Self {
        Self { folder: folder.into(), text: format!("# {title}\n"), names: Vec::new() }
    }

    /// Adds a heading.
    pub fn heading(&mut self, heading: &str) {
        self.paragraph(&format!("## {heading}"));
    }

    /// Adds a paragraph in Markdown.
    pub fn paragraph(&mut self, text: &str) {
        write!(self.text, "\n{text}\n").expect("a string accepts everything");
    }

    /// Adds a list.
    pub fn list(&mut self, items: impl IntoIterator<Item = String>) {
        let items: Vec<String> = items.into_iter().map(|item| format!("- {item}")).collect();
        self.paragraph(&items.join("\n"));
    }

    /// Adds what belongs beside every figure: the facts of
    /// [`machine::facts`](crate::machine::facts), and the duration.
    pub fn facts(&mut self, facts: &[(&str, String)], seconds: f64) {
        let facts = facts.iter().map(|(name, fact)| format!("{name}: {fact}"));
        self.list(facts.chain([format!("duration: {seconds:.0} s")]));
    }

    /// Adds a table, and writes its CSV file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn table(&mut self, table: &Table) -> Result<()> {
        if !table.rows.is_empty() {
            self.paragraph(table.markdown().trim_end());
            self.names.push(table.name);
            table.write_csv(&self.folder)?;
        }
        Ok(())
    }

    /// Adds a plot, and writes it and its points.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn chart(&mut self, chart: &Chart) -> Result<()> {
        if !chart.is_empty() {
            self.paragraph(&format!("![{}]({}.svg)", chart.title, chart.name));
            self.names.push(chart.name);
            chart.write_svg(&self.folder)?;
            chart.write_csv(&self.folder)?;
        }
        Ok(())
    }

    /// Writes the page, and returns its path.
    ///
    /// # Errors
    /// If it cannot be written, or if two tables or plots share a name and so a file.
    pub fn save(mut self) -> Result<PathBuf> {
        let path = self.folder.join("report.md");
        fs::write(&path, &self.text)?;
        self.names.sort_unstable();
        let twice = self.names.windows(2).find(|pair| pair[0] == pair[1]);
        ensure!(twice.is_none(), "two tables or plots share a name: {twice:?}");
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::{Chart, Report, Table, fs};
    use crate::plot::{Look, Series};

    #[test]
    fn tables_and_plots_are_on_the_page_and_in_files_of_different_names() {
        let folder = std::env::temp_dir().join(format!("guira-report-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let chart =
            Chart::new("x", "X").with_all([Series::new(Look::GUIRA, "x", vec![(1.0, 2.0)])]);
        let write = |name| {
            let mut table = Table::new(name, &["a", "b"]);
            let mut report = Report::new(&folder, "title");
            report.table(&table).and_then(|()| report.chart(&Chart::new(name, ""))).expect("empty");
            table.push(vec!["1".into(), "2".into()]);
            report.table(&table).and_then(|()| report.chart(&chart)).expect("written");
            report.save()
        };
        let page = fs::read_to_string(write("y").expect("two names")).expect("the page");
        assert_eq!(page, "# title\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n![X](x.svg)\n");
        assert_eq!(fs::read_to_string(folder.join("y.csv")).expect("a table"), "a,b\n1,2\n");
        assert!(folder.join("x.svg").exists() && folder.join("x.csv").exists());
        assert!(write("x").is_err(), "one name");
        fs::remove_dir_all(&folder).expect("it was there");
    }
}
