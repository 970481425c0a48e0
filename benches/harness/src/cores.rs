//! The machine's cores, and threads pinned to them.

use core_affinity::CoreId;

/// The cores that this process may use.
///
/// List them before the first thread is pinned: a pinned thread, and every thread that it starts,
/// sees only its own core.
#[derive(Clone, Debug)]
pub struct Cores(Vec<CoreId>);

impl Cores {
    /// Lists the cores of the calling thread, which must not be pinned yet.
    ///
    /// # Panics
    /// If the system does not report any core.
    #[must_use]
    pub fn list() -> Self {
        let cores = core_affinity::get_core_ids().expect("the system's cores");
        assert!(!cores.is_empty(), "no cores");
        Self(cores)
    }

    /// Returns the number of cores.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Pins the calling thread to the `nth` core, modulo the number of cores.
    ///
    /// # Panics
    /// If the system refuses.
    pub fn pin(&self, nth: usize) {
        let core = self.0[nth % self.0.len()];
        assert!(core_affinity::set_for_current(core), "cannot pin a thread to {core:?}");
    }
}
