//! Looks: the colours, markers and lines that identify the series of a plot.

#![expect(clippy::unreadable_literal, reason = "colours are written as in CSS")]

use plotters::style::RGBColor;

/// Colours of the series, guira's first: each has a contrast of at least 3 to white.
const COLOURS: [u32; 14] = [
    0xe6194b, 0x2f7ed8, 0x2f9e44, 0x84891c, 0xc9741b, 0x8c62d6, 0xc051b6, 0x0e9aa7, 0x5c6bc0,
    0xa9783f, 0x4d8f7b, 0x74808c, 0x6a994e, 0xb0705f,
];

/// Characters of the markers: those of the series, in the order of their colours, and a ring.
const GLYPHS: [&str; 15] =
    ["●", "■", "▲", "◆", "▼", "⬟", "□", "✚", "⬢", "✖", "★", "◀", "▶", "△", "○"];

/// Shape at every point of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker(usize);

impl Marker {
    /// A filled square.
    pub const SQUARE: Self = Self(1);

    /// Returns the `nth` marker, and starts again after the last.
    #[must_use]
    pub const fn nth(nth: usize) -> Self {
        Self(nth % COLOURS.len())
    }

    /// Returns the hollow form.
    const fn hollow(self) -> Self {
        Self(match self.0 {
            1 => 6,
            2 => 13,
            _ => 14,
        })
    }

    pub(crate) fn glyph(self) -> &'static str {
        GLYPHS[self.0]
    }
}

/// Colour, marker and line of a series. The same look means the same thing in every plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    colour: u32,
    pub(crate) marker: Option<Marker>,
    pub(crate) line: Line,
    pub(crate) is_strong: bool,
}

/// The line of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
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
    pub(crate) const GUIDE: Self =
        Self { colour: 0x7f8894, marker: None, line: Line::Dashed, is_strong: false };

    /// Returns the `nth` look; the first 14 share neither colour nor marker.
    #[must_use]
    pub const fn nth(nth: usize) -> Self {
        let colour = COLOURS[nth % COLOURS.len()];
        let marker = Some(Marker::nth(nth + nth / COLOURS.len()));
        Self { colour, marker, line: Line::Solid, is_strong: false }
    }

    pub(crate) const fn colour(self) -> RGBColor {
        let [_, red, green, blue] = self.colour.to_be_bytes();
        RGBColor(red, green, blue)
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
        Self { line: Line::None, marker: Some(Marker::SQUARE.hollow()), ..self }
    }

    /// Returns the look of the same filter in another form: a dashed line and a hollow marker.
    #[must_use]
    pub const fn variant(self) -> Self {
        let marker = match self.marker {
            Some(marker) => marker.hollow(),
            None => Marker(14),
        };
        Self { marker: Some(marker), line: Line::Dashed, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::{COLOURS, GLYPHS, Look};

    /// Relative luminance of WCAG.
    fn luminance(colour: u32) -> f64 {
        let [_, red, green, blue] = colour.to_be_bytes().map(|value| {
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn every_colour_contrasts_with_the_panel() {
        for colour in COLOURS {
            let contrast = 1.05 / (luminance(colour) + 0.05);
            assert!(contrast >= 3.0, "{colour:06x}: {contrast:.2}");
        }
    }

    #[test]
    fn no_two_looks_share_a_colour_or_a_marker() {
        for (a, b) in (0..14).flat_map(|a| (0..a).map(move |b| (a, b))) {
            assert_ne!(Look::nth(a).colour, Look::nth(b).colour);
            assert_ne!(GLYPHS[a], GLYPHS[b]);
        }
    }
}
