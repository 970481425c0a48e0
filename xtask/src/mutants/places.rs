//! Where the structural mutants are planted: `loom-tests/mutants.txt`, beside the models.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};

/// The list of the places.
const LIST: &str = "loom-tests/mutants.txt";

/// A statement, or what else can be changed, and the mutants that are planted there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) names: Vec<String>,
    /// The path from the root of the repository.
    pub(super) file: String,
    pub(super) function: String,
    /// How its code begins.
    pub(super) statement: String,
}

/// Reads the list.
pub(super) fn read(root: &Path) -> Result<Vec<Place>> {
    parse(&fs::read_to_string(root.join(LIST)).context(LIST)?).context(LIST)
}

/// The places of a list: paths of files, each followed by `NAMES @ FUNCTION: STATEMENT`. Names can
/// go on in the next line, and lines that begin with `#` are comments.
pub(super) fn parse(list: &str) -> Result<Vec<Place>> {
    let (mut places, mut file, mut names) = (Vec::new(), "", String::new());
    let is_comment = |line: &&str| line.is_empty() || line.starts_with('#');
    for line in list.lines().filter(|line| !is_comment(line)) {
        if line.starts_with("src/") {
            ensure!(names.is_empty(), "`{names}` has no place");
            file = line;
            continue;
        }
        let Some((rest, whereabouts)) = line.split_once("@ ") else {
            names += line;
            continue;
        };
        names += rest;
        let (function, statement) =
            whereabouts.split_once(": ").with_context(|| format!("`{line}` names no statement"))?;
        places.push(Place {
            names: names.split(',').map(|name| name.trim().to_owned()).collect(),
            file: file.to_owned(),
            function: function.to_owned(),
            statement: statement.to_owned(),
        });
        names.clear();
    }
    ensure!(names.is_empty(), "`{names}` has no place");
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_take_several_lines() {
        let list = "# Comment\n\nsrc/a.rs\na @ f: x: y\nb, c,\nd\n@ g: @ z\n";
        let place = |names: &[&str], function: &str, statement: &str| Place {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            file: "src/a.rs".to_owned(),
            function: function.to_owned(),
            statement: statement.to_owned(),
        };
        let expected = [place(&["a"], "f", "x: y"), place(&["b", "c", "d"], "g", "@ z")];
        assert_eq!(parse(list).unwrap(), expected);
        assert!(parse("src/a.rs\na, b").is_err());
        assert!(parse("a @ f").is_err());
    }
}
