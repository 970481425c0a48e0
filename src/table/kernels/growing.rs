//! The steps of a lookup in a table that grows by splitting, eight or four items at a time. The
//! formulas are those of `table/split/address.rs` and of `bucket/leveled.rs`.
//!
//! The size that a batch starts from is a hint: buckets may have been split since it was published.
//! So a word of another level than the hint tells is neither a hit nor a miss. Its item is looked
//! up again by itself.

use core::marker::PhantomData;

use super::{
    Answers, Hashes, Stripe, Vectors, WINDOW, are_copied,
    avx2::Four,
    avx512::Eight,
    mixing::{Mixer, Scatter},
    vector::Vector,
    ways::{Found, Lookup},
};
use crate::{
    bucket::GrowingLayout,
    sync::Word,
    table::{batch::is_cached, split::Size},
};

/// The position of the level in a word.
pub(super) const LEVEL_SHIFT: u32 = 60;
/// The level of a word.
pub(super) const LEVEL: u64 = u64::MAX << LEVEL_SHIFT;

/// What a kernel needs of a table that grows.
pub(in crate::table) struct GrowingView<'a> {
    /// The words of all buckets up to the size.
    words: &'a [Word],
    /// The number of buckets at level 0.
    first: u32,
    stripes: &'a [Stripe],
    seed: u64,
    size: Size,
    /// Whether the words are prefetched.
    prefetches: bool,
    /// Looks up one hash.
    lookup: &'a dyn Fn(u64) -> bool,
}

impl<'a> GrowingView<'a> {
    /// What a kernel needs of a table with `first` buckets at level 0, of which `words` are the
    /// words up to this size, and the others are not needed. `None` if kernels cannot serve a
    /// table with so many buckets. `lookup` looks up one hash, which is not mixed, whatever the
    /// size is.
    ///
    /// The size must have been read before (Acquire).
    ///
    /// # Panics
    /// If there are fewer words, or if the number of stripes is not a power of two.
    pub(in crate::table) fn new(
        words: &'a [Word],
        first: u64,
        size: Size,
        stripes: &'a [Stripe],
        seed: u64,
        lookup: &'a dyn Fn(u64) -> bool,
    ) -> Option<Self> {
        let first = u32::try_from(first).ok()?;
        let round = u64::from(first) << size.level;
        assert!(size.split <= round && round + size.split <= words.len() as u64);
        assert!(stripes.len().is_power_of_two());
        let prefetches = !is_cached(words);
        Some(Self { words, first, stripes, seed, size, prefetches, lookup })
    }

    /// As if the table were large, or small.
    #[cfg(test)]
    pub(super) fn with_prefetches(self, prefetches: bool) -> Self {
        Self { prefetches, ..self }
    }
}

/// The items of one vector.
#[derive(Clone, Copy)]
pub(super) struct Group<V> {
    buckets: [V; 2],
    /// What the words are compared with: a pattern in every slot, and the level.
    patterns: [V; 2],
    /// Numbers of which the stripes' numbers are the lowest bits.
    stripes: V,
}

/// What is the same for all items, in every lane.
pub(super) struct Growing<'a, V, L> {
    view: &'a GrowingView<'a>,
    mixer: Mixer<V>,
    scatter: Scatter<V>,
    one: V,
    /// Buckets at level 0, and in this round.
    first: V,
    round: V,
    split: V,
    /// The bits of the extension that choose a bucket in this round, and the next one.
    chosen: V,
    next: V,
    /// Bits from the extension to a pattern.
    shift: V,
    /// The level, in its place in a word.
    level: V,
    last_stripe: V,
    layout: PhantomData<L>,
}

impl<'a, V: Vector, L: GrowingLayout> Lookup<'a, V> for Growing<'a, V, L> {
    type View = GrowingView<'a>;
    type Group = Group<V>;
    const WINDOW: usize = WINDOW;
    const OVERLAPS: bool = false;
    const VALUES: bool = false;
    const LEVELS: bool = true;

    #[inline(always)]
    unsafe fn new(view: &'a GrowingView<'a>) -> Self {
        let Size { level, split } = view.size;
        let first = u64::from(view.first);
        let next = 1 << level;
        let at = Self::EXTENSION_SHIFT;
        // SAFETY: the caller promises that the processor has the instructions.
        unsafe {
            Self {
                view,
                mixer: Mixer::new(view.seed),
                scatter: Scatter::new(),
                one: V::splat(1),
                first: V::splat(first),
                round: V::splat(first << level),
                split: V::splat(split),
                chosen: V::splat(next - 1),
                next: V::splat(next << at),
                shift: V::splat(u64::from(at - L::CORE + level)),
                level: V::splat(u64::from(level) << LEVEL_SHIFT),
                last_stripe: V::splat(view.stripes.len() as u64 - 1),
                layout: PhantomData,
            }
        }
    }

    #[inline(always)]
    fn unset(&self) -> Group<V> {
        let zero = self.splat(0);
        Group { buckets: [zero; 2], patterns: [zero; 2], stripes: zero }
    }

    #[inline(always)]
    fn locate(&self, hashes: &[u64]) -> Group<V> {
        let mixed = self.mixer.mix(hashes);
        let core = mixed.shift_right_by(u64::BITS - L::CORE);
        let product = mixed.multiply_low(self.first);
        let start = product.shift_right::<32>();
        let scattered = self.scatter.scatter(core.add(self.one));
        let alternate = start.reflect(scattered.reduce(self.first), self.first);
        let [extension, other] = self.extensions(mixed, product, scattered);
        let (first, pattern) = self.side(start, core, extension);
        let (second, other) = self.side(alternate, core, other);
        let stripes = start.min(alternate).shift_left_by(L::CORE).or(core);
        Group { buckets: [first, second], patterns: [pattern, other], stripes }
    }

    #[inline(always)]
    fn prefetches(&self) -> bool {
        self.view.prefetches
    }

    #[inline(always)]
    fn prefetch(&self, group: &Group<V>, count: usize) {
        if self.view.prefetches && count > 0 {
            for buckets in group.buckets {
                for &bucket in &buckets.store().as_ref()[..count] {
                    let word = self.view.words.as_ptr().wrapping_add(bucket as usize);
                    crate::table::prefetch(word.cast());
                }
            }
        }
    }

    #[inline(always)]
    fn stripes(&self) -> &'a [Stripe] {
        self.view.stripes
    }

    #[inline(always)]
    fn versions(&self, group: &Group<V>) -> V {
        let stripes = group.stripes.and(self.last_stripe);
        let places = stripes.shift_left::<{ Stripe::WORDS.ilog2() }>();
        // SAFETY: the number of stripes is a power of two, so the mask yields an index.
        unsafe { places.gather(Stripe::versions(self.view.stripes)) }
    }

    /// See `GrowingLayout::matches_of`. Whether any slot matches takes less: in each word, the
    /// occupied slots come first. So the short zero-lane test of `beyond`, which is right up to the
    /// lowest zero lane, marks the same lanes as that of the slots if no slot matches. If one does,
    /// it is zero in `beyond` but not in the slots, and all slots below it are occupied.
    #[inline(always)]
    fn find(&self, group: &Group<V>, _: (&Group<V>, usize)) -> Found<V> {
        let words = self.view.words.as_ptr();
        // SAFETY: `side` returns buckets below the size: a split bucket leads to a child, whose
        // number is below the sum of the round's buckets and the number of splits.
        let words = unsafe { [group.buckets[0].gather(words), group.buckets[1].gather(words)] };
        let (first, differences) = self.compare(words[0], group.patterns[0]);
        let (second, others) = self.compare(words[1], group.patterns[1]);
        let found = first.or(second).and(self.splat(L::LANES.highs())).nonzero();
        let open = differences.or(others).and(self.splat(LEVEL)).nonzero();
        Found { found: found & !open, open, answers: self.one }
    }

    #[inline(always)]
    fn look_up_again(&self, lanes: u32, hashes: &[u64], _: &mut [u32]) -> u32 {
        self.view.look_up_again(lanes, hashes)
    }
}

impl<V: Vector, L: GrowingLayout> Growing<'_, V, L> {
    /// The position of the extension in what `extensions` returns. It is a whole half, unless the
    /// extension has more bits than the hash has for it.
    const EXTENSION_SHIFT: u32 = if L::LOW_BITS == 0 { 32 } else { L::CORE };
    /// The slots that begin in the low half of a word, and those that do not.
    const LOW_SLOTS: u32 = (L::LANES.ones() as u32).count_ones();
    const HIGH_SLOTS: u32 = L::SLOTS - Self::LOW_SLOTS;

    #[inline(always)]
    fn splat(&self, value: u64) -> V {
        // SAFETY: there are vectors already.
        unsafe { V::splat(value) }
    }

    /// The extensions on both sides. Bits below them and above them may be anything.
    #[inline(always)]
    fn extensions(&self, mixed: V, product: V, scattered: V) -> [V; 2] {
        if L::LOW_BITS == 0 {
            return [mixed, mixed.xor(scattered)];
        }
        let low = self.splat(u64::from(u32::MAX));
        let below = mixed.shift_right_by(32 - L::CORE).and(low);
        // The upper bits of the low half of the product, above the others.
        let above = low.and_not(product.shift_left_by(L::LOW_BITS));
        let extension = below.or(above);
        [extension, extension.xor(scattered.shift_right_by(32 - L::CORE).and(low))]
    }

    /// The bucket of one side, and what its word is compared with.
    #[inline(always)]
    fn side(&self, start: V, core: V, extension: V) -> (V, V) {
        let chosen = extension.shift_right_by(Self::EXTENSION_SHIFT).and(self.chosen);
        let bucket = start.add(chosen.multiply_low(self.first));
        let split = bucket.below(self.split);
        let bucket = bucket.add_if(extension.has(self.next, split), self.round);
        let shift = self.shift.add_if(split, self.one);
        let level = self.level.add_if(split, self.splat(1 << LEVEL_SHIFT));
        let tail = extension.shift_right_each(shift).and(self.splat(L::FIRST & !L::CORE_MASK));
        (bucket, self.broadcast(tail.or(core)).or(level))
    }

    /// The value of the first slot, in all slots.
    #[inline(always)]
    fn broadcast(&self, x: V) -> V {
        let low = x.multiply_low(self.splat(L::LANES.ones() & u64::from(u32::MAX)));
        let shift = Self::LOW_SLOTS * L::WIDTH;
        match Self::HIGH_SLOTS {
            0 => low,
            1 => low.or(x.shift_left_by(shift)),
            // What goes beyond the slots is where the level belongs.
            _ => low.or(low.shift_left_by(shift)).and(self.splat(!LEVEL)),
        }
    }

    /// Marks by the highest bit of a slot whether any slot of a word matches: see `find`. The
    /// second result has the differences of the levels.
    #[inline(always)]
    fn compare(&self, word: V, pattern: V) -> (V, V) {
        let ones = self.splat(L::LANES.ones());
        let differences = word.xor(pattern).or(self.splat(L::LANES.highs()));
        let until = differences.xor(differences.subtract(ones));
        let beyond = until.and_not(word);
        let marks = beyond.and_not(beyond.subtract(ones));
        let empty = word.and_not(word.subtract(ones));
        (empty.and_not(marks), differences)
    }
}

impl GrowingView<'_> {
    /// Looks up the hashes whose bits are set, one by one. Returns those that were found.
    #[cold]
    fn look_up_again(&self, lanes: u32, hashes: &[u64]) -> u32 {
        let lanes = (0..hashes.len()).filter(|&lane| lanes >> lane & 1 != 0);
        lanes.fold(0, |found, lane| found | u32::from((self.lookup)(hashes[lane])) << lane)
    }
}

impl Vectors {
    /// As [`contains`](Self::contains), in a table that grows. The answers have no values.
    ///
    /// # Safety
    /// The processor has the instructions.
    pub(in crate::table) unsafe fn contains_growing<'a, L: GrowingLayout>(
        self,
        view: &'a GrowingView<'a>,
        len: usize,
        hashes: &mut Hashes<'_>,
        answers: &mut Answers<'_>,
    ) -> usize {
        let copied = are_copied(view.stripes.len(), len);
        // SAFETY: the caller promises that the processor has the instructions.
        unsafe {
            self.contains_by::<Growing<'a, Four, L>, Growing<'a, Eight, L>>(
                view,
                (len, copied),
                hashes,
                answers,
            )
        }
    }
}
