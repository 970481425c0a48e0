//! Figure 2: the load factor by the size of the fingerprint, the bucket and the table.

use guira_harness::{
    plot::{Chart, Marker, Series},
    table::Table,
};

use super::{
    Outcome, Row,
    loads::{Loads, measure, slot_look},
};
use crate::{Options, simulation::Shape};

/// The fingerprint sizes.
const BITS: std::ops::RangeInclusive<u32> = 1..=20;
/// Slots per bucket, and the load in per cent that section 5.1 states for them.
const SLOTS: [(usize, f64); 4] = [(1, 50.0), (2, 84.0), (4, 95.0), (8, 98.0)];
/// The table sizes of each report, as binary logarithms of buckets, and their default runs.
const SIZES: [(u32, usize); 2] = [(15, 10), (20, 2)];
/// Binary logarithm of the number of buckets, and the fingerprint bits, of one point at the size of
/// the paper's larger tables. It is the shortest fingerprint that section 4 calls sufficient.
const LARGE: (u32, u32) = (25, 6);

/// Loads by fingerprint size.
#[derive(Clone)]
struct Curve {
    log_buckets: u32,
    slots: usize,
    /// The load in per cent that the paper states for long fingerprints.
    paper: f64,
    loads: Vec<Loads>,
}

impl Curve {
    /// Returns the plateau of the curve: the load of fingerprints of 16 bits and more.
    fn plateau(&self, load: impl Fn(&Loads) -> f64) -> f64 {
        let long = BITS.zip(&self.loads).filter(|(bits, _)| *bits >= 16);
        let loads: Vec<f64> = long.map(|(_, loads)| load(loads)).collect();
        loads.iter().sum::<f64>() / loads.len() as f64
    }

    /// Returns the shortest fingerprint whose load is within two points of the plateau.
    fn shortest(&self) -> u32 {
        let enough = self.plateau(Loads::minimum) - 2.0;
        let mut long = BITS.zip(&self.loads).filter(|(_, loads)| loads.minimum() >= enough);
        long.next().map_or(0, |(bits, _)| bits)
    }
}

fn curves(options: &Options) -> Vec<Curve> {
    let more = options.log_buckets().iter().map(|&log_buckets| (log_buckets, 1));
    let sizes = SIZES.into_iter().chain(more);
    let curve = |((log_buckets, runs), (slots, paper))| {
        let (log_buckets, runs) = (options.log(log_buckets), options.runs_or(runs));
        let specs: Vec<_> = BITS.map(|bits| (Shape::new(log_buckets, slots, bits), runs)).collect();
        Curve { log_buckets, slots, paper, loads: measure(&specs) }
    };
    sizes.flat_map(|size| SLOTS.map(|slots| (size, slots))).map(curve).collect()
}

/// Reproduces the figure.
pub fn run(options: &Options) -> Outcome {
    let curves = curves(options);
    let large = measure(&[(Shape::new(options.log(LARGE.0), 4, LARGE.1), 1)]);
    let mut head = vec!["bits".to_string()];
    let name = |curve: &Curve| format!("b = {}, 2^{} buckets", curve.slots, curve.log_buckets);
    head.extend(curves.iter().map(|curve| format!("{}: minimum (mean) %", name(curve))));
    let mut table = Table { name: "figure-2-loads", head, rows: Vec::new() };
    for (index, bits) in BITS.enumerate() {
        let loads = curves.iter().map(|curve| &curve.loads[index]);
        let loads = loads.map(|loads| format!("{:.2} ({:.2})", loads.minimum(), loads.mean()));
        table.push(std::iter::once(bits.to_string()).chain(loads).collect());
    }
    let mut chart = Chart::new("figure-2", "Figure 2: minimum load at the first refusal")
        .x("fingerprint bits")
        .y("load, %")
        .whole_x();
    for (index, curve) in curves.iter().enumerate() {
        let minima = BITS.zip(&curve.loads).map(|(bits, loads)| (bits.into(), loads.minimum()));
        // The colour shows the slots per bucket, the marker the table size.
        let look = slot_look(curve.slots).marker(Marker::nth(1 + index / SLOTS.len()));
        chart.push(Series::new(look, name(curve), minima.collect()));
    }
    for (slots, load) in SLOTS {
        let look = slot_look(slots).without_line();
        chart.push(Series::new(look, format!("b = {slots}: the paper's text"), vec![(20.0, load)]));
    }
    let note = "Random items are inserted until one does not fit after 500 relocations of the \
        paper's random walk. As in the paper, the plots show the minimum over the runs. The paper \
        plots its loads without numbers, for 4 and 8 slots per bucket. Its text gives 95 and 98 % \
        for them (section 4), and 50 and 84 % for 1 and 2 slots (section 5.1); the plot shows \
        these values as squares.\n\n\
        Section 4 says that the fingerprints needed are longer in larger tables and shorter with \
        larger buckets. The rows on the shortest fingerprint check both. It also says that six \
        bits suffice in tables of up to 2^30 buckets; a row checks this with 2^25. The section \
        `loads` of `guira-bench` fills guira's own tables until they refuse an item."
        .into();
    let mut rows = rows(&curves);
    rows.push(large_row(large[0].mean()));
    Outcome { rows, tables: vec![table], charts: vec![chart], note }
}

/// Compares the load of six-bit fingerprints in a large table.
fn large_row(load: f64) -> Row {
    let (log, bits) = LARGE;
    let location = format!("Section 4, b = 4, f = {bits}, 2^{log} buckets");
    Row::new(location, "load at the first refusal, one run", load, "%")
        .printed(95.0)
        .within(1.0)
        .note("six bits suffice; tolerance a point")
}

/// Checks the load of long fingerprints, and the text's claims on the shortest ones.
fn rows(curves: &[Curve]) -> Vec<Row> {
    let mut rows = Vec::new();
    for curve in curves {
        let (log, slots) = (curve.log_buckets, curve.slots);
        let section = if slots >= 4 { "Section 4" } else { "Section 5.1" };
        let location = format!("{section}, b = {slots}, 2^{log} buckets");
        let quantity = "mean load at the first refusal, long fingerprints";
        rows.push(
            Row::new(location, quantity, curve.plateau(Loads::mean), "%")
                .printed(curve.paper)
                .within(2.0)
                .note("mean over 16 to 20 bits; tolerance 2 points")
                .reason(match slots {
                    1 => {
                        "the threshold of one slot and two choices is 50 % in the limit of large \
                         tables; where it differs, a path of 500 relocations ended earlier or later"
                    }
                    2 => {
                        "section 5.1 also says that two slots take less space than four above \
                         0.2 %, which is reproduced but needs 87 % by the paper's formulas"
                    }
                    _ => "",
                }),
        );
    }
    for curve in curves {
        let (log, slots) = (curve.log_buckets, curve.slots);
        let half_slots = curves.iter().find(|it| it.log_buckets == log && it.slots == slots / 2);
        let smaller = curves.iter().find(|it| it.log_buckets < log && it.slots == slots);
        let location = format!("Section 4, b = {slots}, 2^{log} buckets");
        let quantity = "shortest fingerprint within 2 points of the plateau";
        let row = Row::new(location, quantity, curve.shortest().into(), "bits");
        rows.push(if half_slots.is_none() && smaller.is_none() {
            row.note("the first of the curves, which the others are compared with")
        } else {
            let from = smaller.map_or(0, Curve::shortest);
            let to = half_slots.map_or(u32::MAX, Curve::shortest);
            row.holds(from.into()..=to.into()).note(
                "not longer than with half the slots per bucket, and not shorter than in a \
                 smaller table",
            )
        });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{BITS, Curve, Loads, SLOTS, large_row, rows};
    use crate::experiments::row::assert_each_row_can_change;

    /// Curves that reach the paper's loads, plus a difference, at so many bits.
    fn curves(difference: f64, shortest: impl Fn(u32, usize) -> u32) -> Vec<Curve> {
        let sizes = [15, 20].into_iter().flat_map(|log| SLOTS.map(|slots| (log, slots)));
        let curve = |(log_buckets, (slots, paper))| {
            let needed = shortest(log_buckets, slots);
            let load = |bits| if bits < needed { paper / 2.0 } else { paper + difference };
            let loads = BITS.map(|bits| Loads(vec![load(bits); 2])).collect();
            Curve { log_buckets, slots, paper, loads }
        };
        sizes.map(curve).collect()
    }

    #[test]
    fn each_row_can_change() {
        let theory = |log: u32, slots: usize| 2 + log / (2 * slots as u32);
        let inputs = [
            curves(0.0, theory),
            curves(-3.0, theory),
            curves(0.0, |log, slots| 12 - theory(log, slots).min(11)),
            curves(0.0, |_, slots| slots as u32),
        ];
        assert_each_row_can_change(&inputs, |curves| rows(curves));
        assert_each_row_can_change(&[95.3, 80.0], |&load| vec![large_row(load)]);
    }
}
