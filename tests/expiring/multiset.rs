//! What an expiring filter should hold: keys with generations.

/// What a filter should hold.
#[derive(Clone, Debug)]
pub struct Multiset {
    pub window: u64,
    pub now: u64,
    /// The keys that have not expired, with their generations.
    pub items: Vec<(u64, u64)>,
}

impl Multiset {
    /// The generations of a key, from the oldest on.
    pub fn generations(&self, key: u64) -> Vec<u64> {
        let mut generations: Vec<u64> =
            self.items.iter().filter(|item| item.0 == key).map(|item| item.1).collect();
        generations.sort_unstable();
        generations
    }

    pub fn contains(&self, key: u64) -> bool {
        self.items.iter().any(|item| item.0 == key)
    }

    pub fn remove(&mut self, item: (u64, u64)) -> bool {
        let place = self.items.iter().position(|&other| other == item);
        place.map(|place| self.items.swap_remove(place)).is_some()
    }

    /// Gives the oldest item of a key the present generation. Returns whether there was one.
    pub fn refresh(&mut self, key: u64) -> bool {
        let Some(&oldest) = self.generations(key).first() else { return false };
        self.items.push((key, self.now));
        self.remove((key, oldest))
    }

    pub fn advance(&mut self) {
        self.now += 1;
        self.items.retain(|item| self.now - item.1 <= self.window);
    }
}
