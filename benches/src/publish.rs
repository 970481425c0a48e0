//! The figures in `BENCHMARKS.md` and `README.md`: blocks and plots that `--publish` replaces, so
//! that no figure is copied by hand.
//!
//! A block begins with the line `<!-- measured: NAME -->` and ends with `<!-- end -->`. NAME is
//! `run` for the facts of the run, `figures of SECTION`, or the name of a table.

use std::{fmt::Write, fs, path::Path};

use anyhow::{Context, Result, bail, ensure};
use guira_harness::plot::Chart;

use crate::bench::Results;

const BEGIN: &str = "<!-- measured: ";
const BEGIN_ENDS: &str = " -->";
const END: &str = "<!-- end -->";
const PLOTS: &str = "benches/plots";
const DOCUMENTS: [&str; 2] = ["BENCHMARKS.md", "README.md"];

/// Replaces the blocks of both documents in the folder of the repository, and the plots that it
/// has.
///
/// # Errors
/// If the run is incomplete, or a block is not part of it. Then no document is changed.
pub fn publish(root: &Path, facts: &[(&str, String)], results: &Results) -> Result<()> {
    ensure!(results.missing.is_empty(), "the run is incomplete: {:?}", results.missing);
    let blocks = |name: &str| block(name, facts, results);
    let filled = DOCUMENTS.map(|name| {
        let path = root.join(name);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok((path, fill(&text, blocks).context(name)?))
    });
    for document in filled.into_iter().collect::<Result<Vec<_>>>()? {
        fs::write(&document.0, document.1)?;
    }
    let plots = root.join(PLOTS);
    let is_shown = |chart: &&Chart| plots.join(chart.name).with_extension("svg").exists();
    results.charts.iter().filter(is_shown).try_for_each(|chart| chart.write_svg(&plots))
}

/// Returns the content of a block, or `None` if the run has none of this name.
fn block(name: &str, facts: &[(&str, String)], results: &Results) -> Option<String> {
    if name == "run" {
        let facts = facts.iter().map(|(name, fact)| format!("- {name}: {fact}\n"));
        return Some(facts.chain([format!("- duration: {:.0} s\n", results.seconds)]).collect());
    }
    let named = || results.tables.iter().find(|(_, table)| table.name == name);
    let table = match name.strip_prefix("figures of ") {
        Some(section) => results.figures_of(section),
        None => named()?.1.clone(),
    };
    (!table.rows.is_empty()).then(|| table.markdown())
}

/// Returns a document with the content of its blocks replaced.
fn fill(text: &str, block: impl Fn(&str) -> Option<String>) -> Result<String> {
    let (mut filled, mut lines) = (String::new(), text.lines());
    while let Some(line) = lines.next() {
        writeln!(filled, "{line}")?;
        let name = line.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(BEGIN_ENDS));
        let Some(name) = name else { continue };
        let content = block(name).with_context(|| format!("nothing measured is `{name}`"))?;
        writeln!(filled, "{}\n{END}", content.trim_end())?;
        if !lines.by_ref().any(|line| line == END) {
            bail!("the block `{name}` has no end");
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use guira_harness::table::Table;

    use super::{DOCUMENTS, Results, block, fill};
    use crate::figure::Figure;

    #[test]
    fn only_the_content_of_a_block_is_replaced() {
        let text = "a\n<!-- measured: x -->\nold\n<!-- end -->\nb\n";
        let fill = |text: &str| fill(text, |name| (name == "x").then(|| "new\n".to_owned()));
        let filled = fill(text).expect("a known block");
        assert_eq!(filled, "a\n<!-- measured: x -->\nnew\n<!-- end -->\nb\n");
        assert_eq!(fill(&filled).expect("again"), filled);
        assert!(fill("<!-- measured: y -->\n<!-- end -->\n").is_err(), "unknown");
        assert!(fill("<!-- measured: x -->\n").is_err(), "no end");
    }

    #[test]
    fn blocks_are_the_facts_the_figures_of_a_section_and_tables() {
        let mut results = Results::default();
        results.seconds = 7.4;
        let mut table = Table::new("t", &["a"]);
        results.tables.push(("heading", table.clone()));
        assert_eq!(block("t", &[], &results), None, "no rows");
        table.push(vec!["1".into()]);
        results.tables[0].1 = table;
        for section in ["s", "u"] {
            results.figures.push(Figure::new(format!("one of {section}"), 1.0, "P"));
            results.end_section(section);
        }
        let block = |name| block(name, &[("machine", "m".into())], &results);
        assert_eq!(block("t").expect("a table"), "| a |\n| --- |\n| 1 |\n");
        assert_eq!(block("run").expect("facts"), "- machine: m\n- duration: 7 s\n");
        let figures = block("figures of u").expect("a figure");
        assert!(figures.contains("one of u") && !figures.contains("one of s"), "{figures}");
        assert_eq!(block("figures of v"), None);
    }

    #[test]
    fn every_block_of_the_documents_has_an_end() {
        for name in DOCUMENTS {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
            let text = std::fs::read_to_string(path).expect("a document");
            assert_ne!(fill(&text, |_| Some(String::new())).expect(name), text, "{name}");
        }
    }
}
