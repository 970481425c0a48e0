//! What the last recorded run of the mutants found: executions of models, and killers of mutants.
//! The tables in the documentation are its only home; see [`crate::docs`].

use std::collections::BTreeMap;

/// The contents of the tables.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// By model: executions with the plain and with the semi-sorted layout.
    pub(crate) executions: BTreeMap<String, [u64; 2]>,
    /// By mutant: the models that killed it, one with each layout. Empty where none did.
    pub(crate) killers: BTreeMap<String, [String; 2]>,
}

impl Recorded {
    /// Reads the tables of a page.
    pub(crate) fn parse(page: &str) -> Self {
        let mut recorded = Self::default();
        for line in page.lines() {
            let Some(row) = line.strip_prefix("| `").and_then(|row| row.strip_suffix(" |")) else {
                continue;
            };
            let cells: Vec<&str> = row.split(" | ").collect();
            let [name, _, result] = cells[..] else { continue };
            let name = name.trim_end_matches('`').to_owned();
            if let Some(executions) = executions(result) {
                recorded.executions.insert(name, executions);
            } else if result.starts_with(['`', 'n']) {
                recorded.killers.insert(name, killers(result));
            }
        }
        recorded
    }
}

/// The executions in a cell: `1,042`, or `1,042, semi-sorted 998`.
fn executions(cell: &str) -> Option<[u64; 2]> {
    let (plain, semi_sorted) = cell.split_once(", semi-sorted ").unwrap_or((cell, cell));
    let number = |text: &str| text.replace(',', "").parse().ok();
    Some([number(plain)?, number(semi_sorted)?])
}

/// The killers in a cell, which has one part if the same holds with both layouts.
fn killers(cell: &str) -> [String; 2] {
    // A reason can contain a semicolon, so other parts belong to the reason before them.
    let parts = cell.split("; ").filter_map(|part| {
        let name = part.strip_prefix('`').and_then(|part| part.strip_suffix('`'));
        let name = name.filter(|name| !name.contains(['`', ' ']));
        if part.starts_with("none: ") { Some("") } else { name }
    });
    let parts: Vec<&str> = parts.collect();
    [parts.first(), parts.last()].map(|part| part.map_or("", |part| *part).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read() {
        let page = "| model | what it is for | executions |\n|---|---|---|\n\
                    | `a` | Catches | 1,042 |\n| `b` | catches | 7, semi-sorted 8 |\n\n\
                    | `c: d to e` | weakened | `a`; none: it is right; `b` sees it |\n\
                    | `f` | left out | `b` |\n| other | table | 1 |\n";
        let recorded = Recorded::parse(page);
        let executions = recorded.executions.iter().map(|(name, of)| (name.as_str(), *of));
        assert!(executions.eq([("a", [1042; 2]), ("b", [7, 8])]));
        let killers = recorded.killers.iter().map(|(name, [a, b])| [&name[..], a, b]);
        assert!(killers.eq([["c: d to e", "a", ""], ["f", "b", "b"]]));
    }
}
