//! The operations whose instructions `cargo xtask counts` counts, under valgrind.
//!
//! Everything is fixed: keys, seeds, sizes, kernels. The program calls [`measured`] once for each
//! operation and prints the name of the operation and the number of keys. Callgrind counts in
//! `measured` alone, and writes one total after each call.

mod face;

use std::hint::black_box;

use guira::raw::Kernel;

/// The seeds of the filters. Each operation runs on a filter of each seed, because the cost of the
/// last inserts varies by a few percent between seeds.
const SEEDS: [u64; 4] = [5, 6, 7, 8];

/// Number of keys of an operation at one load: the largest batch.
const KEYS: usize = 1 << 12;

/// Index of the first key that is never inserted by [`Kind::insert`].
const NEW: usize = 1 << 40;

/// A kind of filter `F` with keys `K`, and what is counted of it.
struct Kind<F, K> {
    name: &'static str,
    /// The number of items at a load of 1.
    capacity: usize,
    /// Builds a filter with a kernel and a seed.
    build: Box<dyn Fn(Kernel, u64) -> F>,
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
        let filled = SEEDS.map(|seed| (kind.build)(kernel, seed));
        let mut items = 0;
        for operation in kind.operations.iter().filter(chosen) {
            let target = kind.items(operation.load);
            if target > items {
                let keys = kind.keys(items..target);
                assert!(filled.iter().all(|filter| (kind.insert)(filter, &keys) == keys.len()));
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

    /// Runs an operation on clones of filters, and returns the number of keys.
    fn count(&self, operation: &Operation<F, K>, filled: &[F]) -> usize {
        let items = self.items(operation.load);
        let (keys, expected) = match operation.keys {
            Keys::Present => (self.keys((0..KEYS).map(|index| index * items / KEYS)), KEYS),
            Keys::Absent => (self.keys(NEW..NEW + KEYS), 0),
            Keys::New => (self.keys(NEW..NEW + KEYS), KEYS),
            Keys::UpTo(load) => {
                let end = self.items(load);
                (self.keys(items..end), end - items)
            }
        };
        let filters: Vec<F> = filled.iter().map(self.clone).collect();
        let yes = measured(&|| filters.iter().map(|filter| (operation.run)(filter, &keys)).sum());
        // Fingerprints may be equal by chance.
        let (all, wrong) = (filters.len() * keys.len(), yes.abs_diff(filters.len() * expected));
        assert!(wrong <= all / 50, "{}, {}: {wrong} wrong", self.name, operation.name);
        all
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
