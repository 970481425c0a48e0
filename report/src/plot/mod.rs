//! Plots as SVG, and what they show as CSV: lines and points with markers, the legend in a margin of its own.

mod series;

use std::{ops::Range, path::Path};

use anyhow::Result;
use plotters::{
    coord::{
        Shift,
        ranged1d::{AsRangedCoord, ValueFormatter},
    },
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use series::Marker;
pub use series::Series;

/// Width and height of a plot, and of the margin with the legend, in pixels.
const SIZE: (u32, u32) = (960, 520);
const LEGEND: u32 = 260;

/// A plot before it is drawn.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The file's name, without `.svg`.
    pub name: &'static str,
    /// What stands above it.
    pub title: String,
    x: String,
    y: String,
    log_x: bool,
    whole_x: bool,
    log_y: bool,
    y_range: Option<(f64, f64)>,
    series: Vec<Series>,
}

impl Chart {
    /// A plot without series.
    #[must_use]
    pub fn new(name: &'static str, title: &str) -> Self {
        let (x, y) = (String::new(), String::new());
        Self {
            name,
            title: title.into(),
            x,
            y,
            log_x: false,
            whole_x: false,
            log_y: false,
            y_range: None,
            series: Vec::new(),
        }
    }

    /// What the x axis shows, and its unit.
    #[must_use]
    pub fn x(self, x: &str) -> Self {
        Self { x: x.into(), ..self }
    }

    /// What the y axis shows, and its unit.
    #[must_use]
    pub fn y(self, y: &str) -> Self {
        Self { y: y.into(), ..self }
    }

    /// Numbers of things, of which there are no fractions.
    #[must_use]
    pub fn whole_x(self) -> Self {
        Self { whole_x: true, ..self }
    }

    /// A logarithmic x axis.
    #[must_use]
    pub fn log_x(self) -> Self {
        Self { log_x: true, ..self }
    }

    /// A logarithmic y axis.
    #[must_use]
    pub fn log_y(self) -> Self {
        Self { log_y: true, ..self }
    }

    /// The y axis shows just these values, whatever the points are.
    #[must_use]
    pub fn y_range(self, from: f64, to: f64) -> Self {
        Self { y_range: Some((from, to)), ..self }
    }

    /// The plot with one series more.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.push(series);
        self
    }

    /// Adds a line; points that are not numbers are left out.
    pub fn push(&mut self, mut series: Series) {
        series.points.retain(|(x, y)| x.is_finite() && y.is_finite());
        if !series.points.is_empty() {
            self.series.push(series);
        }
    }

    /// Whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// The plot as the text of an SVG file.
    ///
    /// # Errors
    /// If an axis cannot show the points.
    pub fn svg(&self) -> Result<String> {
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            let drawn = self.draw(&root).and_then(|()| root.present());
            drawn.map_err(|error| anyhow::anyhow!("cannot draw {}: {error}", self.name))?;
        }
        Ok(text)
    }

    /// Writes `NAME.svg` into a folder.
    ///
    /// # Errors
    /// If the plot cannot be drawn or the file cannot be written.
    pub fn write_svg(&self, folder: &Path) -> Result<()> {
        Ok(std::fs::write(folder.join(self.name).with_extension("svg"), self.svg()?)?)
    }

    /// Writes `NAME.csv` into a folder: what the plot shows.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_csv(&self, folder: &Path) -> Result<()> {
        let mut file = csv::Writer::from_path(folder.join(self.name).with_extension("csv"))?;
        file.write_record(["series", &self.x, &self.y])?;
        for series in &self.series {
            for (x, y) in &series.points {
                file.write_record([&series.name, &x.to_string(), &y.to_string()])?;
            }
        }
        Ok(file.flush()?)
    }

    fn draw(&self, root: &Area<'_>) -> Drawn {
        root.fill(&WHITE)?;
        let (left, right) = root.split_horizontally(SIZE.0 - LEGEND);
        self.draw_legend(&right)?;
        let (x, y) = (
            range(self.all(|point| point.0), self.log_x, false),
            self.y_range.map_or_else(
                || range(self.all(|point| point.1), self.log_y, true),
                |(from, to)| from..to,
            ),
        );
        match (self.log_x, self.log_y) {
            (false, false) => self.draw_lines(&left, x, y),
            (false, true) => self.draw_lines(&left, x, y.log_scale()),
            (true, false) => self.draw_lines(&left, x.log_scale(), y),
            (true, true) => self.draw_lines(&left, x.log_scale(), y.log_scale()),
        }
    }

    fn all(&self, coordinate: impl Fn(&(f64, f64)) -> f64 + Copy) -> impl Iterator<Item = f64> {
        self.series.iter().flat_map(move |series| series.points.iter().map(coordinate))
    }

    fn draw_lines<X, Y>(&self, area: &Area<'_>, x: X, y: Y) -> Drawn
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 20))
            .margin(12)
            .x_label_area_size(48)
            .y_label_area_size(72)
            .build_cartesian_2d(x, y)?;
        let number = |value: &f64| format!("{}", (value * 1e6).round() / 1e6);
        let x_number = |value: &f64| {
            let hidden = self.whole_x && (value - value.round()).abs() > 1e-6;
            if hidden { String::new() } else { number(value) }
        };
        let mut mesh = chart.configure_mesh();
        if self.whole_x {
            mesh.disable_x_mesh();
        }
        mesh.x_desc(&self.x)
            .y_desc(&self.y)
            .x_label_formatter(&x_number)
            .y_label_formatter(&number)
            .y_labels(12)
            .label_style(("sans-serif", 13))
            .axis_desc_style(("sans-serif", 15))
            .light_line_style(WHITE)
            .bold_line_style(BLACK.mix(0.12))
            .draw()?;
        for series in &self.series {
            let (line, points) = (series.points.iter().copied(), series.points.iter().copied());
            if series.has_line() {
                chart.draw_series(LineSeries::new(line, series.stroke()))?;
            }
            let (style, stroke) = (series.stroke().color.filled(), series.stroke());
            match series.marker() {
                Some(Marker::Circle) => {
                    chart.draw_series(points.map(|at| Circle::new(at, 4, style)))?;
                }
                Some(Marker::Triangle) => {
                    chart.draw_series(points.map(|at| TriangleMarker::new(at, 6, style)))?;
                }
                Some(Marker::Cross) => {
                    chart.draw_series(points.map(|at| Cross::new(at, 5, style)))?;
                }
                Some(Marker::Square) => {
                    let square = [(-6, -6), (6, 6)];
                    chart.draw_series(
                        points.map(|at| EmptyElement::at(at) + Rectangle::new(square, stroke)),
                    )?;
                }
                None => {}
            }
        }
        Ok(())
    }

    fn draw_legend(&self, area: &Area<'_>) -> Drawn {
        let text = ("sans-serif", 13).into_text_style(area).pos(Pos::new(HPos::Left, VPos::Center));
        for (nth, series) in self.series.iter().enumerate() {
            let y = 56 + 24 * nth as i32;
            if series.has_line() {
                area.draw(&PathElement::new([(4, y), (32, y)], series.stroke()))?;
            }
            let (at, style) = ((18, y), series.stroke().color.filled());
            match series.marker() {
                Some(Marker::Circle) => area.draw(&Circle::new(at, 4, style))?,
                Some(Marker::Triangle) => area.draw(&TriangleMarker::new(at, 6, style))?,
                Some(Marker::Cross) => area.draw(&Cross::new(at, 5, style))?,
                Some(Marker::Square) => {
                    let corners = [(at.0 - 6, at.1 - 6), (at.0 + 6, at.1 + 6)];
                    area.draw(&Rectangle::new(corners, series.stroke()))?;
                }
                None => {}
            }
            area.draw(&Text::new(series.name.clone(), (40, y), text.clone()))?;
        }
        Ok(())
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// An axis that shows all values: from zero where that says something, with some air above.
fn range(values: impl Iterator<Item = f64>, log: bool, from_zero: bool) -> Range<f64> {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if log {
        return low.max(1e-9) / 1.3..high.max(1e-9) * 1.3;
    }
    let air = if high > low { (high - low) * 0.05 } else { high.abs() * 0.1 + 1.0 };
    if from_zero { 0.0..high + air } else { low - air..high + air }
}

#[cfg(test)]
mod tests {
    use super::{Chart, Series, range};

    #[test]
    fn axes_show_all_values() {
        for log in [false, true] {
            let axis = range([1.0, 30.0, 5.0].into_iter(), log, false);
            assert!(axis.start < 1.0 && axis.end > 30.0);
        }
        assert!(range([7.0].into_iter(), false, true).contains(&7.0));
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        let chart = Chart::new("x", "x").with(Series::line(0, "empty", vec![(0.0, f64::NAN)]));
        assert!(chart.is_empty());
    }
}
