//! Sets.

use std::hash::BuildHasher;

use guira::{
    InsertBatchError, InsertError, InsertMask, Insertion, Key, Layout, MergeError, kind::Set,
};
use rand::Rng;

use super::{BuilderOf, Kind, Of, permanent, unique_batches};
use crate::common::Subject;

impl<G: Subject> Kind for (Set, G) {
    type Contents = Set;
    type Growth = G;
    type Tag = ();

    permanent!();
    unique_batches!();

    fn layouts() -> Vec<Layout> {
        G::LAYOUTS.to_vec()
    }

    fn want<S>(_filter: &Of<Self, S>, _rng: &mut dyn Rng) -> u16 {
        0
    }

    fn any_tag<S>(_filter: &Of<Self, S>, _rng: &mut dyn Rng) {}

    fn tag<S>(_filter: &Of<Self, S>, _want: u16) -> Result<(), InsertError> {
        Ok(())
    }

    fn usual_want<S>(_filter: &Of<Self, S>, _key: u64) -> u16 {
        0
    }

    fn insert<Q: Key + ?Sized, S: BuildHasher>(
        filter: &Of<Self, S>,
        key: &Q,
        _want: u16,
    ) -> Result<(), InsertError> {
        filter.insert(key)
    }

    fn insert_unique<Q: Key + ?Sized, S: BuildHasher>(
        filter: &Of<Self, S>,
        key: &Q,
        _want: u16,
    ) -> Result<Insertion<(), Option<()>>, InsertError> {
        Ok(match filter.insert_unique(key)? {
            Insertion::New(()) => Insertion::New(()),
            Insertion::Found(()) => Insertion::Found(None),
        })
    }

    fn insert_batch<Q: Key + Copy, S: BuildHasher>(
        filter: &Of<Self, S>,
        keys: &[Q],
        _wants: &[u16],
    ) -> Result<Option<()>, InsertBatchError> {
        filter.insert_batch(keys.iter().copied()).map(Some)
    }

    fn remove<Q: Key + ?Sized, S: BuildHasher>(filter: &Of<Self, S>, key: &Q, (): ()) -> bool {
        filter.remove(key)
    }

    fn remove_batch<Q: Key, S: BuildHasher>(
        filter: &Of<Self, S>,
        keys: &[Q],
        _tags: &[()],
        removed: &mut [bool],
    ) -> usize {
        filter.remove_batch(keys, removed)
    }
}
