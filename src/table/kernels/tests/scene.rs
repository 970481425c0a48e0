//! What the tests of kernels look up: words and stripes without a table, beside a thread that bumps
//! versions.

use std::{
    sync::{Mutex, PoisonError},
    thread,
};

use super::*;
use crate::{
    bucket::Slots,
    table::{Addressing, Pair, Stripes, batch::Source},
};

/// Empty words, and their stripes.
pub(super) struct Scene {
    pub(super) words: Vec<Word>,
    pub(super) stripes: Stripes,
    /// With values of `VALUE_BITS`, or of none.
    slots: Slots,
}

/// The answers of a batch, and their sum.
#[derive(Debug, PartialEq)]
pub(super) struct Found(pub(super) Vec<bool>, pub(super) usize);

impl Scene {
    pub(super) fn new(value_bits: u32) -> Self {
        let words = (0..BUCKETS).map(|_| Word::new(0)).collect();
        let stripes = Stripes::new(BUCKETS as u64).expect("memory");
        // Now no version is zero. Memory that was never written may be zero, and must not pass for
        // a version that was read.
        stripes.as_slice().iter().for_each(|stripe| stripe.lock().bump());
        Self { words, stripes, slots: Slots::plain(4, 16, value_bits) }
    }

    /// The value of an item.
    pub(super) fn value(&self, hash: u64) -> u16 {
        (hash % (1 << self.slots.value_bits())) as u16
    }

    /// The fingerprint, which selects the stripe, and both buckets.
    pub(super) fn pair(&self, hash: u64) -> Pair {
        Addressing::new(self.words.len() as u64, &self.slots).pair(mix(hash, SEED))
    }

    /// Writes an item into its first bucket, alone.
    pub(super) fn put(&self, hash: u64) {
        let Pair { fingerprint, buckets, .. } = self.pair(hash);
        let slot = self.slots.slot(fingerprint.get(), self.value(hash));
        self.words[buckets[0] as usize].store(slot.into(), Relaxed);
    }

    /// The number of the stripe of a hash.
    pub(super) fn stripe(&self, hash: u64) -> usize {
        self.pair(hash).fingerprint.get() as usize % self.stripes.as_slice().len()
    }

    /// The hashes of `count` different items whose stripes satisfy `wanted`.
    pub(super) fn hashes(&self, count: usize, wanted: impl Fn(usize) -> bool) -> Vec<u64> {
        (0..).filter(|&hash| wanted(self.stripe(hash))).take(count).collect()
    }

    /// Looks up a batch. An item that the test has not written into the words can only be found by
    /// a second lookup, by `lookup`.
    pub(super) fn look_up(
        &self,
        (kernel, way, prefetches): (Kernel, Way, bool),
        hashes: &[u64],
        lookup: &dyn Fn(u64) -> bool,
    ) -> Found {
        let lookup = |hash| lookup(hash).then_some(self.value(hash));
        let view = View::new(&self.words, self.stripes.as_slice(), Mixer::new(SEED), &lookup);
        let view = FixedView::new(View { prefetches, ..view }, &self.slots);
        let (mut found, mut values) = (vec![false; hashes.len()], vec![None; hashes.len()]);
        let mut answers = Answers::Each(&mut found);
        let mut with_values = Answers::Values(&mut values);
        let how = (kernel, way);
        // SAFETY: `everywhere` takes kernels that the processor has.
        let count = unsafe {
            match self.slots.value_bits() {
                0 => by::<false>(how, &view, hashes, &mut answers),
                _ => by::<true>(how, &view, hashes, &mut with_values),
            }
        };
        if self.slots.value_bits() > 0 {
            for ((found, value), &hash) in found.iter_mut().zip(values).zip(hashes) {
                *found = value.is_some();
                assert_eq!(value.unwrap_or(self.value(hash)), self.value(hash), "{how:?}");
            }
        }
        Found(found, count)
    }

    /// Calls `test` while a thread bumps the versions of these items' stripes in turn, as fast as
    /// it can. It also writes their words, as they are, so that the loads of a lookup take longer.
    pub(super) fn beside_bumps(&self, hashes: &[u64], test: impl Fn()) {
        // One test at a time: threads without a processor of their own hardly interleave.
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed is enough: the flag publishes nothing, and the words keep their values.
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for &hash in hashes.iter().cycle() {
                    if stop.load(Relaxed) {
                        return;
                    }
                    self.stripes.of(self.pair(hash).fingerprint).lock().bump();
                    for bucket in self.pair(hash).buckets {
                        self.words[bucket as usize].store(0, Relaxed);
                    }
                }
            });
            // The thread ends also if the test panics.
            let _stop = OnDrop(|| stop.store(true, Relaxed));
            test();
        });
    }
}

/// Looks up a batch by a kernel that the processor must have.
unsafe fn by<const VALUES: bool>(
    (kernel, way): (Kernel, Way),
    view: &FixedView<'_>,
    hashes: &[u64],
    answers: &mut Answers<'_>,
) -> usize {
    let mut source = Hashes::new(Source::Slice(hashes), Mixer::new(SEED));
    let mut values = [0; MAX_BURST];
    let values = part_of(VALUES, &mut values, 0);
    // SAFETY: the caller promises that the processor has the instructions.
    unsafe {
        match (way, kernel) {
            (Way::Burst, Kernel::Avx512) => {
                let found =
                    avx512::contains_burst::<_, Fixed<'_, Eight, VALUES>>(view, hashes, values);
                answers.put_lanes(0, found, values, hashes.len())
            }
            (Way::Burst, _) => {
                let found =
                    avx2::contains_burst::<_, Fixed<'_, Four, VALUES>>(view, hashes, values);
                answers.put_lanes(0, found, values, hashes.len())
            }
            (Way::Gathered, Kernel::Avx512) => {
                avx512::contains::<_, Fixed<'_, Eight, VALUES>>(view, &mut source, 0, answers)
            }
            (Way::Gathered, _) => {
                avx2::contains::<_, Fixed<'_, Four, VALUES>>(view, &mut source, 0, answers)
            }
            (Way::Copied, Kernel::Avx512) => avx512::contains_by_copies::<
                _,
                Fixed<'_, Eight, VALUES>,
            >(view, &mut source, answers),
            (Way::Copied, _) => {
                avx2::contains_by_copies::<_, Fixed<'_, Four, VALUES>>(view, &mut source, answers)
            }
        }
    }
}

/// Calls a function when it is dropped.
pub(super) struct OnDrop<F: Fn()>(pub(super) F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
