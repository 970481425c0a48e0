//! Figures: what was measured, and how.

use guira_harness::table::Table;

/// One row of the table of figures.
#[derive(Clone, Debug)]
pub struct Figure {
    name: String,
    measured: f64,
    unit: &'static str,
    /// How the figure was measured.
    note: String,
}

impl Figure {
    /// Returns a figure; NaN stands for one that was not measured.
    pub fn new(name: impl Into<String>, measured: f64, unit: &'static str) -> Self {
        Self { name: name.into(), measured, unit, note: String::new() }
    }

    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Returns the table of those of these figures that were measured.
    pub fn table<'a>(figures: impl IntoIterator<Item = &'a Self>) -> Table {
        let mut table = Table::new("figures", &["operation", "measured", "how"]);
        for figure in figures.into_iter().filter(|figure| !figure.measured.is_nan()) {
            let measured = format!("{:.2} {}", figure.measured, figure.unit);
            table.push(vec![figure.name.clone(), measured, figure.note.clone()]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::Figure;

    #[test]
    fn a_table_has_a_row_for_each_figure_that_was_measured() {
        let measured = Figure::new("two threads", 1.987, "× one").note("median");
        let table = Figure::table([&measured, &Figure::new("x", f64::NAN, "F")]);
        assert_eq!(table.rows, [["two threads", "1.99 × one", "median"]]);
    }
}
