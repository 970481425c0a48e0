//! The functions on words, against those of the proof in Iris. Coq has computed the results for the
//! words in `proof_words.txt`: see `verification/iris/vectors.v`.

// Models and runs under steps have tests of their own.
#![cfg(not(any(loom, shuttle)))]

use std::collections::BTreeSet;

use guira::raw::{
    Code, FixedTable, FixedWords, GrowingAddressing, GrowingSpace, GrowingTable, GrowingWords,
    Leveled, Limits, Payload, Place, Side, Size, Slots, Space, Words, level,
};

/// How the proof divides words, and its number of buckets at level 0 and of levels.
struct Numbers {
    slots: u32,
    width: u32,
    core: u32,
    first: u64,
    top: u32,
}

/// A word, an item by its fingerprint and its location in a table of the last level, and a slot.
struct Case {
    word: u64,
    fingerprint: u64,
    location: u64,
    new: u32,
}

/// The bucket of the item and its slot; whether the word has it; the word with it, without it, and
/// with the new slot in its place; what a split leaves, and what goes to the child.
type Results = [Option<u64>; 8];

type Compute = Box<dyn Fn(&Numbers, &Case) -> Results>;

fn plain(slots: Slots) -> Compute {
    let table = FixedTable::new(slots, 1, Payload::NONE, false).expect("a small table");
    Box::new(move |numbers, case| {
        let (count, bits) = (slots.count(), slots.key_bits());
        assert_eq!((numbers.slots, numbers.width, numbers.core), (count, bits, bits));
        let &Case { word, fingerprint, location, new } = case;
        let slot = fingerprint as u32;
        let sought = slots.sought(slot);
        let found = slots.holds::<false>(word, sought);
        assert_eq!(slots.count_in::<false>([word, 0], sought) > 0, found);
        let changed = |new| <FixedWords>::with_changed(&table, word, slot, new);
        [
            Some(location),
            Some(fingerprint),
            Some(found.into()),
            <FixedWords>::with(&table, word, slot),
            changed(None),
            changed(Some(new)),
            None,
            None,
        ]
    })
}

fn growing(leveled: Leveled) -> Compute {
    let limits = Limits { buckets: 64, load: 200, copies: 1 };
    let table = GrowingTable::new(leveled, Payload::NONE, 8, limits, 2, (false, false));
    let table = table.expect("a small table");
    Box::new(move |numbers, case| of_growing(&table, numbers, case))
}

fn of_growing(space: &GrowingSpace, numbers: &Numbers, case: &Case) -> Results {
    let leveled = space.leveled();
    assert_eq!(
        (numbers.slots, numbers.width, numbers.core),
        (leveled.slots, leveled.width, leveled.core)
    );
    let &Case { word, fingerprint: core, location, new } = case;
    let at = <GrowingSpace as Space>::level(word);
    assert_eq!(at, level(word));
    let known = location / numbers.first;
    let extension = (1 << numbers.top) | known;
    let code = Code { core, extension };
    let start = (location % numbers.first) as u32;
    let addressing = GrowingAddressing::new(numbers.first, *leveled);
    let Place { bucket, .. } =
        addressing.place_of_item(Side { start, code }, Size { level: at, split: 0 });
    let slot = leveled.encode(code, at);
    let marks = leveled.matches(word, code);
    assert_eq!(leveled.find(word, slot).is_some(), marks != 0);
    // Items know more than slots of the last level. What else they know makes no difference.
    for beyond in 0..4 {
        let extension = ((4 | beyond) << numbers.top) | known;
        assert_eq!(leveled.matches(word, Code { core, extension }), marks);
    }
    let changed = |new| GrowingWords::with_changed(space, word, slot as u32, new);
    let found = leveled.longest(word, marks);
    assert_eq!(found.map(|found| leveled.without(word, found.at)), changed(None));
    let halves = (at < numbers.top).then(|| leveled.halves(word));
    assert!(halves.is_none_or(|halves| halves.copied == 0));
    [
        Some(bucket.into()),
        Some(slot),
        Some((marks != 0).into()),
        GrowingWords::with(space, word, slot as u32),
        changed(None),
        changed(Some(new)),
        halves.map(|halves| halves.stays),
        halves.map(|halves| halves.child),
    ]
}

/// The functions of a layout.
fn functions(name: &str) -> Compute {
    match name {
        "Plain8x8" => plain(Slots::plain(8, 8, 0)),
        "Plain6x10" => plain(Slots::plain(6, 10, 0)),
        "Plain5x12" => plain(Slots::plain(5, 12, 0)),
        "Plain4x16" => plain(Slots::plain(4, 16, 0)),
        "Growing5x12" => growing(Leveled::new(5, 6, 0)),
        "Growing4x15" => growing(Leveled::new(4, 7, 0)),
        "Growing3x20" => growing(Leveled::new(3, 8, 0)),
        "Growing2x30" => growing(Leveled::new(2, 8, 0)),
        "Plain3x2" => plain(Slots::plain(3, 2, 0)),
        "Plain2x3" => plain(Slots::plain(2, 3, 0)),
        "Small2x30" => growing(Leveled::new(2, 1, 0)),
        _ => panic!("no layout is called {name}"),
    }
}

impl Numbers {
    fn is_growing(&self) -> bool {
        self.core < self.width
    }

    fn fingerprints(&self) -> std::ops::Range<u64> {
        u64::from(!self.is_growing())..1 << self.core
    }

    /// All slots of a bucket of this level.
    fn all_slots(&self, level: u32) -> Vec<u32> {
        let tails = |fingerprint| {
            let marker = u64::from(self.is_growing()) << (self.top - level);
            let slot = move |tail| (fingerprint | ((marker | tail) << self.core)) as u32;
            (0..1 << (self.top - level)).map(slot)
        };
        self.fingerprints().flat_map(tails).collect()
    }

    /// The number of all words of this level.
    fn words(&self, level: u32) -> usize {
        (0..=self.slots).map(|slots| self.all_slots(level).len().pow(slots)).sum()
    }

    /// One number for the results of all items and slots, with this word.
    fn digest(&self, compute: &Compute, word: u64) -> u64 {
        let mut digest = 0_u64;
        for fingerprint in self.fingerprints() {
            for location in 0..self.first << self.top {
                for &new in &self.all_slots(self.level(word)) {
                    let case = Case { word, fingerprint, location, new };
                    for result in compute(self, &case) {
                        let added = result.map_or(0, |result| result + 1);
                        digest = digest.wrapping_mul(1_000_003).wrapping_add(added);
                    }
                }
            }
        }
        digest
    }

    fn level(&self, word: u64) -> u32 {
        if self.is_growing() { level(word) } else { 0 }
    }
}

/// Checks the lines of one layout, of which the first one has its numbers.
fn check(lines: &[&str]) {
    let fields = |line: &str| -> Vec<Option<u64>> {
        line.split(' ').skip(1).map(|field| field.parse().ok()).collect()
    };
    let numbers = lines[0].strip_prefix("layout ").expect("the numbers of a layout");
    let name = numbers.split(' ').next().expect("a name");
    let compute = functions(name);
    let [slots, width, core, first, top] = fields(numbers).try_into().expect("five numbers");
    let small = |number: Option<u64>| number.expect("a number") as u32;
    let numbers = Numbers {
        slots: small(slots),
        width: small(width),
        core: small(core),
        first: first.expect("a number"),
        top: small(top),
    };
    let mut words = vec![BTreeSet::new(); numbers.top as usize + 1];
    for line in &lines[1..] {
        assert!(line.starts_with(name), "{line}");
        if let Ok([word, digest]) = <[Option<u64>; 2]>::try_from(fields(line)) {
            let word = word.expect("a word");
            assert_eq!(Some(numbers.digest(&compute, word)), digest, "{line}");
            words[numbers.level(word) as usize].insert(word);
        } else {
            let fields = fields(line);
            let (case, results) = fields.split_at(4);
            let [word, fingerprint, location, new] =
                [0, 1, 2, 3].map(|at| case[at].expect("given"));
            let case = Case { word, fingerprint, location, new: new as u32 };
            assert_eq!(compute(&numbers, &case), results, "{line}");
        }
    }
    // All words of a small layout, or some of a large one.
    if words.iter().all(BTreeSet::is_empty) {
        assert!(lines.len() > 20, "{name}");
    } else {
        for (level, words) in (0..).zip(words) {
            assert_eq!(words.len(), numbers.words(level), "{name}, level {level}");
        }
    }
}

#[test]
fn functions_on_words_are_those_of_the_proof() {
    let lines: Vec<&str> = include_str!("proof_words.txt").lines().collect();
    let starts = |line: &&str| line.starts_with("layout ");
    let layouts: Vec<&[&str]> = lines.chunk_by(|_, next| !starts(next)).collect();
    assert_eq!(layouts.len(), 11);
    layouts.into_iter().for_each(check);
}
