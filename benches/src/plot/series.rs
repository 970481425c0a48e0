//! Series of a plot: points, and the colour and marker that identify them.

/// Colours of the series, guira's first: each has a contrast of at least 3 to white and to the dark
/// panel.
const COLOURS: [&str; 14] = [
    "#e6194b", "#2f7ed8", "#2f9e44", "#84891c", "#c9741b", "#8c62d6", "#c051b6", "#0e9aa7",
    "#5c6bc0", "#a9783f", "#4d8f7b", "#74808c", "#6a994e", "#b0705f",
];

/// Markers of the series, in the order of their colours.
const MARKERS: [Marker; 14] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Down,
    Marker::Pentagon,
    Marker::Frame,
    Marker::Plus,
    Marker::Hexagon,
    Marker::Cross,
    Marker::Star,
    Marker::Left,
    Marker::Right,
    Marker::Hollow,
];

/// Shape at every point of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what the shapes are")]
pub enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    /// A triangle that points down.
    Down,
    Pentagon,
    /// A hollow square.
    Frame,
    Plus,
    Hexagon,
    Cross,
    Star,
    /// A triangle that points left.
    Left,
    /// A triangle that points right.
    Right,
    /// A hollow triangle.
    Hollow,
    /// A hollow circle, for guira in batches.
    Ring,
}

impl Marker {
    /// Returns the `nth` marker, and starts again after the last.
    #[must_use]
    pub const fn nth(nth: usize) -> Self {
        MARKERS[nth % MARKERS.len()]
    }
}

/// Colour, marker and line of a series. The same look means the same thing in every plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub(super) colour: &'static str,
    pub(super) marker: Option<Marker>,
    pub(super) line: Line,
    pub(super) is_strong: bool,
}

/// The line of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Solid,
    Dashed,
    None,
}

impl Look {
    /// guira: the strong colour, a thick line, and circles.
    pub const GUIRA: Self = Self { is_strong: true, ..Self::nth(0) };

    /// guira in batches.
    pub const GUIRA_BATCH: Self = Self::GUIRA.variant();

    /// A floor or a limit.
    pub(super) const GUIDE: Self =
        Self { colour: "#7f8894", marker: None, line: Line::Dashed, is_strong: false };

    /// Returns the `nth` look; the first 14 share neither colour nor marker.
    #[must_use]
    pub const fn nth(nth: usize) -> Self {
        let colour = COLOURS[nth % COLOURS.len()];
        let marker = Some(Marker::nth(nth + nth / COLOURS.len()));
        Self { colour, marker, line: Line::Solid, is_strong: false }
    }

    /// Returns the look with another marker.
    #[must_use]
    pub const fn marker(self, marker: Marker) -> Self {
        Self { marker: Some(marker), ..self }
    }

    /// Returns the look without markers, for lines of many points.
    #[must_use]
    pub const fn without_markers(self) -> Self {
        Self { marker: None, ..self }
    }

    /// Returns the look of single points: hollow squares without a line.
    #[must_use]
    pub const fn without_line(self) -> Self {
        Self { line: Line::None, marker: Some(Marker::Frame), ..self }
    }

    /// Returns the look of the same filter in another form: a dashed line and a hollow marker.
    #[must_use]
    pub const fn variant(self) -> Self {
        let hollow = match self.marker {
            Some(Marker::Square) => Marker::Frame,
            Some(Marker::Triangle) => Marker::Hollow,
            _ => Marker::Ring,
        };
        Self { marker: Some(hollow), line: Line::Dashed, ..self }
    }
}

/// Points with a name and a look.
#[derive(Clone, Debug)]
pub struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    pub(super) look: Look,
}

impl Series {
    /// Returns a line with a marker at every point.
    #[must_use]
    pub fn new(look: Look, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, look }
    }

    /// Returns a line with the `nth` look; the first one is guira.
    #[must_use]
    pub fn line(nth: usize, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        let look = if nth == 0 { Look::GUIRA } else { Look::nth(nth) };
        Self::new(look, name, points)
    }

    /// Returns hollow squares without a line, in the colour of the `nth` look: figures of others.
    #[must_use]
    pub fn points(nth: usize, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self::new(Look::nth(nth).without_line(), name, points)
    }

    /// Returns a thin line without markers: a floor or a limit.
    #[must_use]
    pub fn guide(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self::new(Look::GUIDE, name, points)
    }
}

#[cfg(test)]
mod tests {
    use super::{COLOURS, Look, Marker};

    /// Relative luminance of WCAG.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = u8::from_str_radix(&colour[at..at + 2], 16).expect("two hex digits");
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    #[test]
    fn every_colour_contrasts_with_both_panels() {
        for colour in COLOURS {
            let own = luminance(colour) + 0.05;
            for panel in [super::super::draw::LIGHT_PANEL, super::super::draw::DARK_PANEL] {
                let panel = luminance(panel) + 0.05;
                let contrast = own.max(panel) / own.min(panel);
                assert!(contrast >= 3.0, "{colour}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn no_two_looks_share_a_colour_or_a_marker() {
        for (a, b) in (0..14).flat_map(|a| (0..a).map(move |b| (a, b))) {
            assert_ne!(Look::nth(a).colour, Look::nth(b).colour);
            assert_ne!(Marker::nth(a), Marker::nth(b));
        }
    }
}
