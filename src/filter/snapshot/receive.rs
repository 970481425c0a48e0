//! From bytes that arrive in order to a filter: one state machine for readers, slices and pushed
//! chunks.

use alloc::vec::Vec;
use core::{hash::BuildHasher, marker::PhantomData, mem};
use std::io;

use super::{
    LoadError,
    encode::{CHECKSUM, block_checksum, encoded_len},
    header::{Header, START},
};
use crate::{
    bucket::{BucketLayout, Census, with_layout},
    filter::{Engine, Filter, hasher::hasher_seed, hasher_check::hasher_check},
    table::{Buckets, TableLoader},
};

/// Words whose census is taken together. They stay in a first-level cache.
const CENSUS_BLOCK: usize = 512;

/// Where the hasher comes from.
pub(super) enum Hasher<S, F> {
    /// From its seed.
    Seeded(F),
    /// From the caller.
    Given(S),
}

/// How much arrives, and how much memory it may take.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// All bytes of a snapshot, and this many.
    Slice(u64),
    /// Some bytes at a time. The buckets may take this many.
    Stream { limit: u64 },
}

/// What the next bytes belong to.
enum Piece {
    /// The start of the header.
    Start,
    /// The header, whose start has arrived.
    Header,
    /// A block of words of the segment with this number.
    Block(usize, TableLoader),
    /// The checksum of a block.
    Checksum(usize, TableLoader),
    /// Nothing: the snapshot is complete.
    Nothing,
}

/// A filter whose snapshot arrives.
pub(super) struct Receiver<E, S, F> {
    source: Source,
    hasher: Option<Hasher<S, F>>,
    piece: Piece,
    /// The bytes of a piece that is no block.
    bytes: Vec<u8>,
    /// How many of these have arrived.
    filled: usize,
    /// All bytes that have arrived.
    received: u64,
    header: Option<Header>,
    /// The checksum of the last block that arrived.
    checksum: u64,
    /// The census of the segment that arrives, so far.
    census: Census,
    /// The smallest fingerprint that this segment can hold.
    min_fingerprint: u32,
    complete: Vec<Buckets>,
    failed: bool,
    engine: PhantomData<fn() -> E>,
}

impl<E, S, F> Receiver<E, S, F> {
    /// Bytes that have arrived.
    pub(super) fn received(&self) -> u64 {
        self.received
    }
}

impl<E: Engine, S: BuildHasher, F: FnOnce(u64) -> S> Receiver<E, S, F> {
    pub(super) fn new(source: Source, hasher: Hasher<S, F>) -> Self {
        Self {
            source,
            hasher: Some(hasher),
            piece: Piece::Start,
            bytes: vec![0; START],
            filled: 0,
            received: 0,
            header: None,
            checksum: 0,
            census: NOTHING,
            min_fingerprint: 0,
            complete: Vec::new(),
            failed: false,
            engine: PhantomData,
        }
    }

    /// Receives bytes up to the end of the current piece: `read` writes some to the front of what
    /// it gets, and returns their number. This returns it too.
    ///
    /// # Errors
    /// After an error, every further call returns one.
    pub(super) fn receive(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> Result<usize, LoadError> {
        self.check_failed()?;
        // Until the end of this call: user code may panic.
        self.failed = true;
        let (more, complete) = match &mut self.piece {
            Piece::Block(_, loader) => (loader.read(read)?, loader.chunk_is_complete()),
            Piece::Nothing => (0, false),
            _ => {
                let more = read(&mut self.bytes[self.filled..])?;
                self.filled += more;
                (more, self.filled == self.bytes.len())
            }
        };
        self.received += more as u64;
        if complete {
            self.piece = match mem::replace(&mut self.piece, Piece::Nothing) {
                Piece::Start => self.complete_start()?,
                Piece::Header => self.complete_header()?,
                Piece::Block(number, loader) => self.complete_block(number, loader),
                Piece::Checksum(number, loader) => self.complete_checksum(number, loader)?,
                Piece::Nothing => unreachable!("it receives nothing"),
            };
        }
        self.failed = false;
        Ok(more)
    }

    /// Returns whether the snapshot is complete.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.piece, Piece::Nothing) && !self.failed
    }

    /// Returns an error if there was one.
    pub(super) fn check_failed(&self) -> Result<(), LoadError> {
        if self.failed { Err(LoadError::Failed) } else { Ok(()) }
    }

    /// Receives bytes that follow the snapshot: an error.
    pub(super) fn trailing(&mut self, more: u64) -> LoadError {
        self.failed = true;
        LoadError::TrailingBytes { more }
    }

    /// Returns the filter.
    ///
    /// # Errors
    /// If the snapshot is incomplete, there was an error, or the system refuses the memory.
    pub(super) fn finish(self) -> Result<Filter<E, S>, LoadError> {
        self.check_failed()?;
        let Self { piece: Piece::Nothing, header: Some(header), hasher, .. } = self else {
            return Err(LoadError::Truncated { received: self.received });
        };
        let Some(Hasher::Given(hasher)) = hasher else { unreachable!("the header has arrived") };
        let engine = E::restore(&header.form, self.complete);
        let items = header.items.iter().sum();
        let filter =
            engine.and_then(|engine| Filter::from_parts(engine, header.seed, items, hasher));
        filter.ok_or_else(|| header.out_of_memory())
    }

    fn complete_start(&mut self) -> Result<Piece, LoadError> {
        self.bytes.resize(Header::len(&self.bytes)?, 0);
        Ok(Piece::Header)
    }

    fn complete_header(&mut self) -> Result<Piece, LoadError> {
        let header = Header::decode::<E>(&self.bytes)?;
        if let Source::Slice(received) = self.source {
            check_length(&header, self.bytes.len(), received)?;
        }
        let hasher = match self.hasher.take() {
            Some(Hasher::Seeded(hasher)) => hasher(hasher_seed(header.seed)),
            Some(Hasher::Given(hasher)) => hasher,
            None => unreachable!("the header arrives once"),
        };
        if hasher_check(&hasher) != header.hasher_check {
            return Err(LoadError::OtherHasher);
        }
        self.hasher = Some(Hasher::Given(hasher));
        if let Source::Stream { limit } = self.source {
            let needed = header.bucket_bytes();
            if needed > limit {
                return Err(LoadError::LimitExceeded { needed, limit });
            }
        }
        self.checksum = Header::block_seed(&self.bytes);
        self.bytes.resize(CHECKSUM, 0);
        self.header = Some(header);
        self.start_segment(0)
    }

    fn complete_block(&mut self, number: usize, mut loader: TableLoader) -> Piece {
        let layout = self.header().form.plan[number].layout;
        let (before, mut census, min) = (self.checksum, self.census, self.min_fingerprint);
        self.checksum = loader.accept(|bytes| {
            with_layout!(layout, L => add_census::<L>(bytes, min, &mut census));
            block_checksum(before, bytes)
        });
        self.census = census;
        self.filled = 0;
        Piece::Checksum(number, loader)
    }

    fn complete_checksum(
        &mut self,
        number: usize,
        loader: TableLoader,
    ) -> Result<Piece, LoadError> {
        if self.bytes != self.checksum.to_le_bytes() {
            return Err(LoadError::DamagedBuckets);
        }
        if !self.census.valid {
            return Err(LoadError::InvalidBuckets);
        }
        if loader.is_incomplete() {
            return Ok(Piece::Block(number, loader));
        }
        if self.census.occupied != self.header().items[number] {
            return Err(LoadError::InvalidBuckets);
        }
        self.complete.push(loader.finish());
        self.start_segment(number + 1)
    }

    /// Prepares for the words of a segment, or for nothing if there is no such segment.
    fn start_segment(&mut self, number: usize) -> Result<Piece, LoadError> {
        self.census = NOTHING;
        let header = self.header();
        let Some((segment, _)) = header.segments().nth(number) else { return Ok(Piece::Nothing) };
        let loader = match self.source {
            Source::Slice(_) => TableLoader::at_once(segment.buckets),
            Source::Stream { .. } => TableLoader::incremental(segment.buckets),
        };
        let min_fingerprint = E::min_fingerprint(&header.form, number);
        let loader = loader.ok_or_else(|| header.out_of_memory())?;
        self.min_fingerprint = min_fingerprint;
        Ok(Piece::Block(number, loader))
    }

    fn header(&self) -> &Header {
        self.header.as_ref().expect("blocks follow the header")
    }
}

/// The census of no words.
const NOTHING: Census = Census { occupied: 0, valid: true };

/// Adds the census of the words in these bytes, which are valid only if all their fingerprints are
/// at least `min`.
fn add_census<L: BucketLayout>(bytes: &[u8], min: u32, sum: &mut Census) {
    let mut block = [0; CENSUS_BLOCK];
    for bytes in bytes.chunks(8 * CENSUS_BLOCK) {
        let words = &mut block[..bytes.len() / 8];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let census = L::census(words);
        sum.occupied += census.occupied;
        sum.valid &= census.valid;
        // Only then: the fingerprints of an invalid word are arbitrary.
        if sum.valid && min > L::MIN_FINGERPRINT {
            let mut fingerprints = words.iter().flat_map(|&word| L::fingerprints(word));
            sum.valid = fingerprints.all(|fingerprint| fingerprint.get() >= min);
        }
    }
}

/// Validates the number of bytes of a whole snapshot.
fn check_length(header: &Header, header_len: usize, received: u64) -> Result<(), LoadError> {
    let words = header.segments().map(|(segment, _)| encoded_len(segment.buckets));
    match received.checked_sub(header_len as u64 + words.sum::<u64>()) {
        None => Err(LoadError::Truncated { received }),
        Some(0) => Ok(()),
        Some(more) => Err(LoadError::TrailingBytes { more }),
    }
}
