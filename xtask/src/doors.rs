//! The table of the public methods of filters: which models call them, and beside which writers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use syn::{
    FnArg, GenericArgument, ImplItem, Item, ItemImpl, PathArguments, ReceiverKind, Type, Visibility,
};

use crate::{models::Declared, source, tokens};

/// The table, from the root of the repository.
const PATH: &str = "loom-tests/doors.tsv";
/// Filters that loom's models make: they are no part of the interface.
const OF_MODELS: &str = "src/filter/engine/model.rs";
const CONTENTS: [&str; 3] = ["Set", "Map", "Expiring"];
const GROWTHS: [&str; 2] = ["Fixed", "Growing"];

/// A kind of filter and a method.
type Door = (String, String);

/// Fails if the table lacks a method of a kind of filter, or if a model does not exist, or does not
/// call what the table says.
pub(crate) fn check(root: &Path, models: &[Declared]) -> Result<()> {
    let mut all = BTreeSet::new();
    for source in source::read(root, "src/filter")? {
        if source.path != OF_MODELS {
            all.append(&mut methods(&source.text).context(source.path)?);
        }
    }
    let mut left = all.clone();
    for (number, line) in (1..).zip(fs::read_to_string(root.join(PATH))?.lines()) {
        if !line.starts_with('#') {
            let doors = check_line(root, models, line).with_context(|| format!("line {number}"));
            for door in doors.context(PATH)? {
                ensure!(all.contains(&door), "{PATH}, line {number}: there is no {door:?}");
                left.remove(&door);
            }
        }
    }
    ensure!(left.is_empty(), "{PATH} lacks public methods: {left:?}");
    Ok(())
}

/// The doors of a line: a model, kinds of filters, writers, and methods. Without a model, a reason
/// is in place of the writers.
fn check_line(root: &Path, models: &[Declared], line: &str) -> Result<Vec<Door>> {
    let [model, kinds, _writers, methods] = *line.split('\t').collect::<Vec<_>>() else {
        bail!("not four fields");
    };
    let doors = kinds.split(", ").flat_map(|kind| {
        methods.split(' ').map(move |method| (kind.to_owned(), method.to_owned()))
    });
    if model != "-" {
        let declared = models.iter().find(|declared| declared.name == model);
        let declared = declared.with_context(|| format!("there is no model {model}"))?;
        let path = root.join(format!("loom-tests/tests/{}.rs", declared.target));
        let called = calls(&fs::read_to_string(path)?, &declared.test)?;
        for method in methods.split(' ') {
            ensure!(called.contains(method), "the model {model} does not call {method}");
        }
    }
    Ok(doors.collect())
}

/// The public methods of filters in a file that need no exclusive access.
fn methods(text: &str) -> Result<BTreeSet<Door>> {
    let file = syn::parse_file(text).map_err(|error| anyhow!("not Rust: {error}"))?;
    let mut doors = BTreeSet::new();
    for item in &file.items {
        let Item::Impl(of) = item else { continue };
        let Some(kinds) = kinds(of) else { continue };
        for item in &of.items {
            let ImplItem::Fn(method) = item else { continue };
            let is_public = matches!(method.vis, Visibility::Public(_));
            let is_shared = matches!(
                method.sig.inputs.first(),
                Some(FnArg::Receiver(receiver))
                    if matches!(receiver.kind, ReceiverKind::Reference(_, _, None))
            );
            if is_public && is_shared {
                let name = method.sig.ident.to_string();
                doors.extend(kinds.iter().map(|kind| (kind.clone(), name.clone())));
            }
        }
    }
    Ok(doors)
}

/// The kinds of filters whose own methods these are.
fn kinds(of: &ItemImpl) -> Option<Vec<String>> {
    let Type::Path(path) = &*of.self_ty else { return None };
    let name = path.path.segments.last().filter(|name| name.ident == "Filter")?;
    let PathArguments::AngleBracketed(arguments) = &name.arguments else { return None };
    if of.trait_.is_some() {
        return None;
    }
    let mut named = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(Type::Path(path)) => Some(path.path.get_ident()?.to_string()),
        _ => None,
    });
    // What is not named is a parameter.
    let [contents, growth] = [named.next()?, named.next()?];
    let bounds = of.generics.type_params().flat_map(|parameter| &parameter.bounds);
    let is_permanent = bounds.into_iter().any(|bound| {
        matches!(bound, syn::TypeParamBound::Trait(bound) if bound.path.is_ident("Permanent"))
    });
    let contents = CONTENTS.iter().filter(|&&each| match &*contents {
        named if CONTENTS.contains(&named) => named == each,
        _ => !is_permanent || each != "Expiring",
    });
    let growths = |each: &&&str| !GROWTHS.contains(&&*growth) || growth == **each;
    let named = contents.flat_map(|contents| {
        GROWTHS.iter().filter(growths).map(move |growth| format!("{growth} {contents}"))
    });
    Some(named.collect())
}

/// The methods that a function of a file calls or passes on, itself or by other functions of the
/// file. Words count that follow a dot or a colon: much of a model stands in macros.
fn calls(text: &str, function: &str) -> Result<BTreeSet<String>> {
    let tokens = tokens::flatten(text)?;
    let mut functions = BTreeMap::<_, (BTreeSet<_>, BTreeSet<_>)>::new();
    let mut current = "";
    for (place, token) in tokens.iter().enumerate().skip(1) {
        let (before, text) = (&*tokens[place - 1].text, &*token.text);
        if before == "fn" && token.text != "(" {
            current = text;
        }
        let (words, methods) = functions.entry(current).or_default();
        words.insert(text);
        if before == "." || before == ":" {
            methods.insert(text.to_owned());
        }
    }
    let (mut seen, mut open, mut called) = (BTreeSet::new(), vec![function], BTreeSet::new());
    while let Some(function) = open.pop() {
        if let Some((words, methods)) = functions.get(function).filter(|_| seen.insert(function)) {
            called.extend(methods.iter().cloned());
            open.extend(words.iter().copied().filter(|&word| functions.contains_key(word)));
        }
    }
    Ok(called)
}

#[cfg(test)]
mod tests {
    use super::{calls, methods};

    #[test]
    fn public_methods_are_those_of_some_kinds() {
        let text = "
            impl<C: Permanent, G: Growth, S> Filter<C, G, S> { pub fn merge(&self) {} }
            impl<G: Growth, S> Filter<Map, G, S> { pub fn get(&self) {} fn own(&self) {} }
            impl<C: Contents, S> Filter<C, Growing, S> { pub fn shrink(&mut self) {} }
            impl<C: Contents, G: Growth> Clone for Filter<C, G> { fn clone(&self) {} }
            impl<S> Filter<Expiring, Growing, S> { pub fn new() {} pub fn age(&self) {} }
        ";
        let found: Vec<_> = methods(text)
            .unwrap()
            .into_iter()
            .map(|(kind, name)| format!("{kind} {name}"))
            .collect();
        assert_eq!(
            found,
            [
                "Fixed Map get",
                "Fixed Map merge",
                "Fixed Set merge",
                "Growing Expiring age",
                "Growing Map get",
                "Growing Map merge",
                "Growing Set merge"
            ]
        );
    }

    #[test]
    fn calls_are_found_in_macros_and_helpers() {
        let text = "
            fn helper(filter: &F) { assert!(filter.get(&1)); }
            fn other(filter: &F) { filter.clear(); }
            #[test] fn model() { check(\"name\", helper); spawn(Filter::advance); let len = 1; }
        ";
        let called = calls(text, "model").unwrap();
        assert!(called.contains("get") && called.contains("advance"));
        assert!(!called.contains("clear") && !called.contains("len"));
    }
}
