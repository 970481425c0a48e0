//! The loom models, as the sources of `loom-tests/` declare them.

use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use syn::{
    Attribute, Expr, ExprCall, ItemFn, Lit, Meta,
    visit::{self, Visit},
};

use crate::source;

/// A model: a test of `loom-tests/` that explores the schedules of a few threads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    /// The file without its extension, which is the name of the test target.
    pub(crate) target: String,
    /// The test function.
    pub(crate) test: String,
    /// The name that the model prints.
    pub(crate) name: String,
    /// The first sentence of the test's documentation, or else its name as words.
    pub(crate) what: String,
}

/// Reads all models, in the order of the files and of the functions in them.
pub(crate) fn declared(root: &Path) -> Result<Vec<Declared>> {
    let mut models: Vec<Declared> = Vec::new();
    for source in source::read(root, "loom-tests/tests")? {
        let file = Path::new(&source.path).file_stem().context("a file has a name")?;
        let mut found = in_text(&file.to_string_lossy(), &source.text).context(source.path)?;
        for model in &found {
            ensure!(
                models.iter().all(|other| other.name != model.name),
                "two models have the name {}",
                model.name
            );
        }
        models.append(&mut found);
    }
    Ok(models)
}

/// The models of a file.
fn in_text(target: &str, text: &str) -> Result<Vec<Declared>> {
    let file = syn::parse_file(text).map_err(|error| anyhow!("not Rust: {error}"))?;
    let mut models = Vec::new();
    for item in &file.items {
        let syn::Item::Fn(function) = item else { continue };
        if !function.attrs.iter().any(|attribute| attribute.path().is_ident("test")) {
            continue;
        }
        let function_name = function.sig.ident.to_string();
        let name = first_name(function)
            .with_context(|| format!("the test `{function_name}` gives no name to a model"))?;
        let what = sentence(&function.attrs).unwrap_or_else(|| function_name.replace('_', " "));
        models.push(Declared { target: target.to_owned(), test: function_name, name, what });
    }
    Ok(models)
}

/// The first string that a function passes to another one, which is the name of its model.
fn first_name(function: &ItemFn) -> Option<String> {
    #[derive(Default)]
    struct Finder(Option<String>);
    impl Visit<'_> for Finder {
        fn visit_expr_call(&mut self, call: &ExprCall) {
            let strings = call.args.iter().filter_map(|argument| match argument {
                Expr::Lit(literal) => match &literal.lit {
                    Lit::Str(text) => Some(text.value()),
                    _ => None,
                },
                _ => None,
            });
            self.0 = self.0.take().or_else(|| strings.into_iter().next());
            visit::visit_expr_call(self, call);
        }
    }
    let mut finder = Finder::default();
    finder.visit_block(&function.block);
    finder.0
}

/// The first sentence of the documentation, without its full stop.
fn sentence(attributes: &[Attribute]) -> Option<String> {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(documented) if documented.path.is_ident("doc") => match &documented.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let paragraph: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let text = paragraph.join(" ");
    let sentence = text.split(". ").next()?.trim_end_matches('.');
    (!sentence.is_empty()).then(|| sentence.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_a_test_with_a_name() {
        let text = r#"
            //! A lookup.
            fn helper(name: &str) { check(name, 7, &["x"], |_| {}); }
            /// Beside a move
            /// and back. Not this.
            ///
            /// Nor this.
            #[test]
            fn beside_a_move() { check("lookup_move", 1, &["before"], |_| {}); }
            #[test]
            fn beside_two_moves() { let outcomes = ["not it"]; helper("lookup_two", &outcomes) }
        "#;
        let model = |test: &str, name: &str, what: &str| Declared {
            target: "lookup".to_owned(),
            test: test.to_owned(),
            name: name.to_owned(),
            what: what.to_owned(),
        };
        assert_eq!(
            in_text("lookup", text).unwrap(),
            [
                model("beside_a_move", "lookup_move", "Beside a move and back"),
                model("beside_two_moves", "lookup_two", "beside two moves"),
            ]
        );
        assert!(in_text("lookup", "#[test] fn a() {}").is_err());
    }
}
