//! The places of a file that a marker can stand above, with the parts that a mutant can change.

use std::ops::Range;

use anyhow::{Context, Result, anyhow};
use syn::{
    Arm, Block, Expr, FieldValue, Local, Pat, PatIdent, Stmt,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::tokens::{Token, flatten};

/// What precedes the names in a marker.
const MARKER: &str = "// mutant: ";

/// A marker: names of mutants above a statement.
#[derive(Debug)]
pub(super) struct Marker {
    pub(super) name: String,
    /// Its line, counted from 1.
    pub(super) line: usize,
}

/// All markers of a text. One comment can hold several names, separated by commas.
pub(super) fn markers(text: &str) -> Vec<Marker> {
    let lines = (1..).zip(text.lines());
    let comments = lines.filter_map(|(line, text)| Some((line, text.trim().strip_prefix(MARKER)?)));
    comments
        .flat_map(|(line, names)| {
            names.split(',').map(move |name| Marker { name: name.trim().to_owned(), line })
        })
        .collect()
}

/// A statement, an arm, or a field of a struct expression.
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

/// A file, as far as markers need it.
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

    /// The largest place that begins with the first token below a line.
    pub(super) fn node_below(&self, line: usize) -> Result<&Node> {
        // The attributes that documentation turns into have the lines of the comments.
        let token =
            self.tokens.iter().find(|token| token.line > line).context("nothing follows")?;
        self.nodes
            .iter()
            .filter(|node| node.range.start == token.range.start)
            .max_by_key(|node| node.range.end)
            .with_context(|| {
                format!("`{}` begins no statement, arm or field of a struct", token.text)
            })
    }
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

    /// The texts of the value and of the condition of what follows the first marker.
    fn parts(text: &str) -> (Option<&str>, Option<&str>) {
        let syntax = Syntax::parse(text).unwrap();
        let node = syntax.node_below(markers(text)[0].line).unwrap();
        let text_of = |range: &Range<usize>| &text[range.clone()];
        (node.value.as_ref().map(text_of), node.condition.as_ref().map(text_of))
    }

    #[test]
    fn what_follows_a_marker() {
        let in_body = |body: &str| format!("fn f() {{\n// mutant: a\n// Why.\n{body}\n}}");
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
            assert_eq!(parts(&in_body(body)), (value, condition), "{body}");
        }
        let arm = "fn f() { match a {\n// mutant: a\nb if c => d,\n_ => e } }";
        assert_eq!(parts(arm), (Some("d"), Some("c")));
        let field = "fn f() { A { b,\n// mutant: a\nc: d } }";
        assert_eq!(parts(field), (Some("d"), None));
    }

    #[test]
    fn markers_hold_names() {
        let names: Vec<_> = markers("x\n  // mutant: a, b-c\n// mutant: d\n// mutants: e\n")
            .into_iter()
            .map(|marker| (marker.name, marker.line))
            .collect();
        let expected = [("a", 2), ("b-c", 2), ("d", 3)];
        assert_eq!(names, expected.map(|(name, line)| (name.to_owned(), line)));
    }

    #[test]
    fn a_marker_above_nothing_that_can_be_changed() {
        let syntax = Syntax::parse("// mutant: a\nfn f() {}").unwrap();
        let error = syntax.node_below(1).unwrap_err().to_string();
        assert_eq!(error, "`fn` begins no statement, arm or field of a struct");
        assert!(syntax.node_below(2).is_err());
    }
}
