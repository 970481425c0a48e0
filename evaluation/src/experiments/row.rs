//! Rows of the report: a measured value beside the papers', and the check that gives its verdict.

use std::ops::RangeInclusive;

use super::timing::Timed;

/// How a measured value compares with the papers'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The measured value lies in the range that the row states.
    Reproduced,
    /// guira's value lies outside of the range, in the desirable direction.
    Better,
    /// The measured value lies outside of the range.
    Differs,
    /// The rounds of the compared speeds overlap, so none of the above is certain.
    Overlap,
    /// The value is given by construction, or the papers make no claim about it.
    None,
}

impl Verdict {
    /// Returns the verdict's name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Better => "better",
            Self::Differs => "differs",
            Self::Overlap => "ranges overlap",
            Self::None => "no verdict",
        }
    }
}

/// Where the value in the column "paper" comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Printed in the paper, or computed from two numbers that are.
    Printed,
    /// The paper's formula, evaluated for the filter that was measured.
    Formula,
    /// The paper's filter, measured by this program.
    MeasuredHere,
}

impl Source {
    /// Returns the source's name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Formula => "formula",
            Self::MeasuredHere => "measured here",
        }
    }
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A filter of the papers: any deviation from its value is a difference.
    Papers,
    /// guira, where no direction is desirable.
    Guira,
    /// guira, whose value is better if it is smaller.
    GuiraLess,
    /// guira, whose value is better if it is larger.
    GuiraMore,
}

/// A measured value, the papers' value, and the range in which the two agree.
#[derive(Clone, Debug)]
pub struct Row {
    /// Where the paper states the value, for example "Table 3, CF".
    pub location: String,
    /// The meaning of the value, for example "bits per item".
    pub quantity: String,
    /// The paper's value and its source; `None` if it gives only a plot or a claim.
    pub paper: Option<(f64, Source)>,
    pub measured: f64,
    /// The figure whose median is the measured value, if it was timed.
    pub timed: Option<Timed>,
    /// The value that the range of a timed figure must not reach: one for a ratio, whose range
    /// reaches it if those of the compared speeds overlap.
    tie: f64,
    /// Whether the row claims that one filter is equally fast in two cases. The ranges of equal
    /// speeds overlap, which is then no objection.
    alike: bool,
    /// The unit of both values.
    pub unit: &'static str,
    pub subject: Subject,
    /// The values that agree with the paper; `None` for a row without a verdict.
    holds: Option<RangeInclusive<f64>>,
    note: String,
    reason: String,
}

impl Row {
    /// Creates a row about a filter of the papers, without a check.
    pub fn papers(
        location: impl Into<String>,
        quantity: impl Into<String>,
        measured: f64,
        unit: &'static str,
    ) -> Self {
        let (location, quantity) = (location.into(), quantity.into());
        Self {
            location,
            quantity,
            paper: None,
            measured,
            timed: None,
            tie: 1.0,
            alike: false,
            unit,
            subject: Subject::Papers,
            holds: None,
            note: String::new(),
            reason: String::new(),
        }
    }

    /// Creates a row about a timed figure, by default the ratio of two speeds, without a check.
    pub fn timed(
        location: impl Into<String>,
        quantity: impl Into<String>,
        figure: Timed,
        unit: &'static str,
    ) -> Self {
        let row = Self::papers(location, quantity, figure.median, unit);
        Self { timed: Some(figure), ..row }
    }

    /// Creates a row about a subject, without a check.
    pub fn of(
        location: impl Into<String>,
        quantity: impl Into<String>,
        measured: f64,
        unit: &'static str,
        subject: Subject,
    ) -> Self {
        Self::papers(location, quantity, measured, unit).about(subject)
    }

    /// Sets what the row is about.
    pub fn about(self, subject: Subject) -> Self {
        Self { subject, ..self }
    }

    /// Sets the paper's value to one that it prints.
    pub fn printed(self, value: f64) -> Self {
        Self { paper: Some((value, Source::Printed)), ..self }
    }

    /// Sets the paper's value to that of its formula.
    pub fn formula(self, value: f64) -> Self {
        Self { paper: Some((value, Source::Formula)), ..self }
    }

    /// Sets the paper's value to one that this program measured with the paper's filter.
    pub fn measured_here(self, value: f64) -> Self {
        Self { paper: Some((value, Source::MeasuredHere)), ..self }
    }

    /// Sets the range in which the measured value agrees with the paper.
    pub fn holds(self, range: RangeInclusive<f64>) -> Self {
        Self { holds: Some(range), ..self }
    }

    /// Accepts values within `tolerance` of the paper's.
    pub fn within(self, tolerance: f64) -> Self {
        let paper = self.paper.map_or(f64::NAN, |(value, _)| value);
        self.holds(paper - tolerance..=paper + tolerance)
    }

    /// Accepts values within a factor of the paper's.
    pub fn within_factor(self, factor: f64) -> Self {
        let paper = self.paper.map_or(f64::NAN, |(value, _)| value);
        self.holds(paper / factor..=paper * factor)
    }

    /// Sets the value that the range must not reach, for a timed figure that is no ratio.
    pub fn tie(self, tie: f64) -> Self {
        Self { tie, ..self }
    }

    /// Marks a claim that one filter is equally fast in two cases.
    pub fn alike(self) -> Self {
        Self { alike: true, ..self }
    }

    /// Sets the note: the method, and the tolerance.
    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Sets the reason that the note gives if the value differs.
    pub fn reason(self, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..self }
    }

    /// Whether the row is about guira.
    pub fn is_guira(&self) -> bool {
        self.subject != Subject::Papers
    }

    /// Compares the measured value with the range.
    pub fn verdict(&self) -> Verdict {
        let Some(holds) = &self.holds else { return Verdict::None };
        let overlap = self.timed.is_some_and(|figure| figure.reaches(self.tie));
        match self.subject {
            _ if overlap && !(self.alike && holds.contains(&self.measured)) => Verdict::Overlap,
            _ if holds.contains(&self.measured) => Verdict::Reproduced,
            Subject::GuiraLess if self.measured < *holds.start() => Verdict::Better,
            Subject::GuiraMore if self.measured > *holds.end() => Verdict::Better,
            _ => Verdict::Differs,
        }
    }

    /// Returns the note, with the reason for a difference.
    pub fn text(&self) -> String {
        let differs = self.verdict() == Verdict::Differs && !self.reason.is_empty();
        let parts = [self.note.as_str(), if differs { &self.reason } else { "" }];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }

    /// Whether some value of the row's quantity differs from the paper. Rows without a verdict
    /// cannot claim anything, so they pass.
    pub fn can_fail(&self) -> bool {
        let Some(holds) = &self.holds else { return true };
        let (low, high) = match self.unit {
            "%" => (0.0, 100.0),
            // A lookup reads at least one line.
            "lines" => (1.0, f64::INFINITY),
            // Differences may be negative.
            "bits" | "points" => (f64::NEG_INFINITY, f64::INFINITY),
            _ => (0.0, f64::INFINITY),
        };
        let (fails_below, fails_above) = (*holds.start() > low, *holds.end() < high);
        match self.subject {
            Subject::Papers | Subject::Guira => fails_below || fails_above,
            Subject::GuiraLess => fails_above,
            Subject::GuiraMore => fails_below,
        }
    }
}

/// Asserts that every row with a verdict agrees with the paper for some of the inputs and differs
/// for others, and that every timed one says for some that the ranges overlap.
#[cfg(test)]
pub fn assert_each_row_can_change<D>(inputs: &[D], rows: impl Fn(&D) -> Vec<Row>) {
    let all: Vec<Vec<Row>> = inputs.iter().map(rows).collect();
    for (index, row) in all[0].iter().enumerate() {
        let name = format!("{}: {}", row.location, row.quantity);
        assert!(row.can_fail(), "{name}: no value differs");
        if row.verdict() == Verdict::None {
            continue;
        }
        let verdicts: Vec<Verdict> = all.iter().map(|rows| rows[index].verdict()).collect();
        assert!(verdicts.contains(&Verdict::Differs), "{name}: never differs");
        let agrees = |verdict: &Verdict| matches!(verdict, Verdict::Reproduced | Verdict::Better);
        assert!(verdicts.iter().any(agrees), "{name}: never agrees");
        let overlaps = verdicts.contains(&Verdict::Overlap);
        assert_eq!(overlaps, row.timed.is_some(), "{name}: the ranges overlap");
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, Subject, Timed, Verdict};

    fn row(subject: Subject, measured: f64) -> Row {
        Row::of("Table 3", "bits", measured, "bits", subject).printed(10.0).within(1.0)
    }

    #[test]
    fn only_guiras_rows_are_better() {
        let verdict = |subject, measured| row(subject, measured).verdict();
        for subject in [Subject::Papers, Subject::GuiraLess, Subject::GuiraMore] {
            assert_eq!(verdict(subject, 9.0), Verdict::Reproduced);
            assert_eq!(verdict(subject, 11.0), Verdict::Reproduced);
            assert_eq!(verdict(subject, f64::NAN), Verdict::Differs);
        }
        assert_eq!(verdict(Subject::Papers, 8.9), Verdict::Differs);
        assert_eq!(verdict(Subject::Papers, 11.1), Verdict::Differs);
        assert_eq!(verdict(Subject::GuiraLess, 8.9), Verdict::Better);
        assert_eq!(verdict(Subject::GuiraLess, 11.1), Verdict::Differs);
        assert_eq!(verdict(Subject::GuiraMore, 8.9), Verdict::Differs);
        assert_eq!(verdict(Subject::GuiraMore, 11.1), Verdict::Better);
    }

    #[test]
    fn ranges_that_overlap_are_neither_a_win_nor_a_loss() {
        let verdict = |subject, min, median, max| {
            let ratio = Timed { median, min, max };
            Row::timed("", "", ratio, "×").about(subject).holds(0.95..=1.05).verdict()
        };
        let guira = |min, median, max| verdict(Subject::GuiraMore, min, median, max);
        assert_eq!(guira(1.01, 1.2, 1.3), Verdict::Better);
        assert_eq!(guira(1.0, 1.2, 1.3), Verdict::Overlap);
        assert_eq!(guira(0.7, 0.8, 0.99), Verdict::Differs);
        assert_eq!(guira(0.7, 0.8, 1.0), Verdict::Overlap);
        assert_eq!(guira(1.01, 1.02, 1.2), Verdict::Reproduced);
        assert_eq!(guira(0.9, 1.02, 1.2), Verdict::Overlap);
        assert_eq!(verdict(Subject::Papers, 0.7, 0.8, 1.1), Verdict::Overlap);
    }

    #[test]
    fn speeds_of_one_filter_that_overlap_agree_if_they_are_claimed_to_be_alike() {
        let verdict = |min, median, max| {
            let ratio = Timed { median, min, max };
            Row::timed("", "", ratio, "×").holds(0.8..=1.25).alike().verdict()
        };
        assert_eq!(verdict(0.9, 1.1, 1.2), Verdict::Reproduced);
        assert_eq!(verdict(0.9, 1.3, 1.5), Verdict::Overlap);
        assert_eq!(verdict(1.1, 1.3, 1.5), Verdict::Differs);
    }

    #[test]
    fn a_row_without_a_range_has_no_verdict() {
        assert_eq!(Row::papers("", "", 1.0, "bits").verdict(), Verdict::None);
    }

    #[test]
    fn a_factor_is_applied_in_both_directions() {
        let verdict =
            |measured| Row::papers("", "", measured, "×").printed(2.0).within_factor(2.0).verdict();
        assert_eq!([1.0, 4.0].map(verdict), [Verdict::Reproduced; 2]);
        assert_eq!([0.9, 4.1].map(verdict), [Verdict::Differs; 2]);
    }

    #[test]
    fn the_reason_is_given_only_for_a_difference() {
        let text = |measured| row(Subject::Papers, measured).note("n").reason("r").text();
        assert_eq!((text(10.0).as_str(), text(20.0).as_str()), ("n", "n; r"));
    }

    #[test]
    fn a_range_that_covers_all_values_cannot_fail() {
        let row = |unit, holds| Row::papers("", "", 1.0, unit).holds(holds);
        assert!(!row("lines", 1.0..=f64::INFINITY).can_fail());
        assert!(!row("%", 0.0..=100.0).can_fail());
        assert!(!row("×", 0.0..=f64::INFINITY).can_fail());
        assert!(row("×", 0.0..=1.0).can_fail());
        let guira = |holds| Row::of("", "", 1.0, "×", Subject::GuiraMore).holds(holds);
        assert!(!guira(0.0..=1.0).can_fail());
        assert!(guira(1.0..=1.0).can_fail());
    }
}
