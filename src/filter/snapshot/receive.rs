//! From bytes that arrive in order to a filter: one state machine for readers, slices and pushed
//! chunks.

use core::{hash::BuildHasher, marker::PhantomData};
use std::io::{self, Write};

use super::{
    LoadError, Loader, Saved,
    checksums::{BLOCK_WORDS, Checksums},
    encode::{copy_words, to_little_endian, zeros},
    header::{Header, LEN, START},
    validate::{EMPTY_CENSUS, add_census},
};
use crate::{
    bucket::Census,
    filter::{
        Filter,
        builder::HasherSource,
        engine,
        hasher::{HasherChecks, KeyTypes, hasher_seed},
        kind::{Contents, Growth},
    },
    table::{LoaderMemory, LoaderPosition, TableLoader, TimeSource},
};

/// Bytes of the table of checksums that are read at once, at most.
const TABLE_PART: usize = 1 << 10;

/// What a load may take, and what is known of the bytes that arrive.
#[derive(Clone)]
pub(super) struct Terms {
    /// The largest number of bytes of the words.
    pub(super) limit: u64,
    /// Whether a filter that grows reserves address space.
    pub(super) reserve: bool,
    /// Whether huge pages are requested.
    pub(super) huge_pages: bool,
    /// The number of bytes of the whole snapshot, if all of them are there.
    pub(super) len: Option<u64>,
    /// The clock of the caller.
    pub(super) clock: Option<TimeSource>,
    /// Types whose hashes may differ.
    pub(super) ignored: KeyTypes,
}

/// What the next bytes belong to.
#[derive(Clone, Copy)]
pub(super) enum Piece {
    /// The start of the header.
    Start,
    /// The header, whose start has arrived.
    Header,
    /// The words.
    Words,
    /// The table of checksums.
    Table,
    /// Nothing: the snapshot is complete.
    Nothing,
}

/// How far the snapshot has arrived, apart from the words and their checksums.
#[derive(Clone, Copy)]
pub(super) struct ReceiveState {
    pub(super) piece: Piece,
    /// How many bytes of the header, or of the table, have arrived.
    filled: usize,
    /// All bytes that have arrived.
    pub(super) received: u64,
    /// The census of the words in complete blocks.
    census: Census,
}

/// Writes the next bytes to the front of a buffer, and returns their number.
///
/// Not a type parameter: loaders would be compiled for each reader.
pub(super) type ReadNext<'a> = dyn FnMut(&mut [u8]) -> io::Result<usize> + 'a;

/// Where the words of a filter go that arrives.
pub(super) type Memory<G> = <<G as engine::GrowthParts>::Engine as Saved>::Memory;
/// What is known of them.
type Known<G> = <Memory<G> as LoaderMemory>::Known;

/// A state of a loader, without its words: see [`Loader::go_back`].
pub(super) struct Checkpoint<G: Growth> {
    progress: ReceiveState,
    /// The number of checksums.
    checksums: usize,
    /// The position in the words, if the header has arrived.
    position: Option<LoaderPosition<Known<G>>>,
}

impl<C: Contents, G: Growth, S> Loader<C, G, S> {
    /// Writes the bytes that have been pushed, so that another loader can go on from them. Use it
    /// to keep the state of a load over a restart of the program.
    ///
    /// The bytes are made from the buckets. Allocates one block of 64 KiB meanwhile.
    ///
    /// # Errors
    /// The errors of the writer, and [`OutOfMemory`](std::io::ErrorKind::OutOfMemory).
    ///
    /// ```
    /// let bytes = guira::CuckooFilter::with_capacity(1_000).to_bytes();
    /// let (mut loader, mut received) = (guira::CuckooFilter::loader(), Vec::new());
    /// loader.push(&bytes[..1_500]).unwrap();
    /// loader.write_received(&mut received).unwrap();
    /// assert_eq!(received, bytes[..1_500]);
    /// ```
    pub fn write_received(&self, mut out: impl Write) -> io::Result<()> {
        let ReceiveState { piece, filled, .. } = self.progress;
        let Some((_, loader)) = &self.body else {
            return out.write_all(&self.header_bytes[..filled]);
        };
        let mut buffer = zeros(BLOCK_WORDS).ok_or(io::ErrorKind::OutOfMemory)?;
        out.write_all(&self.header_bytes)?;
        let (arrived, rest) = (loader.arrived(), loader.filled());
        for from in (0..arrived).step_by(BLOCK_WORDS) {
            let words = &mut buffer[..BLOCK_WORDS.min(arrived - from)];
            loader.copy_words_from(from, words);
            out.write_all(to_little_endian(words))?;
        }
        let words = &mut buffer[..rest.div_ceil(8)];
        loader.copy_words_from(arrived, words);
        out.write_all(&to_little_endian(words)[..rest])?;
        if let Piece::Table | Piece::Nothing = piece {
            // What has arrived of it was right.
            for (nth, part) in self.checksums.table().chunks(BLOCK_WORDS).enumerate() {
                let left = filled.saturating_sub(8 * BLOCK_WORDS * nth);
                let words = &mut buffer[..part.len()];
                words.copy_from_slice(part);
                out.write_all(&to_little_endian(words)[..left.min(8 * part.len())])?;
            }
        }
        out.flush()
    }

    /// Restores the state of a checkpoint of this loader, in place: later bytes overwrite those
    /// that arrived since.
    pub(super) fn go_back(&mut self, to: &Checkpoint<G>) {
        self.progress = to.progress;
        self.checksums.truncate(to.checksums);
        match (&mut self.body, to.position) {
            (Some((_, loader)), Some(position)) => loader.go_back(position),
            (body, _) => *body = None,
        }
    }

    /// Returns the state of the loader, for [`go_back`](Self::go_back).
    pub(super) fn checkpoint(&self) -> Checkpoint<G> {
        Checkpoint {
            progress: self.progress,
            checksums: self.checksums.table().len(),
            position: self.body.as_ref().map(|(_, loader)| loader.position()),
        }
    }
}

impl<C: Contents, G: Growth, S: BuildHasher> Loader<C, G, S> {
    pub(super) fn with(terms: Terms, hasher: HasherSource<S>) -> Self {
        let piece = Piece::Start;
        Self {
            terms,
            hasher,
            progress: ReceiveState { piece, filled: 0, received: 0, census: EMPTY_CENSUS },
            header_bytes: [0; LEN],
            body: None,
            checksums: Checksums::new(0),
            kind: PhantomData,
        }
    }

    /// Receives bytes, at most up to the end of the current piece. `read` is called with a buffer,
    /// writes some bytes to its front, and returns their number, which this function returns, too.
    ///
    /// # Errors
    /// After an error, the loader is useless unless it [goes back](Self::go_back).
    pub(super) fn receive(&mut self, read: &mut ReadNext<'_>) -> Result<usize, LoadError> {
        let ReceiveState { piece, filled, received, .. } = &mut self.progress;
        let more = match piece {
            Piece::Start | Piece::Header => {
                let end = if let Piece::Start = piece { START } else { LEN };
                let more = read(&mut self.header_bytes[*filled..end])?;
                *filled += more;
                more
            }
            Piece::Words => self.body.as_mut().expect(HEADER_ARRIVED).1.read(read)?,
            Piece::Table => {
                let (mut bytes, mut expected) = ([0; TABLE_PART], [0; TABLE_PART]);
                let table = self.checksums.table();
                let more = read(&mut bytes[..TABLE_PART.min(8 * table.len() - *filled)])?;
                copy_words(table, &[], *filled as u64, &mut expected[..more]);
                if bytes[..more] != expected[..more] {
                    return Err(LoadError::DamagedBuckets);
                }
                *filled += more;
                more
            }
            Piece::Nothing => 0,
        };
        *received += more as u64;
        match piece {
            Piece::Start if *filled == START => {
                Header::check_start(&self.header_bytes)?;
                *piece = Piece::Header;
            }
            Piece::Header if *filled == LEN => self.complete_header()?,
            Piece::Words => self.complete_block()?,
            Piece::Table if *filled == 8 * self.checksums.table().len() => self.complete_table()?,
            _ => {}
        }
        Ok(more)
    }

    /// Returns the filter.
    ///
    /// # Errors
    /// [`LoadError::Truncated`] if bytes are missing, and [`LoadError::OutOfMemory`] if the system
    /// refuses the memory for the rest.
    ///
    /// ```
    /// let mut loader = guira::CuckooFilter::loader().limit(1 << 20);
    /// loader.push(&guira::CuckooFilter::with_capacity(1_000).to_bytes()).unwrap();
    /// assert!(loader.finish().unwrap().is_empty());
    /// ```
    pub fn finish(self) -> Result<Filter<C, G, S>, LoadError> {
        let is_complete = self.is_complete();
        let Some((header, loader)) = self.body.filter(|_| is_complete) else {
            let ReceiveState { filled, received, .. } = self.progress;
            let start = &self.header_bytes[..filled.min(LEN)];
            return Err(Header::truncated(start, received));
        };
        let hasher = self.hasher.make(header.seed);
        let engine = G::Engine::restore(&header.form, header.occupied, loader.finish());
        let items = header.form.items(header.occupied);
        let filter =
            engine.and_then(|engine| Filter::from_parts(engine, header.seed, items, hasher));
        filter.ok_or_else(|| header.out_of_memory())
    }

    /// Validates a header, the hasher, and the terms of this loader.
    pub(super) fn accept(&self, header: &[u8]) -> Result<Header, LoadError> {
        let header = Header::decode::<C, G>(header)?;
        let expected = header.snapshot_len();
        match self.terms.len {
            Some(received) if received < expected => return Err(LoadError::Truncated { received }),
            Some(received) if received > expected => {
                return Err(LoadError::TrailingBytes { more: received - expected });
            }
            _ => {}
        }
        let checks = match &self.hasher {
            HasherSource::Given(hasher) => HasherChecks::of(hasher),
            HasherSource::Seeded(make) => HasherChecks::of(&make(hasher_seed(header.seed))),
        };
        let differences = checks.differences(&header.hasher);
        if differences == KeyTypes::ALL {
            return Err(LoadError::OtherHasher);
        }
        let types = differences - self.terms.ignored;
        if !types.is_empty() {
            return Err(LoadError::OtherHashes { types });
        }
        let (needed, limit) = (header.word_bytes(), self.terms.limit);
        if needed > limit {
            return Err(LoadError::LimitExceeded { needed, limit });
        }
        Ok(header)
    }

    fn complete_header(&mut self) -> Result<(), LoadError> {
        let mut header = self.accept(&self.header_bytes)?;
        header.set_clock(self.terms.clock.as_ref())?;
        let memory = G::Engine::memory(&header.form, (self.terms.reserve, self.terms.huge_pages));
        let memory = memory.ok_or_else(|| header.out_of_memory())?;
        self.checksums = Checksums::new(Header::block_seed(&self.header_bytes));
        self.body = Some((header, TableLoader::new(memory)));
        self.progress.piece = Piece::Words;
        Ok(())
    }

    /// Validates the current block, if all of it has arrived.
    fn complete_block(&mut self) -> Result<(), LoadError> {
        let (header, loader) = self.body.as_mut().expect(HEADER_ARRIVED);
        if !loader.chunk_is_complete() {
            return Ok(());
        }
        let (layout, numbers, from) = (header.form.layout, header.form.numbers(), loader.arrived());
        let ReceiveState { piece, filled, census, .. } = &mut self.progress;
        let added = loader.check(|bytes| {
            add_census(layout, &numbers, from as u64, bytes, census);
            self.checksums.add(bytes).ok()
        });
        if !census.valid {
            return Err(LoadError::DamagedBuckets);
        }
        added.and_then(|()| loader.accept()).ok_or_else(|| header.out_of_memory())?;
        if !loader.is_incomplete() {
            self.checksums.complete();
            (*piece, *filled) = (Piece::Table, 0);
        }
        Ok(())
    }

    fn complete_table(&mut self) -> Result<(), LoadError> {
        let (header, loader) = self.body.as_ref().expect(HEADER_ARRIVED);
        if self.progress.census.occupied != header.occupied || !loader.fit_together() {
            return Err(LoadError::InvalidBuckets);
        }
        self.progress.piece = Piece::Nothing;
        Ok(())
    }
}

/// Why there are a header and a table loader.
const HEADER_ARRIVED: &str = "the header has arrived";
