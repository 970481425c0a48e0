//! The d-left counting Bloom filter (Bonomi et al. 2006), with the cuckoo filter paper's four
//! tables, four cells per bucket, and as many bits as its cuckoo filter: 12 per cell.
//!
//! An item's true fingerprint consists of a bucket and a remainder. Four permutations of it, odd
//! multiples modulo a power of two, are its positions in the four tables. If a cell already holds
//! the item, an insertion increments its counter. Otherwise it fills a cell of the emptiest bucket,
//! the leftmost of equals. Items are never relocated.
//!
//! The papers do not say how the 12 bits divide. Bonomi et al. use counters of two bits, which
//! leaves ten bits for remainders and gives 1.2 % false positives at the paper's load, more than
//! its 0.76 %. A cell here has a remainder of 11 bits and one bit that tells one item from two. A
//! lookup compares 12.4 occupied cells on average, which gives 0.60 %; sixteen would give 0.78 %.

use super::{
    Filter,
    buckets::{Buckets, fields},
    count_cache_lines, hash, power_of_two,
};

/// Number of tables.
const TABLES: usize = 4;
/// Cells per bucket.
const CELLS: usize = 4;
/// Bits per remainder; zero is reserved, because an empty cell is zero.
const REMAINDER: u32 = 11;
/// The load at which the paper's filter is full.
const LOAD: f64 = 0.78;
/// The multiplier of the fingerprint for each table.
const ODD: [u64; TABLES] = [1, 0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03, 0x8cb9_2ba7_2f3d_8dd7];

/// The filter.
pub struct DLeft {
    /// The buckets of all tables, table by table.
    buckets: Buckets,
}

pub fn build(bytes: usize) -> (DLeft, usize) {
    let buckets: Buckets = Buckets::new(power_of_two(bytes, 48).max(TABLES));
    let items = (LOAD * (buckets.count() * CELLS) as f64) as usize;
    (DLeft { buckets }, items)
}

/// An item's position in one table.
#[derive(Clone, Copy, Debug)]
struct Position {
    bucket: usize,
    /// The content of a cell that holds the item once.
    cell: u64,
}

/// The bit of a cell that is set if it holds two items.
const TWO: u64 = 1;
/// The bit `TWO` of every cell.
const TWOS: u64 = fields::spread(TWO);

impl DLeft {
    #[inline]
    fn positions(&self, key: u64) -> [Position; TABLES] {
        let bits = REMAINDER + (self.buckets.count() / TABLES).ilog2();
        let mask = (1 << REMAINDER) - 1;
        let hash = hash(key);
        // Multiplication by an odd number keeps a nonzero remainder nonzero.
        let truth = hash >> 16 | u64::from(hash >> 16 & mask == 0);
        std::array::from_fn(|table| {
            let permuted = truth.wrapping_mul(ODD[table]) & ((1 << bits) - 1);
            let bucket = (table << (bits - REMAINDER)) + (permuted >> REMAINDER) as usize;
            Position { bucket, cell: (permuted & mask) << 1 }
        })
    }

    /// Marks the cells that hold the item once or twice.
    #[inline]
    fn matches(word: u64, position: Position) -> u64 {
        fields::zero((word | TWOS) ^ fields::spread(position.cell | TWO))
    }
}

impl Filter for DLeft {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        let positions = self.positions(key);
        let words = positions.map(|position| self.buckets.read(position.bucket));
        for (position, word) in positions.into_iter().zip(words) {
            // A third copy takes a new cell.
            let ones = fields::zero(word ^ fields::spread(position.cell));
            if ones != 0 {
                self.buckets.write(position.bucket, word | TWO << fields::lowest(ones));
                return true;
            }
        }
        // A maximum of ranks avoids branches that the processor would mispredict.
        let ranks = std::array::from_fn::<_, TABLES, _>(|table| {
            fields::zeros(words[table]) as usize * TABLES + (TABLES - 1 - table)
        });
        let best = ranks.into_iter().fold(0, usize::max);
        if best < TABLES {
            return false;
        }
        let emptiest = TABLES - 1 - best % TABLES;
        let (position, word) = (positions[emptiest], words[emptiest]);
        let free = fields::lowest(fields::zero(word));
        self.buckets.write(position.bucket, word | position.cell << free);
        true
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        let found = self.positions(key).map(|at| Self::matches(self.buckets.read(at.bucket), at));
        found.into_iter().fold(0, |all, marks| all | marks) != 0
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<bool> {
        for position in self.positions(key) {
            let word = self.buckets.read(position.bucket);
            let found = Self::matches(word, position);
            if found != 0 {
                let slot = fields::lowest(found);
                let two = word >> slot & TWO;
                let cleared = if two == 0 { 0xfff } else { TWO };
                self.buckets.write(position.bucket, word & !(cleared << slot));
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

    fn cache_lines(&self, key: u64) -> Option<usize> {
        let buckets = self.positions(key).into_iter().map(|position| position.bucket);
        Some(count_cache_lines(buckets.flat_map(<Buckets>::byte_span)))
    }
}

#[cfg(test)]
mod tests {
    use super::{DLeft, Filter, TABLES, build};

    fn cells(filter: &DLeft) -> Vec<u64> {
        let words = (0..filter.buckets.count()).map(|bucket| filter.buckets.read(bucket));
        let cells = words.flat_map(|word| (0..4).map(move |slot| word >> (12 * slot) & 0xfff));
        cells.filter(|&cell| cell != 0).collect()
    }

    #[test]
    fn each_table_holds_a_quarter_of_the_buckets() {
        let (filter, _) = build(6 << 10);
        for key in 0..10_000 {
            for (table, position) in filter.positions(key).into_iter().enumerate() {
                assert_eq!(position.bucket / (1024 / TABLES), table);
                assert!(position.cell >= 2 && position.cell < 4096 && position.cell % 2 == 0);
            }
        }
    }

    #[test]
    fn two_copies_share_a_cell_and_a_third_takes_a_new_one() {
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
                    .filter(|slot| filter.buckets.read(bucket) >> (12 * slot) & 0xfff != 0)
                    .count()
            };
            let positions = filter.positions(key);
            if filter.contains(key) {
                continue;
            }
            let chosen =
                positions.into_iter().min_by_key(|position| load(position.bucket)).expect("four");
            let before = load(chosen.bucket);
            assert!(filter.insert(key));
            let after = (0..4)
                .filter(|slot| filter.buckets.read(chosen.bucket) >> (12 * slot) & 0xfff != 0);
            assert_eq!(after.count(), before + 1);
        }
    }
}
