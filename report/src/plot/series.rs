//! What a plot shows: lines, points, and what they look like.

use plotters::prelude::*;

/// The palette of Okabe and Ito, which colour-blind readers can tell apart, without its yellow, which
/// is too faint on white.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(0, 0, 0),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// One line, with a marker at each point.
#[derive(Clone, Debug)]
pub struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    /// Which colour and marker it has.
    look: Look,
}

/// What a series looks like.
#[derive(Clone, Copy, Debug)]
enum Look {
    /// Colours one after another, and other markers once they are used up.
    Nth(usize),
    /// Hollow squares without a line, in the colour of a series: figures from elsewhere.
    Points(usize),
    /// A plain thin line, to compare others with.
    Guide,
}

impl Series {
    /// The `nth` series: the same number looks the same in every plot.
    #[must_use]
    pub fn line(nth: usize, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, look: Look::Nth(nth) }
    }

    /// Points of their own, in the colour of the `nth` series: what others have measured.
    #[must_use]
    pub fn points(nth: usize, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, look: Look::Points(nth) }
    }

    /// A limit or a floor.
    #[must_use]
    pub fn guide(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, look: Look::Guide }
    }

    /// Which marker, if any.
    pub(super) fn marker(&self) -> Option<Marker> {
        match self.look {
            Look::Nth(nth) if nth < COLOURS.len() => Some(Marker::Circle),
            Look::Nth(nth) if nth < 2 * COLOURS.len() => Some(Marker::Triangle),
            Look::Nth(_) => Some(Marker::Cross),
            Look::Points(_) => Some(Marker::Square),
            Look::Guide => None,
        }
    }

    pub(super) fn has_line(&self) -> bool {
        !matches!(self.look, Look::Points(_))
    }

    pub(super) fn stroke(&self) -> ShapeStyle {
        match self.look {
            // guira comes first, and stands out.
            Look::Nth(nth) => {
                COLOURS[nth % COLOURS.len()].stroke_width(if nth == 0 { 3 } else { 2 })
            }
            Look::Points(nth) => COLOURS[nth % COLOURS.len()].stroke_width(2),
            Look::Guide => BLACK.mix(0.6).stroke_width(1),
        }
    }
}

/// What stands at a point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Marker {
    Circle,
    Triangle,
    Cross,
    Square,
}
