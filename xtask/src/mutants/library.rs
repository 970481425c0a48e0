//! The library's mutants, those of the catalogue and those of the orderings in its source, and its
//! text with all of them in it.

use std::{collections::BTreeSet, path::Path};

use anyhow::{Context, Result, ensure};

use super::{
    catalogue::{self, Change, Place, Tables},
    copy::Build,
    instrument::Edits,
    orderings::{self, Site},
    switch,
    syntax::Syntax,
};
use crate::source::{self, Source};

/// Files, or folders, with steps that only tables with values have, or tables that grow.
/// Semi-sorted words occur in neither.
const ONLY_PLAIN: [&str; 6] = [
    "src/bucket/leveled.rs",
    "src/filter/expiring/",
    "src/filter/map/",
    "src/table/expiry/",
    "src/table/split/",
    "src/table/steps/values.rs",
];

/// The words whose models alone can notice a mutant in a file.
pub(super) fn words_of(file: &str) -> Option<Build> {
    ONLY_PLAIN.iter().any(|only| file.starts_with(only)).then_some(Build::Plain)
}

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
    /// The tables in which it is planted.
    pub(super) tables: Tables,
    /// Whether a model that runs out of time counts as having noticed it.
    pub(super) may_hang: bool,
    /// The words whose models alone can notice it.
    pub(super) only: Option<Build>,
    /// Why it may survive, by the layout of the models.
    pub(super) reasons: [Option<String>; 2],
}

impl Mutant {
    /// Whether it is a weakened ordering.
    pub(crate) fn is_of_an_ordering(&self) -> bool {
        self.change.is_none()
    }

    /// The builds whose models must notice it.
    pub(crate) fn builds(&self) -> &'static [Build] {
        match self.only {
            None => &Build::ALL,
            Some(Build::Plain) => &[Build::Plain],
            Some(Build::SemiSorted) => &[Build::SemiSorted],
        }
    }

    /// Why it may survive the models of a build.
    pub(crate) fn explanation(&self, build: Build) -> Option<&str> {
        self.reasons[build as usize].as_deref()
    }
}

/// The library with all mutants in it.
#[derive(Debug)]
pub(crate) struct Library {
    /// In the order of their numbers, from 1.
    pub(crate) mutants: Vec<Mutant>,
    /// The files, in which the selected mutant comes to life.
    pub(super) sources: Vec<Source>,
}

impl Library {
    /// Finds the mutants of the library in a folder.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        Self::instrument(&source::read(root, "src")?, catalogue::read(root)?)
    }

    /// Finds the mutants of these files, and rewrites them.
    ///
    /// # Errors
    /// When two mutants have the same name, or a statement is missing or cannot be changed in the
    /// way of a mutant. All of these are reported together.
    fn instrument(files: &[Source], mut places: Vec<Place>) -> Result<Self> {
        let (mut mutants, mut sources, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        for Source { path, text } in files {
            let syntax = Syntax::parse(text).context(path.clone())?;
            let mut edits = Edits::default();
            for site in orderings::sites(text).context(path.clone())? {
                edits.weaken(&site, mutants.len() + 1);
                for weaker in site.weaker {
                    mutants.push(ordering_mutant(path, &site, weaker, &mutants));
                }
            }
            for place in places.extract_if(.., |place| place.file == *path) {
                let Place { function, statement, mutants: planted, .. } = place;
                let marked = syntax.node_at(text, &function, &statement).and_then(|node| {
                    edits.mark(&syntax, node, mutants.len() + 1, &planted)?;
                    Ok(text[..node.range.start].lines().count())
                });
                match marked {
                    Ok(line) => mutants.extend(
                        planted
                            .into_iter()
                            .map(|mutant| Mutant { place: format!("{path}:{line}"), ..mutant }),
                    ),
                    Err(error) => {
                        problems.push(format!("{path}: {function}: {statement}: {error:#}"));
                    }
                }
            }
            let mut text = edits.applied_to(text, &syntax);
            if path == "src/lib.rs" {
                text = format!("#![allow(warnings)]\n{text}\nmod mutants;\n");
            }
            sources.push(Source { path: path.clone(), text });
        }
        problems.extend(places.iter().map(|place| format!("there is no {}", place.file)));
        let mut names = BTreeSet::new();
        let twice = mutants.iter().filter(|mutant: &&Mutant| !names.insert(&mutant.name));
        problems.extend(twice.map(|mutant| format!("two mutants have the name {}", mutant.name)));
        ensure!(problems.is_empty(), "the mutants do not fit the source:\n{}", problems.join("\n"));
        sources.push(Source { path: "src/mutants.rs".to_owned(), text: switch::module(&mutants)? });
        Ok(Self { mutants, sources })
    }
}

/// A mutant of an ordering. `earlier` are those before it, with which it must not share its name.
fn ordering_mutant(path: &str, site: &Site, weaker: &str, earlier: &[Mutant]) -> Mutant {
    let file = path.trim_start_matches("src/").trim_end_matches(".rs");
    let Site { function, ordering, line, .. } = site;
    let named = |number: String| format!("{file}: {function}: {ordering}{number} to {weaker}");
    let numbers = (2..).map(|number| format!(" {number}"));
    let mut all = std::iter::once(String::new()).chain(numbers).map(named);
    let is_free = |name: &String| earlier.iter().all(|mutant| mutant.name != *name);
    Mutant {
        name: all.find(is_free).expect("there are enough numbers"),
        what: "weakened".to_owned(),
        place: format!("{path}:{line}"),
        change: None,
        tables: Tables::All,
        may_hang: false,
        only: words_of(path),
        reasons: [(); 2].map(|()| site.explanation(weaker)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The library of one file with the mutants of these places, or the message of the error.
    fn library(text: &str, places: &str) -> Result<Library, String> {
        let source = Source { path: "src/a.rs".to_owned(), text: text.to_owned() };
        let places = catalogue::parse(&format!("src/a.rs\n{places}")).unwrap();
        Library::instrument(&[source], places).map_err(|error| format!("{error:#}"))
    }

    /// The text of the file with the mutants in it, on one line.
    fn instrumented(text: &str, places: &str) -> String {
        let text = library(text, places).unwrap().sources[0].text.clone();
        let text = text.replace("crate::mutants::", "");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn mutants_must_fit_the_source() {
        let text = "fn f() { g(); let x = 1; }";
        for (places, problem) in [
            ("@ f: g()\na: b | delete\na: b | delete", "two mutants have the name a"),
            ("@ f: i()\na: b | delete", "src/a.rs: f: i(): nothing that can be changed"),
            ("@ f: let x\na: b | delete", "src/a.rs: f: let x: a `let` cannot be deleted"),
            ("@ f: g()\na: b | if true", "there is no condition to change"),
            ("@ f: g()\na: b | delay 2", "fewer than 2 statements follow"),
            ("@ f: g()\na: b | during c", "a is to switch on c, which is no mutant"),
            ("src/b.rs\n@ f: g()\na: b | delete", "there is no src/b.rs"),
        ] {
            let error = library(text, places).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn tables_share_a_place() {
        let library = library("fn f() { g(); }", "@ f: g()\na, both: b | delete").unwrap();
        let names: Vec<_> = library.mutants.iter().map(|mutant| mutant.name.as_str()).collect();
        assert_eq!(names, ["a", "a, growing"]);
        let text = library.sources[0].text.replace("crate::mutants::", "");
        let expected = "if !((on(1) && !S::GROWS) | (on(2) && S::GROWS)) { g(); }";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn statements_are_changed() {
        for (statement, change, expected) in [
            ("g();", "delete", "if !(on(1)) { g(); }"),
            ("g();", "before x", "if on(1) { x } g();"),
            ("g();", "after x", "g(); if on(1) { x }"),
            ("let x = y;", "instead $ + 1", "let x = (if on(1) { y + 1 } else { y });"),
            ("return x;", "instead z", "return (if on(1) { z } else { x });"),
            ("if x { y }", "if z", "if (if on(1) { z } else { x }) { y }"),
            ("let g = h();", "during a", "let g = ({ let _extent1 = extent(1, on(1)); h() });"),
            ("h()", "without Acquire", "{ let _extent1 = extent(1, on(1)); h() }"),
            ("g.x();", "let g = z", "let g = if on(1) { z } else { g }; g.x();"),
            ("g(); h();", "delay 1", "if on(1) { h(); g(); } else { g(); h(); }"),
            (
                "let x = g(); let mut y = h(); z",
                "delay 1",
                "let (x, mut y, ) = if on(1) { let mut y = h(); let x = g(); (x, y, ) } \
                 else { let x = g(); let mut y = h(); (x, y, ) }; z",
            ),
        ] {
            let text = format!("fn f() {{ {statement} }}");
            let places = format!("@ f: {statement}\na: b | {change}");
            assert_eq!(instrumented(&text, &places), format!("fn f() {{ {expected} }}"));
        }
    }

    #[test]
    fn changes_nest_and_overlap() {
        let text = "fn f() { g(); h(Acquire); i(); }";
        let places = "@ f: g()\na: b | delay 1\n@ f: h(\nc: d | delay 1\ne: f | instead z";
        // The ordering is mutant 1.
        let h = "(if on(4) { z } else { h(order(Acquire, &[(1, ::core::sync::atomic::Ordering::Relaxed)])) });";
        let expected = format!(
            "fn f() {{ if on(2) {{ {h} g(); i(); }} else if on(3) {{ g(); i(); {h} }} \
             else {{ g(); {h} i(); }} }}"
        );
        assert_eq!(instrumented(text, places), expected);
    }
}
