//! The steps of a map of a segment chain, which grows.

use super::{
    super::{Growing, engine::Failed},
    MapSteps, Values,
};
use crate::{
    InsertError,
    table::{Answers, Hashes, Valued, for_each_prefetched},
};

impl MapSteps for Growing<Valued> {
    fn value_bits(&self) -> u32 {
        self.chain.value_bits()
    }

    fn insert(&self, mixed: u64, value: u16) -> Result<(), InsertError> {
        if self.max_copies.is_some() {
            return self.insert_limited((mixed, value));
        }
        self.chain.insert((mixed, value))
    }

    fn get_or_insert(&self, mixed: u64, value: u16) -> Result<Option<u16>, InsertError> {
        self.chain.get_or_insert((mixed, value))
    }

    #[inline]
    fn get(&self, mixed: u64) -> Option<u16> {
        self.chain.get(mixed)
    }

    fn values(&self, mixed: u64) -> Values {
        Values::of_chain(self.chain.values(mixed))
    }

    #[inline]
    fn contains(&self, mixed: u64) -> bool {
        self.chain.contains(mixed)
    }

    fn contains_value(&self, mixed: u64, value: u16) -> bool {
        self.chain.contains_value((mixed, value))
    }

    fn replace(&self, mixed: u64, old: u16, new: u16) -> bool {
        self.chain.replace((mixed, old), new)
    }

    fn remove(&self, mixed: u64, value: u16) -> bool {
        self.chain.remove((mixed, value))
    }

    fn count(&self, mixed: u64) -> usize {
        self.chain.count(mixed)
    }

    fn insert_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        count: &mut usize,
        failed: &mut Failed<'_>,
    ) {
        let prefetch = |mixed| {
            self.chain.prefetch_last(mixed);
            mixed
        };
        let mut ended = false;
        for_each_prefetched(hashes, 0, prefetch, |position, mixed| {
            if ended {
                return;
            }
            match MapSteps::insert(self, mixed, values[position]) {
                Ok(()) => *count += 1,
                Err(error) => ended = failed(position, error).is_break(),
            }
        });
    }

    fn contains_each(&self, len: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize {
        self.chain.contains_each(self.kernel, len, hashes, answers)
    }

    fn get_each(&self, _len: usize, hashes: &mut Hashes<'_>, mut answers: Answers<'_>) -> usize {
        let mut count = 0;
        self.chain.for_each(hashes, |position, mixed| {
            let found = self.chain.get(mixed);
            answers.set(position, found);
            count += usize::from(found.is_some());
        });
        count
    }

    fn remove_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        removed: &mut [bool],
        count: &mut usize,
    ) {
        self.chain.for_each(hashes, |position, mixed| {
            removed[position] = self.chain.remove((mixed, values[position]));
            *count += usize::from(removed[position]);
        });
    }
}
