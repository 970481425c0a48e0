//! The header of a snapshot: its fields, their encoding, and their validation.

use arrayvec::ArrayVec;
use rapidhash::v3::rapidhash_v3;

use super::{LoadError, Saved};
use crate::{
    Layout,
    kind::{Contents, Growth},
    table::{
        ClockState, MAX_BUCKETS, MAX_STRIPES,
        split::{Grown, Limits, Size},
        stamp_bits,
    },
};

pub(super) const MAGIC: [u8; 8] = *b"guira cf";
const VERSION: u32 = 1;
/// Bytes of the header's start, whose length does not depend on its content.
pub(super) const START: usize = 56;
/// The kind of filters whose items expire.
pub(crate) const EXPIRING: u8 = 3;
/// Bytes of the schedule of such a filter, after the numbers of items.
const SCHEDULE: usize = 24;
/// The kinds of sets and maps that grow.
const GROWING: u8 = 1;
const GROWING_MAP: u8 = 4;
/// Bytes of what else such a set has, after the numbers of items: the numbers of buckets at level
/// 0, of the level and split buckets in one, of ghosts, of buckets at most, and the target load.
const GROWN: usize = 40;
/// Bytes of the description of a planned segment.
const SEGMENT: usize = 16;
/// Largest number of segments.
const MAX_LEVELS: usize = 1;
/// Something of each segment.
pub(crate) type PerSegment<T> = ArrayVec<T, MAX_LEVELS>;
/// Bytes of a number, and of a checksum.
const NUMBER: usize = 8;
/// Largest generation in a snapshot: it leaves room for as many again.
const MAX_GENERATION: u64 = u64::MAX >> 1;

/// The bytes of a header.
pub(super) type HeaderBytes = ArrayVec<u8, { encoded_len(GROWING, MAX_LEVELS, MAX_LEVELS) }>;

/// An engine without its words: everything else that decides an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Form {
    /// The capacity of the first segment.
    pub(crate) capacity: u64,
    /// The limit on copies of an item, or zero.
    pub(crate) max_copies: u64,
    /// The target false-positive rate, or zero.
    pub(crate) target: f64,
    /// The number of stripes, a power of two.
    pub(crate) stripes: usize,
    /// The clock, if items expire.
    pub(crate) clock: Option<ClockState>,
    /// How the table has grown, if it grows by splitting.
    pub(crate) grown: Option<Grown>,
    /// The segments that exist and those that may follow. It is never computed again, so that a
    /// filter keeps its plan if a later release plans differently.
    pub(crate) plan: PerSegment<PlannedSegment>,
}

impl Form {
    /// The number of items in this many occupied slots.
    pub(super) fn items(&self, occupied: u64) -> u64 {
        self.grown.as_ref().map_or(occupied, |grown| grown.items(occupied))
    }
}

/// A segment of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedSegment {
    pub(crate) layout: Layout,
    /// Doublings of the number of buckets since the first segment.
    pub(crate) level: u32,
    pub(crate) buckets: u64,
}

impl PlannedSegment {
    /// The number of slots. At most 2^35.
    pub(crate) fn slots(&self) -> u64 {
        self.buckets * u64::from(self.layout.slots_per_bucket())
    }
}

/// The fields of a header.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    /// The kind of the engine: [`Saved::KIND`](super::Saved::KIND).
    pub(super) kind: u8,
    pub(super) seed: u64,
    pub(super) hasher_check: u64,
    pub(super) form: Form,
    /// The occupied slots of each segment that exists.
    pub(super) items: PerSegment<u64>,
}

impl Header {
    /// The segments that exist, and the occupied slots of each.
    pub(super) fn segments(&self) -> impl Iterator<Item = (PlannedSegment, u64)> {
        self.form.plan.iter().copied().zip(self.items.iter().copied())
    }

    /// Bytes of the words of all segments that exist. At most 2^41.
    pub(super) fn bucket_bytes(&self) -> u64 {
        self.segments().map(|(segment, _)| NUMBER as u64 * segment.buckets).sum()
    }

    /// The error of a system that refuses the memory for the buckets.
    pub(super) fn out_of_memory(&self) -> LoadError {
        LoadError::OutOfMemory { bytes: self.bucket_bytes() }
    }

    /// The bytes of the header.
    pub(super) fn encode(&self) -> HeaderBytes {
        let Self { kind, seed, hasher_check, form, items } = self;
        let mut bytes = HeaderBytes::new();
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        let stripes = form.stripes.ilog2() as u8;
        bytes.extend([*kind, form.plan.len() as u8, items.len() as u8, stripes]);
        let settings = match form.clock {
            Some(clock) => [clock.window.into(), clock.generation],
            None => [form.max_copies, form.target.to_bits()],
        };
        let numbers = [*seed, *hasher_check, form.capacity, settings[0], settings[1]];
        bytes.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        for PlannedSegment { layout, level, buckets } in &form.plan {
            let [family, slots, bits, value_bits] = describe(*layout);
            bytes.extend([family, slots, bits, *level as u8, value_bits, 0, 0, 0]);
            bytes.extend(buckets.to_le_bytes());
        }
        bytes.extend(items.iter().flat_map(|items| items.to_le_bytes()));
        if let Some(ClockState { interval, elapsed, latest, .. }) = form.clock {
            bytes.extend([interval, elapsed, latest].into_iter().flat_map(u64::to_le_bytes));
        }
        if let Some(Grown { first, size, ghosts, limits: Limits { buckets, load }, .. }) =
            &form.grown
        {
            let numbers = [*first, size.pack(), *ghosts, *buckets, (*load).into()];
            bytes.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        }
        bytes.extend(rapidhash_v3(&bytes).to_le_bytes());
        bytes
    }

    /// Validates the start of a header, and returns the number of bytes of the whole header.
    pub(super) fn len(start: &[u8]) -> Result<usize, LoadError> {
        if start[..8] != MAGIC {
            return Err(LoadError::NotASnapshot);
        }
        let version = u32::from_le_bytes(start[8..12].try_into().expect("4 bytes"));
        if version != VERSION {
            return Err(LoadError::UnknownVersion(version));
        }
        let (kind, [planned, existing]) = (start[12], [start[13], start[14]].map(usize::from));
        // Validated before the checksum, because these numbers determine where the checksum is.
        if !(1..=MAX_LEVELS).contains(&planned) || !(1..=planned).contains(&existing) {
            return Err(LoadError::DamagedHeader);
        }
        Ok(encoded_len(kind, planned, existing))
    }

    /// The checksum of a header without the numbers of items: the seed of the first block. (Those
    /// numbers are known only once all words were read.)
    pub(super) fn block_seed(bytes: &[u8]) -> u64 {
        rapidhash_v3(&bytes[..START + SEGMENT * usize::from(bytes[13])])
    }

    /// Validates the rest of a header whose start is valid: checksum, kind, then every field.
    pub(super) fn decode<C: Contents, G: Growth>(bytes: &[u8]) -> Result<Self, LoadError> {
        let (checked, checksum) = bytes.split_last_chunk().expect("the header's start is longer");
        if u64::from_le_bytes(*checksum) != rapidhash_v3(checked) {
            return Err(LoadError::DamagedHeader);
        }
        let [kind, planned, _, stripes] = checked[12..16] else { unreachable!("4 bytes") };
        super::check_kind::<C::Engine<G>>(kind)?;
        field("stripes", stripes.into(), u32::from(stripes) <= MAX_STRIPES.ilog2())?;
        let stripes = 1 << stripes;
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
        let numbers: ArrayVec<u64, 5> = checked[16..START].chunks(NUMBER).map(number).collect();
        let [seed, hasher_check, capacity, first, second] = numbers[..] else {
            unreachable!("40 bytes")
        };
        let (plan, items) = checked[START..].split_at(SEGMENT * usize::from(planned));
        let plan =
            plan.chunks(SEGMENT).map(decode_segment).collect::<Result<PerSegment<_>, _>>()?;
        let (items, rest) = items.split_at(NUMBER * usize::from(checked[14]));
        let items = items.chunks(NUMBER).map(number).collect();
        let rest: ArrayVec<u64, { GROWN / NUMBER }> = rest.chunks(NUMBER).map(number).collect();
        let (clock, max_copies, target) = match rest[..] {
            [interval, elapsed, latest] => {
                let window = decode_window(first)?;
                let clock = ClockState { window, generation: second, interval, elapsed, latest };
                (Some(clock), 0, 0)
            }
            _ => (None, first, second),
        };
        let grown = match rest[..] {
            [first, size, ghosts, buckets, load] => {
                // If it is larger, it is as invalid.
                let load = u32::try_from(load).unwrap_or(u32::MAX);
                let (size, limits) = (Size::unpack(size), Limits { buckets, load });
                Some(Grown { first, size, ghosts, limits, sweep: None })
            }
            _ => None,
        };
        let target = f64::from_bits(target);
        let form = Form { capacity, max_copies, target, stripes, clock, grown, plan };
        let header = Self { kind, seed, hasher_check, form, items };
        header.check(C::DEFAULT_VALUE_BITS.is_some() || C::DEFAULT_WINDOW.is_some())?;
        <C::Engine<G>>::check(&header.form)?;
        Ok(header)
    }

    /// Validates the fields of any engine, given whether its items have values.
    fn check(&self, valued: bool) -> Result<(), LoadError> {
        let plan = &self.form.plan;
        let first = plan[0];
        let grows = first.layout.splitting().is_some() == self.form.grown.is_some();
        let family = grows && first.layout.valued().is_some() == valued;
        field("layout family", describe(first.layout)[0].into(), family)?;
        let buckets = |segment: &PlannedSegment| {
            field("buckets", segment.buckets, (1..=MAX_BUCKETS).contains(&segment.buckets))
        };
        plan.iter().try_for_each(buckets)?;
        field("level", first.level.into(), first.level == 0)?;
        for pair in plan.windows(2) {
            let [before, next] = [pair[0], pair[1]];
            field("level", next.level.into(), next.level > before.level && next.level <= 32)?;
            // No overflow: 2^32 buckets, doubled 32 times, would be 2^64.
            let expected = u128::from(first.buckets) << next.level;
            field("buckets", next.buckets, u128::from(next.buckets) == expected)?;
            let bits = |segment: PlannedSegment| segment.layout.fingerprint_bits();
            field("fingerprint bits", bits(next).into(), bits(next) >= bits(before))?;
            let family = next.layout.valued().is_some() == valued;
            field("layout family", describe(next.layout)[0].into(), family)?;
            let value_bits = next.layout.value_bits();
            field("value bits", value_bits.into(), value_bits == before.layout.value_bits())?;
        }
        if let Some(ClockState { window, generation, interval, elapsed, .. }) = self.form.clock {
            let fits = stamp_bits(window) == Some(first.layout.value_bits());
            field("window", window.into(), fits)?;
            let fits = (window.into()..=MAX_GENERATION).contains(&generation);
            field("generation", generation, fits)?;
            field("elapsed time", elapsed, interval == 0 || elapsed < interval)?;
        }
        let capacity = self.form.capacity;
        field("capacity", capacity, (1..=first.slots()).contains(&capacity))?;
        self.segments()
            .try_for_each(|(segment, items)| field("items", items, items <= segment.slots()))
    }
}

/// Bytes of a header with this kind of filter and these numbers of planned and existing segments.
const fn encoded_len(kind: u8, planned: usize, existing: usize) -> usize {
    let rest = match kind {
        EXPIRING => SCHEDULE,
        GROWING | GROWING_MAP => GROWN,
        _ => 0,
    };
    START + SEGMENT * planned + NUMBER * existing + rest + NUMBER
}

/// Returns an error if a field has an impossible value.
pub(crate) fn field(name: &'static str, value: u64, valid: bool) -> Result<(), LoadError> {
    if valid { Ok(()) } else { Err(LoadError::InvalidField { name, value }) }
}

/// The numbers that describe a layout: family, slots, bits of a fingerprint, bits of a value.
fn describe(layout: Layout) -> [u8; 4] {
    let family = match layout.valued() {
        None if layout.splitting().is_some() => 3,
        Some(_) if layout.splitting().is_some() => 4,
        None => u8::from(layout.is_semi_sorted()),
        Some(_) => 2,
    };
    let numbers = [layout.slots_per_bucket(), layout.fingerprint_bits(), layout.value_bits()];
    let [slots, bits, value_bits] = numbers.map(|number| number as u8);
    [family, slots, bits, value_bits]
}

/// Decodes a window.
fn decode_window(number: u64) -> Result<u32, LoadError> {
    u32::try_from(number).map_err(|_| LoadError::InvalidField { name: "window", value: number })
}

/// Decodes the description of a planned segment.
fn decode_segment(bytes: &[u8]) -> Result<PlannedSegment, LoadError> {
    let [family, slots, bits, level, value_bits] = bytes[..5] else { unreachable!("16 bytes") };
    let valued = Layout::with_values(slots.into(), value_bits.into());
    let growing = Layout::growing(slots.into(), value_bits.into());
    let layout = Layout::ALL
        .iter()
        .chain(Layout::GROWING)
        .copied()
        .chain(valued)
        .chain(growing)
        .find(|&layout| describe(layout) == [family, slots, bits, value_bits]);
    let unknown = LoadError::UnknownLayout { family, slots, bits, value_bits };
    let layout = layout.ok_or(unknown)?;
    let reserved = u32::from_le_bytes([bytes[5], bytes[6], bytes[7], 0]);
    field("reserved", reserved.into(), reserved == 0)?;
    let buckets = u64::from_le_bytes(bytes[8..].try_into().expect("8 bytes"));
    Ok(PlannedSegment { layout, level: level.into(), buckets })
}
