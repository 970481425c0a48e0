//! Bars: a target, the measured figure, and the verdict.

use guira_harness::table::Table;

use self::Target::{AtLeast, AtMost, Nothing};

/// The value that a figure has to reach, and the side of it on which the figure has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// The figure has no target.
    Nothing,
}

/// One row of the table of bars.
#[derive(Clone, Debug)]
pub struct Bar {
    name: String,
    target: Target,
    measured: f64,
    /// Unit of target and figure.
    unit: &'static str,
    /// How the figure was measured.
    note: String,
}

impl Bar {
    /// Returns a bar; NaN stands for a figure that was not measured.
    pub fn new(name: impl Into<String>, target: Target, measured: f64, unit: &'static str) -> Self {
        Self { name: name.into(), target, measured, unit, note: String::new() }
    }

    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    fn target_in_words(&self) -> String {
        match self.target {
            AtMost(target) => format!("≤ {target} {}", self.unit),
            AtLeast(target) => format!("≥ {target} {}", self.unit),
            Nothing => "none".into(),
        }
    }

    /// Returns whether the figure reaches the target.
    fn verdict(&self) -> &'static str {
        let reached = match self.target {
            _ if self.measured.is_nan() => return "not measured",
            AtMost(target) => self.measured <= target,
            AtLeast(target) => self.measured >= target,
            Nothing => return "",
        };
        if reached { "reached" } else { "missed" }
    }

    /// Returns the table of some bars.
    pub fn table<'a>(bars: impl IntoIterator<Item = &'a Self>) -> Table {
        let mut table = Table::new("bars", &["operation", "bar", "measured", "verdict", "how"]);
        bars.into_iter().for_each(|bar| table.push(bar.row()));
        table
    }

    /// Returns the cells of its row.
    fn row(&self) -> Vec<String> {
        let (measured, note) = if self.measured.is_nan() {
            ("–".into(), String::new())
        } else {
            (format!("{:.2} {}", self.measured, self.unit), self.note.clone())
        };
        vec![self.name.clone(), self.target_in_words(), measured, self.verdict().into(), note]
    }
}

#[cfg(test)]
mod tests {
    use super::{AtLeast, AtMost, Bar, Nothing};

    #[test]
    fn a_bar_is_met_on_its_side_of_the_target() {
        assert_eq!(Bar::new("", AtMost(2.0), 2.0, "F").verdict(), "reached");
        assert_eq!(Bar::new("", AtMost(2.0), 2.01, "F").verdict(), "missed");
        assert_eq!(Bar::new("", AtLeast(0.95), 0.94, "").verdict(), "missed");
        assert_eq!(Bar::new("", AtLeast(0.95), 1.0, "").verdict(), "reached");
        assert_eq!(Bar::new("", AtLeast(0.95), f64::NAN, "").verdict(), "not measured");
        assert_eq!(Bar::new("", Nothing, 1.0, "F").verdict(), "");
    }

    #[test]
    fn a_row_has_target_figure_and_verdict() {
        let bar = Bar::new("two threads", AtLeast(1.95), 1.987, "× one").note("median");
        let missing = Bar::new("x", AtMost(2.0), f64::NAN, "F").note("NaN R");
        assert_eq!(missing.row(), ["x", "≤ 2 F", "–", "not measured", ""]);
        assert_eq!(bar.row(), ["two threads", "≥ 1.95 × one", "1.99 × one", "reached", "median"]);
    }
}
