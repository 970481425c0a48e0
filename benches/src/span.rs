//! From how many items to how many a filter grows.

/// A growth that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first capacity.
    pub from: u64,
    /// The number of items in the end.
    pub to: u64,
}

/// Where the tables are once they have grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    L2,
    /// In a shared cache, or partly in memory: it depends on the machine.
    Between,
    Memory,
}

/// Largest number of items whose tables stay in an L2 cache.
const MAX_IN_L2: u64 = 200_000;

/// Smallest number of items whose tables are taken to be in memory: those of the fixed filters are
/// larger than 64 MiB.
const MIN_IN_MEMORY: u64 = 50_000_000;

impl Span {
    /// Reads `FROM..TO`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.replace('_', "").parse::<u64>().ok();
        let ends = text.split_once("..").map(|(from, to)| (number(from), number(to)));
        match ends {
            Some((Some(from), Some(to))) if 0 < from && from < to => Ok(Self { from, to }),
            _ => Err("a growth is written as 4000..8000000".into()),
        }
    }

    /// Returns where the grown table is.
    pub fn place(self) -> Place {
        match self.to {
            ..=MAX_IN_L2 => Place::L2,
            MIN_IN_MEMORY.. => Place::Memory,
            _ => Place::Between,
        }
    }

    /// Returns the name of this growth in the report.
    pub fn name(self) -> String {
        format!("{} to {}", words(self.from), words(self.to))
    }

    /// Returns numbers of items at which the filter is measured, several per doubling.
    pub fn points(self) -> impl Iterator<Item = u64> {
        /// Points per doubling: enough to show the saw teeth of tables that double.
        const PER_DOUBLING: f64 = 8.0;
        let point = move |nth| (self.from as f64 * f64::exp2(f64::from(nth) / PER_DOUBLING)) as u64;
        let points = (0_u32..).map(point).take_while(move |&items| items < self.to);
        points.chain([self.to])
    }
}

/// Formats a number of items.
pub fn words(number: u64) -> String {
    if number >= 1_000_000 && number.is_multiple_of(100_000) {
        return format!("{} million", number as f64 / 1e6);
    }
    let digits = number.to_string();
    let (head, tail) = digits.split_at((digits.len() - 1) % 3 + 1);
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group));
    groups.fold(head.to_string(), |text, group| format!("{text},{group}"))
}

#[cfg(test)]
mod tests {
    use super::{Span, words};

    #[test]
    fn a_growth_is_read_and_named() {
        let span = Span::parse("4_000..8000000").expect("a growth");
        assert_eq!(span, Span { from: 4_000, to: 8_000_000 });
        assert_eq!(span.name(), "4,000 to 8 million");
        assert!(["", "5", "5..5", "0..5", "..5", "a..5"].iter().all(|it| Span::parse(it).is_err()));
        assert_eq!([1, 999, 12_345, 1_234_567].map(words), ["1", "999", "12,345", "1,234,567"]);
    }

    #[test]
    fn points_go_from_the_first_capacity_to_the_last_number() {
        let points: Vec<u64> = Span { from: 1_000, to: 9_000 }.points().collect();
        assert_eq!((points[0], points[8], points[24]), (1_000, 2_000, 8_000));
        assert_eq!(points.last(), Some(&9_000));
        assert!(points.is_sorted());
    }
}
