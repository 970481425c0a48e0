//! Snapshots in files: a save replaces the file as a whole, or leaves it as it was.

use core::{fmt::Write, hash::BuildHasher};
use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    path::Path,
};

use crate::{
    Filter,
    kind::{Contents, Growth},
};

impl<C: Contents, G: Growth, S: BuildHasher> Filter<C, G, S> {
    /// Saves the filter to a file, while other threads use the filter. If the call fails, or if the
    /// process is killed, **the file is the old one or the new one, as a whole.**
    ///
    /// What the file contains is what [`write_to`](Self::write_to) writes. The call writes a
    /// temporary file in the same folder, syncs it to the disk, and renames it to `path`. So the
    /// disk needs room for both files. (A crash of the system soon after the call may leave the old
    /// file.)
    /// [`docs::limits`](crate::docs::limits#memory) says how much stack the call takes.
    ///
    /// - *Temporary files.* Their names are that of the file with `.0.tmp`, `.1.tmp` ... appended.
    ///   A call that fails removes its own. Remove those that killed processes left behind. A name
    ///   that the system takes only without the appended part is an error.
    /// - *Saves at the same time* to one path, by threads or by processes, do not disturb each
    ///   other. The file of the last one to finish remains.
    /// - *A symbolic link* at `path` is followed: the file that it leads to is replaced.
    /// - *Permissions.* The new file has those of the file that it replaces.
    ///
    /// # Errors
    /// Those of the file system: the old file is still in place then.
    /// [`OutOfMemory`](io::ErrorKind::OutOfMemory) as in [`write_to`](Self::write_to).
    ///
    /// ```
    /// # let folder = std::env::temp_dir().join(format!("guira-save-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("seen.guira");
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// filter.insert("tyto alba").unwrap();
    /// filter.save(&path)?;
    /// assert!(guira::CuckooFilter::loader().file(&path)?.contains("tyto alba"));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let (encoder, words) = self.snapshot()?;
        let write = |file: &mut File| encoder.write(&words[..], file);
        let path = path.as_ref();
        if path.is_symlink() {
            return replace(&fs::canonicalize(path)?, write);
        }
        replace(path, write)
    }
}

/// Replaces a file, or creates it, by one that `write` writes.
fn replace(path: &Path, write: impl Fn(&mut File) -> io::Result<()>) -> io::Result<()> {
    let (temporary, mut file) = create_beside(path)?;
    let mut replace = || {
        if let Ok(replaced) = fs::metadata(path) {
            file.set_permissions(replaced.permissions())?;
        }
        write(&mut file)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    // The error that led here is the one to report.
    replace().inspect_err(|_| _ = fs::remove_file(&temporary))
}

/// Creates a temporary file in the folder of another one.
fn create_beside(path: &Path) -> io::Result<(OsString, File)> {
    let mut number = 0_u32;
    loop {
        let mut name = OsString::new();
        name.try_reserve_exact(path.as_os_str().len() + ".4294967295.tmp".len())?;
        name.push(path);
        write!(name, ".{number}.tmp").expect("it takes any text");
        match File::create_new(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            created => return Ok((name, created?)),
        }
    }
}
