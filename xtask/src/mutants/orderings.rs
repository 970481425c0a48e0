//! Orderings stronger than Relaxed: where they stand in the source, and what each can be weakened
//! to.

use std::{ops::Range, str::FromStr};

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

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

/// The orderings of a file, outside imports and tests. They are looked for among the tokens, and so
/// in macros, too.
pub(super) fn sites(text: &str) -> Result<Vec<Site>> {
    let stream = TokenStream::from_str(text).map_err(|error| anyhow!("not Rust: {error}"))?;
    let mut finder = Finder { text, function: "?".to_owned(), sites: Vec::new() };
    finder.visit(stream);
    Ok(finder.sites)
}

/// Looks for orderings.
struct Finder<'a> {
    text: &'a str,
    /// The last function that began.
    function: String,
    sites: Vec<Site>,
}

impl Finder<'_> {
    /// Looks through some tokens and the groups among them.
    fn visit(&mut self, stream: TokenStream) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let word = |place: usize| match trees.get(place) {
            None | Some(TokenTree::Group(_)) => String::new(),
            Some(tree) => tree.to_string(),
        };
        let end = |mut place: usize, ends: fn(&TokenTree) -> bool| {
            while trees.get(place).is_some_and(|tree| !ends(tree)) {
                place += 1;
            }
            place
        };
        let mut place = 0;
        while place < trees.len() {
            match (&trees[place], &*word(place)) {
                (TokenTree::Group(group), _) => self.visit(group.stream()),
                // Not a list of captured lifetimes.
                (_, "use") if word(place + 1) != "<" => place = end(place, is_semicolon),
                (_, "#") if trees.get(place + 1).is_some_and(is_for_tests) => {
                    place = end(place, |tree| is_semicolon(tree) || is_in_braces(tree));
                }
                (_, "fn") if !word(place + 1).is_empty() => self.function = word(place + 1),
                (tree, name) => {
                    if let Some((ordering, weaker)) = WEAKER.iter().find(|(it, _)| *it == name) {
                        // The path that leads to it.
                        let mut first = place;
                        while first >= 3 && [word(first - 1), word(first - 2)] == [":", ":"] {
                            first -= 3;
                        }
                        let start = trees[first].span().byte_range().start;
                        let line = tree.span().start().line;
                        self.sites.push(Site {
                            range: start..tree.span().byte_range().end,
                            line,
                            function: self.function.clone(),
                            ordering,
                            weaker,
                            explanation: explanation(self.text, line),
                        });
                    }
                }
            }
            place += 1;
        }
    }
}

fn is_semicolon(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(mark) if mark.as_char() == ';')
}

fn is_in_braces(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// Whether this is the group of an attribute that keeps an item to tests.
fn is_for_tests(tree: &TokenTree) -> bool {
    let TokenTree::Group(group) = tree else { return false };
    let text = group.stream().to_string();
    let names = |name| text.split(|letter: char| !letter.is_alphanumeric()).any(|it| it == name);
    text == "test" || text.starts_with("cfg") && names("test") && !names("not")
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
        let found = sites(text).unwrap();
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
        assert_eq!(sites(text).unwrap()[2].explanation("Relaxed"), None);
    }
}
