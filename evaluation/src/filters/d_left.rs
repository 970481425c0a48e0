//! The d-left counting Bloom filter (Bonomi et al. 2006), with the cuckoo filter paper's four tables of
//! buckets of four, in as many bits as its cuckoo filter: cells of 12 bits.
//!
//! An item's true fingerprint is a bucket and a remainder, and four permutations of it, odd multiples
//! modulo a power of two, are its places in the four tables. It goes into the emptiest of them, the
//! leftmost of equals, or counts up a cell that has it already. Nothing is ever moved.
//!
//! The papers leave open how 12 bits divide. Bonomi et al. have counters of two bits; with those, ten
//! bits are left for remainders, and at the paper's load 1.2 % false positives, more than its 0.76 %.
//! So a cell here has a remainder of 11 bits and one bit that says whether it stands for one item or
//! two. At 12.4 occupied cells a look-up that gives 0.60 %; sixteen would give 0.78 %.

use super::{
    Filter,
    buckets::{Buckets, lanes},
    distinct_lines, hash, power_of_two,
};

/// Tables, and cells of a bucket.
const TABLES: usize = 4;
const CELLS: usize = 4;
/// Bits of a remainder; zero is none, for an empty cell is zero.
const REMAINDER: u32 = 11;
/// The load at which a table of this kind is full, as the paper has it.
const LOAD: f64 = 0.78;
/// What the fingerprint is multiplied with for each table.
const ODD: [u64; TABLES] = [1, 0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03, 0x8cb9_2ba7_2f3d_8dd7];

pub struct DLeft {
    /// The tables one behind another.
    buckets: Buckets,
}

pub fn build(bytes: usize) -> (DLeft, usize) {
    let buckets = Buckets::new(power_of_two(bytes, 48).max(TABLES));
    let items = (LOAD * (buckets.count() * CELLS) as f64) as usize;
    (DLeft { buckets }, items)
}

/// A place of an item: a bucket, and the cell that stands for one such item.
#[derive(Clone, Copy, Debug)]
struct Place {
    bucket: usize,
    cell: u64,
}

/// The bit of a cell that stands for two.
const TWO: u64 = 1;
/// That bit of every cell.
const TWOS: u64 = lanes::spread(TWO);

impl DLeft {
    #[inline]
    fn places(&self, key: u64) -> [Place; TABLES] {
        let bits = REMAINDER + (self.buckets.count() / TABLES).ilog2();
        let mask = (1 << REMAINDER) - 1;
        let hash = hash(key);
        // A remainder that is not zero stays so when it is multiplied with an odd number.
        let truth = hash >> 16 | u64::from(hash >> 16 & mask == 0);
        std::array::from_fn(|table| {
            let permuted = truth.wrapping_mul(ODD[table]) & ((1 << bits) - 1);
            let bucket = (table << (bits - REMAINDER)) + (permuted >> REMAINDER) as usize;
            Place { bucket, cell: (permuted & mask) << 1 }
        })
    }

    /// The cells that have the item, whatever their counts, by their highest bits.
    #[inline]
    fn matches(word: u64, place: Place) -> u64 {
        lanes::zero((word | TWOS) ^ lanes::spread(place.cell | TWO))
    }
}

impl Filter for DLeft {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        let places = self.places(key);
        let words = places.map(|place| self.buckets.read(place.bucket));
        for (place, word) in places.into_iter().zip(words) {
            // Copies beyond two have cells of their own.
            let ones = lanes::zero(word ^ lanes::spread(place.cell));
            if ones != 0 {
                self.buckets.write(place.bucket, word | TWO << lanes::lowest(ones));
                return true;
            }
        }
        // By a maximum of numbers, for a branch on what has just been read would seldom be foreseen.
        let ranks = std::array::from_fn::<_, TABLES, _>(|table| {
            lanes::zeros(words[table]) as usize * TABLES + (TABLES - 1 - table)
        });
        let best = ranks.into_iter().fold(0, usize::max);
        if best < TABLES {
            return false;
        }
        let emptiest = TABLES - 1 - best % TABLES;
        let (place, word) = (places[emptiest], words[emptiest]);
        let free = lanes::lowest(lanes::zero(word));
        self.buckets.write(place.bucket, word | place.cell << free);
        true
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        let found = self.places(key).map(|at| Self::matches(self.buckets.read(at.bucket), at));
        found.into_iter().fold(0, |all, marks| all | marks) != 0
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<bool> {
        for place in self.places(key) {
            let word = self.buckets.read(place.bucket);
            let found = Self::matches(word, place);
            if found != 0 {
                let lane = lanes::lowest(found);
                let two = word >> lane & TWO;
                let cleared = if two == 0 { 0xfff } else { TWO };
                self.buckets.write(place.bucket, word & !(cleared << lane));
                return Some(true);
            }
        }
        Some(false)
    }

    fn bytes(&self) -> usize {
        self.buckets.bytes()
    }

    fn slots(&self) -> usize {
        self.buckets.count() * CELLS
    }

    fn lines(&self, key: u64) -> Option<usize> {
        let buckets = self.places(key).into_iter().map(|place| place.bucket);
        Some(distinct_lines(buckets.flat_map(Buckets::places)))
    }
}

#[cfg(test)]
mod tests {
    use super::{DLeft, Filter, TABLES, build};

    fn cells(filter: &DLeft) -> Vec<u64> {
        let words = (0..filter.buckets.count()).map(|bucket| filter.buckets.read(bucket));
        let cells = words.flat_map(|word| (0..4).map(move |lane| word >> (12 * lane) & 0xfff));
        cells.filter(|&cell| cell != 0).collect()
    }

    #[test]
    fn each_table_has_a_quarter_of_the_buckets() {
        let (filter, _) = build(6 << 10);
        for key in 0..10_000 {
            for (table, place) in filter.places(key).into_iter().enumerate() {
                assert_eq!(place.bucket / (1024 / TABLES), table);
                assert!(place.cell >= 2 && place.cell < 4096 && place.cell % 2 == 0);
            }
        }
    }

    #[test]
    fn two_copies_share_a_cell_and_a_third_has_its_own() {
        let (mut filter, _) = build(6 << 4);
        for copies in 1..=8_usize {
            assert!(filter.insert(7));
            assert_eq!(cells(&filter).len(), copies.div_ceil(2));
        }
        for left in (0..8).rev() {
            assert!(filter.contains(7));
            assert_eq!(filter.remove(7), Some(true));
            assert_eq!(filter.contains(7), left > 0);
        }
        assert_eq!((filter.remove(7), cells(&filter).len()), (Some(false), 0));
    }

    #[test]
    fn items_go_into_the_emptiest_bucket_and_the_leftmost_of_equals() {
        let (mut filter, _) = build(6 << 12);
        for key in 0..3000 {
            let load = |bucket: usize| {
                (0..4)
                    .filter(|lane| filter.buckets.read(bucket) >> (12 * lane) & 0xfff != 0)
                    .count()
            };
            let places = filter.places(key);
            if filter.contains(key) {
                continue;
            }
            let chosen = places.into_iter().min_by_key(|place| load(place.bucket)).expect("four");
            let before = load(chosen.bucket);
            assert!(filter.insert(key));
            let after = (0..4)
                .filter(|lane| filter.buckets.read(chosen.bucket) >> (12 * lane) & 0xfff != 0);
            assert_eq!(after.count(), before + 1);
        }
    }
}
