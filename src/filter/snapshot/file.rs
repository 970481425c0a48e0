//! Snapshots in files: a save replaces the file as a whole, or leaves it as it was.

use core::{fmt::Write, hash::BuildHasher};
use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use arrayvec::ArrayString;

use crate::{
    Filter,
    kind::{Contents, Growth},
};

/// Number of names of temporary files beside one file. Each save in progress takes one.
const NAMES: u32 = 100;
/// Bytes that such a name has more than that of the file.
const MAX_SUFFIX: usize = ".99.tmp".len();
/// Number of symbolic links that are followed, as on Linux.
const MAX_LINKS: usize = 40;

impl<C: Contents, G: Growth, S: BuildHasher> Filter<C, G, S> {
    /// Saves the filter to a file, while other threads use the filter. If the call fails, or if the
    /// process is killed, **the file is the old one or the new one, as a whole.**
    ///
    /// What the file contains is what [`write_to`](Self::write_to) writes. The call writes a
    /// temporary file in the same folder, syncs it to the disk, renames it to `path`, and syncs the
    /// folder. (The last step is done on Unix only. Elsewhere, a crash of the system soon after the
    /// call may leave the old file.) So the disk needs room for both files.
    /// [`docs::limits`](crate::docs::limits#memory) says how much stack the call takes.
    ///
    /// - *Temporary files.* Their names are that of the file with `.0.tmp` to `.99.tmp` appended. A
    ///   call that fails removes its own. One that is left behind by a killed process is removed by
    ///   the next save to the same path, on Unix, if the system supports
    ///   [locks](File::try_lock) of files. Elsewhere, remove it yourself.
    /// - *Saves at the same time* to one path, by threads or by processes, do not disturb each
    ///   other. The file of the last one to finish remains.
    /// - *A symbolic link* at `path` is followed: the file that it leads to is replaced.
    /// - *Permissions.* On Unix, the new file has the permission bits of the file that it replaces.
    ///   All other attributes are those of a new file. A file without permission to write is
    ///   replaced, too.
    ///
    /// # Errors
    /// Those of the file system: the old file is still in place then, unless the sync of the folder
    /// failed, which is the last step. [`InvalidInput`](io::ErrorKind::InvalidInput) if there is
    /// something at `path` other than a file, or if `path` does not end in a name.
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
        replace(path.as_ref(), |file| self.write_to(file))
    }
}

/// Replaces a file by what `write` writes, or creates it.
fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let path = follow_links(path)?;
    let replaced = match fs::metadata(&path) {
        Ok(found) if found.is_file() => Some(found),
        Ok(_) => return Err(invalid("not a file: pass the path of a file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    #[cfg(unix)]
    let folder = open_folder(&path)?;
    let mut temporary = Temporary::create(&path, replaced.as_ref())?;
    write(&mut temporary.file)?;
    temporary.file.sync_all()?;
    temporary.rename(&path)?;
    #[cfg(unix)]
    match folder.sync_all() {
        // Some file systems cannot sync folders.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
        result => result?,
    }
    Ok(())
}

/// Returns the path that a chain of symbolic links leads to. There may be nothing at its end.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = copy(path, 0)?;
    for _ in 0..MAX_LINKS {
        // What goes wrong here shows up when the path is used. Only the target of a link takes
        // memory that std does not let us reserve.
        let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
        let target = if is_link { fs::read_link(&path).ok() } else { None };
        let Some(target) = target else { return Ok(path) };
        // A relative target is relative to the folder of the link.
        path.pop();
        path.try_reserve(1 + target.as_os_str().len())?;
        path.push(target);
    }
    Err(invalid("too many symbolic links"))
}

/// Copies a path, with room for more bytes.
fn copy(path: &Path, more: usize) -> io::Result<PathBuf> {
    let mut copy = PathBuf::new();
    copy.try_reserve_exact(path.as_os_str().len() + more)?;
    copy.push(path);
    Ok(copy)
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Opens the folder of a file, which is synced after the file was renamed.
#[cfg(unix)]
fn open_folder(path: &Path) -> io::Result<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))
}

/// A temporary file, which is removed when this is dropped.
///
/// Its lock tells other saves that it is in use. The lock ends with the process. So a file that can
/// be locked was left behind, unless a save has just created it, or has just renamed it. Only the
/// holder of the lock renames or removes the file. So while one save holds it, no other save takes
/// the file from its path.
struct Temporary {
    file: File,
    /// `None` once it was renamed.
    path: Option<PathBuf>,
}

impl Temporary {
    /// Creates a file in the folder of another one, with the permissions of the file that it will
    /// replace.
    fn create(beside: &Path, replaced: Option<&fs::Metadata>) -> io::Result<Self> {
        let name = beside.file_name().ok_or_else(|| invalid("a path without a name: add one"))?;
        let mut number = 0;
        while number < NAMES {
            let mut suffix = ArrayString::<MAX_SUFFIX>::new();
            write!(suffix, ".{number}.tmp").expect("two digits");
            let mut temporary = OsString::new();
            temporary.try_reserve_exact(name.len() + MAX_SUFFIX)?;
            temporary.push(name);
            temporary.push(suffix.as_str());
            let mut path = copy(beside, MAX_SUFFIX)?;
            path.set_file_name(temporary);
            match create_new(&path, replaced) {
                Ok(file) => {
                    // Where there are no locks, no other save removes this file. Where there are,
                    // one may have taken it for abandoned before it was locked here. Such a save
                    // holds the lock only while it removes the file, so wait, and then look.
                    if file.lock().is_err() || is_at(&file, &path) != Some(false) {
                        let created = Self { file, path: Some(path) };
                        #[cfg(unix)]
                        if let Some(replaced) = replaced {
                            // The system may have cleared some of the given bits.
                            created.file.set_permissions(replaced.permissions())?;
                        }
                        return Ok(created);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if !remove_abandoned(&path) {
                        number += 1;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "all names of temporary files are taken"))
    }

    fn rename(mut self, path: &Path) -> io::Result<()> {
        let own = self.path.as_ref().expect("not renamed yet");
        fs::rename(own, path)?;
        self.path = None;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // The error that led here is the one to report.
            let _ = fs::remove_file(path);
        }
    }
}

/// Creates a file. It has no permission that the file that it replaces lacks.
fn create_new(path: &Path, replaced: Option<&fs::Metadata>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if let Some(replaced) = replaced {
        use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
        options.mode(replaced.mode() & 0o777);
    }
    #[cfg(not(unix))]
    let _ = replaced;
    options.open(path)
}

/// Removes a temporary file if no save uses it any longer. Returns whether its name may be free.
fn remove_abandoned(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        // Opening a pipe would wait for a writer.
        Ok(found) if !found.is_file() => false,
        Ok(_) => File::open(path).is_ok_and(|file| {
            let is_abandoned = file.try_lock().is_ok() && is_at(&file, path) == Some(true);
            is_abandoned && fs::remove_file(path).is_ok()
        }),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Returns whether the file is still at this path, or `None` where that cannot be told.
fn is_at(file: &File, path: &Path) -> Option<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |found: fs::Metadata| (found.dev(), found.ino());
        let own = file.metadata().map(identity).ok()?;
        Some(fs::symlink_metadata(path).map(identity).is_ok_and(|found| found == own))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        None
    }
}
