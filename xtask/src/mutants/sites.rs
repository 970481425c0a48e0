//! Orderings stronger than Relaxed: where they stand in the source, and what each can be weakened to.

use anyhow::Result;

use super::{Edit, Mutant, Source};
use crate::tokens::{Token, end_of_group, flatten, function_around, stands_at};

/// What marks a line whose weakened ordering may survive; the reason follows.
const EXPLANATION: &str = "// mutant-ok: ";

/// What an ordering can be weakened to.
fn weaker(ordering: &str) -> &'static [&'static str] {
    match ordering {
        "Acquire" | "Release" => &["Relaxed"],
        "AcqRel" => &["Relaxed", "Acquire", "Release"],
        "SeqCst" => &["Relaxed", "AcqRel"],
        _ => &[],
    }
}

/// One mutant for every ordering in a file and everything that it can be weakened to.
pub(super) fn mutants(source: &Source) -> Result<Vec<Mutant>> {
    let tokens = flatten(&source.text)?;
    let mut mutants = Vec::new();
    for place in sites(&tokens) {
        let Token { text, range, line, column } = &tokens[place];
        for weaker in weaker(text) {
            let function = function_around(&tokens, place).unwrap_or("?");
            // The file need not import the weaker ordering.
            let path = if place > 0 && tokens[place - 1].text == ":" {
                (*weaker).to_owned()
            } else {
                format!("::core::sync::atomic::Ordering::{weaker}")
            };
            mutants.push(Mutant {
                place: format!("{}:{line}:{column}", source.path),
                name: format!("{function}: {text} -> {weaker}"),
                edits: vec![Edit { path: source.path.clone(), range: range.clone(), new: path }],
                may_hang: false,
                explanation: explanation(&source.text, *line),
            });
        }
    }
    Ok(mutants)
}

/// The indices of the tokens that name an ordering stronger than Relaxed, outside imports and tests.
fn sites(tokens: &[Token]) -> Vec<usize> {
    let mut sites = Vec::new();
    let mut place = 0;
    while place < tokens.len() {
        if is_import(tokens, place) {
            place = end_of_import(tokens, place);
        } else if is_for_tests(tokens, place) {
            place = end_of_item(tokens, place);
        } else if !weaker(&tokens[place].text).is_empty() {
            sites.push(place);
        }
        place += 1;
    }
    sites
}

/// Whether an import begins here (and not a list of captured lifetimes).
fn is_import(tokens: &[Token], place: usize) -> bool {
    tokens[place].text == "use" && !stands_at(tokens, place + 1, &["<"])
}

/// The semicolon of the import that begins here.
fn end_of_import(tokens: &[Token], place: usize) -> usize {
    (place..tokens.len()).find(|&index| tokens[index].text == ";").unwrap_or(tokens.len())
}

/// Whether an attribute begins here that keeps an item to tests.
fn is_for_tests(tokens: &[Token], place: usize) -> bool {
    if stands_at(tokens, place, &["#", "[", "test", "]"]) {
        return true;
    }
    if !stands_at(tokens, place, &["#", "[", "cfg"]) {
        return false;
    }
    let attribute = &tokens[place..end_of_group(tokens, place + 1)];
    let names = |name| attribute.iter().any(|token| token.text == name);
    names("test") && !names("not")
}

/// The last token of the item whose first attribute begins here.
fn end_of_item(tokens: &[Token], mut place: usize) -> usize {
    while stands_at(tokens, place, &["#", "["]) {
        place = end_of_group(tokens, place + 1) + 1;
    }
    while place < tokens.len() {
        match tokens[place].text.as_str() {
            "{" => return end_of_group(tokens, place),
            ";" => return place,
            // A semicolon in here ends no item: `[u8; 2]`.
            "(" | "[" => place = end_of_group(tokens, place),
            _ => {}
        }
        place += 1;
    }
    place
}

/// The reason that a line gives for surviving.
fn explanation(text: &str, line: usize) -> Option<String> {
    let (_, reason) = text.lines().nth(line - 1)?.split_once(EXPLANATION)?;
    Some(reason.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line, name and explanation of every mutant of a text.
    fn found(text: &str) -> Vec<(String, String, Option<String>)> {
        let source = Source { path: "f.rs".to_owned(), text: text.to_owned() };
        let mutants = mutants(&source).unwrap().into_iter();
        mutants.map(|mutant| (mutant.place, mutant.name, mutant.explanation)).collect()
    }

    #[test]
    fn code_counts_and_nothing_else() {
        let text = r#"
            //! Acquire
            use std::sync::atomic::{Ordering, Ordering::Acquire, Release};
            /// Release
            fn a() -> impl Sized + use<'_> {
                // Acquire
                x.load(Acquire); // mutant-ok: a reason
                let _ = "Release";
                m!(x.store(1, Ordering::Release));
            }
            #[cfg(test)]
            #[allow(unused)]
            mod tests { fn b() { x.load(Acquire); } }
            #[cfg(all(test, unix))]
            use crate::Acquire;
            #[cfg(not(test))]
            fn c() { x.swap(1, AcqRel); x.load(Relaxed); }
            #[test]
            fn d(_: [u8; 2]) { x.load(SeqCst); }
        "#;
        let at = |place: &str, name: &str| (format!("f.rs:{place}"), name.to_owned(), None);
        let mut expected = vec![
            at("7:24", "a: Acquire -> Relaxed"),
            at("9:41", "a: Release -> Relaxed"),
            at("17:32", "c: AcqRel -> Relaxed"),
            at("17:32", "c: AcqRel -> Acquire"),
            at("17:32", "c: AcqRel -> Release"),
        ];
        expected[0].2 = Some("a reason".to_owned());
        assert_eq!(found(text), expected);
    }

    #[test]
    fn the_mutant_compiles_without_an_import() {
        let text = "fn a() { x.load(Acquire); x.load(Ordering::Acquire) }";
        let source = Source { path: "f.rs".to_owned(), text: text.to_owned() };
        let mutated: Vec<String> = mutants(&source)
            .unwrap()
            .iter()
            .map(|mutant| mutant.edits[0].applied_to(text))
            .collect();
        assert_eq!(
            mutated,
            [
                "fn a() { x.load(::core::sync::atomic::Ordering::Relaxed); x.load(Ordering::Acquire) }",
                "fn a() { x.load(Acquire); x.load(Ordering::Relaxed) }",
            ]
        );
    }
}
