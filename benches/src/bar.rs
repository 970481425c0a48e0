//! Bars: a target, the measured figure, and the verdict.

/// The side of the target on which a figure has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    AtMost,
    AtLeast,
    /// There is no target.
    Neither,
}

/// One row of the table of bars.
#[derive(Clone, Debug)]
pub struct Bar {
    pub name: String,
    pub side: Side,
    pub target: f64,
    pub measured: f64,
    /// Unit of target and figure.
    pub unit: &'static str,
    /// How the figure was measured.
    pub note: String,
}

impl Bar {
    pub fn at_most(
        name: impl Into<String>,
        target: f64,
        measured: f64,
        unit: &'static str,
    ) -> Self {
        Self { name: name.into(), side: Side::AtMost, target, measured, unit, note: String::new() }
    }

    pub fn at_least(
        name: impl Into<String>,
        target: f64,
        measured: f64,
        unit: &'static str,
    ) -> Self {
        Self { side: Side::AtLeast, ..Self::at_most(name, target, measured, unit) }
    }

    /// Returns a figure without a target.
    pub fn figure(name: impl Into<String>, measured: f64, unit: &'static str) -> Self {
        Self { side: Side::Neither, ..Self::at_most(name, f64::NAN, measured, unit) }
    }

    /// Adds to the note whether the figure reaches a more ambitious target too.
    pub fn goal(self, goal: f64) -> Self {
        let verdict = Self { target: goal, ..self.clone() }.verdict();
        let separator = if self.note.is_empty() { "" } else { "; " };
        Self {
            note: format!("goal {goal} {}: {verdict}{separator}{}", self.unit, self.note),
            ..self
        }
    }

    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Returns whether the figure reaches the target; NaN stands for one that was not measured.
    pub fn verdict(&self) -> &'static str {
        let reached = match self.side {
            _ if self.measured.is_nan() => return "not measured",
            Side::AtMost => self.measured <= self.target,
            Side::AtLeast => self.measured >= self.target,
            Side::Neither => return "",
        };
        if reached { "reached" } else { "missed" }
    }

    /// Returns the cells of its row.
    pub fn row(&self) -> Vec<String> {
        let target = match self.side {
            Side::AtMost => format!("≤ {} {}", self.target, self.unit),
            Side::AtLeast => format!("≥ {} {}", self.target, self.unit),
            Side::Neither => "none".into(),
        };
        if self.measured.is_nan() {
            return vec![
                self.name.clone(),
                target,
                "–".into(),
                self.verdict().into(),
                String::new(),
            ];
        }
        let measured = format!("{:.2} {}", self.measured, self.unit);
        vec![self.name.clone(), target, measured, self.verdict().into(), self.note.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::Bar;

    #[test]
    fn a_bar_is_met_on_its_side_of_the_target() {
        assert_eq!(Bar::at_most("", 2.0, 2.0, "F").verdict(), "reached");
        assert_eq!(Bar::at_most("", 2.0, 2.01, "F").verdict(), "missed");
        assert_eq!(Bar::at_least("", 0.95, 0.94, "").verdict(), "missed");
        assert_eq!(Bar::at_least("", 0.95, 1.0, "").verdict(), "reached");
        assert_eq!(Bar::at_least("", 0.95, f64::NAN, "").verdict(), "not measured");
        assert_eq!(Bar::figure("", 1.0, "F").verdict(), "");
    }

    #[test]
    fn a_goal_is_judged_by_itself() {
        let bar = Bar::at_most("", 8.0, 7.0, "F").note("x").goal(6.0);
        assert_eq!(bar.row()[1..], ["≤ 8 F", "7.00 F", "reached", "goal 6 F: missed; x"]);
        let bar = Bar::at_least("", 0.95, 1.2, "F").goal(1.15);
        assert_eq!(bar.note, "goal 1.15 F: reached");
    }

    #[test]
    fn a_row_has_target_figure_and_verdict() {
        let bar = Bar::at_least("two threads", 1.95, 1.987, "× one").note("median");
        let missing = Bar::at_most("x", 2.0, f64::NAN, "F").note("NaN R");
        assert_eq!(missing.row(), ["x", "≤ 2 F", "–", "not measured", ""]);
        assert_eq!(bar.row(), ["two threads", "≥ 1.95 × one", "1.99 × one", "reached", "median"]);
    }
}
