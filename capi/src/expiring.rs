//! Expiring sets: what only they have.

use core::{
    ffi::{c_char, c_void},
    time::Duration,
};
use std::{io::Read, path::Path};

use guira_rs::{
    Filter, FilterBuilder, Hashed, Insertion, LoadError,
    kind::{self, Growth},
};

use crate::{
    hashes::Room,
    info::Info,
    object::{Kind, Object, loader, peek, to_path},
    params::{Params, unused},
    pointer::{In, Optional, Out, Owned, Ref, Shared},
    refusals::Refusals,
    status::Status,
    stream::{ClockFn, ReadFn, Stream},
};

type Expiring = Object<kind::Expiring>;

impl Kind for kind::Expiring {
    fn builder<G: Growth>(params: &Params) -> Result<FilterBuilder<Self, G>, Status> {
        let Params { ttl_ns, clock, clock_context, window, .. } = *params;
        let Params { value_bits, max_copies, fastest, .. } = *params;
        unused([value_bits, max_copies, fastest].map(u64::from))?;
        let mut builder = params.builder()?;
        if window != 0 {
            builder = builder.window(window);
        }
        if ttl_ns != 0 {
            builder = builder.ttl(Duration::from_nanos(ttl_ns));
        }
        Ok(match clock {
            Some(clock) => builder.foreign_clock(read, kept((clock, clock_context))),
            None if clock_context.is_null() => builder,
            None => return Err(Status::ErrSetting),
        })
    }

    fn describe<G: Growth>(expiring: &Filter<Self, G>, info: &mut Info) {
        info.generation = expiring.generation();
        info.window = expiring.window();
    }
}

/// A clock of C: its function and its context.
type Clock = (extern "C" fn(*mut c_void) -> u64, *mut c_void);

/// A clock as the library keeps it.
fn kept((function, context): Clock) -> [usize; 2] {
    [function as usize, context.expose_provenance()]
}

/// Reads a clock that was kept.
fn read([function, context]: [usize; 2]) -> u64 {
    let function = core::ptr::with_exposed_provenance::<()>(function);
    // SAFETY: `kept` made the number of such a function.
    let function: extern "C" fn(*mut c_void) -> u64 = unsafe { core::mem::transmute(function) };
    function(core::ptr::with_exposed_provenance_mut(context))
}

impl Object<kind::Expiring> {
    /// Loads a file of an object with a clock of the caller.
    fn load_with_clock(path: &Path, clock: Clock) -> Result<Self, LoadError> {
        let fixed = loader().foreign_clock(read, kept(clock));
        match fixed.file(path) {
            Err(LoadError::OtherKind { .. }) => {
                let growing = loader().foreign_clock(read, kept(clock));
                growing.file(path).map(Self::Growing)
            }
            loaded => loaded.map(Self::Fixed),
        }
    }

    /// Loads a snapshot of such an object from a stream.
    fn read_with_clock(stream: &mut impl Read, clock: Clock) -> Result<Self, LoadError> {
        let clock = kept(clock);
        peek(stream, |reader, grows| {
            if grows {
                loader().foreign_clock(read, clock).reader(reader).map(Self::Growing)
            } else {
                loader().foreign_clock(read, clock).reader(reader).map(Self::Fixed)
            }
        })
    }
}

/// The generation of an item that was inserted.
fn insertion(new: Insertion<u64>) -> Option<u64> {
    match new {
        Insertion::New(generation) => Some(generation),
        Insertion::Found(()) => None,
    }
}

export! { expiring:
    fn insert(expiring: Shared<Expiring>, hash: u64, generation: Optional<u64>) {
        let (expiring, place) = (expiring.get()?, generation.place()?);
        let generation = either!(expiring, set => set.insert(&Hashed(hash)))?;
        place.map(|place| place.write(generation));
    }

    fn insert_for_ns(
        expiring: Shared<Expiring>,
        hash: u64,
        life_ns: u64,
        generation: Optional<u64>,
    ) {
        let (expiring, place) = (expiring.get()?, generation.place()?);
        let life = Duration::from_nanos(life_ns);
        let generation = either!(expiring, set => set.insert_for(&Hashed(hash), life))?;
        place.map(|place| place.write(generation));
    }

    fn insert_for_generations(
        expiring: Shared<Expiring>,
        hash: u64,
        generations: u32,
        generation: Optional<u64>,
    ) {
        let (expiring, place) = (expiring.get()?, generation.place()?);
        let generation = either!(expiring, set => set.insert_for(&Hashed(hash), generations))?;
        place.map(|place| place.write(generation));
    }

    fn insert_unique(
        expiring: Shared<Expiring>,
        hash: u64,
        inserted: Out<bool>,
        generation: Optional<u64>,
    ) {
        let expiring = expiring.get()?;
        let (inserted, generation) = (inserted.place()?, generation.place()?);
        let new = insertion(either!(expiring, set => set.insert_unique(&Hashed(hash)))?);
        inserted.write(new.is_some());
        generation.map(|place| place.write(new.unwrap_or(0)));
    }

    fn insert_or_refresh(expiring: Shared<Expiring>, hash: u64, inserted: Out<bool>) {
        let (expiring, place) = (expiring.get()?, inserted.place()?);
        let new = insertion(either!(expiring, set => set.insert_or_refresh(&Hashed(hash)))?);
        place.write(new.is_some());
    }

    fn refresh(expiring: Shared<Expiring>, hash: u64, found: Out<bool>) {
        let (expiring, place) = (expiring.get()?, found.place()?);
        place.write(either!(expiring, set => set.refresh(&Hashed(hash))));
    }

    fn remove(expiring: Shared<Expiring>, hash: u64, generation: u64, removed: Optional<bool>) {
        let (expiring, place) = (expiring.get()?, removed.place()?);
        let removed = either!(expiring, set => set.remove(&Hashed(hash), generation));
        place.map(|place| place.write(removed));
    }

    fn refresh_mask(
        expiring: Shared<Expiring>,
        hashes: In<u64>,
        stride: usize,
        n: usize,
        found: Out<u64>,
    ) {
        let (expiring, place, mut room) = (expiring.get()?, found.place()?, Room::new());
        let hashes = hashes.burst(stride, n, &mut room)?;
        place.write(either!(expiring, set => set.refresh_mask(hashes)));
    }

    fn insert_batch(
        expiring: Shared<Expiring>,
        hashes: In<u64>,
        stride: usize,
        n: usize,
        refused: Optional<bool>,
        count: Optional<usize>,
    ) {
        let (expiring, hashes) = (expiring.get()?, hashes.hashes(stride, n)?);
        let place = count.place()?;
        let mut refusals = Refusals::new(refused.slice(n)?);
        let count = hashes.sum(|part, hashes| {
            let outcome = either!(expiring, set => set.insert_batch(hashes));
            outcome.map_or_else(|error| refusals.add(part, &error), |()| hashes.len())
        });
        place.map(|place| place.write(count));
        refusals.outcome()?;
    }

    fn load_with_clock(
        path: In<c_char>,
        clock: ClockFn,
        context: *mut c_void,
        expiring: Out<*mut Expiring>,
    ) {
        let (place, clock) = (expiring.place()?, clock.ok_or(Status::ErrNull)?);
        let loaded = Expiring::load_with_clock(to_path(&path)?, (clock, context));
        place.write(Owned::on_heap(loaded?)?);
    }

    fn read_from_with_clock(
        read: ReadFn,
        read_context: *mut c_void,
        clock: ClockFn,
        clock_context: *mut c_void,
        expiring: Out<*mut Expiring>,
    ) {
        let (place, clock) = (expiring.place()?, clock.ok_or(Status::ErrNull)?);
        let mut stream = Stream::new(read, read_context)?;
        let loaded = Expiring::read_with_clock(&mut stream, (clock, clock_context));
        place.write(Owned::on_heap(stream.outcome(loaded)?)?);
    }

    fn advance(expiring: Shared<Expiring>, generation: Optional<u64>) {
        let (expiring, place) = (expiring.get()?, generation.place()?);
        let generation = either!(expiring, set => set.advance());
        place.map(|place| place.write(generation));
    }

    fn sweep(expiring: Shared<Expiring>, buckets: u64, left: Optional<u64>) {
        let (expiring, place) = (expiring.get()?, left.place()?);
        let left = either!(expiring, set => set.sweep(buckets));
        place.map(|place| place.write(left));
    }

    fn generation(expiring: Ref<Expiring>, generation: Out<u64>) {
        let (expiring, place) = (expiring.get()?, generation.place()?);
        place.write(either!(expiring, set => set.generation()));
    }
}
