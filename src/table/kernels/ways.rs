//! The ways in which a batch is looked up, written once for all kinds of tables and for all
//! instruction sets: as a burst, with gathered versions, and with copied ones.

use super::{
    Answers, Hashes, MAX_COPIED, ROUND, Stripe, Version, WINDOW, copy_versions, mask, part_of,
    validate,
    vector::{Vector, lanes_of},
};

/// Lookups of the items of one vector in a table of some kind. A value of the type has what is the
/// same for all items.
pub(super) trait Lookup<'a, V: Vector>: Sized {
    /// What a kernel needs of the table.
    type View: 'a;
    /// The items of one vector, with the places of their words.
    type Group: Copy;
    /// Whether the answers have values.
    const VALUES: bool;
    /// Whether a word can leave the answer open.
    const LEVELS: bool;

    /// # Safety
    /// As [`Vector::splat`].
    unsafe fn new(view: &'a Self::View) -> Self;

    /// Returns a group that is never looked up.
    fn unset(&self) -> Self::Group;

    /// Returns the items with these hashes.
    fn locate(&self, hashes: &[u64]) -> Self::Group;

    /// Returns whether the words are prefetched.
    fn prefetches(&self) -> bool;

    /// Prefetches the words of the first items of a group, if words are prefetched.
    fn prefetch(&self, group: &Self::Group, count: usize);

    fn stripes(&self) -> &'a [Stripe];

    /// Returns the versions of the items' stripes.
    fn versions(&self, group: &Self::Group) -> V;

    /// Reads the words, and compares them with the items.
    fn find(&self, group: &Self::Group) -> Outcome<V>;

    /// Looks up the hashes whose bits are set, one by one. Returns those that were found, and
    /// writes their answers, unless there are no `values`.
    fn look_up_again(&self, lanes: u32, hashes: &[u64], values: &mut [u32]) -> u32;
}

/// What the words of a group tell.
pub(super) struct Outcome<V> {
    /// The lanes whose item was found.
    pub(super) found: u32,
    /// The lanes of which the words leave the answer open. None of them was found.
    pub(super) open: u32,
    /// With values, the answers as `Answers::put` takes them.
    pub(super) answers: V,
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
    let before = table.versions(group);
    let Outcome { found, open, answers } = table.find(group);
    let changed = before.different(table.versions(group));
    if T::VALUES {
        answers.store_low(values);
    }
    let open = (changed | open) & !found & lanes;
    if open == 0 { found } else { found | table.look_up_again(open, hashes, values) }
}

/// Looks up a burst. Returns a bit for each item, and with values
/// writes its answer.
#[inline(always)]
pub(super) fn contains_burst<'a, V: Vector, T: Lookup<'a, V>>(
    table: &T,
    hashes: &[u64],
    values: &mut [u32],
) -> u64 {
    let mut found = 0;
    if !table.prefetches() {
        for (place, hashes) in hashes.chunks(V::LANES).enumerate() {
            let group = table.locate(hashes);
            let lanes = mask(hashes.len());
            let values = part_of(T::VALUES, values, place * V::LANES);
            let few = look_up(table, &group, lanes, hashes, values);
            found |= u64::from(few & lanes) << (place * V::LANES);
        }
        return found;
    }
    let mut groups = V::burst(table.unset());
    let groups = groups.as_mut();
    for (group, hashes) in groups.iter_mut().zip(hashes.chunks(V::LANES)) {
        *group = table.locate(hashes);
        table.prefetch(group, hashes.len());
    }
    for (place, (group, hashes)) in groups.iter().zip(hashes.chunks(V::LANES)).enumerate() {
        let lanes = mask(hashes.len());
        let values = part_of(T::VALUES, values, place * V::LANES);
        let few = look_up(table, group, lanes, hashes, values);
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
    let (mut groups, mut waiting) = (V::window(table.unset()), 0);
    let groups = groups.as_mut();
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
                table.prefetch(group, V::LANES.min(arrived - start));
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
        count += answers.put(position, found, part_of(T::VALUES, &mut values, 0), waiting);
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
        copy_versions(table.stripes(), &mut versions);
        let (mut found, mut open) = ([0; ROUND / WINDOW], [0; ROUND / WINDOW]);
        let windows = found.iter_mut().zip(&mut open).zip(&mut values).zip(round.chunks(WINDOW));
        for (((found, open), values), hashes) in windows {
            for (place, hashes) in hashes.chunks(V::LANES).enumerate() {
                let group = table.locate(hashes);
                let few = table.find(&group);
                *found |= few.found << (place * V::LANES);
                if T::LEVELS {
                    *open |= few.open << (place * V::LANES);
                }
                if T::VALUES {
                    few.answers.store_low(&mut values[place * V::LANES..]);
                }
            }
        }
        let unchanged = validate(table.stripes(), &versions);
        let windows = found.into_iter().zip(open).zip(&mut values).zip(round.chunks(WINDOW));
        for (((mut found, open), values), hashes) in windows {
            let values = part_of(T::VALUES, values, 0);
            if !unchanged {
                found |= table.look_up_again(!found, hashes, values);
            } else if T::LEVELS && open & mask(hashes.len()) != 0 {
                found |= table.look_up_again(open, hashes, values);
            }
            let found = u64::from(found & mask(hashes.len()));
            count += answers.put(position, found, values, hashes.len());
            position += hashes.len();
        }
        if !unchanged {
            return count + rest(hashes, position, answers);
        }
    }
}
