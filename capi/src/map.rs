//! Maps: what only they have.

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
};

type Map = Object<kind::Map>;

impl Kind for kind::Map {
    fn builder<G: Growth>(params: &Params) -> Result<FilterBuilder<Self, G>, Status> {
        let Params { value_bits, fastest, .. } = *params;
        params.not_expiring()?;
        unused([fastest.into()])?;
        let builder = params.permanent()?;
        Ok(if value_bits == 0 { builder } else { builder.value_bits(value_bits) })
    }

    fn describe<G: Growth>(map: &Filter<Self, G>, info: &mut Info) {
        info.value_bits = map.layout().value_bits();
    }
}

/// Values that a batch of lookups gets at a time, in 4 KiB of the stack.
const VALUES: usize = 1024;

export! { map:
    fn insert(map: Shared<Map>, hash: u64, value: u16) {
        either!(map.get()?, map => map.insert(&Hashed(hash), value))?;
    }

    fn insert_unique(
        map: Shared<Map>,
        hash: u64,
        value: u16,
        inserted: Out<bool>,
        present: Optional<u16>,
    ) {
        let (map, inserted, present) = (map.get()?, inserted.place()?, present.place()?);
        let value = match either!(map, map => map.insert_unique(&Hashed(hash), value))? {
            Insertion::New(()) => {
                inserted.write(true);
                value
            }
            Insertion::Found(found) => {
                inserted.write(false);
                found
            }
        };
        present.map(|place| place.write(value));
    }

    fn get(map: Ref<Map>, hash: u64, value: Out<u16>, found: Out<bool>) {
        let (map, value, found) = (map.get()?, value.place()?, found.place()?);
        let present = either!(map, map => map.get(&Hashed(hash)));
        found.write(present.is_some());
        value.write(present.unwrap_or(0));
    }

    fn values(map: Ref<Map>, hash: u64, values: Out<u16>, max: usize, count: Out<usize>) {
        let (map, place, places) = (map.get()?, count.place()?, values.slice(max)?);
        let found = either!(map, map => map.values(&Hashed(hash)));
        place.write(found.len());
        places.iter_mut().zip(found).for_each(|(place, value)| *place = value);
    }

    fn contains_value(map: Ref<Map>, hash: u64, value: u16, found: Out<bool>) {
        let (map, place) = (map.get()?, found.place()?);
        place.write(either!(map, map => map.contains_value(&Hashed(hash), value)));
    }

    fn replace(map: Shared<Map>, hash: u64, old: u16, value: u16, replaced: Optional<bool>) {
        let (map, place) = (map.get()?, replaced.place()?);
        let replaced = either!(map, map => map.replace(&Hashed(hash), old, value));
        place.map(|place| place.write(replaced));
    }

    fn remove(map: Shared<Map>, hash: u64, value: u16, removed: Optional<bool>) {
        let (map, place) = (map.get()?, removed.place()?);
        let removed = either!(map, map => map.remove(&Hashed(hash), value));
        place.map(|place| place.write(removed));
    }

    fn get_mask(
        map: Ref<Map>,
        hashes: In<u64>,
        stride: usize,
        n: usize,
        values: Out<u16>,
        found: Out<u64>,
    ) {
        let (map, place, mut room) = (map.get()?, found.place()?, Room::new());
        let hashes = hashes.burst(stride, n, &mut room)?;
        let values = values.slice(n)?;
        place.write(either!(map, map => map.get_mask(hashes, values)));
    }

    fn get_batch(
        map: Ref<Map>,
        hashes: In<u64>,
        stride: usize,
        n: usize,
        values: Out<u16>,
        found: Out<bool>,
        count: Optional<usize>,
    ) {
        let (map, hashes) = (map.get()?, hashes.hashes(stride, n)?);
        let (place, values, found) = (count.place()?, values.slice(n)?, found.slice(n)?);
        let count = hashes.sum(|part, hashes| {
            let mut answers = values[part.clone()].iter_mut().zip(&mut found[part]);
            let mut sum = 0;
            for hashes in hashes.chunks(VALUES) {
                let mut got = [None; VALUES];
                sum += either!(map, map => map.get_batch(hashes, &mut got[..hashes.len()]));
                for (got, (value, found)) in got[..hashes.len()].iter().zip(&mut answers) {
                    (*value, *found) = (got.unwrap_or(0), got.is_some());
                }
            }
            sum
        });
        place.map(|place| place.write(count));
    }

    fn insert_batch(
        map: Shared<Map>,
        hashes: In<u64>,
        stride: usize,
        n: usize,
        values: In<u16>,
        refused: Optional<bool>,
        count: Optional<usize>,
    ) {
        let (map, hashes, values) = (map.get()?, hashes.hashes(stride, n)?, values.slice(n)?);
        let (place, refused) = (count.place()?, refused.slice(n)?);
        let bits = either!(map, map => map.layout().value_bits());
        if values.iter().any(|&value| u32::from(value) >> bits != 0) {
            return Err(Status::ErrValueTooLarge);
        }
        let mut refusals = Refusals::new(refused);
        let count = hashes.sum(|part, hashes| {
            let outcome = either!(map, map => map.insert_batch(hashes, &values[part.clone()]));
            outcome.map_or_else(|error| refusals.add(part, &error), |()| hashes.len())
        });
        place.map(|place| place.write(count));
        refusals.outcome()?;
    }

    fn remove_batch(
        map: Shared<Map>,
        hashes: In<u64>,
        stride: usize,
        n: usize,
        values: In<u16>,
        removed: Out<bool>,
        count: Optional<usize>,
    ) {
        let (map, hashes, values) = (map.get()?, hashes.hashes(stride, n)?, values.slice(n)?);
        let (place, removed) = (count.place()?, removed.slice(n)?);
        let count = hashes.sum(|part, hashes| {
            let (values, removed) = (&values[part.clone()], &mut removed[part]);
            either!(map, map => map.remove_batch(hashes, values, removed))
        });
        place.map(|place| place.write(count));
    }
}
