//! Figures of several rounds, each beside the one that it is compared with in the same round.

use guira_harness::table::{Table, cell};

use crate::{figure::Figure, timing::median};

/// Figures by name, in order of first appearance: in each round the figure, and its base.
#[derive(Default)]
pub struct Rounds(Vec<(String, Vec<[f64; 2]>)>);

/// The medians of one name; NaN where nothing was measured.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    pub name: &'a str,
    pub figure: f64,
    pub base: f64,
    /// Median of the rounds' quotients.
    pub times: f64,
}

impl Rounds {
    /// Adds the figure of one round, and what it is compared with: NaN if there is nothing.
    pub fn note(&mut self, name: impl Into<String>, figure: f64, base: f64) {
        let name = name.into();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, figures)) => figures.push([figure, base]),
            None => self.0.push((name, vec![[figure, base]])),
        }
    }

    /// Returns the medians of each name.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.0.iter().map(|(name, figures)| Row {
            name,
            figure: median(figures.iter().map(|round| round[0])),
            base: median(figures.iter().map(|round| round[1])),
            times: median(figures.iter().map(|round| round[0] / round[1])),
        })
    }

    /// Returns the medians of a name.
    pub fn row(&self, name: &str) -> Row<'_> {
        self.rows().find(|row| row.name == name).unwrap_or(Row::MISSING)
    }

    /// Returns the sum of the figures of a name.
    pub fn sum(&self, name: &str) -> f64 {
        let rounds = self.0.iter().filter(|(known, _)| known == name).flat_map(|(_, it)| it);
        rounds.map(|round| round[0]).sum()
    }

    /// Returns the row with the greatest quotient among these names.
    pub fn greatest(&self, is_meant: impl Fn(&str) -> bool) -> Row<'_> {
        let rows = self.rows().filter(|row| is_meant(row.name) && row.times.is_finite());
        rows.max_by(|a, b| a.times.total_cmp(&b.times)).unwrap_or(Row::MISSING)
    }

    /// Returns the row with the least quotient among these names.
    pub fn least(&self, is_meant: impl Fn(&str) -> bool) -> Row<'_> {
        let rows = self.rows().filter(|row| is_meant(row.name) && row.times.is_finite());
        rows.min_by(|a, b| a.times.total_cmp(&b.times)).unwrap_or(Row::MISSING)
    }

    /// Returns the table of all names: the figure, its base, and the quotient.
    pub fn table(&self, name: &'static str, head: [&str; 4], digits: usize) -> Table {
        let mut table = Table::new(name, &head);
        for row in self.rows() {
            let [figure, base] = [row.figure, row.base].map(|figure| cell(Some(figure), digits));
            table.push(vec![row.name.into(), figure, base, cell(Some(row.times), 2)]);
        }
        table
    }
}

impl Row<'_> {
    const MISSING: Self = Self { name: "", figure: f64::NAN, base: f64::NAN, times: f64::NAN };
}

/// Speeds of readers beside other work by name, as shares of their speed alone.
#[derive(Default)]
pub struct Readers {
    own: Rounds,
    /// Beside the same work on another filter.
    control: Rounds,
    lookups: Rounds,
}

impl Readers {
    /// Notes one round: million lookups per second beside work on the same filter, beside the same
    /// work on another one, and alone; and the million lookups, none of which missed.
    pub fn note(&mut self, name: &str, [own, control, alone]: [f64; 3], lookups: f64) {
        self.own.note(name, own, alone);
        self.control.note(name, control, alone);
        self.lookups.note(name, lookups, f64::NAN);
    }

    /// Returns the names of the readers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.own.0.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the figure of a reader, with a note about the work beside it.
    pub fn figure(&self, name: &str, work: &str) -> Figure {
        let control = self.control.row(name).times;
        let note = format!(
            "with the work on another filter {control:.2}: what the machine alone costs; {work}; \
             no miss in {:.0} million lookups",
            self.lookups.sum(name)
        );
        Figure::new(name, self.own.row(name).times, "of alone").note(note)
    }
}

#[cfg(test)]
mod tests {
    use super::Rounds;

    #[test]
    fn rounds_divide_each_figure_by_its_own_base() {
        let mut rounds = Rounds::default();
        for (figure, base) in [(10.0, 5.0), (30.0, 10.0), (40.0, 10.0)] {
            rounds.note("x", figure, base);
        }
        rounds.note("z", 1.0, 1.0);
        rounds.note("no base", 9.0, f64::NAN);
        assert!((rounds.row("x").times - 3.0).abs() < 1e-9);
        assert!((rounds.row("x").figure - 30.0).abs() < 1e-9);
        assert!((rounds.sum("x") - 80.0).abs() < 1e-9);
        assert!(rounds.row("y").times.is_nan());
        assert_eq!((rounds.greatest(|_| true).name, rounds.least(|_| true).name), ("x", "z"));
        assert_eq!(rounds.greatest(|name| name != "x").name, "z");
        let table = rounds.table("t", ["name", "figure", "base", "times"], 1);
        assert_eq!(table.rows[0], ["x", "30.0", "10.0", "3.00"]);
        assert_eq!(table.rows[2], ["no base", "9.0", "–", "–"]);
    }
}
