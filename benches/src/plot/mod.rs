//! Plots as SVG, and their points as CSV: lines with markers, each labelled at its end.

mod axis;
mod draw;
mod labels;
mod series;

use std::path::Path;

use anyhow::Result;

use axis::Axis;
pub use series::{Look, Marker, Series};

/// A plot.
#[derive(Clone, Debug)]
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
    y_range: Option<(f64, f64)>,
    series: Vec<Series>,
}

impl Chart {
    /// Returns a plot without series.
    #[must_use]
    pub fn new(name: &'static str, title: &str) -> Self {
        Self {
            name,
            title: title.into(),
            x: String::new(),
            y: String::new(),
            log_x: false,
            whole_x: false,
            log_y: false,
            y_range: None,
            series: Vec::new(),
        }
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

    /// Fixes the ends of the y axis.
    #[must_use]
    pub fn y_range(self, from: f64, to: f64) -> Self {
        Self { y_range: Some((from, to)), ..self }
    }

    /// Adds a series.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.push(series);
        self
    }

    /// Adds several series.
    #[must_use]
    pub fn with_all(self, series: impl IntoIterator<Item = Series>) -> Self {
        series.into_iter().fold(self, Self::with)
    }

    /// Adds a series without its points that are not finite.
    pub fn push(&mut self, mut series: Series) {
        series.points.retain(|(x, y)| x.is_finite() && y.is_finite());
        if !series.points.is_empty() {
            self.series.push(series);
        }
    }

    /// Returns whether there is no point to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// Returns the plot as the text of an SVG file.
    ///
    /// # Errors
    /// If there is no point to show.
    pub fn svg(&self) -> Result<String> {
        anyhow::ensure!(!self.is_empty(), "the plot {} has no points", self.name);
        Ok(draw::svg(self))
    }

    /// Writes `NAME.svg` into a folder.
    ///
    /// # Errors
    /// If there is no point to show, or the file cannot be written.
    pub fn write_svg(&self, folder: &Path) -> Result<()> {
        Ok(std::fs::write(folder.join(self.name).with_extension("svg"), self.svg()?)?)
    }

    /// Writes the points as `NAME.csv` into a folder.
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

    fn x_axis(&self) -> Axis {
        let values = self.points().map(|point| point.0);
        match (self.log_x, self.whole_x) {
            (true, _) => Axis::log(values),
            (_, true) => Axis::whole(values),
            _ => Axis::linear(values, false),
        }
    }

    fn y_axis(&self) -> Axis {
        let values = self.points().map(|point| point.1);
        match (self.log_y, self.y_range) {
            (true, _) => Axis::log(values),
            (_, Some((low, high))) => Axis::between(low, high),
            _ => Axis::linear(values, true),
        }
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        self.series.iter().flat_map(|series| series.points.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::{Chart, Series};

    #[test]
    fn points_that_are_not_finite_are_left_out() {
        let chart = Chart::new("x", "x").with(Series::line(0, "empty", vec![(0.0, f64::NAN)]));
        assert!(chart.is_empty() && chart.svg().is_err());
    }

    #[test]
    fn an_svg_has_every_series_and_escapes_its_name() {
        let chart = Chart::new("x", "a & b")
            .log_y()
            .with(Series::line(0, "guira", vec![(1.0, 2.0), (2.0, 20.0)]))
            .with(Series::line(1, "RwLock<T>", vec![(1.0, 3.0), (2.0, 2.0)]));
        let svg = chart.svg().expect("points");
        assert!(
            svg.contains(">guira<")
                && svg.contains(">RwLock&lt;T&gt;<")
                && svg.contains("a &amp; b")
        );
    }
}
