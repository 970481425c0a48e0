//! The text that the program prints.

use std::fmt::Write;

use crate::{RATE, Row, WINDOW, replay::Outcome, workload::Workload};

const HEAD: [&str; 8] = [
    "",
    "bytes per item",
    "M/s, 1 thread",
    "M/s, 2 threads",
    "accepted twice",
    "by 2 threads",
    "new, refused",
    "by 2 threads",
];

/// Writes the table of a run.
pub fn report(workload: &Workload, rows: &[Row]) -> String {
    let mut text = format!(
        "deliveries       {}\n\
         window           {WINDOW} ticks\n\
         remembered       {} messages at most\n\
         target rate      {} % of new messages refused\n\n",
        workload.len(),
        workload.remembered(),
        100.0 * RATE,
    );
    let mut table = vec![HEAD.map(String::from)];
    table.extend(rows.iter().map(|row| cells(row, workload.remembered())));
    let widths: [usize; 8] =
        std::array::from_fn(|at| table.iter().map(|row| row[at].len()).max().unwrap_or_default());
    for row in table {
        let [name, figures @ ..] = row;
        write!(text, "{name:<width$}", width = widths[0]).expect("a string accepts everything");
        for (figure, width) in figures.iter().zip(&widths[1..]) {
            write!(text, "  {figure:>width$}").expect("a string accepts everything");
        }
        text.push('\n');
    }
    text + "\n\"Accepted twice\" counts messages that were accepted again within the window. \
            Speeds include\nwhat a tick costs.\n"
}

fn cells(row: &Row, remembered: usize) -> [String; 8] {
    let [one, two] = &row.outcomes;
    let refused = |outcome: &Outcome| {
        let mistakes = outcome.mistakes;
        format!("{:.3} %", 100.0 * mistakes.refused as f64 / mistakes.due as f64)
    };
    [
        row.name.into(),
        format!("{:.2}", one.bytes as f64 / remembered as f64),
        format!("{:.2}", one.speed),
        format!("{:.2}", two.speed),
        one.mistakes.accepted.to_string(),
        two.mistakes.accepted.to_string(),
        refused(one),
        refused(two),
    ]
}
