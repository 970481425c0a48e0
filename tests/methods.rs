//! The public methods of the front end, as its sources list them: how many there are, that growth
//! adds few, and that each of them is documented once.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// The number of public methods that a user may have to choose from.
const MAX_METHODS: usize = 108;

/// A public method of the source.
#[derive(Debug)]
struct Method {
    file: String,
    /// The first line of its `impl`.
    of: String,
    name: String,
    doc: String,
}

/// Adds the public methods of a file, without hidden ones.
fn add_methods(file: &Path, methods: &mut Vec<Method>) {
    let source = fs::read_to_string(file).expect("a source file");
    let (mut of, mut doc, mut hidden) = (String::new(), String::new(), false);
    for line in source.lines() {
        let code = line.trim_start();
        if line.starts_with("impl") {
            line.trim_end_matches(" {").clone_into(&mut of);
        }
        if let Some(text) = code.strip_prefix("///") {
            doc.push_str(text.trim());
            doc.push('\n');
        } else if code.starts_with("#[") {
            hidden |= code == "#[doc(hidden)]";
        } else {
            let function = ["pub fn ", "pub const fn "].iter().find_map(|p| code.strip_prefix(p));
            if let Some(function) = function.filter(|_| !hidden) {
                let name = function.split(['<', '(']).next().unwrap_or_default().to_string();
                let (file, doc) = (file.display().to_string(), std::mem::take(&mut doc));
                methods.push(Method { file, of: of.clone(), name, doc });
            }
            doc.clear();
            hidden = false;
        }
    }
}

/// Adds the public methods of a folder.
fn add_folder(folder: &Path, methods: &mut Vec<Method>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            add_folder(&path, methods);
        } else if !path.ends_with("model.rs") {
            // That file is for loom alone.
            add_methods(&path, methods);
        }
    }
}

/// The public methods of filters, builders, loaders, and of what they return.
fn all_methods() -> Vec<Method> {
    let mut methods = Vec::new();
    add_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/filter"), &mut methods);
    methods
}

/// Whether a method is that of the same name of a filter, on its view.
fn is_shared(method: &Method) -> bool {
    method.file.ends_with("lookups.rs") && method.doc.contains(": see")
}

/// A method of a generic type counts once, and so does a lookup of filters and of their views.
#[test]
fn the_face_is_small() {
    let count = all_methods().iter().filter(|method| !is_shared(method)).count();
    println!("{count} public methods");
    assert!(count > 80, "only {count} public methods were found");
    assert!(count <= MAX_METHODS, "{count} public methods, more than {MAX_METHODS}");
}

/// What grows has these methods besides those of what does not, whatever it contains.
#[test]
fn growth_adds_few_methods() {
    let of_growth = |growth: &str| -> BTreeSet<String> {
        let is_of = |method: &Method| method.of.contains(growth) && !method.of.contains("Expiring");
        all_methods().into_iter().filter(is_of).map(|method| method.name).collect()
    };
    let expected = [
        "max_capacity",
        "new",
        "next_growth",
        "reserve_address_space",
        "set_max_bytes",
        "shrink_step",
    ];
    assert_eq!(of_growth("Growing"), expected.map(String::from).into());
    assert_eq!(of_growth("Fixed"), BTreeSet::new());
}

/// Every public method has a doc comment with an example, and no two of them are equal.
#[test]
fn documentation_stands_once() {
    let mut seen = BTreeMap::new();
    for method in all_methods() {
        let is_shared = is_shared(&method);
        let Method { file, of, name, doc } = method;
        let what = format!("{name} of {of}, {file}");
        assert!(!doc.is_empty(), "{what} has no documentation");
        // That of an insertion is on its type, and that of a view at the filter's method.
        let has_example = doc.contains("```") || of.ends_with(" Insertion<N, F>") || is_shared;
        assert!(has_example, "{what} has no example");
        let prose = doc.split("```").next().unwrap_or_default().to_string();
        if let Some(before) = seen.insert(prose, what.clone()) {
            panic!("{what} and {before} have the same documentation");
        }
    }
}
