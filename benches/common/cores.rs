//! The machine's cores, and threads pinned to them.

use core_affinity::CoreId;

/// The cores that this program may use, listed once.
///
/// The system tells a thread of the cores in its own mask alone, which its children inherit: so the
/// list must be made before the first thread is pinned.
#[derive(Clone, Debug)]
pub struct Cores(Vec<CoreId>);

impl Cores {
    /// The cores of the calling thread, which is not pinned yet.
    pub fn list() -> Self {
        let cores = core_affinity::get_core_ids().expect("the system's cores");
        assert!(!cores.is_empty(), "no cores");
        Self(cores)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Pins this thread to the `nth` core, counted round and round where there are fewer.
    pub fn pin(&self, nth: usize) {
        let core = self.0[nth % self.0.len()];
        assert!(core_affinity::set_for_current(core), "cannot pin a thread to {core:?}");
    }
}
