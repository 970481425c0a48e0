//! From bytes that arrive in order to a filter: one state machine for readers, slices and pushed
//! chunks.

use core::{hash::BuildHasher, iter, marker::PhantomData};
use std::io::{self, Write};

use super::{
    LoadError, PerSegment, Saved,
    encode::{BLOCK_WORDS, CHECKSUM, block_checksum, blocks, to_little_endian, zeros},
    header::{Header, HeaderBytes, MAGIC, START},
    validate::{EMPTY_CENSUS, add_census, check_length},
};
use crate::{
    bucket::Census,
    filter::{
        Filter,
        builder::HasherSource,
        hasher_check::hasher_check,
        kind::{Contents, Growth},
    },
    table::{Buckets, LoaderPosition, TableLoader},
};

/// What a load may take, and what is known of the bytes that arrive.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    /// The largest number of bytes of the buckets.
    pub(super) limit: u64,
    /// Whether the memory of a segment is taken before its bytes arrive.
    pub(super) at_once: bool,
    /// Whether a filter that grows reserves address space.
    pub(super) reserve: bool,
    /// The number of bytes of the whole snapshot, if all of them are there.
    pub(super) len: Option<u64>,
}

/// What the next bytes belong to.
#[derive(Clone, Copy)]
enum Piece {
    /// The start of the header.
    Start,
    /// The header, whose start has arrived.
    Header,
    /// A block of words.
    Block,
    /// The checksum of a block.
    Checksum,
    /// Nothing: the snapshot is complete.
    Nothing,
}

/// How far the snapshot has arrived, apart from the buckets.
#[derive(Clone, Copy)]
struct Progress {
    piece: Piece,
    /// How many bytes of a piece that is not a block have arrived.
    filled: usize,
    /// All bytes that have arrived.
    received: u64,
    /// The bytes of the checksum that is arriving.
    checksum_bytes: [u8; CHECKSUM],
    /// The checksum of the last block that arrived.
    checksum: u64,
    /// The census so far of the segment that is arriving.
    census: Census,
    /// The smallest fingerprint that this segment can hold.
    min_fingerprint: u32,
}

/// A state of a receiver, without its buckets: see [`Receiver::go_back`].
pub(super) struct Checkpoint<S> {
    progress: Progress,
    header_len: usize,
    /// The number of complete segments.
    complete: usize,
    /// The position in the next one.
    position: Option<LoaderPosition>,
    /// Where the hasher comes from, if it was not made yet.
    seeded: Option<fn(u64) -> S>,
}

/// A filter whose snapshot is arriving.
pub(super) struct Receiver<C: Contents, G: Growth, S> {
    pub(super) terms: Terms,
    hasher: Option<HasherSource<S>>,
    progress: Progress,
    /// The bytes of the header: of its start, until that has arrived.
    header_bytes: HeaderBytes,
    /// The header, once it has arrived.
    header: Option<Header>,
    complete: PerSegment<Buckets>,
    /// The segment that is arriving.
    loader: Option<TableLoader>,
    kind: PhantomData<fn() -> (C, G)>,
}

impl<C: Contents, G: Growth, S> Receiver<C, G, S> {
    /// Bytes that have arrived.
    pub(super) fn received(&self) -> u64 {
        self.progress.received
    }

    /// Writes the bytes that have arrived.
    ///
    /// # Errors
    /// Those of the writer, and `OutOfMemory` if the system refuses the memory of a block.
    pub(super) fn write_received(&self, mut out: impl Write) -> io::Result<()> {
        let Progress { piece, filled, checksum_bytes, .. } = &self.progress;
        if self.header.is_none() {
            return out.write_all(&self.header_bytes[..*filled]);
        }
        let mut buffer = zeros(BLOCK_WORDS).ok_or(io::ErrorKind::OutOfMemory)?;
        out.write_all(&self.header_bytes)?;
        let mut checksum = Header::block_seed(&self.header_bytes);
        for buckets in &self.complete {
            for (from, len) in blocks(buckets.len()) {
                let words = &mut buffer[..len];
                buckets.copy_words_from(from, words);
                let bytes = to_little_endian(words);
                checksum = block_checksum(checksum, bytes);
                out.write_all(bytes)?;
                out.write_all(&checksum.to_le_bytes())?;
            }
        }
        if let Some(loader) = &self.loader {
            let arrived = loader.arrived();
            for (from, len) in blocks(arrived) {
                let words = &mut buffer[..len];
                loader.copy_words_from(from, words);
                let bytes = to_little_endian(words);
                checksum = block_checksum(checksum, bytes);
                out.write_all(bytes)?;
                match piece {
                    // As it arrived: it may be wrong.
                    Piece::Checksum if from + len == arrived => {
                        out.write_all(&checksum_bytes[..*filled])?;
                    }
                    _ => out.write_all(&checksum.to_le_bytes())?,
                }
            }
            let words = &mut buffer[..loader.filled().div_ceil(8)];
            loader.copy_words_from(arrived, words);
            out.write_all(&to_little_endian(words)[..loader.filled()])?;
        }
        out.flush()
    }

    /// Restores the state of a checkpoint of this receiver, in place: later bytes overwrite those
    /// that arrived since.
    pub(super) fn go_back(&mut self, to: &Checkpoint<S>) {
        self.progress = to.progress;
        self.header_bytes.truncate(to.header_len);
        if let Some(make) = to.seeded {
            self.hasher = Some(HasherSource::Seeded(make));
        }
        if to.position.is_none() && to.complete == 0 {
            self.header = None;
        }
        if self.complete.len() > to.complete {
            // The segment that was arriving at the checkpoint is complete now.
            self.complete.truncate(to.complete + 1);
            self.loader = self.complete.pop().map(TableLoader::reopened);
        }
        self.loader = self.loader.take().zip(to.position).map(|(mut loader, position)| {
            loader.go_back(position);
            loader
        });
    }

    /// Returns the state of the receiver, for [`go_back`](Self::go_back).
    pub(super) fn checkpoint(&self) -> Checkpoint<S> {
        let seeded = match self.hasher {
            Some(HasherSource::Seeded(make)) => Some(make),
            _ => None,
        };
        Checkpoint {
            progress: self.progress,
            header_len: self.header_bytes.len(),
            complete: self.complete.len(),
            position: self.loader.as_ref().map(TableLoader::position),
            seeded,
        }
    }
}

impl<C: Contents, G: Growth, S: BuildHasher> Receiver<C, G, S> {
    pub(super) fn new(terms: Terms, hasher: HasherSource<S>) -> Self {
        Self {
            terms,
            hasher: Some(hasher),
            progress: Progress {
                piece: Piece::Start,
                filled: 0,
                received: 0,
                checksum_bytes: [0; CHECKSUM],
                checksum: 0,
                census: EMPTY_CENSUS,
                min_fingerprint: 0,
            },
            header_bytes: zero_bytes(START),
            header: None,
            complete: PerSegment::new(),
            loader: None,
            kind: PhantomData,
        }
    }

    /// Receives bytes, at most up to the end of the current piece. `read` is called with a buffer,
    /// writes some bytes to its front, and returns their number, which this function returns, too.
    ///
    /// # Errors
    /// After an error, the receiver is useless unless it [goes back](Self::go_back).
    pub(super) fn receive(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> Result<usize, LoadError> {
        let Progress { piece, filled, received, checksum_bytes, .. } = &mut self.progress;
        let bytes = match piece {
            Piece::Start | Piece::Header => &mut self.header_bytes[..],
            Piece::Block => {
                let loader = self.loader.as_mut().expect(SEGMENT_ARRIVES);
                let more = loader.read(read)?;
                *received += more as u64;
                if loader.chunk_is_complete() {
                    self.complete_block();
                }
                return Ok(more);
            }
            Piece::Checksum => &mut checksum_bytes[..],
            Piece::Nothing => return Ok(0),
        };
        let more = read(&mut bytes[*filled..])?;
        *filled += more;
        *received += more as u64;
        if *filled == bytes.len() {
            match piece {
                Piece::Start => self.complete_start()?,
                Piece::Header => self.complete_header()?,
                _ => self.complete_checksum()?,
            }
        }
        Ok(more)
    }

    /// Returns whether the snapshot is complete.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.progress.piece, Piece::Nothing)
    }

    /// Returns the filter.
    ///
    /// # Errors
    /// If the snapshot is incomplete, or the system refuses the memory.
    pub(super) fn finish(self) -> Result<Filter<C, G, S>, LoadError> {
        if !self.is_complete() {
            let start = &self.header_bytes[..self.progress.filled.min(MAGIC.len())];
            if matches!(self.progress.piece, Piece::Start) && !MAGIC.starts_with(start) {
                return Err(LoadError::NotASnapshot);
            }
            return Err(LoadError::Truncated { received: self.received() });
        }
        let header = self.header.expect(HEADER_ARRIVED);
        let Some(HasherSource::Given(hasher)) = self.hasher else {
            unreachable!("the header has arrived")
        };
        let engine = <C::Engine<G>>::restore(&header.form, self.complete, self.terms.reserve);
        let items = header.form.items(header.items.iter().sum());
        let filter =
            engine.and_then(|engine| Filter::from_parts(engine, header.seed, items, hasher));
        filter.ok_or_else(|| header.out_of_memory())
    }

    fn complete_start(&mut self) -> Result<(), LoadError> {
        let missing = Header::len(&self.header_bytes)? - START;
        self.header_bytes.extend(zero_bytes(missing));
        self.progress.piece = Piece::Header;
        Ok(())
    }

    fn complete_header(&mut self) -> Result<(), LoadError> {
        let header = Header::decode::<C, G>(&self.header_bytes)?;
        if let Some(len) = self.terms.len {
            check_length(&header, self.header_bytes.len(), len)?;
        }
        self.hasher = match self.hasher.take() {
            Some(source) => Some(HasherSource::Given(source.make(header.seed))),
            None => None,
        };
        // By reference: if this panics, a hasher that was given is not lost.
        let Some(HasherSource::Given(hasher)) = &self.hasher else {
            unreachable!("it is made once")
        };
        if hasher_check(hasher) != header.hasher_check {
            return Err(LoadError::OtherHasher);
        }
        let (needed, limit) = (header.bucket_bytes(), self.terms.limit);
        if needed > limit {
            return Err(LoadError::LimitExceeded { needed, limit });
        }
        self.progress.checksum = Header::block_seed(&self.header_bytes);
        self.header = Some(header);
        self.start_segment()
    }

    fn complete_block(&mut self) {
        let layout = self.header().form.plan[self.complete.len()].layout;
        let Progress { piece, filled, checksum, census, min_fingerprint, .. } = &mut self.progress;
        let loader = self.loader.as_mut().expect(SEGMENT_ARRIVES);
        *checksum = loader.accept(|bytes| {
            add_census(layout, bytes, *min_fingerprint, census);
            block_checksum(*checksum, bytes)
        });
        (*piece, *filled) = (Piece::Checksum, 0);
    }

    fn complete_checksum(&mut self) -> Result<(), LoadError> {
        let Progress { piece, checksum_bytes, checksum, census, .. } = &mut self.progress;
        if *checksum_bytes != checksum.to_le_bytes() {
            return Err(LoadError::DamagedBuckets);
        }
        if !census.valid {
            return Err(LoadError::InvalidBuckets);
        }
        if self.loader.as_ref().is_some_and(TableLoader::is_incomplete) {
            *piece = Piece::Block;
            return Ok(());
        }
        let occupied = census.occupied;
        if occupied != self.header().items[self.complete.len()] {
            return Err(LoadError::InvalidBuckets);
        }
        self.complete.extend(self.loader.take().map(TableLoader::finish));
        let words = self.complete.last().expect("a complete segment");
        if !<C::Engine<G>>::has_valid_places(&self.header().form, words) {
            return Err(LoadError::InvalidBuckets);
        }
        self.start_segment()
    }

    /// Prepares for the words of the next segment, or for nothing if there is no such segment.
    fn start_segment(&mut self) -> Result<(), LoadError> {
        let (number, header) = (self.complete.len(), self.header());
        let Some((segment, _)) = header.segments().nth(number) else {
            self.progress.piece = Piece::Nothing;
            return Ok(());
        };
        let loader = if self.terms.at_once {
            TableLoader::at_once(segment.buckets)
        } else {
            TableLoader::incremental(segment.buckets)
        };
        let min_fingerprint = <C::Engine<G>>::min_fingerprint(&header.form, number);
        self.loader = Some(loader.ok_or_else(|| header.out_of_memory())?);
        let piece = Piece::Block;
        self.progress = Progress { piece, census: EMPTY_CENSUS, min_fingerprint, ..self.progress };
        Ok(())
    }

    fn header(&self) -> &Header {
        self.header.as_ref().expect(HEADER_ARRIVED)
    }
}

/// This many bytes, for a header or a part of it.
fn zero_bytes(len: usize) -> HeaderBytes {
    iter::repeat_n(0, len).collect()
}

/// Why there is a header.
const HEADER_ARRIVED: &str = "blocks follow the header";
/// Why there is a table loader.
const SEGMENT_ARRIVES: &str = "a block belongs to a segment";
