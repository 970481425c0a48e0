//! Sets: what only they have.

use guira_rs::{
    FilterBuilder, Hashed,
    kind::{Growth, Set},
};

use crate::{
    object::{Kind, Object},
    params::{Params, flag, unused},
    pointer::{In, Optional, Out, Shared},
    refusals::Refusals,
    status::Status,
};

type Filter = Object<Set>;

impl Kind for Set {
    fn builder<G: Growth>(params: &Params) -> Result<FilterBuilder<Self, G>, Status> {
        let Params { value_bits, fastest, .. } = *params;
        params.not_expiring()?;
        unused([value_bits.into()])?;
        let builder = params.permanent()?;
        Ok(if flag(fastest)? { builder.fastest() } else { builder })
    }
}

export! { filter:
    fn insert(filter: Shared<Filter>, hash: u64) {
        either!(filter.get()?, filter => filter.insert(&Hashed(hash)))?;
    }

    fn insert_unique(filter: Shared<Filter>, hash: u64, inserted: Out<bool>) {
        let (filter, place) = (filter.get()?, inserted.place()?);
        let insertion = either!(filter, filter => filter.insert_unique(&Hashed(hash)))?;
        place.write(insertion.is_new());
    }

    fn remove(filter: Shared<Filter>, hash: u64, removed: Optional<bool>) {
        let (filter, place) = (filter.get()?, removed.place()?);
        let removed = either!(filter, filter => filter.remove(&Hashed(hash)));
        place.map(|place| place.write(removed));
    }

    fn insert_batch(
        filter: Shared<Filter>,
        hashes: In<u64>,
        stride: usize,
        n: usize,
        refused: Optional<bool>,
        count: Optional<usize>,
    ) {
        let (filter, hashes) = (filter.get()?, hashes.hashes(stride, n)?);
        let place = count.place()?;
        let mut refusals = Refusals::new(refused.slice(n)?);
        let count = hashes.sum(|part, hashes| {
            let outcome = either!(filter, filter => filter.insert_batch(hashes));
            outcome.map_or_else(|error| refusals.add(part, &error), |()| hashes.len())
        });
        place.map(|place| place.write(count));
        refusals.outcome()?;
    }

    fn remove_batch(
        filter: Shared<Filter>,
        hashes: In<u64>,
        stride: usize,
        n: usize,
        removed: Out<bool>,
        count: Optional<usize>,
    ) {
        let (filter, hashes) = (filter.get()?, hashes.hashes(stride, n)?);
        let (place, removed) = (count.place()?, removed.slice(n)?);
        let count = hashes.sum(|part, hashes| {
            either!(filter, filter => filter.remove_batch(hashes, &mut removed[part]))
        });
        place.map(|place| place.write(count));
    }
}
