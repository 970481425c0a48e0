//! Orderings stronger than Relaxed: where they stand in the source, and what each can be weakened
//! to.

use std::ops::Range;

use crate::tokens::{Token, end_of_group, function_around, stands_at};

/// What begins a comment if the weakened orderings of its line may survive; the reason follows.
const EXPLANATION: &str = "mutant-ok: ";

/// An ordering in the source.
#[derive(Debug)]
pub(super) struct Site {
    /// Its bytes, with the path that leads to it.
    pub(super) range: Range<usize>,
    pub(super) line: usize,
    pub(super) function: String,
    pub(super) ordering: &'static str,
    pub(super) weaker: &'static [&'static str],
    explanation: Option<String>,
}

impl Site {
    /// Why the mutant with this weaker ordering may survive. A reason that begins with
    /// `to ORDERING: ` is for that one only.
    pub(super) fn explanation(&self, weaker: &str) -> Option<String> {
        let reason = self.explanation.as_ref()?;
        match reason.strip_prefix("to ").and_then(|rest| rest.split_once(": ")) {
            None => Some(reason.clone()),
            Some((only, reason)) => (only == weaker).then(|| reason.to_owned()),
        }
    }
}

/// What orderings can be weakened to.
const WEAKER: [(&str, &[&str]); 4] = [
    ("Acquire", &["Relaxed"]),
    ("Release", &["Relaxed"]),
    ("AcqRel", &["Relaxed", "Acquire", "Release"]),
    ("SeqCst", &["Relaxed", "AcqRel"]),
];

/// The orderings of a file, outside imports and tests.
pub(super) fn sites(text: &str, tokens: &[Token]) -> Vec<Site> {
    let mut sites = Vec::new();
    let mut place = 0;
    while place < tokens.len() {
        if is_import(tokens, place) {
            place = end_of_import(tokens, place);
        } else if is_for_tests(tokens, place) {
            place = end_of_item(tokens, place);
        } else if let Some(&(ordering, weaker)) =
            WEAKER.iter().find(|(ordering, _)| *ordering == tokens[place].text)
        {
            let line = tokens[place].line;
            sites.push(Site {
                range: start_of_path(tokens, place)..tokens[place].range.end,
                line,
                function: function_around(tokens, place).unwrap_or("?").to_owned(),
                ordering,
                weaker,
                explanation: explanation(text, line),
            });
        }
        place += 1;
    }
    sites
}

/// The first byte of the path that ends with this token.
fn start_of_path(tokens: &[Token], mut place: usize) -> usize {
    while place >= 3 && stands_at(tokens, place - 2, &[":", ":"]) {
        place -= 3;
    }
    tokens[place].range.start
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

/// The reason for surviving, at the end of a line or at the end of the comment above it.
fn explanation(text: &str, line: usize) -> Option<String> {
    let lines: Vec<&str> = text.lines().take(line).collect();
    let (own, above) = lines.split_last()?;
    let mut reason = Vec::new();
    for comment in above.iter().rev().map_while(|line| line.trim().strip_prefix("// ")) {
        let Some(first) = comment.strip_prefix(EXPLANATION) else {
            reason.insert(0, comment);
            continue;
        };
        reason.insert(0, first);
        return Some(reason.join(" "));
    }
    let (_, comment) = own.split_once("// ")?;
    comment.strip_prefix(EXPLANATION).map(|reason| reason.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::flatten;

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
                m!(x.store(1, atomic::Ordering::Release));
            }
            #[cfg(test)]
            #[allow(unused)]
            mod tests { fn b() { x.load(Acquire); } }
            #[cfg(all(test, unix))]
            use crate::Acquire;
            #[cfg(not(test))]
            // mutant-ok: to Acquire: another
            // reason
            fn c() { x.swap(1, AcqRel); x.load(Relaxed); }
            #[test]
            fn d(_: [u8; 2]) { x.load(SeqCst); }
        "#;
        let found = sites(text, &flatten(text).unwrap());
        let found: Vec<_> = found
            .iter()
            .map(|site| {
                let path = &text[site.range.clone()];
                let explanation = site.explanation("Acquire");
                (site.line, site.function.as_str(), path, explanation)
            })
            .collect();
        assert_eq!(
            found,
            [
                (7, "a", "Acquire", Some("a reason".to_owned())),
                (9, "a", "atomic::Ordering::Release", None),
                (19, "c", "AcqRel", Some("another reason".to_owned())),
            ]
        );
        assert_eq!(sites(text, &flatten(text).unwrap())[2].explanation("Relaxed"), None);
    }
}
