//! Rows of the report: a measured value beside the papers', and the check that gives its verdict.

use std::ops::RangeInclusive;

use guira_harness::table::Table;

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
    pub const ALL: [Self; 5] =
        [Self::Reproduced, Self::Better, Self::Differs, Self::Overlap, Self::None];

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

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A filter of the papers: any deviation from its value is a difference.
    Papers,
    /// guira, whose value is better if it is smaller.
    GuiraLess,
    /// guira, whose value is better if it is larger.
    GuiraMore,
}

/// A measured value, the papers' value, and the range in which the two agree.
#[derive(Clone, Debug)]
pub struct Row {
    /// Where the paper states the value, for example "Table 3, CF".
    location: String,
    /// The meaning of the value, for example "bits per item".
    quantity: String,
    /// The paper's value and where it comes from; `None` if it gives only a plot or a claim.
    paper: Option<(f64, &'static str)>,
    measured: f64,
    /// The figure whose median is the measured value, if it was timed.
    timed: Option<Timed>,
    /// Whether the row claims that one filter is equally fast in two cases. The ranges of equal
    /// speeds overlap, which is then no objection.
    alike: bool,
    /// The unit of both values.
    unit: &'static str,
    subject: Subject,
    /// The values that agree with the paper; `None` for a row without a verdict.
    holds: Option<RangeInclusive<f64>>,
    note: String,
    reason: String,
}

impl Row {
    /// Creates a row about a filter of the papers, without a check.
    pub fn new(
        location: impl Into<String>,
        quantity: impl Into<String>,
        measured: f64,
        unit: &'static str,
    ) -> Self {
        Self {
            location: location.into(),
            quantity: quantity.into(),
            paper: None,
            measured,
            timed: None,
            alike: false,
            unit,
            subject: Subject::Papers,
            holds: None,
            note: String::new(),
            reason: String::new(),
        }
    }

    /// Creates a row about a timed figure, without a check.
    pub fn timed(
        location: impl Into<String>,
        quantity: impl Into<String>,
        figure: Timed,
        unit: &'static str,
    ) -> Self {
        Self { timed: Some(figure), ..Self::new(location, quantity, figure.median, unit) }
    }

    /// Sets what the row is about.
    pub fn about(self, subject: Subject) -> Self {
        Self { subject, ..self }
    }

    /// Sets the paper's value to one that it prints, or that two numbers of it give.
    pub fn printed(self, value: f64) -> Self {
        Self { paper: Some((value, "printed")), ..self }
    }

    /// Sets the paper's value to that of its formula, for the filter that was measured.
    pub fn formula(self, value: f64) -> Self {
        Self { paper: Some((value, "formula")), ..self }
    }

    /// Sets the paper's value to one that this program measured with the paper's filter.
    pub fn measured_here(self, value: f64) -> Self {
        Self { paper: Some((value, "measured here")), ..self }
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
        // The range of a ratio contains one if those of the two speeds overlap.
        let tie = if self.unit == "×" { 1.0 } else { *holds.end() };
        let overlap = self.timed.is_some_and(|figure| figure.reaches(tie));
        match self.subject {
            _ if overlap && !(self.alike && holds.contains(&self.measured)) => Verdict::Overlap,
            _ if holds.contains(&self.measured) => Verdict::Reproduced,
            Subject::GuiraLess if self.measured < *holds.start() => Verdict::Better,
            Subject::GuiraMore if self.measured > *holds.end() => Verdict::Better,
            _ => Verdict::Differs,
        }
    }

    /// Returns the note, with the reason if the value differs.
    fn text(&self) -> String {
        if self.verdict() == Verdict::Differs && !self.reason.is_empty() {
            return format!("{}; {}", self.note, self.reason);
        }
        self.note.clone()
    }

    /// Formats the measured value minus the paper's.
    fn difference(&self) -> String {
        let Some((paper, _)) = self.paper else { return String::new() };
        let difference = self.measured - paper;
        if !difference.is_finite() {
            return String::new();
        }
        let sign = if difference < 0.0 { '-' } else { '+' };
        let text = format!("{sign}{}", number(difference.abs()));
        let share = 100.0 * difference / paper;
        // A difference of percentages is in points; a percentage of it would confuse.
        if self.unit == "%" || !share.is_finite() {
            text
        } else {
            format!("{text} ({share:+.0} %)")
        }
    }
}

/// Returns some rows as a table.
pub fn table<'a>(name: &'static str, rows: impl IntoIterator<Item = &'a Row>) -> Table {
    let or_empty = |value: Option<f64>| value.map(number).unwrap_or_default();
    Table::of(
        name,
        rows,
        &[
            ("location", &|row| row.location.clone()),
            ("quantity", &|row| row.quantity.clone()),
            ("paper", &|row| or_empty(row.paper.map(|(value, _)| value))),
            ("source", &|row| row.paper.map_or("", |(_, source)| source).into()),
            ("measured", &|row| number(row.measured)),
            ("minimum", &|row| or_empty(row.timed.map(|timed| timed.min))),
            ("maximum", &|row| or_empty(row.timed.map(|timed| timed.max))),
            ("difference", &Row::difference),
            ("unit", &|row| row.unit.into()),
            ("verdict", &|row| row.verdict().name().into()),
            ("note", &Row::text),
        ],
    )
}

/// Formats a value with three to four significant digits.
pub fn number(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        ..0.001 => return format!("{value:.2e}"),
        ..0.1 => 4,
        ..1.0 => 3,
        ..100.0 => 2,
        ..1000.0 => 1,
        _ if value.is_finite() => 0,
        _ => return "none".into(),
    };
    let text = format!("{value:.digits$}");
    if digits == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').into() }
}

/// Asserts that every row with a verdict agrees with the paper for some of the inputs and differs
/// for others, and that every timed one says for some that the ranges overlap.
#[cfg(test)]
pub fn assert_each_row_can_change<D>(inputs: &[D], rows: impl Fn(&D) -> Vec<Row>) {
    let all: Vec<Vec<Row>> = inputs.iter().map(rows).collect();
    assert!(!all[0].is_empty(), "there are rows");
    for (index, row) in all[0].iter().enumerate() {
        let name = format!("{}: {}", row.location, row.quantity);
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
    use super::{Row, Subject, Timed, Verdict, number};

    #[test]
    fn only_guiras_rows_are_better() {
        use Verdict::{Better, Differs};
        let verdict = |subject, measured| {
            let row = Row::new("Table 3", "bits", measured, "bits");
            row.about(subject).printed(10.0).within(1.0).verdict()
        };
        for (subject, below, above) in [
            (Subject::Papers, Differs, Differs),
            (Subject::GuiraLess, Better, Differs),
            (Subject::GuiraMore, Differs, Better),
        ] {
            assert_eq!([9.0, 11.0].map(|it| verdict(subject, it)), [Verdict::Reproduced; 2]);
            assert_eq!([8.9, 11.1].map(|it| verdict(subject, it)), [below, above]);
            assert_eq!(verdict(subject, f64::NAN), Differs);
        }
        assert_eq!(Row::new("", "", 1.0, "bits").verdict(), Verdict::None);
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
    fn a_factor_is_applied_in_both_directions() {
        let verdict =
            |measured| Row::new("", "", measured, "×").printed(2.0).within_factor(2.0).verdict();
        assert_eq!([1.0, 4.0].map(verdict), [Verdict::Reproduced; 2]);
        assert_eq!([0.9, 4.1].map(verdict), [Verdict::Differs; 2]);
    }

    #[test]
    fn a_row_gives_its_range_its_difference_and_the_reason_for_it() {
        let cells = |unit, measured| {
            let figure = Timed { median: measured, min: 1.5, max: 4.5 };
            let row = Row::timed("", "", figure, unit).printed(4.0).holds(4.0..=9.0);
            super::table("", [&row.note("n").reason("r")]).rows[0][4..].join(" | ")
        };
        assert_eq!(cells("bits", 3.0), "3 | 1.5 | 4.5 | -1 (-25 %) | bits | differs | n; r");
        assert_eq!(cells("%", 4.5), "4.5 | 1.5 | 4.5 | +0.5 | % | reproduced | n");
        assert_eq!(cells("×", 4.5), "4.5 | 1.5 | 4.5 | +0.5 (+12 %) | × | reproduced | n");
        assert_eq!(Row::new("", "", 3.0, "bits").difference(), "");
    }

    #[test]
    fn numbers_have_three_to_four_significant_digits() {
        let written = [0.0, 95.5, 12.6, 0.19, 0.000_24, 5.0, 123_456.7, f64::NAN].map(number);
        assert_eq!(written, ["0", "95.5", "12.6", "0.19", "2.40e-4", "5", "123457", "none"]);
    }
}
