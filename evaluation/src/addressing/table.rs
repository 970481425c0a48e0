//! An array of buckets of slots.

/// An integer that holds a fingerprint; zero marks an empty slot.
pub trait Slot: Copy + Default + PartialEq + Into<u32> {
    /// Converts a fingerprint, which must fit.
    fn of(fingerprint: u32) -> Self;
}

impl Slot for u8 {
    fn of(fingerprint: u32) -> Self {
        fingerprint as Self
    }
}

impl Slot for u16 {
    fn of(fingerprint: u32) -> Self {
        fingerprint as Self
    }
}

impl Slot for u32 {
    fn of(fingerprint: u32) -> Self {
        fingerprint
    }
}

/// The slots of all buckets. Each bucket fills from its first slot.
#[derive(Clone, Debug)]
pub struct Table<T> {
    slots: Vec<T>,
    per_bucket: usize,
}

impl<T: Slot> Table<T> {
    pub fn new(buckets: u32, per_bucket: usize) -> Self {
        Self { slots: vec![T::default(); buckets as usize * per_bucket], per_bucket }
    }

    /// Returns the slots of a bucket.
    pub fn bucket(&self, bucket: u32) -> &[T] {
        &self.slots[bucket as usize * self.per_bucket..][..self.per_bucket]
    }

    /// Returns how many slots of a bucket are occupied.
    pub fn occupied(&self, bucket: u32) -> usize {
        let slots = self.bucket(bucket);
        slots.iter().position(|&slot| slot == T::default()).unwrap_or(slots.len())
    }

    pub fn is_full(&self, bucket: u32) -> bool {
        self.bucket(bucket).last() != Some(&T::default())
    }

    /// Writes a fingerprint to a bucket's first free slot; `false` if the bucket is full.
    pub fn push(&mut self, bucket: u32, fingerprint: u32) -> bool {
        let slot = self.occupied(bucket);
        slot < self.per_bucket && {
            self.slots[bucket as usize * self.per_bucket + slot] = T::of(fingerprint);
            true
        }
    }

    /// Replaces the fingerprint in a slot, and returns the old one.
    pub fn swap(&mut self, bucket: u32, slot: usize, fingerprint: u32) -> u32 {
        let slot = &mut self.slots[bucket as usize * self.per_bucket + slot];
        std::mem::replace(slot, T::of(fingerprint)).into()
    }

    pub fn contains(&self, bucket: u32, fingerprint: u32) -> bool {
        self.bucket(bucket).contains(&T::of(fingerprint))
    }

    /// Returns all stored fingerprints.
    #[cfg(test)]
    pub fn fingerprints(&self) -> Vec<u32> {
        self.slots.iter().map(|&slot| slot.into()).filter(|&fingerprint| fingerprint != 0).collect()
    }
}
