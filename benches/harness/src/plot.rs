//! Plots as SVG, and their points as CSV: lines with markers, each named beside the plot.

use std::path::Path;

use anyhow::{Context, Result};
use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

pub use crate::look::{Look, Marker};
use crate::{
    axis::{Axis, TICKS, ends},
    look::Line,
};

/// Width and height of a plot in pixels.
const SIZE: (u32, u32) = (960, 540);
/// Left edge of the names of the series.
const NAMES: u32 = 690;
/// Distance between two names.
const NAME_DISTANCE: usize = 20;
/// Top of the first bar, left edge and largest length of the bars, and distance between two.
const BARS_TOP: u32 = 44;
const BARS_LEFT: i32 = 270;
const BAR_LENGTH: i32 = 590;
const BAR_DISTANCE: u32 = 30;
const INK: RGBColor = RGBColor(0x1f, 0x23, 0x28);

/// Points with a name and a look.
#[derive(Clone, Debug)]
pub struct Series {
    name: String,
    points: Vec<(f64, f64)>,
    /// The minimum and the maximum of each point that was measured several times; CSV files have
    /// them.
    ranges: Vec<[f64; 2]>,
    look: Look,
}

impl Series {
    /// Returns a line with a marker at every point.
    #[must_use]
    pub fn new(look: Look, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, ranges: Vec::new(), look }
    }

    /// Adds the minimum and the maximum of each point.
    #[must_use]
    pub fn ranges(self, ranges: Vec<[f64; 2]>) -> Self {
        Self { ranges, ..self }
    }

    /// Returns a thin line without markers: a floor or a limit.
    #[must_use]
    pub fn guide(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self::new(Look::GUIDE, name, points)
    }
}

/// A plot.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Chart {
    /// Name of the file, without `.svg`.
    pub name: &'static str,
    /// Title above the plot.
    pub title: String,
    x: String,
    y: String,
    log_x: bool,
    whole_x: bool,
    log_y: bool,
    bars: bool,
    series: Vec<Series>,
}

impl Chart {
    /// Returns a plot without series.
    #[must_use]
    pub fn new(name: &'static str, title: &str) -> Self {
        Self { name, title: title.into(), ..Self::default() }
    }

    /// Names the x axis and its unit.
    #[must_use]
    pub fn x(self, x: &str) -> Self {
        Self { x: x.into(), ..self }
    }

    /// Names the y axis and its unit.
    #[must_use]
    pub fn y(self, y: &str) -> Self {
        Self { y: y.into(), ..self }
    }

    /// Makes the x axis one of whole numbers.
    #[must_use]
    pub fn whole_x(self) -> Self {
        Self { whole_x: true, ..self }
    }

    /// Makes the x axis logarithmic.
    #[must_use]
    pub fn log_x(self) -> Self {
        Self { log_x: true, ..self }
    }

    /// Makes the y axis logarithmic.
    #[must_use]
    pub fn log_y(self) -> Self {
        Self { log_y: true, ..self }
    }

    /// Adds several series.
    #[must_use]
    pub fn with_all(mut self, series: impl IntoIterator<Item = Series>) -> Self {
        series.into_iter().for_each(|series| self.push(series));
        self
    }

    /// Adds a series without its points that are not finite.
    pub fn push(&mut self, mut series: Series) {
        let is_finite = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
        let mut points = series.points.iter();
        series.ranges.retain(|_| points.next().is_some_and(is_finite));
        series.points.retain(is_finite);
        if !series.points.is_empty() {
            self.series.push(series);
        }
    }

    /// Returns whether there is no point to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// Draws a bar for each series, in their order, in place of lines. Its length is the first `y`.
    #[must_use]
    pub fn bars(self) -> Self {
        Self { bars: true, ..self }
    }

    /// Returns the plot as the text of an SVG file.
    fn svg(&self) -> Result<String> {
        let mut svg = String::new();
        let drawn = if self.bars {
            let height = BARS_TOP + BAR_DISTANCE * self.series.len() as u32 + 10;
            self.draw_bars(SVGBackend::with_string(&mut svg, (SIZE.0, height)))
        } else {
            self.draw(SVGBackend::with_string(&mut svg, SIZE))
        };
        drawn.with_context(|| format!("the plot {}", self.name))?;
        Ok(svg)
    }

    /// Writes `NAME.svg` into a folder.
    ///
    /// # Errors
    /// If the plot cannot be drawn, or the file not written.
    pub fn write_svg(&self, folder: &Path) -> Result<()> {
        Ok(std::fs::write(folder.join(self.name).with_extension("svg"), self.svg()?)?)
    }

    /// Writes the points as `NAME.csv` into a folder.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_csv(&self, folder: &Path) -> Result<()> {
        let mut file = csv::Writer::from_path(folder.join(self.name).with_extension("csv"))?;
        file.write_record(["series", &self.x, &self.y, "minimum", "maximum"])?;
        for series in &self.series {
            for (index, (x, y)) in series.points.iter().enumerate() {
                let range = series.ranges.get(index).map(|range| range.map(|end| end.to_string()));
                let [low, high] = range.unwrap_or_default();
                file.write_record([&series.name, &x.to_string(), &y.to_string(), &low, &high])?;
            }
        }
        Ok(file.flush()?)
    }

    fn draw(&self, backend: SVGBackend<'_>) -> Result<()> {
        let root = backend.into_drawing_area();
        root.fill(&WHITE)?;
        let font = |size: u32, style| ("sans-serif", size, style).into_font().color(&INK);
        let (normal, bold) = (font(13, FontStyle::Normal), FontStyle::Bold);
        root.draw(&Text::new(&*self.title, (20, 16), font(18, bold)))?;
        root.draw(&Text::new(&*self.y, (20, 46), normal.clone()))?;
        let (area, names) = root.margin(64, 6, 6, 6).split_horizontally(NAMES);
        let mut chart = ChartBuilder::on(&area)
            .margin_right(10)
            .x_label_area_size(46)
            .y_label_area_size(76)
            .build_cartesian_2d(self.x_axis(), self.y_axis())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .max_light_lines(0)
            .bold_line_style(RGBColor(0xe3, 0xe7, 0xeb))
            .axis_style(RGBColor(0x8c, 0x95, 0x9f))
            .label_style(normal.clone())
            .x_desc(&*self.x)
            .draw()?;
        // guira last, on top of the others.
        let mut ordered: Vec<&Series> = self.series.iter().collect();
        ordered.sort_by_key(|series| series.look.is_strong);
        for Series { points, look, .. } in ordered {
            let points = points.iter().copied();
            match look.line {
                Line::Solid => {
                    chart.draw_series(LineSeries::new(points.clone(), style(*look)))?;
                }
                Line::Dashed => {
                    chart.draw_series(DashedLineSeries::new(points.clone(), 6, 4, style(*look)))?;
                }
                Line::None => {}
            }
            if let Some(marker) = look.marker {
                let marker = |at| Text::new(marker.glyph(), at, marker_style(*look));
                chart.draw_series(points.map(marker))?;
            }
        }
        // The names from top to bottom, as the lines end.
        let end = |series: &Series| {
            let last = series.points.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
            last.map_or(0.0, |last| last.1)
        };
        let mut ordered: Vec<&Series> = self.series.iter().collect();
        ordered.sort_by(|a, b| end(b).total_cmp(&end(a)));
        for (Series { name, look, .. }, at) in
            ordered.into_iter().zip((10..).step_by(NAME_DISTANCE))
        {
            names.draw(&PathElement::new([(2, at), (26, at)], style(*look)))?;
            if let Some(marker) = look.marker {
                names.draw(&Text::new(marker.glyph(), (14, at), marker_style(*look)))?;
            }
            let font = if look.is_strong { font(13, bold) } else { normal.clone() };
            names.draw(&Text::new(
                &**name,
                (34, at),
                font.pos(Pos::new(HPos::Left, VPos::Center)),
            ))?;
        }
        Ok(root.present()?)
    }

    fn draw_bars(&self, backend: SVGBackend<'_>) -> Result<()> {
        let root = backend.into_drawing_area();
        root.fill(&WHITE)?;
        let font = |size: u32, style| ("sans-serif", size, style).into_font().color(&INK);
        root.draw(&Text::new(&*self.title, (20, 16), font(18, FontStyle::Bold)))?;
        let longest = self.points().map(|point| point.1).fold(0.0, f64::max);
        let tops = (BARS_TOP..).step_by(BAR_DISTANCE as usize).map(|top| top as i32);
        for (Series { name, points, look, .. }, top) in self.series.iter().zip(tops) {
            let time = points[0].1;
            let end = BARS_LEFT + (time / longest * f64::from(BAR_LENGTH)) as i32;
            let bar = Rectangle::new([(BARS_LEFT, top), (end, top + 20)], look.colour().filled());
            root.draw(&bar)?;
            let style = if look.is_strong { FontStyle::Bold } else { FontStyle::Normal };
            let at = |horizontal| font(15, style).pos(Pos::new(horizontal, VPos::Center));
            root.draw(&Text::new(&**name, (BARS_LEFT - 10, top + 10), at(HPos::Right)))?;
            root.draw(&Text::new(format!("{time:.1}"), (end + 8, top + 10), at(HPos::Left)))?;
        }
        Ok(root.present()?)
    }

    fn x_axis(&self) -> Axis {
        let values = self.points().map(|point| point.0);
        let mut axis = Axis::new(ends(values.clone()), self.log_x);
        let mut whole: Vec<f64> = values.map(f64::round).collect();
        whole.sort_unstable_by(f64::total_cmp);
        whole.dedup();
        if self.whole_x && whole.len() <= TICKS {
            axis.ticks = whole;
        }
        axis
    }

    fn y_axis(&self) -> Axis {
        let (low, high) = ends(self.points().map(|point| point.1));
        if self.log_y {
            return Axis::new((low, high), true);
        }
        // Without space below zero.
        Axis::between(0.0, Axis::new((0.0, high), false).range.end)
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        self.series.iter().flat_map(|series| series.points.iter().copied())
    }
}

fn style(look: Look) -> ShapeStyle {
    let width = match (look.is_strong, look.line) {
        (_, Line::None) => 0,
        (true, _) => 3,
        (false, _) => 2,
    };
    look.colour().stroke_width(width)
}

fn marker_style(look: Look) -> TextStyle<'static> {
    let font = ("sans-serif", if look.is_strong { 17 } else { 14 }).into_font();
    font.color(&look.colour()).pos(Pos::new(HPos::Center, VPos::Center))
}

#[cfg(test)]
mod tests {
    use super::{Chart, Look, Series};

    #[test]
    fn points_that_are_not_finite_are_left_out() {
        let points = vec![(1.0, f64::NAN), (2.0, 3.0)];
        let mut chart = Chart::new("x", "x");
        chart.push(Series::new(Look::GUIRA, "empty", points[..1].to_vec()));
        assert!(chart.is_empty());
        chart.push(Series::new(Look::GUIRA, "x", points).ranges(vec![[0.0, 1.0], [2.0, 4.0]]));
        assert_eq!(chart.series[0].points, [(2.0, 3.0)]);
        assert_eq!(chart.series[0].ranges, [[2.0, 4.0]]);
    }

    #[test]
    fn an_svg_has_every_series_and_escapes_its_name() {
        let mut chart = Chart::new("x", "a & b").log_y();
        chart.push(Series::new(Look::GUIRA, "guira", vec![(1.0, 2.0), (2.0, 20.0)]));
        chart.push(Series::new(Look::nth(1), "RwLock<T>", vec![(1.0, 3.0), (2.0, 2.0)]));
        let svg = chart.svg().expect("points");
        for text in ["guira", "RwLock&lt;T&gt;", "a &amp; b"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
    }

    #[test]
    fn few_whole_values_are_the_ticks() {
        let points = [4.0, 1.0, 2.0, 1.0].map(|x| (x, 1.0)).to_vec();
        let chart =
            Chart::new("x", "x").whole_x().with_all([Series::new(Look::GUIRA, "x", points)]);
        assert_eq!(chart.x_axis().ticks, [1.0, 2.0, 4.0]);
    }
}
