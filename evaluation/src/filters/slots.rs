//! A packed ring of 12-bit slots.

use super::zeroed;

/// A ring of slots; their number is a power of two.
pub struct Slots {
    memory: Vec<u8>,
    /// Number of slots minus one.
    mask: usize,
}

impl Slots {
    /// Creates empty slots.
    ///
    /// # Panics
    /// If `slots` is not a power of two above one.
    pub fn new(slots: usize) -> Self {
        assert!(slots.is_power_of_two() && slots > 1);
        Self { memory: zeroed(slots / 2 * 3), mask: slots - 1 }
    }

    /// Returns the number of slots.
    pub fn count(&self) -> usize {
        self.mask + 1
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> usize {
        self.memory.len()
    }

    /// Returns the next slot.
    #[inline]
    pub fn next(&self, slot: usize) -> usize {
        (slot + 1) & self.mask
    }

    /// Returns the previous slot.
    #[inline]
    pub fn previous(&self, slot: usize) -> usize {
        slot.wrapping_sub(1) & self.mask
    }

    /// Returns the first byte of a slot, and the slot's offset in it in bits.
    #[inline]
    fn locate(slot: usize) -> (usize, usize) {
        (slot * 3 / 2, slot % 2 * 4)
    }

    #[inline]
    fn pair(&self, byte: usize) -> u16 {
        u16::from_le_bytes([self.memory[byte], self.memory[byte + 1]])
    }

    #[inline]
    pub fn get(&self, slot: usize) -> u16 {
        let (byte, shift) = Self::locate(slot);
        self.pair(byte) >> shift & 0xfff
    }

    #[inline]
    pub fn set(&mut self, slot: usize, value: u16) {
        let (byte, shift) = Self::locate(slot);
        let pair = self.pair(byte) & !(0xfff << shift) | value << shift;
        self.memory[byte..byte + 2].copy_from_slice(&pair.to_le_bytes());
    }

    /// Returns the first and the last byte of a slot.
    pub fn byte_span(slot: usize) -> [usize; 2] {
        let (byte, _) = Self::locate(slot);
        [byte, byte + 1]
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;

    #[test]
    fn slots_hold_12_bits_and_leave_their_neighbours_alone() {
        let mut slots = Slots::new(8);
        let value = |slot: usize, round: usize| ((slot * 1234 + round * 777) & 0xfff) as u16;
        for round in 0..5 {
            (0..8).for_each(|slot| slots.set(slot, value(slot, round)));
            assert!((0..8).all(|slot| slots.get(slot) == value(slot, round)));
        }
        assert_eq!((slots.bytes(), slots.next(7), slots.previous(0)), (12, 0, 7));
    }
}
