//! What the programs run on: tiny tables, of a fixed size or growing, whose slots hold fingerprints
//! alone, or with values, or expire; and five classes of items.

use std::fmt;

use guira::raw::{
    Addressing, Aged, BucketLayout, Code, Fingerprint, FixedSpace, FixedTable, GrowingLayout,
    GrowingSpace, GrowingTable, Growth, Item, Limits, Pair, Payload, Side, Space, Table, Words,
};
use rand::{RngExt, rngs::SmallRng};

use super::{
    slots::Slot,
    spec::{Action, Answer, CLASSES, Class, START},
};

/// Which bucket each copy of a class is in: copies in the first one, and in the second one.
pub type Placement = [[usize; 2]; CLASSES];

/// How often the first buckets of a table that grows double at most.
const DOUBLINGS: u32 = 4;

/// Makes one call on a class, by its place and its item. A removal names the generation of its
/// copy.
pub type Call<S> =
    fn(&World<S>, &Table<S>, usize, <S as Space>::Item, Action, Option<u64>) -> Answer;

/// A layout, a number of buckets, and the classes.
pub struct World<S: Space> {
    /// At first, if the table grows.
    pub slots: u32,
    make: Box<dyn Fn() -> Table<S> + Send + Sync>,
    call: Call<S>,
    copies: fn(&Table<S>, S::Item, usize) -> usize,
    /// The slots that are occupied, by whatever.
    pub occupied: fn(&Table<S>) -> u32,
    /// Each class with either bucket first, and with the value zero.
    items: [[S::Item; 2]; CLASSES],
    pub classes: [Class; CLASSES],
}

impl<S: Space<Item: fmt::Debug>> fmt::Debug for World<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} slots, {:?}", self.slots, self.items)
    }
}

/// The space of a tiny table.
pub trait Tiny:
    Space<Payload: Slot, Item: fmt::Debug + PartialEq + Send + Sync> + Send + Sync
{
    fn world(rng: &mut SmallRng) -> World<Self>;

    /// A number that rises when the table grows.
    fn growth(table: &Table<Self>) -> usize;

    /// An item in its first bucket alone, and in the other one, if there are two and the table can
    /// tell.
    fn alone(item: Self::Item) -> [Option<Self::Item>; 2];

    /// Whether an item has two buckets, before the table grows.
    fn has_two_buckets(item: Self::Item) -> bool;
}

/// What each kind of table does in its own way.
pub trait Lookups<L>: Words<L> {
    fn contains(table: &Table<Self>, key: Self::Item) -> bool;
    fn get(table: &Table<Self>, key: Self::Item) -> Option<u16>;
}

impl<P: Payload, L: BucketLayout> Lookups<L> for FixedSpace<P> {
    fn contains(table: &FixedTable<P>, key: Pair) -> bool {
        table.contains::<L>(key)
    }

    fn get(table: &FixedTable<P>, key: Pair) -> Option<u16> {
        table.get::<L>(key)
    }
}

impl<P: Payload, L: GrowingLayout> Lookups<L> for GrowingSpace<P> {
    fn contains(table: &GrowingTable<P>, key: Item) -> bool {
        table.contains::<L>(key)
    }

    fn get(table: &GrowingTable<P>, key: Item) -> Option<u16> {
        table.get::<L>(key)
    }
}

/// As above, where slots expire.
pub trait Ages<L>: Words<L> + Space<Payload = Aged> {
    fn is_visible(table: &Table<Self>, item: Self::Item) -> bool;

    /// Splits the next bucket, if the table grows. Returns whether there was one.
    fn split(_table: &Table<Self>) -> bool {
        false
    }
}

impl<L: BucketLayout> Ages<L> for FixedSpace<Aged> {
    fn is_visible(table: &FixedTable<Aged>, pair: Pair) -> bool {
        table.is_visible::<L>(pair)
    }
}

impl<L: GrowingLayout> Ages<L> for GrowingSpace<Aged> {
    fn is_visible(table: &GrowingTable<Aged>, item: Item) -> bool {
        table.is_visible::<L>(item)
    }

    fn split(table: &GrowingTable<Aged>) -> bool {
        table.split_one::<L>()
    }
}

/// Makes one call on a class, in a table whose slots do not expire.
pub fn call<S: Tiny + Lookups<L>, L>(
    world: &World<S>,
    table: &Table<S>,
    class: usize,
    key: S::Item,
    action: Action,
    _own: Option<u64>,
) -> Answer {
    let is_valued = <S::Payload as Slot>::VALUED;
    let item = if is_valued { S::with_value(key, class as u16) } else { key };
    match action {
        Action::Count => Answer::Count(table.count::<L>(key)),
        Action::Insert(_) => Answer::Insert(table.insert::<L>(item).map(|()| START)),
        Action::InsertUnique if is_valued => {
            let found = table.get_or_insert::<L>(item);
            Answer::GetOrInsert(found.map(|value| value.map(usize::from)))
        }
        Action::InsertUnique => {
            let added = table.insert_unique::<L>(item);
            Answer::InsertUnique(added.map(|added| added.then_some(START)))
        }
        Action::Remove => Answer::Remove(START, table.remove::<L>(item)),
        Action::Get => Answer::Get(S::get(table, key).map(usize::from)),
        Action::Values => {
            let mut found = [false; CLASSES];
            for &value in table.candidates::<L>(key).as_slice() {
                found[usize::from(value)] = true;
            }
            Answer::Values(found)
        }
        Action::ContainsValue => Answer::Holds(class, table.contains_value::<L>(item)),
        Action::Replace(from) => {
            let new = world.classes[class].same_from(from);
            Answer::Replace(new, table.replace::<L>(item, new as u16))
        }
        Action::Contains | Action::Refresh | Action::Sweep | Action::Advance | Action::Split => {
            Answer::Contains(S::contains(table, key))
        }
    }
}

/// The same, where slots expire. A removal is of the copy with a generation that the thread has
/// added.
pub fn call_aged<S: Ages<L>, L>(
    _world: &World<S>,
    table: &Table<S>,
    _class: usize,
    item: S::Item,
    action: Action,
    own: Option<u64>,
) -> Answer {
    match action {
        Action::Count => Answer::Count(table.count::<L>(item)),
        Action::Insert(life) => Answer::Insert(table.insert_for::<L>(item, life)),
        Action::InsertUnique => Answer::InsertUnique(table.insert_unseen::<L>(item)),
        Action::Remove => {
            let generation = own.expect("the thread has added one");
            Answer::Remove(generation, table.remove_of::<L>(item, generation))
        }
        Action::Refresh => Answer::Refresh(table.refresh::<L>(item)),
        Action::Sweep => {
            table.sweep::<L>(1);
            Answer::Swept
        }
        Action::Advance => Answer::Advanced(table.advance::<L>()),
        Action::Split => Answer::Split(S::split(table)),
        Action::Contains
        | Action::Get
        | Action::Values
        | Action::ContainsValue
        | Action::Replace(_) => Answer::Contains(S::is_visible(table, item)),
    }
}

/// Counts the copies of an item with its own value, at a quiet moment.
fn copies<S: Tiny + Words<L>, L>(table: &Table<S>, key: S::Item, class: usize) -> usize {
    if !<S::Payload as Slot>::VALUED {
        return table.count::<L>(key);
    }
    let found = table.candidates::<L>(key);
    found.as_slice().iter().filter(|&&other| usize::from(other) == class).count()
}

impl<S: Tiny> World<S> {
    pub fn table(&self) -> Table<S> {
        (self.make)()
    }

    /// Makes one call on a class. `way` is the bucket that the item names first.
    pub fn call(
        &self,
        table: &Table<S>,
        class: usize,
        way: usize,
        action: Action,
        own: Option<u64>,
    ) -> Answer {
        (self.call)(self, table, class, self.items[class][way], action, own)
    }

    /// The placement of all copies, at a quiet moment, as far as the table can tell.
    pub fn placement(&self, table: &Table<S>) -> Placement {
        std::array::from_fn(|class| {
            let copies = |item| (self.copies)(table, item, class);
            S::alone(self.items[class][0]).map(|item| item.map_or(0, copies))
        })
    }

    pub fn has_two_buckets(&self, class: usize) -> bool {
        S::has_two_buckets(self.items[class][0])
    }
}

impl<P: Slot> World<FixedSpace<P>> {
    /// A world with this layout, this many buckets, and random pairs. Classes with the same number
    /// in `keys` have the same pair.
    pub fn fixed<L: BucketLayout>(
        rng: &mut SmallRng,
        (payload, buckets): (P, u32),
        keys: [usize; CLASSES],
        call: Call<FixedSpace<P>>,
    ) -> Self {
        let value_bits = payload.value_bits();
        let addressing = Addressing::new(buckets.into(), payload);
        let mut known: Vec<[Pair; 2]> = Vec::new();
        while known.len() < CLASSES {
            let least = (L::MIN_FINGERPRINT >> value_bits).max(1);
            let key = rng.random_range(least..=L::MAX_FINGERPRINT >> value_bits);
            let fingerprint = Fingerprint::new(key << value_bits);
            let bucket = rng.random_range(0..buckets);
            let alternate = addressing.alt_bucket(fingerprint, bucket);
            // In a table of two buckets, classes with a single one evict the others.
            if bucket == alternate && buckets > 2 && rng.random_bool(0.8) {
                continue;
            }
            let pair = |buckets| Pair { fingerprint, buckets };
            if known.iter().flatten().all(|&other| other != pair([bucket, alternate])) {
                known.push([pair([bucket, alternate]), pair([alternate, bucket])]);
            }
        }
        let items: [[Pair; 2]; CLASSES] = std::array::from_fn(|class| known[keys[class]]);
        let slots_per_bucket = L::SLOTS as u8;
        let classes = std::array::from_fn(|index| {
            let [here, there] = items[index][0].buckets;
            let beside = |bucket| std::array::from_fn(|c| items[c][0].buckets.contains(&bucket));
            let most = Some(if here == there { slots_per_bucket } else { 2 * slots_per_bucket });
            let aliases = std::array::from_fn(|other| keys[other] == keys[index]);
            let (beside, expires) = ([beside(here), beside(there)], P::EXPIRES);
            let (same, ghosts) = (aliases, false);
            Class { index, most, slots_per_bucket, beside, aliases, same, ghosts, expires }
        });
        Self {
            slots: buckets * L::SLOTS,
            make: Box::new(move || FixedTable::new(addressing, false).expect("a tiny table")),
            call,
            copies: copies::<FixedSpace<P>, L>,
            occupied: |table| {
                let words = table.copy_words().expect("memory for a few words");
                words.into_iter().map(|word| u32::from(word != 0)).sum()
            },
            items,
            classes,
        }
    }
}

impl<P: Slot> Tiny for FixedSpace<P> {
    fn world(rng: &mut SmallRng) -> World<Self> {
        P::fixed(rng)
    }

    fn growth(_table: &FixedTable<P>) -> usize {
        0
    }

    fn alone(key: Pair) -> [Option<Pair>; 2] {
        let [here, there] = key.buckets.map(|bucket| Pair { buckets: [bucket; 2], ..key });
        [Some(here), (here != there).then_some(there)]
    }

    fn has_two_buckets(key: Pair) -> bool {
        key.buckets[0] != key.buckets[1]
    }
}

impl<P: Slot> World<GrowingSpace<P>> {
    /// A world of random classes with this layout.
    pub fn growing<L: GrowingLayout>(
        rng: &mut SmallRng,
        payload: P,
        call: Call<GrowingSpace<P>>,
    ) -> Self {
        let first = rng.random_range(1..=2);
        let growth = Growth::new::<L>(first, payload).expect("a small table");
        let longest_tail = L::MAX_TAIL - payload.value_bits();
        let mut hashes: [u64; CLASSES] = std::array::from_fn(|_| rng.random());
        // Often some differ in a single bit of the extension: aliases of slots that do not know it,
        // because their tails were cut, or ran out. Now and then two classes have one core, so that
        // they share a stripe.
        for (class, of) in if P::EXPIRES { vec![] } else { vec![(1, 0), (3, 2), (4, 2)] } {
            if rng.random_bool(0.6) {
                let bit = rng.random_range(0..longest_tail + DOUBLINGS + 1);
                hashes[class] = hashes[of] ^ 1 << (32 + bit);
            }
        }
        let hashes = P::keys(rng).map(|key| hashes[key]);
        let both = |item: Item| [item, Item { sides: [item.sides[1], item.sides[0]] }];
        let items = hashes.map(|hash| both(growth.item::<L>(hash)));
        // What a slot knows at least: the longest tail in a bucket of level 0. A split takes
        // nothing of it, a move only what does not fit.
        let known = |side: Side| {
            let Side { start, code: Code { core, extension } } = side;
            (start, core, extension & ((1 << longest_tail) - 1))
        };
        let sides = items.map(|[item, _]| item.sides.map(known));
        let is_alias = |a: [_; 2], b: [_; 2]| a == b || a == [b[1], b[0]];
        let (slots_per_bucket, ghosts) = (L::SLOTS as u8, longest_tail <= DOUBLINGS);
        let classes = std::array::from_fn(|index| {
            let same = std::array::from_fn(|other| items[other] == items[index]);
            let aliases = std::array::from_fn(|other| is_alias(sides[index], sides[other]));
            let (beside, most, expires) = ([[true; CLASSES]; 2], None, P::EXPIRES);
            Class { index, most, slots_per_bucket, beside, aliases, same, ghosts, expires }
        });
        let limits = Limits { buckets: first << DOUBLINGS, load: 205 };
        let make = move || {
            let table = GrowingTable::new::<L>(payload, first, limits, 8, (false, false));
            table.expect("a tiny table")
        };
        Self {
            slots: first as u32 * L::SLOTS,
            make: Box::new(make),
            call,
            copies: copies::<GrowingSpace<P>, L>,
            occupied: |table| {
                let (grown, _, words) = table.copy_words().expect("memory for a few words");
                let numbers = grown.numbers(words.len() as u64);
                let buckets = (0..).zip(words).filter(|(place, _)| !numbers.contains(place));
                buckets.map(|(_, word)| L::occupied(word)).sum()
            },
            items,
            classes,
        }
    }
}

impl<P: Slot> Tiny for GrowingSpace<P> {
    fn world(rng: &mut SmallRng) -> World<Self> {
        P::growing(rng)
    }

    fn growth(table: &GrowingTable<P>) -> usize {
        // Buckets that were split out of turn count once it was their turn.
        (table.buckets() - table.growth().first()) as usize
    }

    fn alone(item: Item) -> [Option<Item>; 2] {
        [Some(item), None]
    }

    fn has_two_buckets(item: Item) -> bool {
        item.sides[0].start != item.sides[1].start
    }
}
