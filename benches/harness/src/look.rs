//! Looks: the colours, markers and lines that identify the series of a plot.

/// Colours of the series, guira's first: each has a contrast of at least 3 to white.
const COLOURS: [(u8, u8, u8); 14] = [
    (0xe6, 0x19, 0x4b),
    (0x2f, 0x7e, 0xd8),
    (0x2f, 0x9e, 0x44),
    (0x84, 0x89, 0x1c),
    (0xc9, 0x74, 0x1b),
    (0x8c, 0x62, 0xd6),
    (0xc0, 0x51, 0xb6),
    (0x0e, 0x9a, 0xa7),
    (0x5c, 0x6b, 0xc0),
    (0xa9, 0x78, 0x3f),
    (0x4d, 0x8f, 0x7b),
    (0x74, 0x80, 0x8c),
    (0x6a, 0x99, 0x4e),
    (0xb0, 0x70, 0x5f),
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
    pub(crate) colour: (u8, u8, u8),
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
        Self { colour: (0x7f, 0x88, 0x94), marker: None, line: Line::Dashed, is_strong: false };

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
    fn luminance((red, green, blue): (u8, u8, u8)) -> f64 {
        let channel = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue)
    }

    #[test]
    fn every_colour_contrasts_with_the_panel() {
        for colour in COLOURS {
            let contrast = 1.05 / (luminance(colour) + 0.05);
            assert!(contrast >= 3.0, "{colour:?}: {contrast:.2}");
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
