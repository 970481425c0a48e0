//! The Rust files of a folder of the repository, as text.

use std::{fs, path::Path};

use anyhow::{Context, Result};

/// A Rust file.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The path from the root of the repository, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Reads all Rust files below a folder, in the order of their paths.
pub(crate) fn read(root: &Path, folder: &str) -> Result<Vec<Source>> {
    let mut folders = vec![folder.to_owned()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).with_context(|| folder.clone())? {
            let entry = entry?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if Path::new(&path).extension().is_some_and(|extension| extension == "rs") {
                sources.push(Source { text: fs::read_to_string(entry.path())?, path });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}
