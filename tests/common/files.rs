//! Filters in files: a folder of a test's own, and what is in a file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use guira::CuckooFilter;

/// A folder that is removed with all its files in the end.
pub struct Folder(PathBuf);

impl Folder {
    /// Creates an empty folder.
    pub fn new(name: &str) -> Self {
        let name = format!("guira-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).expect("a folder for temporary files");
        Self(folder)
    }

    /// Returns the path of a name in the folder.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the names in the folder, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string());
        let mut names: Vec<String> = names.map(|name| name.expect("a name in Unicode")).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns a filter of 1 MB with items that depend on the seed, always the same ones.
pub fn filled(seed: u64) -> CuckooFilter {
    let filter = CuckooFilter::builder().capacity(450_000).seed(seed).build().expect("memory");
    for key in 0..1_000 {
        filter.insert(&(seed, key)).expect("room");
    }
    filter
}

/// Returns whether a file can be loaded, and holds the filter with this seed and nothing else.
pub fn holds(path: &Path, seed: u64) -> bool {
    let (loaded, expected) = (CuckooFilter::loader().file(path), filled(seed).to_bytes());
    loaded.is_ok_and(|loaded| loaded.to_bytes() == expected)
}
