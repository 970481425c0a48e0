//! The operations whose instructions `cargo xtask counts` counts, under valgrind.
//!
//! Everything is fixed: keys, seeds, sizes, kernels. The program calls [`measured`] once for each
//! operation and prints the name of the operation and the number of keys. Callgrind counts in
//! `measured` alone, and writes one total after each call.

mod face;

use std::{hint::black_box, ops::Range};

use guira::Kernel;

/// Number of keys in a lookup or a change at one load: a few of the largest batches.
const KEYS: usize = 1 << 14;

/// Index of the first key that is never inserted by [`Kind::insert`].
const NEW: usize = 1 << 40;

/// A kind of filter `F` with keys `K`, and what is counted of it.
struct Kind<F, K> {
    name: &'static str,
    /// The number of items at a load of 1.
    capacity: usize,
    build: Box<dyn Fn(Kernel) -> F>,
    clone: fn(&F) -> F,
    key: fn(u64) -> K,
    /// Inserts keys, and returns the number of those that were inserted.
    insert: fn(&F, &[K]) -> usize,
    /// The operations, by increasing load.
    operations: Vec<Operation<F, K>>,
}

/// One operation on many keys.
struct Operation<F, K> {
    name: String,
    /// The load at which the operation starts, as a fraction of the capacity.
    load: f64,
    keys: Keys,
    /// Whether the operation uses a kernel. Such an operation is counted with each.
    has_kernels: bool,
    /// Runs the operation, and returns the number of keys for which it said "yes".
    run: fn(&F, &[K]) -> usize,
}

/// The keys of an operation.
#[derive(Clone, Copy)]
enum Keys {
    /// Keys that have been inserted. The operation says "yes".
    Present,
    /// Other keys. A lookup says "no".
    Absent,
    /// Other keys. A change says "yes".
    New,
    /// As many other keys as fill the filter up to this load. The operation says "yes".
    UpTo(f64),
}

impl Keys {
    fn are_present(self) -> bool {
        matches!(self, Self::Present)
    }
}

fn main() {
    face::count_all();
}

/// Counts the operations of a kind, with each kernel.
fn count<F, K>(kind: &Kind<F, K>) {
    // AVX-512 is missing, because valgrind does not emulate it.
    for (kernel, name) in [(Kernel::Scalar, "scalar"), (Kernel::Avx2, "avx2")] {
        let chosen =
            |operation: &&Operation<F, K>| operation.has_kernels || kernel == Kernel::Scalar;
        if !kind.operations.iter().any(|one| chosen(&one)) {
            continue;
        }
        assert!(kernel.is_available());
        let filled = (kind.build)(kernel);
        let mut items = 0;
        for operation in kind.operations.iter().filter(chosen) {
            let target = kind.items(operation.load);
            if target > items {
                assert_eq!((kind.insert)(&filled, &kind.keys(items..target)), target - items);
                items = target;
            }
            let suffix = if operation.has_kernels { format!(", {name}") } else { String::new() };
            println!(
                "{}: {}{suffix}\t{}",
                kind.name,
                operation.name,
                kind.count(operation, &filled)
            );
        }
    }
}

impl<F, K> Kind<F, K> {
    /// The number of items at a load.
    fn items(&self, load: f64) -> usize {
        (self.capacity as f64 * load) as usize
    }

    fn keys(&self, indices: impl IntoIterator<Item = usize>) -> Vec<K> {
        indices.into_iter().map(|index| (self.key)(scramble(index as u64))).collect()
    }

    /// Runs an operation on a clone of a filter, and returns the number of keys.
    fn count(&self, operation: &Operation<F, K>, filled: &F) -> usize {
        let items = self.items(operation.load);
        let (keys, expected) = match operation.keys {
            Keys::Present => (self.keys((0..KEYS).map(|index| index * items / KEYS)), KEYS),
            Keys::Absent => (self.keys(NEW..NEW + KEYS), 0),
            Keys::New => (self.keys(NEW..NEW + KEYS), KEYS),
            Keys::UpTo(load) => {
                let range: Range<usize> = items..self.items(load);
                (self.keys(range.clone()), range.len())
            }
        };
        let filter = (self.clone)(filled);
        let yes = measured(&|| (operation.run)(&filter, &keys));
        // Fingerprints may be equal by chance.
        let wrong = yes.abs_diff(expected);
        assert!(wrong <= keys.len() / 50, "{}, {}: {wrong} wrong", self.name, operation.name);
        keys.len()
    }
}

/// Runs what is counted. Callgrind finds the function by its name.
#[inline(never)]
fn measured(run: &dyn Fn() -> usize) -> usize {
    // Without the black box, the call could become a jump, which callgrind takes for a return.
    black_box(run())
}

/// Returns a key for an index, by the bijection of `SplitMix64`.
fn scramble(index: u64) -> u64 {
    let mut key = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    key = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    key = (key ^ key >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ key >> 31
}
