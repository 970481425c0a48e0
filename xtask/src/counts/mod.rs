//! `cargo xtask counts`: counts the instructions per operation, and compares them with the recorded
//! ones.
//!
//! The operations are those of `benches/counts/`. They run under valgrind, with the compiler of the
//! record, so the counts hardly depend on the machine. They say nothing about cache misses and
//! about waits, which `guira-bench` measures.

mod callgrind;
mod recorded;

use std::{collections::BTreeMap, fmt::Write};

use anyhow::{Result, bail, ensure};
use clap::Args;

use recorded::Counts;

/// The largest change that passes, as a fraction of the recorded count.
const MAX_CHANGE: f64 = 0.03;

/// The smallest change that is shown. The record has one decimal.
const MIN_SHOWN: f64 = 0.002;

/// Options of the command.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Fail if a count has risen by more than 3 %. This is the default.
    #[arg(long, conflicts_with = "record")]
    check: bool,
    /// Record the counts.
    #[arg(long)]
    record: bool,
    /// Record the counts with another compiler, for example 1.95.0.
    #[arg(long, value_name = "VERSION", requires = "record")]
    toolchain: Option<String>,
}

/// Runs the command. Returns `false` if the counts are not those of the record.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let root = crate::root();
    let recorded = Counts::read(&root)?;
    let toolchain = options.toolchain.as_deref().unwrap_or(recorded.toolchain());
    ensure!(!toolchain.is_empty(), "nothing is recorded: name a compiler by --toolchain");
    let compiler = match callgrind::compiler(toolchain) {
        Ok(compiler) => compiler,
        Err(missing) if options.record => bail!(missing),
        Err(missing) => {
            println!("instruction counts skipped: {missing}");
            return Ok(true);
        }
    };
    let now = Counts { operations: callgrind::count(&root, toolchain)?, compiler };
    let changes = Changes::between(&recorded, &now);
    print!("{}", changes.table());
    if options.record {
        now.write(&root)?;
        println!("{} counts recorded, with {}", now.operations.len(), now.compiler);
        return Ok(true);
    }
    ensure!(
        now.compiler == recorded.compiler,
        "toolchain {toolchain} is {}, but the record is of {}",
        now.compiler,
        recorded.compiler
    );
    println!("{} operations counted. {}", now.operations.len(), changes.verdict());
    Ok(changes.pass())
}

/// The operations whose counts differ from the recorded ones.
#[derive(Debug, Default)]
struct Changes {
    /// Operation, recorded count, count now. One of the two is missing if the operation is new or
    /// gone.
    rows: Vec<(String, Option<f64>, Option<f64>)>,
}

impl Changes {
    fn between(recorded: &Counts, now: &Counts) -> Self {
        let before: BTreeMap<_, _> = recorded.operations.iter().cloned().collect();
        let after: BTreeMap<_, _> = now.operations.iter().cloned().collect();
        let gone = recorded.operations.iter().filter(|(name, _)| !after.contains_key(name));
        let rows =
            now.operations.iter().chain(gone).map(|(name, _)| {
                (name.clone(), before.get(name).copied(), after.get(name).copied())
            });
        let differs = |&(_, before, after): &(_, Option<f64>, Option<f64>)| {
            change(before, after).is_none_or(|change| change.abs() > MIN_SHOWN)
        };
        Self { rows: rows.filter(differs).collect() }
    }

    /// The number of operations whose change meets a condition. The change is `None` where an
    /// operation is new or gone.
    fn number(&self, condition: impl Fn(Option<f64>) -> bool) -> usize {
        self.rows.iter().filter(|(_, before, after)| condition(change(*before, *after))).count()
    }

    /// Returns whether no operation is new or gone, and none takes many more instructions.
    fn pass(&self) -> bool {
        self.number(|change| change.is_none_or(|change| change > MAX_CHANGE)) == 0
    }

    fn verdict(&self) -> String {
        let limit = MAX_CHANGE * 100.0;
        let slower = self.number(|change| change.is_some_and(|change| change > MAX_CHANGE));
        let faster = self.number(|change| change.is_some_and(|change| change < -MAX_CHANGE));
        let other = self.number(|change| change.is_none());
        let mut text = format!("FAILED: {slower} rose by more than {limit} %");
        if slower == 0 {
            text = format!("None rose by more than {limit} %");
        }
        if other > 0 {
            write!(text, "; FAILED: {other} are not in the record, or only there").unwrap();
        }
        if faster > 0 {
            write!(text, "; {faster} fell by more than {limit} %").unwrap();
        }
        if slower + faster + other > 0 {
            text += ".\nTo accept the counts of now: cargo xtask counts --record";
        }
        text + "."
    }

    /// A table of the changes, with a heading; empty if there are none.
    fn table(&self) -> String {
        let mut text = String::new();
        if self.rows.is_empty() {
            return text;
        }
        let width = self.rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
        let mut row = |name: &str, cells: [String; 3], mark: &str| {
            let [before, after, change] = cells;
            let line = format!("{name:width$} {before:>10} {after:>10} {change:>9}  {mark}");
            text += line.trim_end();
            text.push('\n');
        };
        row("operation", ["recorded", "now", "change"].map(str::to_owned), "");
        for (name, before, after) in &self.rows {
            let cell = |count: &Option<f64>| count.map_or("-".to_owned(), |it| format!("{it:.1}"));
            let (percent, mark) = match change(*before, *after) {
                None => ("-".to_owned(), if before.is_none() { "new" } else { "gone" }),
                Some(change) => (format!("{:+.1} %", change * 100.0), mark(change)),
            };
            row(name, [cell(before), cell(after), percent], mark);
        }
        text
    }
}

/// Returns by how much a count has changed, as a fraction of the recorded one.
fn change(before: Option<f64>, after: Option<f64>) -> Option<f64> {
    Some(after? / before? - 1.0)
}

/// The remark about a change.
fn mark(change: f64) -> &'static str {
    match change {
        _ if change > MAX_CHANGE => "SLOWER",
        _ if change < -MAX_CHANGE => "faster",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(operations: &[(&str, f64)]) -> Counts {
        let operations = operations.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
        Counts { compiler: String::new(), operations }
    }

    #[test]
    fn only_more_instructions_and_other_operations_fail() {
        let recorded = counts(&[("a", 100.0), ("b", 50.0)]);
        let changes = |a, b| Changes::between(&recorded, &counts(&[("a", a), ("b", b)]));
        assert!(changes(100.0, 50.0).pass() && changes(100.0, 50.0).table().is_empty());
        assert!(changes(102.9, 20.0).pass());
        assert!(changes(102.9, 20.0).verdict().contains("1 fell by more than 3 %"));
        assert!(!changes(103.1, 20.0).pass());
        assert!(changes(103.1, 20.0).verdict().starts_with("FAILED: 1 rose by more than 3 %"));
        assert!(!Changes::between(&recorded, &counts(&[("a", 100.0)])).pass());
        assert!(!Changes::between(&counts(&[("a", 100.0)]), &recorded).pass());
    }

    #[test]
    fn the_table_shows_what_has_changed() {
        let recorded = counts(&[("a", 100.0), ("b", 50.0), ("c", 8.0), ("e", 1.0)]);
        let now = counts(&[("a", 105.0), ("b", 40.0), ("d", 8.0), ("e", 1.0)]);
        let table = "operation   recorded        now    change\n\
                     a              100.0      105.0    +5.0 %  SLOWER\n\
                     b               50.0       40.0   -20.0 %  faster\n\
                     d                  -        8.0         -  new\n\
                     c                8.0          -         -  gone\n";
        let trimmed = Changes::between(&recorded, &now).table();
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&trimmed), words(table));
    }
}
