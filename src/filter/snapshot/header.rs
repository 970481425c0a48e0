//! The header of a snapshot: its fields, their encoding, and their validation.

use core::{array, iter, ops::Range};

use arrayvec::ArrayVec;
use rapidhash::v3::rapidhash_v3;

use super::{LoadError, Saved, checksums::table_len};
use crate::{
    Layout,
    filter::hasher::HasherChecks,
    kind::{Contents, Growth},
    table::{
        ClockState, MAX_BUCKETS, MAX_GENERATION, MAX_STRIPES, TIMES_TO_LIVE, TimeSource, TimeState,
        WINDOW_OF_TTL,
        split::{Grown, Limits, Size},
        stamp_bits,
    },
};

const MAGIC: [u8; 8] = *b"guira cf";
const VERSION: u32 = 6;
/// Bytes of the header's start, which tells the version and the length.
pub(super) const START: usize = 16;
/// Bytes before the numbers.
const DESCRIPTION: usize = 24;
/// How many numbers a header has.
const NUMBERS: usize = 25 + WINDOW_OF_TTL as usize;
/// How many of them decide the seed of the checksums of blocks. The others are the number of
/// occupied slots, which is known only once all words were read, and times and sweeps, in which
/// replicas may differ.
const SEEDING: usize = 18;
/// Bytes of a number, and of a checksum.
const NUMBER: usize = 8;
/// The length of a header is a multiple of this, and so the words are aligned to it in the file.
const ALIGNMENT: usize = 64;
/// Bytes of a header.
pub(super) const LEN: usize = (DESCRIPTION + NUMBER * (NUMBERS + 1)).next_multiple_of(ALIGNMENT);
/// The number of contents that expire, and the number of growth, if there is any.
const EXPIRING: u8 = 2;
const GROWING: u8 = 1;

/// The bytes of a header.
pub(super) type HeaderBytes = [u8; LEN];

/// An engine without its words: everything else that decides an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Form {
    pub(crate) layout: Layout,
    /// The number of words.
    pub(crate) words: u64,
    pub(crate) capacity: u64,
    /// The limit on copies of an item, or zero.
    pub(crate) max_copies: u64,
    /// The target false-positive rate, or zero.
    pub(crate) target: f64,
    /// The number of stripes, a power of two.
    pub(crate) stripes: usize,
    /// The clock, if items expire.
    pub(crate) clock: Option<ClockState>,
    /// How the table has grown, if it grows.
    pub(crate) grown: Option<Grown>,
}

impl Form {
    /// The number of items in this many occupied slots.
    pub(super) fn items(&self, occupied: u64) -> u64 {
        self.grown.map_or(occupied, |grown| grown.items(occupied))
    }

    /// The words that are numbers, in place of buckets.
    pub(super) fn numbers(&self) -> Range<u64> {
        self.grown.map_or(0..0, |grown| grown.numbers(self.words))
    }
}

/// The fields of a header.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    /// The numbers of the contents and of the growth.
    pub(super) kind: [u8; 2],
    pub(super) seed: u64,
    pub(super) hasher: HasherChecks,
    pub(super) form: Form,
    /// The number of occupied slots.
    pub(super) occupied: u64,
}

impl Header {
    /// Bytes of the words. At most 2^37.
    pub(super) fn word_bytes(&self) -> u64 {
        NUMBER as u64 * self.form.words
    }

    /// Bytes of the whole snapshot.
    pub(super) fn snapshot_len(&self) -> u64 {
        LEN as u64 + self.word_bytes() + table_len(self.form.words)
    }

    /// The error of a system that refuses the memory for the words.
    pub(super) fn out_of_memory(&self) -> LoadError {
        LoadError::OutOfMemory { bytes: self.word_bytes() }
    }

    /// The bytes of the header. Fields that a filter of this kind does not have are zero.
    pub(super) fn encode(&self) -> HeaderBytes {
        let Self { kind, seed, hasher, form, occupied } = self;
        let settings = [form.capacity, form.max_copies, form.target.to_bits()];
        let of_hashes = |pair: &[u32; 2]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
        let hasher: [u64; 4] = array::from_fn(|nth| of_hashes(&hasher.0.as_chunks().0[nth]));
        let time = form.clock.as_ref().and_then(|clock| clock.time.as_ref());
        let (clock, sweep) = form.clock.as_ref().map_or(([0; 2], [0; 5]), |clock| {
            let &ClockState { window, generation, clean, pass, refreshed, .. } = clock;
            ([window.into(), generation], [clean, refreshed, pass.0, pass.1, pass.2])
        });
        let times = time.map_or([0; 1 + WINDOW_OF_TTL as usize], TimeState::times_left);
        let grown = form.grown.map_or([0; 6], |grown| {
            let Grown { first, size, ghosts, limits: Limits { buckets, load, copies } } = grown;
            [first, size.pack(), buckets, load.into(), copies.into(), ghosts]
        });
        let time_to_live = [time.map_or(0, |time| time.time_to_live)];
        let rest = [form.words, *occupied];
        let numbers = [
            &[*seed][..],
            &hasher,
            &settings,
            &clock,
            &time_to_live,
            &grown,
            &rest,
            &sweep,
            &times,
        ];
        let source = time.map_or(0, |time| time.source.number());
        let mut bytes = ArrayVec::<u8, LEN>::new();
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((LEN as u32).to_le_bytes());
        bytes.extend(*kind);
        bytes.extend([form.stripes.ilog2() as u8, source]);
        bytes.extend(describe(form.layout));
        bytes.extend(numbers.into_iter().flatten().flat_map(|number| number.to_le_bytes()));
        bytes.extend(iter::repeat_n(0, LEN - NUMBER - bytes.len()));
        bytes.extend(rapidhash_v3(&bytes).to_le_bytes());
        bytes.into_inner().expect("all bytes of a header")
    }

    /// The generation, if items expire.
    pub(super) fn generation(&self) -> u64 {
        self.form.clock.as_ref().map_or(0, |clock| clock.generation)
    }

    /// Lets the clock of a filter whose items have a time to live stand still this many nanoseconds
    /// after the save.
    pub(super) fn stop_clock(&mut self, nanos: u64) {
        self.form.clock = self.form.clock.take().map(|clock| clock.looked_at_after(nanos));
    }

    /// Gives the filter the clock of the caller, if it had one when it was saved.
    ///
    /// # Errors
    /// `NoClock` or `UnexpectedClock`, if only one of the two has a clock.
    pub(super) fn set_clock(&mut self, clock: Option<&TimeSource>) -> Result<(), LoadError> {
        let time = self.form.clock.as_mut().and_then(|clock| clock.time.as_mut());
        let source = time.map(|time| &mut time.source);
        let saved = source.filter(|source| source.is_of_caller());
        match (saved, clock) {
            (None, None) => Ok(()),
            (Some(_), None) => Err(LoadError::NoClock),
            (None, Some(_)) => Err(LoadError::UnexpectedClock),
            (Some(saved), Some(clock)) => {
                saved.clone_from(clock);
                Ok(())
            }
        }
    }

    /// Divides the bytes of a snapshot after its header, of which only the start is validated.
    pub(super) fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), LoadError> {
        let truncated = || Self::truncated(bytes, bytes.len() as u64);
        Self::check_start(bytes.get(..START).ok_or_else(truncated)?)?;
        bytes.split_at_checked(LEN).ok_or_else(truncated)
    }

    /// The error of so many bytes, which begin with these and end before the snapshot does.
    pub(super) fn truncated(start: &[u8], received: u64) -> LoadError {
        let is_one = start.iter().zip(&MAGIC).all(|(byte, of_magic)| byte == of_magic);
        if is_one { LoadError::Truncated { received } } else { LoadError::NotASnapshot }
    }

    /// Validates the start of a header.
    pub(super) fn check_start(start: &[u8]) -> Result<(), LoadError> {
        if start[..8] != MAGIC {
            return Err(LoadError::NotASnapshot);
        }
        let number = |at: usize| u32::from_le_bytes(*start[at..].first_chunk().expect("4 bytes"));
        if number(8) != VERSION {
            return Err(LoadError::UnknownVersion(number(8)));
        }
        if number(12) as usize == LEN { Ok(()) } else { Err(LoadError::DamagedHeader) }
    }

    /// The seed of the checksums of blocks, a checksum of most of the header: so blocks are not
    /// accepted after another header.
    pub(super) fn block_seed(bytes: &[u8]) -> u64 {
        rapidhash_v3(&bytes[..DESCRIPTION + NUMBER * SEEDING])
    }

    /// Validates the rest of a header whose start is valid: checksum, kind, then every field.
    pub(super) fn decode<C: Contents, G: Growth>(bytes: &[u8]) -> Result<Self, LoadError> {
        let (checked, checksum) = bytes.split_last_chunk().expect("the header's start is longer");
        if u64::from_le_bytes(*checksum) != rapidhash_v3(checked) {
            return Err(LoadError::DamagedHeader);
        }
        super::check_kind::<C, G>([bytes[16], bytes[17]])?;
        let header = Self::read(bytes)?;
        header.check()?;
        G::Engine::check(&header.form)?;
        Ok(header)
    }

    /// Reads the fields of a known kind, and validates only that those of other kinds are zero.
    fn read(bytes: &[u8]) -> Result<Self, LoadError> {
        let description =
            *bytes[START..].first_chunk::<{ DESCRIPTION - START }>().expect("8 bytes");
        let [contents, growth, stripes, source, layout @ ..] = description;
        let (expires, grows) = (contents == EXPIRING, growth == GROWING);
        field("stripes", stripes.into(), u32::from(stripes) <= MAX_STRIPES.ilog2())?;
        let layout = decode_layout(layout)?;
        let mut rest = bytes[DESCRIPTION..].as_chunks().0.iter().copied().map(u64::from_le_bytes);
        let [seed] = next(&mut rest);
        let hasher: [u64; 4] = next(&mut rest);
        let hasher =
            HasherChecks(array::from_fn(|nth| (hasher[nth / 2] >> (32 * (nth % 2))) as u32));
        let [capacity, max_copies, target] = next(&mut rest);
        let [window, generation, time_to_live] = next(&mut rest);
        let [first, size, buckets, load, copies, ghosts] = next(&mut rest);
        let [words, occupied, clean, refreshed, bound, swept, end] = next(&mut rest);
        let times: [u64; 1 + WINDOW_OF_TTL as usize] = next(&mut rest);
        let short = |name: &'static str, value: u64| {
            u32::try_from(value).map_err(|_| LoadError::InvalidField { name, value })
        };
        let window = short("window", window)?;
        let copies = short("expected copies", copies)?;
        let limits = Limits { buckets, load: short("load", load)?, copies };
        let form = Form {
            layout,
            words,
            capacity,
            max_copies: if expires { 0 } else { max_copies },
            target: if grows { f64::from_bits(target) } else { 0.0 },
            stripes: 1 << stripes,
            clock: expires.then(|| {
                let source = TimeSource::numbered(source);
                let time = source.map(|source| TimeState::saved(source, time_to_live, times));
                let pass = (bound, swept, end);
                ClockState { window, generation, clean, pass, refreshed, time }
            }),
            grown: grows.then_some(Grown { first, size: Size::unpack(size), ghosts, limits }),
        };
        if let Some(time) = form.clock.as_ref().and_then(|clock| clock.time.as_ref()) {
            let fits = TIMES_TO_LIVE.contains(&time_to_live);
            field("time to live", time_to_live, fits)?;
            times.iter().try_for_each(|&left| field("time left", left, time.can_be_left(left)))?;
        }
        let header = Self { kind: [contents, growth], seed, hasher, form, occupied };
        let encoded = header.encode();
        let mut differences = bytes.as_chunks().0.iter().zip(encoded.as_chunks().0);
        match differences.find(|(read, encoded)| read != encoded) {
            Some((read, _)) => Err(LoadError::InvalidField {
                name: "unused field",
                value: u64::from_le_bytes(*read),
            }),
            None => Ok(header),
        }
    }

    /// Validates the fields of any engine.
    fn check(&self) -> Result<(), LoadError> {
        let Self { kind: [contents, growth], form, occupied, .. } = self;
        let Form { layout, words, capacity, ref clock, grown, .. } = *form;
        let family = layout.leveled().is_some() == (*growth == GROWING)
            && layout.valued().is_some() == (*contents > 0);
        field("layout family", describe(layout)[0].into(), family)?;
        match grown {
            None => field("words", words, (1..=MAX_BUCKETS).contains(&words))?,
            Some(grown) => {
                let invalid = grown.invalid(words);
                invalid.map_or(Ok(()), |(name, value)| field(name, value, false))?;
            }
        }
        // Of the words beyond the buckets, half are numbers.
        let buckets = grown.map_or(words, |grown| words.midpoint(grown.buckets()));
        let slots = buckets * u64::from(layout.slots_per_bucket());
        if let &Some(ClockState { window, generation, clean, pass, refreshed, ref time }) = clock {
            let fits = stamp_bits(window) == Some(layout.value_bits());
            field("window", window.into(), fits)?;
            let fits = (window.into()..=MAX_GENERATION).contains(&generation);
            field("generation", generation, fits)?;
            let latest = if grown.is_some() { generation } else { 0 };
            field("refreshed generation", refreshed, refreshed <= latest)?;
            let least = generation.saturating_sub((1 << layout.value_bits()) - 2);
            field("swept generation", clean, (least..=generation).contains(&clean))?;
            let (bound, swept, end) = pass;
            // The buckets of a pass are accessed.
            let (fewest, most) = grown.map_or((words, words), |it| (it.first, it.buckets()));
            field("end of the sweep", end, end == 0 || (fewest..=most).contains(&end))?;
            field("swept buckets", swept, swept < end || end == 0 && swept == 0)?;
            let bounds = if end == 0 { clean..=clean } else { clean..=generation };
            field("bound of the sweep", bound, bounds.contains(&bound))?;
            if time.is_some() {
                field("window", window.into(), window <= WINDOW_OF_TTL)?;
            }
        }
        if let (Some(_), Some(grown)) = (clock, grown) {
            field("ghosts", grown.ghosts, grown.ghosts == 0)?;
        }
        field("capacity", capacity, (1..=slots).contains(&capacity))?;
        field("occupied slots", *occupied, *occupied <= slots)
    }
}

/// The next numbers of a header.
fn next<const N: usize>(numbers: &mut impl Iterator<Item = u64>) -> [u64; N] {
    array::from_fn(|_| numbers.next().expect("a header has more"))
}

/// Returns an error if a field has an impossible value.
pub(crate) fn field(name: &'static str, value: u64, valid: bool) -> Result<(), LoadError> {
    if valid { Ok(()) } else { Err(LoadError::InvalidField { name, value }) }
}

/// The numbers that describe a layout: family, slots, bits of a fingerprint, bits of a value.
fn describe(layout: Layout) -> [u8; 4] {
    let family = match layout.valued() {
        None if layout.leveled().is_some() => 3,
        Some(_) if layout.leveled().is_some() => 4,
        None => u8::from(layout.is_semi_sorted()),
        Some(_) => 2,
    };
    let numbers = [layout.slots_per_bucket(), layout.fingerprint_bits(), layout.value_bits()];
    let [slots, bits, value_bits] = numbers.map(|number| number as u8);
    [family, slots, bits, value_bits]
}

/// Returns the layout that these numbers describe.
fn decode_layout(numbers: [u8; 4]) -> Result<Layout, LoadError> {
    let [family, slots, bits, value_bits] = numbers;
    let valued = Layout::with_values(slots.into(), value_bits.into());
    let growing = Layout::growing(slots.into(), value_bits.into());
    let known = Layout::ALL.iter().chain(Layout::GROWING).copied().chain(valued).chain(growing);
    let unknown = LoadError::UnknownLayout { family, slots, bits, value_bits };
    known.into_iter().find(|&layout| describe(layout) == numbers).ok_or(unknown)
}
