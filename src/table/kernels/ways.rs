//! The ways in which a batch is looked up, written once for all kinds of tables and for all
//! instruction sets: as a burst, with gathered versions, and with copied ones.

use arrayvec::ArrayVec;

use super::{
    Answers, Hashes, MAX_BURST, MAX_COPIED, ROUND, Stripe, Version, View, WINDOW, copy_versions,
    mask, part_of, validate,
    vector::{MAX_LANES, MIN_LANES, Vector, lanes_of},
};

/// Lookups of the items of one vector in a table of some kind. A value of the type has what is the
/// same for all items.
///
/// # Safety
/// The buckets are indices of the view's words, of which there are fewer than 2^32, and the stripes
/// are indices of its stripes.
pub(super) unsafe trait Lookup<'a, V: Vector>: Sized {
    /// What a kernel needs of the table.
    type Table: 'a;
    /// The items of one vector, with the places of their words.
    type Group: Copy;
    /// Whether the answers have values.
    const VALUES: bool;

    /// # Safety
    /// As [`Vector::splat`].
    unsafe fn new(table: &'a Self::Table) -> Self;

    /// Returns what does not depend on the kind of table.
    fn view(&self) -> &'a View<'a>;

    /// Returns the items with these hashes.
    fn locate(&self, hashes: &[u64]) -> Self::Group;

    /// Returns both buckets of each item.
    fn buckets(&self, group: &Self::Group) -> [V; 2];

    /// Returns the numbers of the items' stripes.
    fn stripes(&self, group: &Self::Group) -> V;

    /// Compares both words of each item with it.
    fn find(&self, group: &Self::Group, words: [V; 2]) -> Outcome<V>;
}

/// What the words of a group tell.
pub(super) struct Outcome<V> {
    /// The lanes whose item was found.
    pub(super) found: u32,
    /// The lanes of which the words leave the answer open. None of them was found.
    pub(super) open: u32,
    /// With values, the answers as `Answers::put_lanes` takes them.
    pub(super) answers: V,
}

/// Prefetches the words of the first items of a group, if words are prefetched.
#[inline(always)]
fn prefetch<'a, V: Vector, T: Lookup<'a, V>>(table: &T, group: &T::Group, count: usize) {
    let View { words, prefetches, .. } = *table.view();
    if prefetches {
        let mut numbers = [0; MAX_LANES];
        for buckets in table.buckets(group) {
            buckets.store_low(&mut numbers);
            for &bucket in &numbers[..count] {
                crate::table::prefetch(words.as_ptr().wrapping_add(bucket as usize).cast());
            }
        }
    }
}

/// The versions of the items' stripes.
#[inline(always)]
fn versions<'a, V: Vector, T: Lookup<'a, V>>(table: &T, group: &T::Group) -> V {
    let places = table.stripes(group).shift_left(Stripe::WORDS.ilog2());
    // SAFETY: `Lookup` promises that there are these stripes.
    unsafe { places.gather(Stripe::versions(table.view().stripes)) }
}

/// Reads the words of the items, and compares them.
#[inline(always)]
fn find<'a, V: Vector, T: Lookup<'a, V>>(table: &T, group: &T::Group) -> Outcome<V> {
    let words = table.view().words.as_ptr();
    let [first, second] = table.buckets(group);
    // SAFETY: `Lookup` promises that there are these buckets.
    let words = unsafe { [first.gather(words), second.gather(words)] };
    table.find(group, words)
}

/// Looks up the items of a group, of which those in `lanes` matter. `hashes` are their hashes.
/// Returns the lanes that were found, and with values writes the answers of all lanes.
#[inline(always)]
fn look_up<'a, V: Vector, T: Lookup<'a, V>>(
    table: &T,
    group: &T::Group,
    lanes: u32,
    hashes: &[u64],
    values: &mut [u32],
) -> u32 {
    let before = versions(table, group);
    let Outcome { found, open, answers } = find(table, group);
    let changed = before.different(versions(table, group));
    if T::VALUES {
        answers.store_low(values);
    }
    let open = (changed | open) & !found & lanes;
    if open == 0 { found } else { found | table.view().look_up_again(open, hashes, values) }
}

/// Looks up a burst. Returns a bit for each item, and with values writes its answer.
#[inline(always)]
pub(super) fn contains_burst<'a, V: Vector, T: Lookup<'a, V>>(
    table: &T,
    hashes: &[u64],
    values: &mut [u32],
) -> u64 {
    let mut located = ArrayVec::<T::Group, { MAX_BURST / MIN_LANES }>::new();
    if table.view().prefetches {
        for hashes in hashes.chunks(V::LANES) {
            let group = table.locate(hashes);
            prefetch(table, &group, hashes.len());
            located.push(group);
        }
    }
    let mut found = 0;
    for (place, hashes) in hashes.chunks(V::LANES).enumerate() {
        let group = located.get(place).copied().unwrap_or_else(|| table.locate(hashes));
        let lanes = mask(hashes.len());
        let values = part_of(T::VALUES, values, place * V::LANES);
        let few = look_up(table, &group, lanes, hashes, values);
        found |= u64::from(few & lanes) << (place * V::LANES);
    }
    found
}

/// Looks up the rest of the items, of which the next one has this position. The versions are
/// gathered. Returns the number of items that were found.
#[inline(always)]
pub(super) fn contains<'a, V: Vector, T: Lookup<'a, V>>(
    table: &T,
    hashes: &mut Hashes<'_>,
    mut position: usize,
    answers: &mut Answers<'_>,
) -> usize {
    // As in `for_each_prefetched`: a rolling window of items whose buckets are prefetched.
    let (mut groups, mut waiting) = ([table.locate(&[]); WINDOW / MIN_LANES], 0);
    let (mut blocks, mut current) = ([[0; WINDOW]; 2], 0);
    let (mut count, mut values) = (0, [0; WINDOW]);
    loop {
        let arrived = hashes.fill(&mut blocks[current]);
        let mut found = 0;
        for (place, group) in groups.iter_mut().take(WINDOW / V::LANES).enumerate() {
            let start = place * V::LANES;
            let ready = *group;
            if start < arrived {
                *group = table.locate(&blocks[current][start..]);
                prefetch(table, group, V::LANES.min(arrived - start));
            }
            if start < waiting {
                let lanes = lanes_of::<V>(waiting - start);
                let hashes = &blocks[1 - current][start..];
                let values = part_of(T::VALUES, &mut values, start);
                let few = look_up(table, &ready, lanes, hashes, values);
                found |= few << start;
            }
        }
        let found = u64::from(found & mask(waiting));
        count += answers.put_lanes(position, found, part_of(T::VALUES, &mut values, 0), waiting);
        position += waiting;
        waiting = arrived;
        current = 1 - current;
        if arrived == 0 {
            return count;
        }
    }
}

/// Looks up all items, in rounds with one copy of all versions before and after each. If a version
/// changed during a round, calls `rest` for the items that are left, with the position of the next
/// one. Returns the number of items that were found.
#[inline(always)]
pub(super) fn contains_by_copies<'a, V: Vector, T: Lookup<'a, V>>(
    table: &T,
    hashes: &mut Hashes<'_>,
    answers: &mut Answers<'_>,
    rest: impl FnOnce(&mut Hashes<'_>, usize, &mut Answers<'_>) -> usize,
) -> usize {
    let (mut block, mut versions) = ([0; ROUND], [Version::default(); MAX_COPIED]);
    let (mut position, mut count, mut values) = (0, 0, [[0; WINDOW]; ROUND / WINDOW]);
    loop {
        let round = hashes.next(&mut block);
        if round.is_empty() {
            return count;
        }
        copy_versions(table.view().stripes, &mut versions);
        let (mut found, mut open) = ([0; ROUND / WINDOW], [0; ROUND / WINDOW]);
        let windows = found.iter_mut().zip(&mut open).zip(&mut values).zip(round.chunks(WINDOW));
        for (((found, open), values), hashes) in windows {
            for (place, hashes) in hashes.chunks(V::LANES).enumerate() {
                let group = table.locate(hashes);
                let few = find(table, &group);
                *found |= few.found << (place * V::LANES);
                *open |= few.open << (place * V::LANES);
                if T::VALUES {
                    few.answers.store_low(&mut values[place * V::LANES..]);
                }
            }
        }
        let unchanged = validate(table.view().stripes, &versions);
        let windows = found.into_iter().zip(open).zip(&mut values).zip(round.chunks(WINDOW));
        for (((mut found, open), values), hashes) in windows {
            let values = part_of(T::VALUES, values, 0);
            let open = if unchanged { open & mask(hashes.len()) } else { !found };
            if open != 0 {
                found |= table.view().look_up_again(open, hashes, values);
            }
            let found = u64::from(found & mask(hashes.len()));
            count += answers.put_lanes(position, found, values, hashes.len());
            position += hashes.len();
        }
        if !unchanged {
            return count + rest(hashes, position, answers);
        }
    }
}

/// Compiles the ways for features of the processor, which vectors of this trait need.
macro_rules! compile_ways {
    ($features:literal, $In:ident) => {
        use $crate::table::kernels::{
            Answers, Hashes,
            ways::{self, Lookup},
        };

        /// See [`ways::contains_burst`].
        #[target_feature(enable = $features)]
        pub(super) fn contains_burst<'a, V: $In, T: Lookup<'a, V>>(
            table: &'a T::Table,
            hashes: &[u64],
            values: &mut [u32],
        ) -> u64 {
            // SAFETY: the function has the features, so whoever calls it has checked for them.
            let table = unsafe { T::new(table) };
            ways::contains_burst::<V, T>(&table, hashes, values)
        }

        /// See [`ways::contains`].
        #[target_feature(enable = $features)]
        pub(super) fn contains<'a, V: $In, T: Lookup<'a, V>>(
            table: &'a T::Table,
            hashes: &mut Hashes<'_>,
            position: usize,
            answers: &mut Answers<'_>,
        ) -> usize {
            // SAFETY: the function has the features, so whoever calls it has checked for them.
            let table = unsafe { T::new(table) };
            ways::contains::<V, T>(&table, hashes, position, answers)
        }

        /// See [`ways::contains_by_copies`].
        #[target_feature(enable = $features)]
        pub(super) fn contains_by_copies<'a, V: $In, T: Lookup<'a, V>>(
            table: &'a T::Table,
            hashes: &mut Hashes<'_>,
            answers: &mut Answers<'_>,
        ) -> usize {
            // SAFETY: as above.
            let lookup = unsafe { T::new(table) };
            ways::contains_by_copies::<V, T>(
                &lookup,
                hashes,
                answers,
                |hashes, position, answers| contains::<V, T>(table, hashes, position, answers),
            )
        }
    };
}
pub(super) use compile_ways;
