//! Source text as a flat list of tokens with their places, so that code can be searched without
//! regard to comments, strings and white space.

use std::{ops::Range, str::FromStr};

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// A word, a literal, a delimiter, or one character of punctuation.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// Where it stands, in bytes.
    pub(crate) range: Range<usize>,
    /// The line that it starts on, counted from 1.
    pub(crate) line: usize,
}

impl Token {
    /// A token at the place of a span.
    fn new(text: impl Into<String>, span: Span) -> Self {
        Self { text: text.into(), range: span.byte_range(), line: span.start().line }
    }
}

/// The tokens of a piece of source whose delimiters are balanced. Comments vanish; documentation
/// becomes an attribute with a string in it.
pub(crate) fn flatten(source: &str) -> Result<Vec<Token>> {
    let stream = TokenStream::from_str(source).map_err(|error| anyhow!("not Rust: {error}"))?;
    let mut tokens = Vec::new();
    push(stream, &mut tokens);
    Ok(tokens)
}

/// Appends the tokens of a stream and of the groups in it.
fn push(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                tokens.push(Token::new(open, group.span_open()));
                push(group.stream(), tokens);
                tokens.push(Token::new(close, group.span_close()));
            }
            other => tokens.push(Token::new(other.to_string(), other.span())),
        }
    }
}

/// Whether these tokens stand at this place of the list.
pub(crate) fn stands_at(tokens: &[Token], place: usize, wanted: &[&str]) -> bool {
    let there = tokens.get(place..).unwrap_or_default();
    there.len() >= wanted.len() && there.iter().zip(wanted).all(|(token, text)| token.text == *text)
}

/// The index of the delimiter that closes the group opened at this index.
pub(crate) fn end_of_group(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    tokens.len()
}

/// The name of the function that a token stands in, as far as the nearest `fn` before it says.
pub(crate) fn function_around(tokens: &[Token], place: usize) -> Option<&str> {
    let before = (0..place).rev().find(|&index| tokens[index].text == "fn")?;
    Some(&tokens[before + 1].text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_space_do_not_count() {
        let tokens = flatten("a . b ( // no (\n c /* no */ ,\n \"d ( //\" )").unwrap();
        let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(texts, ["a", ".", "b", "(", "c", ",", "\"d ( //\"", ")"]);
        assert_eq!(tokens[4].line, 2);
        assert_eq!(end_of_group(&tokens, 3), 7);
    }
}
