//! Draws a chart as SVG: a rounded panel, which follows the reader's light or dark colour scheme.

use std::fmt::Write;

use super::{
    Chart,
    axis::{Axis, number},
    labels::spread,
    series::{Line, Look, Marker, Series},
};

/// Width and height in pixels.
const SIZE: (f64, f64) = (960.0, 540.0);

/// Left, right, top and bottom edge of the plot area; the labels are right of it.
const AREA: [f64; 4] = [92.0, 684.0, 84.0, 484.0];

/// Left edge of the labels.
const LABELS: f64 = AREA[1] + 30.0;

/// Distance between two labels.
const LABEL_DISTANCE: f64 = 18.0;

/// Colours of the panel. Attributes have the light ones; the style sheet replaces them.
pub(super) const LIGHT_PANEL: &str = "#ffffff";
pub(super) const DARK_PANEL: &str = "#161b22";

/// The rest of the dark colours; the panel's comes before it.
const DARK: &str = ".guira-panel{stroke:#30363d}.guira-ink{fill:#e6edf3}.guira-muted{fill:#a3adb8}\
.guira-grid{stroke:#30363d}.guira-axis{stroke:#6e7681}";

/// Returns the text of an SVG file.
pub(super) fn svg(chart: &Chart) -> String {
    let mut svg = Svg { text: String::new(), x: chart.x_axis(), y: chart.y_axis() };
    svg.frame(chart);
    // guira last, on top of the others.
    let (strong, others): (Vec<&Series>, Vec<&Series>) =
        chart.series.iter().partition(|series| series.look.is_strong);
    for series in others.iter().chain(&strong) {
        svg.series(series);
    }
    svg.labels(&chart.series);
    svg.text + "</svg>\n"
}

struct Svg {
    text: String,
    x: Axis,
    y: Axis,
}

impl Svg {
    fn add(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.text.write_fmt(arguments).expect("a string accepts everything");
        self.text.push('\n');
    }

    /// Returns the place of a point in pixels.
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let [left, right, top, bottom] = AREA;
        (left + self.x.place(x) * (right - left), bottom - self.y.place(y) * (bottom - top))
    }

    /// Draws the panel, the titles, the grid and the ticks.
    fn frame(&mut self, chart: &Chart) {
        let (width, height) = SIZE;
        let [left, right, top, bottom] = AREA;
        self.add(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" font-family=\"system-ui,'Segoe UI',Roboto,'Helvetica Neue',\
             'DejaVu Sans',sans-serif\" font-size=\"13\">\n<title>{}</title>\n<style>@media \
             (prefers-color-scheme:dark){{.guira-panel{{fill:{DARK_PANEL}}}{DARK}}}</style>\n\
             <rect class=\"guira-panel\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"12\" \
             fill=\"{LIGHT_PANEL}\" stroke=\"#d0d7de\"/>",
            escape(&chart.title),
            width - 1.0,
            height - 1.0,
        ));
        self.words((24.0, 36.0), &chart.title, "guira-ink", "font-size=\"18\" font-weight=\"600\"");
        self.words((24.0, 62.0), &chart.y, "guira-muted", "");
        let middle = f64::midpoint(left, right);
        self.words((middle, height - 18.0), &chart.x, "guira-muted", "text-anchor=\"middle\"");
        for tick in self.y.ticks.clone() {
            let y = bottom - self.y.place(tick) * (bottom - top);
            self.add(format_args!(
                "<path class=\"guira-grid\" d=\"M{left} {y:.1}H{right}\" stroke=\"#e3e7eb\"/>"
            ));
            let at = (left - 9.0, y + 4.5);
            self.words(at, &number(tick), "guira-muted", "text-anchor=\"end\"");
        }
        self.add(format_args!(
            "<path class=\"guira-axis\" d=\"M{left} {bottom}H{right}\" stroke=\"#8c959f\"/>"
        ));
        for tick in self.x.ticks.clone() {
            let x = left + self.x.place(tick) * (right - left);
            self.add(format_args!(
                "<path class=\"guira-axis\" d=\"M{x:.1} {bottom}v5\" stroke=\"#8c959f\"/>"
            ));
            self.words((x, bottom + 20.0), &number(tick), "guira-muted", "text-anchor=\"middle\"");
        }
    }

    fn words(&mut self, (x, y): (f64, f64), text: &str, class: &str, more: &str) {
        let colour = if class == "guira-ink" { "#1f2328" } else { "#59636e" };
        let text = escape(text);
        self.add(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\" {more}>{text}</text>"
        ));
    }

    fn series(&mut self, series: &Series) {
        let points: Vec<_> = series.points.iter().map(|&point| self.place(point)).collect();
        let look = series.look;
        if look.line != Line::None && points.len() > 1 {
            let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            self.add(format_args!(
                "<path d=\"M{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{} \
                 stroke-linejoin=\"round\"/>",
                path.join("L"),
                look.colour,
                width(look),
                dashes(look),
            ));
        }
        for at in points {
            self.marker(look, at);
        }
    }

    fn marker(&mut self, look: Look, at: (f64, f64)) {
        let Some(marker) = look.marker else { return };
        let colour = look.colour;
        let size = if look.is_strong { 5.5 } else { 4.5 };
        let paint = match marker {
            // Hollow shapes show the panel.
            Marker::Ring | Marker::Frame | Marker::Hollow => {
                format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"")
            }
            Marker::Plus | Marker::Cross => {
                format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.4\"")
            }
            _ => format!("fill=\"{colour}\""),
        };
        self.add(format_args!("<path d=\"{}\" {paint}/>", outline(marker, at, size)));
    }

    /// Draws the names of the series at the line ends, with a thin line to each end.
    fn labels(&mut self, all: &[Series]) {
        let [left, right, top, bottom] = AREA;
        let ends: Vec<(f64, f64)> = all
            .iter()
            .map(|series| {
                let last = series.points.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
                self.place(last.expect("series have points"))
            })
            .collect();
        let targets: Vec<f64> = ends.iter().map(|end| end.1).collect();
        let places = spread(&targets, LABEL_DISTANCE, (top - 10.0, bottom + 20.0));
        for ((series, (x, y)), place) in all.iter().zip(ends).zip(places) {
            let look = series.look;
            // A line from far away would cross the others.
            if x > f64::midpoint(left, right) && series.points.len() > 1 && look.line != Line::None
            {
                self.add(format_args!(
                    "<path d=\"M{:.1} {y:.1}L{:.1} {place:.1}H{:.1}\" fill=\"none\" stroke=\"{}\" \
                     opacity=\"0.55\"/>",
                    x + 5.0,
                    LABELS - 14.0,
                    LABELS - 9.0,
                    look.colour,
                ));
            }
            if look.marker.is_some() {
                self.marker(look, (LABELS, place));
            } else {
                self.add(format_args!(
                    "<path d=\"M{:.1} {place:.1}h14\" stroke=\"{}\" stroke-width=\"{}\"{}/>",
                    LABELS - 7.0,
                    look.colour,
                    width(look),
                    dashes(look),
                ));
            }
            let strong = format!("style=\"fill:{}\" font-weight=\"700\"", look.colour);
            let more = if look.is_strong { &*strong } else { "" };
            self.words((LABELS + 11.0, place + 4.5), &series.name, "guira-ink", more);
        }
    }
}

fn width(look: Look) -> f64 {
    match (look.is_strong, look.marker, look.line) {
        (true, ..) => 3.5,
        (_, None, Line::Dashed) => 1.4,
        _ => 1.8,
    }
}

fn dashes(look: Look) -> &'static str {
    if look.line == Line::Dashed { " stroke-dasharray=\"6 4\"" } else { "" }
}

/// Returns the path of a marker.
fn outline(marker: Marker, (x, y): (f64, f64), size: f64) -> String {
    // Corners on a circle: how many, the first one's angle in turns, and the radius.
    let polygon = |corners: usize, turn: f64, radius: f64| {
        let corner = |nth: usize| {
            let angle = std::f64::consts::TAU * (turn + nth as f64 / corners as f64);
            format!("{:.1} {:.1}", x + radius * angle.cos(), y + radius * angle.sin())
        };
        let corners: Vec<String> = (0..corners).map(corner).collect();
        format!("M{}Z", corners.join("L"))
    };
    let up = -0.25;
    match marker {
        Marker::Circle | Marker::Ring => polygon(24, 0.0, size),
        Marker::Square | Marker::Frame => polygon(4, 0.125, size * 1.3),
        Marker::Diamond => polygon(4, 0.0, size * 1.35),
        Marker::Triangle | Marker::Hollow => polygon(3, up, size * 1.4),
        Marker::Down => polygon(3, -up, size * 1.4),
        Marker::Left => polygon(3, 0.5, size * 1.4),
        Marker::Right => polygon(3, 0.0, size * 1.4),
        Marker::Pentagon => polygon(5, up, size * 1.25),
        Marker::Hexagon => polygon(6, 0.0, size * 1.2),
        Marker::Star => {
            let corner = |nth: usize| {
                let angle = std::f64::consts::TAU * (up + nth as f64 / 10.0);
                let radius = if nth.is_multiple_of(2) { size * 1.6 } else { size * 0.65 };
                format!("{:.1} {:.1}", x + radius * angle.cos(), y + radius * angle.sin())
            };
            format!("M{}Z", (0..10).map(corner).collect::<Vec<_>>().join("L"))
        }
        Marker::Plus => format!(
            "M{:.1} {y:.1}H{:.1}M{x:.1} {:.1}V{:.1}",
            x - size * 1.2,
            x + size * 1.2,
            y - size * 1.2,
            y + size * 1.2
        ),
        Marker::Cross => format!(
            "M{0:.1} {2:.1}L{1:.1} {3:.1}M{0:.1} {3:.1}L{1:.1} {2:.1}",
            x - size,
            x + size,
            y - size,
            y + size
        ),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
