//! The text that the program prints.

use std::fmt::Write;

use crate::{RATE, Row, WINDOW, workload::Workload};

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
    text += "                         bytes per item  M/s, 1 thread  M/s, 2 threads  \
             accepted twice  by 2 threads  new, refused  by 2 threads\n";
    for Row { name, outcomes: [one, two] } in rows {
        let bytes = one.bytes as f64 / workload.remembered() as f64;
        let refused =
            [one, two].map(|it| 100.0 * it.mistakes.refused as f64 / it.mistakes.due as f64);
        let [accepted, by_two] = [one, two].map(|outcome| outcome.mistakes.accepted);
        write!(text, "{name:<23}  {bytes:>14.2}  {:>13.2}  {:>14.2}", one.speed, two.speed)
            .and_then(|()| write!(text, "  {accepted:>14}  {by_two:>12}"))
            .and_then(|()| writeln!(text, "  {:>10.3} %  {:>10.3} %", refused[0], refused[1]))
            .expect("a string accepts everything");
    }
    text + "\n\"Accepted twice\" counts messages that were accepted again within the window. \
            Speeds include\nwhat a tick costs.\n"
}
