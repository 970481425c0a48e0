//! Expiring sets: what only they have.

use core::{ffi::c_void, time::Duration};

use guira_rs::{
    Filter, FilterBuilder, Hashed, Insertion,
    kind::{self, Growth},
};

use crate::{
    hashes::Room,
    info::Info,
    object::{Kind, Object},
    params::{Params, unused},
    pointer::{In, Optional, Out, Ref, Shared},
    refusals::Refusals,
    status::Status,
    stream::ClockFn,
};

type Expiring = Object<kind::Expiring>;

impl Kind for kind::Expiring {
    fn builder<G: Growth>(params: &Params) -> Result<FilterBuilder<Self, G>, Status> {
        let Params { ttl, time_to_live, window, value_bits, max_copies, fastest, .. } = *params;
        unused([value_bits, max_copies, fastest].map(u64::from))?;
        let mut builder = params.builder()?;
        if window != 0 {
            builder = builder.window(window);
        }
        if ttl != 0 {
            unused([time_to_live])?;
            builder = builder.ttl(Duration::from_nanos(ttl));
        }
        if time_to_live != 0 {
            builder = builder.time_to_live(Duration::from_nanos(time_to_live));
        }
        Ok(builder)
    }

    fn describe<G: Growth>(expiring: &Filter<Self, G>, info: &mut Info) {
        info.generation = expiring.generation();
        info.window = expiring.window();
    }
}

/// Returns what reads a clock of C.
fn reading(clock: ClockFn, context: *mut c_void) -> Result<impl Fn() -> Duration, Status> {
    let clock = clock.ok_or(Status::ErrNull)?;
    Ok(move || Duration::from_nanos(clock(context)))
}

export! { expiring:
    fn insert(expiring: Shared<Expiring>, hash: u64, generation: Optional<u64>) {
        let (expiring, place) = (expiring.get()?, generation.place()?);
        let generation = either!(expiring, set => set.insert(&Hashed(hash)))?;
        place.map(|place| place.write(generation));
    }

    fn insert_for(
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
        let new = match either!(expiring, set => set.insert_unique(&Hashed(hash)))? {
            Insertion::New(generation) => Some(generation),
            Insertion::Found(()) => None,
        };
        inserted.write(new.is_some());
        generation.map(|place| place.write(new.unwrap_or(0)));
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
        generation: Optional<u64>,
        refused: Optional<bool>,
        count: Optional<usize>,
    ) {
        let (expiring, hashes) = (expiring.get()?, hashes.hashes(stride, n)?);
        let (generation, place) = (generation.place()?, count.place()?);
        let mut refusals = Refusals::new(refused.slice(n)?);
        let mut of_all = None;
        let count = hashes.sum(|part, hashes| {
            let outcome = either!(expiring, set => set.insert_batch(hashes));
            let of_these = outcome.as_ref().map_or(0, |&generation| generation);
            // Slices may be inserted in different generations.
            of_all = Some(of_all.map_or(of_these, |all| if all == of_these { all } else { 0 }));
            outcome.map_or_else(|error| refusals.add(part, &error), |_| hashes.len())
        });
        let of_all = of_all.unwrap_or(0);
        generation.map(|place| place.write(of_all));
        place.map(|place| place.write(count));
        refusals.outcome()?;
    }

    fn advance(expiring: Shared<Expiring>, generation: Optional<u64>) {
        let (expiring, place) = (expiring.get()?, generation.place()?);
        let generation = either!(expiring, set => set.advance());
        place.map(|place| place.write(generation));
    }

    fn tick(expiring: Shared<Expiring>, begun: Optional<u64>) {
        let (expiring, place) = (expiring.get()?, begun.place()?);
        let begun = either!(expiring, set => set.tick());
        place.map(|place| place.write(begun.unwrap_or(0)));
    }

    fn tick_by(
        expiring: Shared<Expiring>,
        clock: ClockFn,
        context: *mut c_void,
        begun: Optional<u64>,
    ) {
        let (expiring, place) = (expiring.get()?, begun.place()?);
        let clock = reading(clock, context)?;
        let begun = either!(expiring, set => set.tick_by(clock));
        place.map(|place| place.write(begun.unwrap_or(0)));
    }

    fn advance_to(
        expiring: Shared<Expiring>,
        clock: ClockFn,
        context: *mut c_void,
        generation: Optional<u64>,
    ) {
        let (expiring, place) = (expiring.get()?, generation.place()?);
        let clock = reading(clock, context)?;
        let generation = either!(expiring, set => set.advance_to(clock));
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
