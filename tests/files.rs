//! Filters in files: what `save` leaves in the folder, and what a loader refuses.

#![cfg(feature = "std")]

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
};

use guira::{CuckooFilter, LoadError};

/// A folder that is removed with all its files in the end.
struct Folder(PathBuf);

impl Folder {
    /// Creates an empty folder.
    fn new(name: &str) -> Self {
        let name = format!("guira-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).expect("a folder for temporary files");
        Self(folder)
    }

    /// Returns the path of a name in the folder.
    fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the names in the folder, in order.
    fn names(&self) -> Vec<String> {
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
fn filled(seed: u64) -> CuckooFilter {
    let filter = CuckooFilter::builder().capacity(450_000).seed(seed).build().expect("memory");
    for key in 0..1_000 {
        filter.insert(&(seed, key)).expect("room");
    }
    filter
}

/// Returns whether a file can be loaded, and holds the filter with this seed and nothing else.
fn holds(path: &Path, seed: u64) -> bool {
    let (loaded, expected) = (CuckooFilter::loader().file(path), filled(seed).to_bytes());
    loaded.is_ok_and(|loaded| loaded.to_bytes() == expected)
}

#[test]
fn a_saved_file_is_loaded_and_replaced() {
    let folder = Folder::new("replaced");
    let path = folder.join("seen.guira");
    for seed in [1, 2] {
        filled(seed).save(&path).expect("room on the disk");
        assert!(holds(&path, seed));
        assert_eq!(fs::read(&path).expect("the file"), filled(seed).to_bytes());
        assert_eq!(folder.names(), ["seen.guira"]);
    }
    // A temporary file that was left behind stays, and disturbs nothing.
    fs::write(folder.join("seen.guira.0.tmp"), "left behind").expect("a file");
    filled(3).save(&path).expect("room on the disk");
    assert!(holds(&path, 3) && folder.names() == ["seen.guira", "seen.guira.0.tmp"]);
}

#[test]
fn a_file_without_a_folder_in_its_path_is_saved() {
    // The one test in this binary that depends on the current folder, which it leaves as it is.
    let name = format!("guira-files-{}.tmp", std::process::id());
    filled(1).save(&name).expect("room on the disk");
    let loaded = holds(Path::new(&name), 1);
    fs::remove_file(&name).expect("the file");
    assert!(loaded);
}

#[test]
fn bytes_after_the_snapshot_are_refused() {
    let folder = Folder::new("trailing");
    let path = folder.join("seen.guira");
    let mut bytes = filled(1).to_bytes();
    bytes.extend([0; 7]);
    fs::write(&path, &bytes).expect("a file");
    match CuckooFilter::loader().file(&path) {
        Err(LoadError::TrailingBytes { more: 7, .. }) => {}
        other => panic!("{other:?}"),
    }
    fs::write(&path, &bytes[..bytes.len() - 8]).expect("a file");
    assert!(matches!(CuckooFilter::loader().file(&path), Err(LoadError::Truncated { .. })));
}

#[test]
fn a_missing_file_is_an_error_of_the_system() {
    let folder = Folder::new("missing");
    match CuckooFilter::loader().file(folder.join("seen.guira")) {
        Err(LoadError::Io(error)) => assert_eq!(error.kind(), io::ErrorKind::NotFound),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_save_that_fails_leaves_the_folder_as_it_was() {
    let folder = Folder::new("fails");
    // What is at the path is no file.
    let path = folder.join("seen.guira");
    fs::create_dir(&path).expect("a folder");
    filled(1).save(&path).expect_err("a folder is not replaced");
    // The folder of the file does not exist.
    let error = filled(1).save(folder.join("none").join("seen")).expect_err("no folder");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    filled(1).save(folder.join("..")).expect_err("no name");
    // The name is too long for the temporary file, but not for the file.
    let long = folder.join("x".repeat(252));
    fs::write(&long, "old").expect("a file");
    filled(1).save(&long).expect_err("too long a name");
    assert_eq!(fs::read(&long).expect("the file"), b"old");
    assert_eq!(folder.names().len(), 2);
}

#[test]
fn saves_at_the_same_time_do_not_disturb_each_other() {
    let folder = Folder::new("together");
    let path = folder.join("seen.guira");
    let filters: Vec<_> = (0..4).map(filled).collect();
    let expected: Vec<_> = filters.iter().map(CuckooFilter::to_bytes).collect();
    thread::scope(|scope| {
        for filter in &filters {
            scope.spawn(|| {
                for _ in 0..20 {
                    filter.save(&path).expect("a name for the temporary file");
                    let loaded = CuckooFilter::loader().file(&path).expect("a whole file");
                    assert!(expected.contains(&loaded.to_bytes()));
                }
            });
        }
    });
    assert_eq!(folder.names(), ["seen.guira"]);
}

#[cfg(unix)]
mod unix {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    };

    use super::{Folder, filled, holds};

    #[test]
    fn permissions_are_kept() {
        let folder = Folder::new("permissions");
        let path = folder.join("seen.guira");
        filled(1).save(&path).expect("room on the disk");
        // The first one has more than a new file gets, the last one forbids to write.
        for mode in [0o666, 0o640, 0o600, 0o444] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("the file is ours");
            filled(2).save(&path).expect("room on the disk");
            assert_eq!(fs::metadata(&path).expect("the file").mode() & 0o7777, mode);
        }
        assert!(holds(&path, 2));
    }

    #[test]
    fn the_temporary_file_of_a_save_that_fails_is_removed() {
        let folder = Folder::new("rename");
        // A path to a folder, to which no file can be renamed.
        filled(1).save(folder.join("seen.guira/")).expect_err("not a path of a file");
        assert_eq!(folder.names(), [""; 0]);
    }

    #[test]
    fn links_are_followed() {
        let folder = Folder::new("links");
        let below = folder.join("below");
        fs::create_dir(&below).expect("a folder");
        let (link, second) = (folder.join("link"), below.join("second"));
        symlink("below/second", &link).expect("a link");
        symlink("file", &second).expect("a link");
        // There is nothing where the links lead to.
        filled(1).save(&link).expect_err("a link that leads nowhere");
        fs::write(below.join("file"), "old").expect("a file");
        for seed in [1, 2] {
            filled(seed).save(&link).expect("room on the disk");
            assert!(link.is_symlink() && second.is_symlink());
            assert!(holds(&below.join("file"), seed) && holds(&link, seed));
        }
        assert_eq!(folder.names(), ["below", "link"]);
        assert_eq!(fs::read_dir(&below).expect("the folder").count(), 2);
        let circle = folder.join("circle");
        symlink("circle", &circle).expect("a link");
        filled(1).save(&circle).expect_err("a circle of links");
        assert!(circle.is_symlink());
    }
}
