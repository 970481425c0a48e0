//! The public methods: that engines offer the same ones, and that each of them is documented once.

use std::collections::{BTreeMap, BTreeSet};

/// The files with the public methods of filters, with their paths below `src/filter`.
const SOURCES: [(&str, &str); 21] = [
    ("builder.rs", include_str!("../src/filter/builder.rs")),
    ("by_hash.rs", include_str!("../src/filter/by_hash.rs")),
    ("engine_settings.rs", include_str!("../src/filter/engine_settings.rs")),
    ("expiring/by_hash.rs", include_str!("../src/filter/expiring/by_hash.rs")),
    ("expiring/clock.rs", include_str!("../src/filter/expiring/clock.rs")),
    ("expiring/items.rs", include_str!("../src/filter/expiring/items.rs")),
    ("fixed.rs", include_str!("../src/filter/fixed.rs")),
    ("growing.rs", include_str!("../src/filter/growing.rs")),
    ("growth.rs", include_str!("../src/filter/growth.rs")),
    ("info.rs", include_str!("../src/filter/info.rs")),
    ("items.rs", include_str!("../src/filter/items.rs")),
    ("map/by_hash.rs", include_str!("../src/filter/map/by_hash.rs")),
    ("map/items.rs", include_str!("../src/filter/map/items.rs")),
    ("map/settings.rs", include_str!("../src/filter/map/settings.rs")),
    ("merge.rs", include_str!("../src/filter/merge.rs")),
    ("mod.rs", include_str!("../src/filter/mod.rs")),
    ("snapshot/dump.rs", include_str!("../src/filter/snapshot/dump.rs")),
    ("snapshot/frozen.rs", include_str!("../src/filter/snapshot/frozen.rs")),
    ("snapshot/load.rs", include_str!("../src/filter/snapshot/load.rs")),
    ("snapshot/loader.rs", include_str!("../src/filter/snapshot/loader.rs")),
    ("snapshot/mod.rs", include_str!("../src/filter/snapshot/mod.rs")),
];

/// A public method of the source: the header of its `impl`, its name and its doc comment.
#[derive(Debug)]
struct Method {
    file: &'static str,
    of: String,
    name: String,
    doc: String,
}

/// The public methods of a file.
fn methods((file, source): (&'static str, &str)) -> Vec<Method> {
    let (mut of, mut doc, mut methods) = (String::new(), String::new(), Vec::new());
    for line in source.lines() {
        let code = line.trim_start();
        if line.starts_with("impl") {
            line.trim_end_matches(" {").clone_into(&mut of);
        }
        if let Some(text) = code.strip_prefix("///") {
            doc.push_str(text.trim());
            doc.push('\n');
        } else if let Some((_, rest)) =
            code.split_once("pub fn ").filter(|(before, _)| before.is_empty())
        {
            let name = rest.split(['<', '(']).next().unwrap_or_default().to_string();
            methods.push(Method { file, of: of.clone(), name, doc: std::mem::take(&mut doc) });
        } else if !code.starts_with("#[") {
            doc.clear();
        }
    }
    methods
}

/// All public methods.
fn all_methods() -> Vec<Method> {
    SOURCES.into_iter().flat_map(methods).collect()
}

/// Every operation on items exists by hash too, where its documentation is a link.
#[test]
fn every_operation_exists_once_and_by_hash() {
    let all = all_methods();
    let names = |of: &str| -> BTreeSet<&str> {
        all.iter().filter(|method| method.of == of).map(|method| method.name.as_str()).collect()
    };
    let items = names("impl<E: Membership, S: BuildHasher> Filter<E, S>");
    assert!(items.len() >= 13 && items.contains("insert_unique_mask"), "{items:?}");
    assert_eq!(items, names("impl<E: Membership> ByHash<'_, E>"));
    let keys = names("impl<E: Mappable, S: BuildHasher> Filter<Mapped<E>, S>");
    assert!(keys.len() >= 14 && keys.contains("contains_mask"), "{keys:?}");
    assert_eq!(keys, names("impl<E: Mappable> ByHash<'_, Mapped<E>>"));
    let expiring = names("impl<S: BuildHasher> Filter<Expiring, S>");
    assert!(expiring.len() >= 13 && expiring.contains("insert_unique_mask"), "{expiring:?}");
    assert_eq!(expiring, names("impl ByHash<'_, Expiring>"));
    for method in all.iter().filter(|method| method.file.ends_with("by_hash.rs")) {
        let name = &method.name;
        let of_sets = format!("[`Filter::{name}`](crate::Filter::{name}) by hash.");
        // A link to `CuckooMap::insert` would lead to the `insert` of sets.
        let of = |name_of_type: &str| {
            format!("[`{name_of_type}::{name}`](crate::{name_of_type}#method.{name}) by hash.")
        };
        let expected = match method.file {
            "by_hash.rs" => of_sets,
            "map/by_hash.rs" => of("CuckooMap"),
            _ => of("ExpiringFilter"),
        };
        // The link may fill a line.
        assert_eq!(method.doc.trim().replace('\n', " "), expected);
    }
}

/// An engine has no public method that filters of other engines lack, apart from these.
#[test]
fn engines_offer_the_same_operations() {
    let single: BTreeSet<(String, String)> = all_methods()
        .into_iter()
        .filter(|method| ["Grow", "Fixed"].iter().any(|engine| method.of.contains(engine)))
        .map(|method| (method.name, method.of))
        .collect();
    let apart = [
        ("shrink_to_fit".into(), "impl<E: Growable, S> Filter<E, S>".into()),
        ("target_false_positive_rate".into(), "impl<E: Growable, S> Filter<E, S>".into()),
        ("next_growth".into(), "impl<E: Growable, S> Filter<E, S>".into()),
        ("set_max_bytes".into(), "impl<E: Growable, S> Filter<E, S>".into()),
        ("growth_factor".into(), "impl<E: Growable, S> FilterBuilder<E, S>".into()),
    ];
    assert_eq!(single, BTreeSet::from(apart));
    // The public methods of the engines themselves: none.
    let engines =
        all_methods().into_iter().filter(|m| ["fixed.rs", "growing.rs"].contains(&m.file));
    assert_eq!(engines.count(), 0);
}

/// Every public method has a doc comment with an example, and no two of them are equal.
#[test]
fn documentation_stands_once() {
    let mut seen = BTreeMap::new();
    for method in all_methods() {
        let what = format!("{} of {}, {}", method.name, method.of, method.file);
        assert!(!method.doc.is_empty(), "{what} has no documentation");
        let by_hash = method.file.ends_with("by_hash.rs");
        assert!(by_hash || method.doc.contains("```"), "{what} has no example");
        let prose = method.doc.split("```").next().unwrap_or_default().to_string();
        if let Some(before) = seen.insert(prose, what.clone()) {
            panic!("{what} and {before} have the same documentation");
        }
    }
    assert!(seen.len() > 40, "{} methods", seen.len());
}
