//! The library's mutants, found by the list of their places and by the orderings in its source, and
//! its text with all of them in it.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result, ensure};

use super::{
    change::{Change, Fault, Tables},
    copy::Build,
    instrument::{Edits, delays_within},
    orderings,
    places::{self, Place},
    switch,
    syntax::Syntax,
};
use crate::source::{self, Source};

/// Files, or folders, with steps that only tables with values have, or tables that grow.
/// Semi-sorted words occur in neither.
const ONLY_PLAIN: [&str; 3] =
    ["src/table/expiry/", "src/table/fixed/values.rs", "src/table/split/"];

/// The library with a fault.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    /// Unique, and independent of line numbers.
    pub(crate) name: String,
    /// The fault in a few words.
    pub(crate) what: String,
    /// File and line of the fault.
    pub(crate) place: String,
    /// What it does to the statement; `None` for a weakened ordering.
    pub(super) change: Option<Change>,
    /// Whether a model that runs out of time counts as having noticed it.
    pub(super) may_hang: bool,
    /// The builds whose models must notice it.
    pub(crate) builds: &'static [Build],
    /// Why it may survive, by the layout of the models.
    reasons: [Option<String>; 2],
}

/// The builds with models that can notice a fault.
fn builds(only_plain: bool) -> &'static [Build] {
    if only_plain { &Build::WITH_VALUES } else { &Build::ALL }
}

impl Mutant {
    /// Whether it is a weakened ordering.
    pub(crate) fn is_of_an_ordering(&self) -> bool {
        self.change.is_none()
    }

    /// Why it may survive the models of a build.
    pub(crate) fn explanation(&self, build: Build) -> Option<&str> {
        self.reasons[build as usize].as_deref()
    }
}

/// The library with all mutants in it.
#[derive(Debug)]
pub(crate) struct Library {
    /// In the order of their numbers, from 1: the orderings, then the structural ones.
    pub(crate) mutants: Vec<Mutant>,
    /// The files, in which the selected mutant comes to life.
    pub(super) sources: Vec<Source>,
}

impl Library {
    /// Finds the mutants of the library in a folder, which are those of the catalogue.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let faults: Vec<Fault> = super::catalogue::faults().collect();
        let places = places::read(root)?;
        Self::instrument(&source::read(root, "src")?, &faults, &places)
    }

    /// Finds the mutants of these files, and rewrites them.
    ///
    /// # Errors
    /// When a place has no fault of its name, a fault has no place or several, or the statement
    /// there is missing or cannot be changed in the way of the fault. All of these are reported
    /// together.
    fn instrument(sources: &[Source], faults: &[Fault], listed: &[Place]) -> Result<Self> {
        let mut problems = Vec::new();
        let mut files = Vec::new();
        let mut mutants = Vec::new();
        for source in sources {
            let syntax = Syntax::parse(&source.text).context(source.path.clone())?;
            let mut edits = Edits::default();
            for site in orderings::sites(&source.text, &syntax.tokens) {
                let first = mutants.len() + 1;
                for weaker in site.weaker {
                    mutants.push(ordering_mutant(source, &site, weaker, &mutants));
                }
                let numbers: Vec<usize> = (first..=mutants.len()).collect();
                edits.weaken(&site, &numbers);
            }
            files.push((source, syntax, edits));
        }
        let mut places: BTreeMap<&str, String> = BTreeMap::new();
        for (source, syntax, edits) in &mut files {
            let here = listed.iter().filter(|place| place.file == source.path);
            let mark = mark((source, here), syntax, edits, faults, mutants.len(), &mut places);
            problems.extend(mark.into_iter().map(|problem| format!("{}: {problem}", source.path)));
        }
        for fault in faults {
            let Fault { name, change, may_hang, reasons, only_plain, .. } = fault;
            let place = places.get(name).cloned().unwrap_or_default();
            if place.is_empty() {
                problems.push(format!("`{name}` has no place in a file of the source"));
            }
            mutants.push(Mutant {
                name: full_name(fault, faults),
                what: fault.what.to_owned(),
                place,
                change: Some(*change),
                may_hang: *may_hang,
                builds: builds(*only_plain),
                reasons: reasons.map(|reason| reason.map(str::to_owned)),
            });
        }
        ensure!(problems.is_empty(), "the mutants do not fit the source:\n{}", problems.join("\n"));
        let mut sources: Vec<Source> = files
            .into_iter()
            .map(|(source, _, edits)| {
                let mut text = edits.applied_to(&source.text);
                if source.path == "src/lib.rs" {
                    text = format!("#![allow(warnings)]\n{text}\nmod mutants;\n");
                }
                Source { path: source.path.clone(), text }
            })
            .collect();
        sources.push(Source { path: "src/mutants.rs".to_owned(), text: switch::module(&mutants)? });
        Ok(Self { mutants, sources })
    }
}

/// The name of a mutant, which differs from that of the same mutant in other tables.
fn full_name(fault: &Fault, faults: &[Fault]) -> String {
    let has_twin =
        || faults.iter().any(|twin| twin.name == fault.name && twin.tables != fault.tables);
    if fault.tables == Tables::Growing && has_twin() {
        format!("{}, growing", fault.name)
    } else {
        fault.name.to_owned()
    }
}

/// A mutant of an ordering. `earlier` are those before it, with which it must not share its name.
fn ordering_mutant(
    source: &Source,
    site: &orderings::Site,
    weaker: &str,
    earlier: &[Mutant],
) -> Mutant {
    let file = source.path.trim_start_matches("src/").trim_end_matches(".rs");
    let orderings::Site { function, ordering, line, .. } = site;
    let named = |number: &str| format!("{file}: {function}: {ordering}{number} to {weaker}");
    let is_free = |name: &String| earlier.iter().all(|mutant| mutant.name != *name);
    let mut name = named("");
    for number in 2..=earlier.len() + 1 {
        if is_free(&name) {
            break;
        }
        name = named(&format!(" {number}"));
    }
    Mutant {
        name,
        what: "weakened".to_owned(),
        place: format!("{}:{line}", source.path),
        change: None,
        may_hang: false,
        builds: builds(ONLY_PLAIN.iter().any(|only| source.path.starts_with(only))),
        reasons: [(); 2].map(|()| site.explanation(weaker)),
    }
}

/// Adds the edits of a file's places, and notes where they are; returns what is wrong with them.
fn mark<'a, 'p>(
    (source, listed): (&Source, impl Iterator<Item = &'p Place>),
    syntax: &Syntax,
    edits: &mut Edits,
    faults: &'a [Fault],
    orderings: usize,
    places: &mut BTreeMap<&'a str, String>,
) -> Vec<String> {
    let mut problems = Vec::new();
    // By the first byte of the statement.
    let mut marked = BTreeMap::new();
    for Place { names, function, statement, .. } in listed {
        let node = match syntax.node_at(function, statement) {
            Ok(node) => node,
            Err(error) => {
                problems.push(format!("`{function}`: `{statement}`: {error:#}"));
                continue;
            }
        };
        let line = source.text[..node.range.start].lines().count();
        for name in names {
            // Several, if their statement stands in code for several tables.
            let named = || (0..).zip(faults).filter(|(_, fault)| fault.name == *name);
            let Some((_, fault)) = named().next() else {
                problems.push(format!("no mutant is named `{name}`"));
                continue;
            };
            if let Some(first) = places.insert(fault.name, format!("{}:{line}", source.path)) {
                problems.push(format!("`{name}` is planted at {first} as well"));
            }
            let (_, mutants) = marked.entry(node.range.start).or_insert_with(|| (node, Vec::new()));
            mutants.extend(named().map(|(index, fault): (usize, &Fault)| {
                (orderings + 1 + index, fault.change, fault.tables)
            }));
        }
    }
    let mut delays: BTreeMap<usize, Vec<_>> = BTreeMap::new();
    for (node, mutants) in marked.into_values() {
        let result = edits.mark(syntax, node, &mutants).and_then(|()| {
            if let Some((block, _)) = node.position {
                let within = delays_within(&syntax.blocks[block], node, &mutants)?;
                delays.entry(block).or_default().extend(within);
            }
            Ok(())
        });
        if let Err(error) = result {
            let names: Vec<_> =
                mutants.iter().map(|(number, ..)| faults[number - orderings - 1].name).collect();
            problems.push(format!("`{}`: {error:#}", names.join(", ")));
        }
    }
    for (block, delays) in delays {
        edits.delay(&syntax.blocks[block], &delays);
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::change::{Half, fault};

    /// The library of one file with these faults at these places, or the message of the error.
    fn library(text: &str, faults: &[Fault], places: &str) -> Result<Library, String> {
        let source = Source { path: "src/a.rs".to_owned(), text: text.to_owned() };
        let places = places::parse(&format!("src/a.rs\n{places}")).unwrap();
        Library::instrument(&[source], faults, &places).map_err(|error| format!("{error:#}"))
    }

    /// The text of the file with the mutants in it, on one line.
    fn instrumented(text: &str, changes: &[Change], places: &str) -> String {
        let names = ["a", "b", "c"];
        let faults: Vec<Fault> =
            names.iter().zip(changes).map(|(name, change)| fault(name, "", *change)).collect();
        let text = library(text, &faults, places).unwrap().sources[0].text.clone();
        let text = text.replace("crate::mutants::", "");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn places_and_mutants_must_match() {
        let text = "fn f() { g(); h() }";
        let [a, b] = ["a", "b"].map(|name| fault(name, "", Change::Delete));
        assert!(library(text, &[a], "a @ f: g()").is_ok());
        for (text, faults, places, problem) in [
            (text, &[][..], "a @ f: g()", "src/a.rs: no mutant is named `a`"),
            (text, &[a, b], "a @ f: g()", "`b` has no place in a file of the source"),
            (text, &[a], "a @ f: g()\na @ f: h()", "`a` is planted at src/a.rs:1 as well"),
            (text, &[a], "a @ f: i()", "src/a.rs: `f`: `i()`: nothing that can be changed"),
            ("fn f() { let x = 1; }", &[a], "a @ f: let x", "`a`: a `let` cannot be deleted"),
        ] {
            let error = library(text, faults, places).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
        let condition = fault("a", "", Change::Condition("true"));
        let unconditional = library(text, &[condition], "a @ f: g()").unwrap_err();
        assert!(unconditional.contains("there is no condition to change"), "{unconditional}");
        let last = library(text, &[fault("a", "", Change::Delay(2))], "a @ f: g()").unwrap_err();
        assert!(last.contains("fewer than 2 statements follow"), "{last}");
    }

    #[test]
    fn tables_share_a_place() {
        let faults = [Tables::Fixed, Tables::Growing]
            .map(|tables| fault("a", "", Change::Delete).only_in(tables));
        let library = library("fn f() { g(); }", &faults, "a @ f: g()").unwrap();
        let names: Vec<_> = library.mutants.iter().map(|mutant| mutant.name.as_str()).collect();
        assert_eq!(names, ["a", "a, growing"]);
        let text = library.sources[0].text.replace("crate::mutants::", "");
        let expected = "if !((on(1) && !S::GROWS) | (on(2) && S::GROWS)) { g(); }";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn statements_are_changed() {
        use Change::{After, Before, Condition, Delay, Delete, During, Instead, Rebind, Weaken};
        let body = |statement: &str| format!("fn f() {{ {statement} }}");
        for (statement, change, expected) in [
            ("g();", Delete, "if !(on(1)) { g(); }"),
            ("g();", Before("x"), "if on(1) { x } g();"),
            ("g();", After("x"), "g(); if on(1) { x }"),
            ("let x = y;", Instead("$ + 1"), "let x = (if on(1) { y + 1 } else { y });"),
            ("return x;", Instead("z"), "return if on(1) { z } else { x };"),
            ("if x { y }", Condition("z"), "if (if on(1) { z } else { x }) { y }"),
            ("let g = h();", During("a"), "let g = ({ let _extent1 = extent(1, true); h() });"),
            ("h()", Weaken(Half::Acquire), "{ let _extent1 = extent(1, true); h() }"),
            (
                "g.x();",
                Rebind { name: "g", value: "z" },
                "let g = if on(1) { z } else { g }; g.x();",
            ),
            ("g(); h();", Delay(1), "if on(1) { h(); g(); } else { g(); h(); }"),
            (
                "let x = g(); let mut y = h(); z",
                Delay(1),
                "let (x, mut y,) = if on(1) { let mut y = h(); let x = g(); (x, y,) } \
                 else { let x = g(); let mut y = h(); (x, y,) }; z",
            ),
        ] {
            let expected = format!("fn f() {{ {expected} }}");
            let place = format!("a @ f: {statement}");
            assert_eq!(instrumented(&body(statement), &[change], &place), expected);
        }
    }

    #[test]
    fn changes_nest_and_overlap() {
        let text = "fn f() { g(); h(Acquire); i(); }";
        let places = "a @ f: g()\nb, c @ f: h(";
        let changes = [Change::Delay(1), Change::Delay(1), Change::Instead("z")];
        // The ordering is mutant 1.
        let h = "(if on(4) { z } else { h(order(Acquire, &[(1, ::core::sync::atomic::Ordering::Relaxed)])) });";
        let expected = format!(
            "fn f() {{ if on(2) {{ {h} g(); i(); }} else if on(3) {{ g(); i(); {h} }} \
             else {{ g(); {h} i(); }} }}"
        );
        assert_eq!(instrumented(text, &changes, places), expected);
    }
}
