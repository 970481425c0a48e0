//! The pages of memory, which are small for every filter.
//!
//! With huge pages, filters of the same size would get different shares of them. guira aligns its
//! table to them; the tables of others start anywhere, or in memory that was freed before.

use anyhow::Result;

/// Turns huge pages off for this process and all of its threads, whoever asks for them.
///
/// # Errors
/// If the system refuses.
pub fn use_small_pages() -> Result<()> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: takes four integers and changes nothing but later page faults of this process.
        if unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) } != 0 {
            anyhow::bail!("cannot turn huge pages off: {}", std::io::Error::last_os_error());
        }
    }
    // Elsewhere, nobody asks for huge pages.
    Ok(())
}

/// Returns whether this process has no huge pages.
pub fn are_small() -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: takes four integers and changes nothing.
        unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0) > 0 }
    }
    #[cfg(not(target_os = "linux"))]
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{env, fs, process::Command};

    use super::{are_small, use_small_pages};
    use crate::filters::all;

    /// Set in the process that measures its memory.
    const CHILD: &str = "GUIRA_EVALUATION_PAGES";
    /// Size of each filter in bytes, which has room for whole huge pages.
    const BYTES: usize = 6 << 20;

    /// Returns a number of bytes that the system counts for this process.
    fn counted(name: &str) -> usize {
        let rollup = fs::read_to_string("/proc/self/smaps_rollup").expect("readable");
        let line = rollup.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let line = line.expect("the system counts it");
        line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
    }

    #[test]
    fn every_filter_is_on_small_pages() {
        if env::var_os(CHILD).is_none() {
            // In a process of its own, whose memory no other test shares.
            let mut child = Command::new(env::current_exe().expect("a path"));
            child.args(["--exact", "pages::tests::every_filter_is_on_small_pages", "--nocapture"]);
            assert!(child.env(CHILD, "1").status().expect("starts").success());
            return;
        }
        assert!(!are_small());
        use_small_pages().expect("the system allows it");
        assert!(are_small());
        // All of them stay, so that none gets memory that another one has freed.
        let (mut filters, mut bytes) = (Vec::new(), 0);
        for kind in all() {
            let (filter, _) = (kind.build)(BYTES);
            bytes += filter.bytes();
            filters.push(filter);
            let (resident, huge) = (counted("Rss"), counted("AnonHugePages"));
            assert!(resident >= bytes, "{}: {resident} of {bytes} bytes", kind.name);
            assert_eq!(huge, 0, "{}: bytes on huge pages", kind.name);
        }
    }
}
