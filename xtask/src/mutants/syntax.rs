//! The statements, match arms, fields and bodies of closures of a file, with the parts that a
//! mutant can change.

use std::ops::Range;

use anyhow::{Context, Result, anyhow, ensure};
use syn::{
    Arm, Block, Expr, ExprClosure, FieldValue, Local, Pat, PatIdent, Stmt,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::tokens::{Token, flatten, function_around};

/// A statement, an arm, a field of a struct expression, or the body of a closure.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) range: Range<usize>,
    /// What [`Change::Instead`](super::change::Change::Instead) replaces.
    pub(super) value: Option<Range<usize>>,
    /// Whether an `if` in the place of the value needs parentheses.
    pub(super) needs_parentheses: bool,
    pub(super) condition: Option<Range<usize>>,
    /// Its block and its position there; `None` where it is no statement.
    pub(super) position: Option<(usize, usize)>,
    /// Whether it declares variables.
    pub(super) is_let: bool,
}

/// A statement, as others of its block see it.
#[derive(Clone, Debug)]
pub(super) struct Sibling {
    pub(super) range: Range<usize>,
    /// The variables that it declares, and whether each is `mut`.
    pub(super) declares: Vec<(String, bool)>,
    /// Whether it is the value of the block.
    pub(super) is_tail: bool,
}

/// A file, as far as mutants need it.
#[derive(Debug)]
pub(super) struct Syntax {
    pub(super) tokens: Vec<Token>,
    pub(super) blocks: Vec<Vec<Sibling>>,
    nodes: Vec<Node>,
}

impl Syntax {
    /// Parses a file.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let file = syn::parse_file(text).map_err(|error| anyhow!("not Rust: {error}"))?;
        let mut collector = Collector::default();
        collector.visit_file(&file);
        let Collector { nodes, blocks } = collector;
        Ok(Self { tokens: flatten(text)?, blocks, nodes })
    }

    /// The one statement, arm, field or body of a closure in a function of this name whose code
    /// begins so; the largest one of those that begin at the same byte. White space does not count.
    pub(super) fn node_at(&self, function: &str, beginning: &str) -> Result<&Node> {
        let beginning: String = beginning.split_whitespace().collect();
        let begins_there = |node: &&Node| {
            let start = node.range.start;
            let first = self.tokens.partition_point(|token| token.range.start < start);
            begins(&self.tokens[first..], &beginning)
                && function_around(&self.tokens, first) == Some(function)
        };
        let found: Vec<&Node> = self.nodes.iter().filter(begins_there).collect();
        let node = found.iter().max_by_key(|node| node.range.len());
        let node = node.context("nothing that can be changed begins so")?;
        let is_alone = found.iter().all(|other| other.range.start == node.range.start);
        ensure!(is_alone, "several statements begin so");
        Ok(node)
    }
}

/// Whether the code of these tokens begins with some code without white space.
fn begins(tokens: &[Token], mut code: &str) -> bool {
    for token in tokens {
        if token.text.len() >= code.len() {
            return token.text.starts_with(code);
        }
        let Some(rest) = code.strip_prefix(&*token.text) else { return false };
        code = rest;
    }
    false
}

/// Collects the places of a file.
#[derive(Default)]
struct Collector {
    nodes: Vec<Node>,
    blocks: Vec<Vec<Sibling>>,
}

/// Where something stands, in bytes.
fn range(of: &impl Spanned) -> Range<usize> {
    of.span().byte_range()
}

/// The part of an expression that `Instead` replaces.
fn value(expression: &Expr) -> Option<Range<usize>> {
    match expression {
        Expr::Return(returned) => returned.expr.as_ref().map(range),
        Expr::Assign(assignment) => Some(range(&assignment.right)),
        other => Some(range(other)),
    }
}

/// The condition of an expression. One that declares variables cannot be replaced.
fn condition(expression: &Expr) -> Option<Range<usize>> {
    /// Looks for `let` in a condition.
    struct Finder(bool);
    impl Visit<'_> for Finder {
        fn visit_expr_let(&mut self, _: &syn::ExprLet) {
            self.0 = true;
        }
        fn visit_block(&mut self, _: &Block) {}
    }
    let condition = match expression {
        Expr::If(conditional) => &conditional.cond,
        Expr::While(repeated) => &repeated.cond,
        _ => return None,
    };
    let mut finder = Finder(false);
    finder.visit_expr(condition);
    (!finder.0).then(|| range(condition))
}

/// The variables of a pattern.
fn declared(local: &Local) -> Vec<(String, bool)> {
    #[derive(Default)]
    struct Names(Vec<(String, bool)>);
    impl Visit<'_> for Names {
        fn visit_pat_ident(&mut self, pattern: &PatIdent) {
            self.0.push((pattern.ident.to_string(), pattern.mutability.is_some()));
            visit::visit_pat_ident(self, pattern);
        }
    }
    let mut names = Names::default();
    names.visit_pat(&local.pat);
    // `None` in `let None = ...` is parsed like a variable.
    names.0.retain(|(name, _)| !name.starts_with(|first: char| first.is_uppercase()));
    names.0
}

impl Visit<'_> for Collector {
    fn visit_block(&mut self, block: &Block) {
        let number = self.blocks.len();
        let mut siblings = Vec::new();
        for (index, statement) in block.stmts.iter().enumerate() {
            let is_last = index + 1 == block.stmts.len();
            let mut node = Node {
                range: range(statement),
                value: None,
                needs_parentheses: false,
                condition: None,
                position: Some((number, index)),
                is_let: false,
            };
            let mut sibling =
                Sibling { range: range(statement), declares: Vec::new(), is_tail: false };
            match statement {
                Stmt::Local(local) => {
                    node.value = local.init.as_ref().map(|init| range(&init.expr));
                    node.needs_parentheses = true;
                    node.is_let = true;
                    sibling.declares = declared(local);
                }
                Stmt::Expr(expression, semicolon) => {
                    node.value = value(expression);
                    node.needs_parentheses = semicolon.is_some()
                        && !matches!(expression, Expr::Return(_) | Expr::Assign(_));
                    node.condition = condition(expression);
                    sibling.is_tail = is_last && semicolon.is_none();
                }
                Stmt::Macro(called) => {
                    node.value = Some(range(&called.mac));
                    node.needs_parentheses = called.semi_token.is_some();
                    sibling.is_tail = is_last && called.semi_token.is_none();
                }
                Stmt::Item(_) => {}
            }
            self.nodes.push(node);
            siblings.push(sibling);
        }
        self.blocks.push(siblings);
        visit::visit_block(self, block);
    }

    fn visit_arm(&mut self, arm: &Arm) {
        let condition = match &arm.pat {
            Pat::Guard(guarded) => Some(range(&guarded.guard)),
            _ => None,
        };
        self.nodes.push(Node {
            range: range(arm),
            value: Some(range(&arm.body)),
            needs_parentheses: false,
            condition,
            position: None,
            is_let: false,
        });
        visit::visit_arm(self, arm);
    }

    fn visit_expr_closure(&mut self, closure: &ExprClosure) {
        // The statements of a block stand for themselves.
        if !matches!(*closure.body, Expr::Block(_)) {
            let body = range(&closure.body);
            self.nodes.push(Node {
                range: body.clone(),
                value: Some(body),
                needs_parentheses: false,
                condition: None,
                position: None,
                is_let: false,
            });
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_field_value(&mut self, field: &FieldValue) {
        // In `Self { field }` there is no expression to replace.
        let value = field.colon_token.map(|_| range(&field.expr));
        self.nodes.push(Node {
            range: range(field),
            value,
            needs_parentheses: false,
            condition: None,
            position: None,
            is_let: false,
        });
        visit::visit_field_value(self, field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of the value and of the condition of what is planted at the first place.
    fn parts<'a>(text: &'a str, beginning: &str) -> (Option<&'a str>, Option<&'a str>) {
        let syntax = Syntax::parse(text).unwrap();
        let node = syntax.node_at("f", beginning).unwrap();
        let text_of = |range: &Range<usize>| &text[range.clone()];
        (node.value.as_ref().map(text_of), node.condition.as_ref().map(text_of))
    }

    #[test]
    fn what_begins_so() {
        for (body, value, condition) in [
            ("let (a, b) = c; d", Some("c"), None),
            ("let Some(a) = c else { return };", Some("c"), None),
            ("return a + b;", Some("a + b"), None),
            ("a = b.c();", Some("b.c()"), None),
            ("if a { b }", Some("if a { b }"), Some("a")),
            ("if let a = b { c }", Some("if let a = b { c }"), None),
            ("while a | b { c }", Some("while a | b { c }"), Some("a | b")),
            ("a!(b);", Some("a!(b)"), None),
            ("a.b(c)", Some("a.b(c)"), None),
        ] {
            let text = format!("fn f() {{ x; {body} }}");
            assert_eq!(parts(&text, &body[..6]), (value, condition), "{body}");
        }
        let arm = "fn f() { match a { b if c => d,\n_ => e } }";
        assert_eq!(parts(arm, "b if c"), (Some("d"), Some("c")));
        let field = "fn f() { A { b, c: d } }";
        assert_eq!(parts(field, "c:"), (Some("d"), None));
        let closure = "fn f() { a(|b| c(b)) }";
        assert_eq!(parts(closure, "c"), (Some("c(b)"), None));
    }

    #[test]
    fn a_place_is_one_statement() {
        let syntax = Syntax::parse("fn f() { g(1); // Why.\n g(2) } fn h() { g(1) }").unwrap();
        let number = |function, code| {
            syntax
                .node_at(function, code)
                .map_err(|error| error.to_string())
                .map(|node| node.position)
        };
        assert_eq!(number("f", "g (1"), Ok(Some((0, 0))));
        assert_eq!(number("f", "g(1); g(2)"), Ok(Some((0, 0))));
        assert_eq!(number("f", "g"), Err("several statements begin so".to_owned()));
        assert_eq!(number("h", "g"), Ok(Some((1, 0))));
        let none = Err("nothing that can be changed begins so".to_owned());
        assert_eq!(number("h", "g(2"), none);
        assert_eq!(number("i", "g"), none);
    }
}
