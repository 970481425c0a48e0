//! The statements, match arms, fields and bodies of closures of a file, with the parts that a
//! mutant can change.

use std::ops::Range;

use anyhow::{Context, Result, anyhow, ensure};
use syn::{
    Arm, Block, Expr, ExprClosure, FieldValue, ImplItemFn, ItemFn, Local, Pat, PatIdent, Stmt,
    TraitItemFn,
    spanned::Spanned,
    visit::{self, Visit},
};

/// A statement, an arm, a field of a struct expression, or the body of a closure.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) range: Range<usize>,
    function: String,
    /// What [`Change::Instead`](super::catalogue::Change::Instead) replaces.
    pub(super) value: Option<Range<usize>>,
    pub(super) condition: Option<Range<usize>>,
    /// Whether no comma or semicolon need follow the value if it ends in a brace.
    pub(super) is_open: bool,
    /// Its block and its position there, if it is a statement.
    pub(super) position: Option<(usize, usize)>,
    /// The variables that it declares, and whether each is `mut`.
    pub(super) declares: Vec<(String, bool)>,
    /// Whether it is the value of the block.
    pub(super) is_tail: bool,
}

/// A file, as far as mutants need it.
#[derive(Debug, Default)]
pub(super) struct Syntax {
    nodes: Vec<Node>,
    blocks: usize,
    /// The function that is being visited.
    function: String,
}

impl Syntax {
    /// Parses a file.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let file = syn::parse_file(text).map_err(|error| anyhow!("not Rust: {error}"))?;
        let mut syntax = Self::default();
        syntax.visit_file(&file);
        Ok(syntax)
    }

    /// The one node in a function of this name whose code begins so; the largest one of those that
    /// begin at the same byte. White space and comments do not count.
    pub(super) fn node_at(&self, text: &str, function: &str, beginning: &str) -> Result<&Node> {
        let wanted: String = dense(beginning).collect();
        let begins_so = |node: &&Node| {
            let code = dense(&text[node.range.start..]);
            node.function == function && code.take(wanted.chars().count()).eq(wanted.chars())
        };
        let found: Vec<&Node> = self.nodes.iter().filter(begins_so).collect();
        let node = found.iter().max_by_key(|node| node.range.len());
        let node = node.context("nothing that can be changed begins so")?;
        let is_alone = found.iter().all(|other| other.range.start == node.range.start);
        ensure!(is_alone, "several statements begin so");
        Ok(node)
    }

    /// The statements of a block.
    pub(super) fn statements(&self, block: usize) -> Vec<&Node> {
        let is_in = |node: &&Node| node.position.is_some_and(|(of, _)| of == block);
        self.nodes.iter().filter(is_in).collect()
    }

    /// Adds a node.
    fn push(&mut self, node: Node) {
        self.nodes.push(Node { function: self.function.clone(), ..node });
    }

    /// Visits a function.
    fn within(&mut self, function: String, visit: impl FnOnce(&mut Self)) {
        let around = std::mem::replace(&mut self.function, function);
        visit(self);
        self.function = around;
    }
}

/// Code without white space and comments.
fn dense(code: &str) -> impl Iterator<Item = char> {
    let lines = code.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    lines.flat_map(str::chars).filter(|letter| !letter.is_whitespace())
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

impl Visit<'_> for Syntax {
    fn visit_item_fn(&mut self, function: &ItemFn) {
        self.within(function.sig.ident.to_string(), |it| visit::visit_item_fn(it, function));
    }

    fn visit_impl_item_fn(&mut self, function: &ImplItemFn) {
        self.within(function.sig.ident.to_string(), |it| visit::visit_impl_item_fn(it, function));
    }

    fn visit_trait_item_fn(&mut self, function: &TraitItemFn) {
        self.within(function.sig.ident.to_string(), |it| visit::visit_trait_item_fn(it, function));
    }

    fn visit_block(&mut self, block: &Block) {
        for (index, statement) in block.stmts.iter().enumerate() {
            let position = Some((self.blocks, index));
            let mut node = Node { range: range(statement), position, ..Node::default() };
            let has_semicolon = match statement {
                Stmt::Local(local) => {
                    node.value = local.init.as_ref().map(|init| range(&init.expr));
                    node.declares = declared(local);
                    true
                }
                Stmt::Expr(expression, semicolon) => {
                    node.value = value(expression);
                    node.condition = condition(expression);
                    semicolon.is_some()
                }
                Stmt::Macro(called) => {
                    node.value = Some(range(&called.mac));
                    called.semi_token.is_some()
                }
                Stmt::Item(_) => true,
            };
            node.is_open = !has_semicolon;
            node.is_tail = !has_semicolon && index + 1 == block.stmts.len();
            self.push(node);
        }
        self.blocks += 1;
        visit::visit_block(self, block);
    }

    fn visit_arm(&mut self, arm: &Arm) {
        let condition = match &arm.pat {
            Pat::Guard(guarded) => Some(range(&guarded.guard)),
            _ => None,
        };
        let value = Some(range(&arm.body));
        self.push(Node { range: range(arm), value, condition, is_open: true, ..Node::default() });
        visit::visit_arm(self, arm);
    }

    fn visit_expr_closure(&mut self, closure: &ExprClosure) {
        // The statements of a block stand for themselves.
        if !matches!(*closure.body, Expr::Block(_)) {
            let body = range(&closure.body);
            self.push(Node { range: body.clone(), value: Some(body), ..Node::default() });
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_field_value(&mut self, field: &FieldValue) {
        // In `Self { field }` there is no expression to replace.
        let value = field.colon_token.map(|_| range(&field.expr));
        self.push(Node { range: range(field), value, ..Node::default() });
        visit::visit_field_value(self, field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of the value and of the condition of what is planted at the first place.
    fn parts<'a>(text: &'a str, beginning: &str) -> (Option<&'a str>, Option<&'a str>) {
        let syntax = Syntax::parse(text).unwrap();
        let node = syntax.node_at(text, "f", beginning).unwrap();
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
        let text = "fn f() { g(1); // Why.\n g(2) } fn h() { g(1) }";
        let syntax = Syntax::parse(text).unwrap();
        let position = |function, code| {
            let node = syntax.node_at(text, function, code);
            node.map(|node| node.position).map_err(|error| error.to_string())
        };
        assert_eq!(position("f", "g (1"), Ok(Some((0, 0))));
        assert_eq!(position("f", "g(1); g(2)"), Ok(Some((0, 0))));
        assert_eq!(position("f", "g"), Err("several statements begin so".to_owned()));
        assert_eq!(position("h", "g"), Ok(Some((1, 0))));
        let none = Err("nothing that can be changed begins so".to_owned());
        assert_eq!(position("h", "g(2"), none);
        assert_eq!(position("i", "g"), none);
    }
}
