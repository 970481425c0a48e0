//! Chains that grow beside a writer that is stopped, or that panicked.

use std::sync::Arc;

use guira::{
    Layout,
    raw::{Addressing, Chain, Nested, Plan},
};
use rand::RngExt;

use super::{panicked, scene::LOOKUP, steps, stopped, unblocked};
use crate::common::{Watchdog, rng};

/// A chain of one full segment.
struct Grown {
    chain: Arc<Chain>,
    present: Vec<u64>,
    /// Items that require another segment.
    incoming: [u64; 2],
}

impl Grown {
    /// The chain, which can grow.
    fn new() -> Self {
        let plan = |segments: u32| {
            let segment = |level| Addressing::nested(2, Nested::new(level, (1, 1 << 15), 0));
            (0..segments).map(|level| (Layout::Plain4x16, segment(level))).collect::<Vec<_>>()
        };
        let [alone, chain] = [1, 3]
            .map(|segments| Chain::new(Plan::new(&plan(segments)), false).expect("a small table"));
        let (mut rng, mut present, mut incoming) = (rng(1), Vec::new(), Vec::new());
        while incoming.len() < 2 {
            let item = rng.random();
            match alone.insert(item) {
                Ok(()) => present.push(item),
                Err(_) => incoming.push(item),
            }
        }
        present.iter().for_each(|&item| chain.insert(item).expect("as in the other"));
        assert_eq!(chain.layouts().len(), 1);
        let incoming = [incoming[0], incoming[1]];
        Self { chain: Arc::new(chain), present, incoming }
    }

    /// The calls of a writer: an insert and an `insert_unique`, which append a segment, and a
    /// removal.
    fn calls(&self) -> [Box<dyn Fn(&Chain) -> bool + Send>; 3] {
        let (new, old) = (self.incoming[0], self.present[0]);
        [
            Box::new(move |chain| chain.insert(new) == Ok(())),
            Box::new(move |chain| chain.insert_unique(new) == Ok(true)),
            Box::new(move |chain| chain.remove(old)),
        ]
    }

    /// While a writer is stopped or gone: all items that it does not remove are found, and another
    /// insert appends a segment for itself. None of this takes a lock.
    fn look(&self) {
        let found = |item| unblocked(LOOKUP * 2 + 8, || self.chain.contains(item));
        assert!(self.present[1..].iter().all(|&item| found(item)), "missed");
        let inserted = unblocked(100, || self.chain.insert(self.incoming[1]));
        assert_eq!(inserted, Ok(()));
        assert!(found(self.incoming[1]) && self.present[1..].iter().all(|&item| found(item)));
    }

    /// After the writer has returned as well.
    fn look_after(&self, removed: bool) {
        let copies = |item| self.chain.count(item);
        assert!(self.present[1..].iter().all(|&item| copies(item) == 1), "lost or doubled");
        assert_eq!(copies(self.present[0]), usize::from(!removed));
        assert_eq!(self.incoming.map(copies), [usize::from(!removed), 1]);
    }
}

#[test]
fn chains_grow_beside_a_writer_that_stopped_or_panicked() {
    let _watchdog = Watchdog::new("chains_grow_beside_a_writer_that_stopped_or_panicked");
    for call in 0..3 {
        let all = steps(|| assert!(Grown::new().calls()[call](&Grown::new().chain))).len();
        assert!(all > 3, "call {call} takes {all} steps");
        // (An upper bound: the steps of building the chains count as well.)
        let mut halted = 0;
        for number in 0..all {
            let scene = Grown::new();
            let (work, chain) = (scene.calls(), Arc::clone(&scene.chain));
            if !stopped(move || work[call](&chain), number, || scene.look()) {
                break;
            }
            halted += 1;
            scene.look_after(call == 2);

            let scene = Grown::new();
            let (work, chain) = (scene.calls(), Arc::clone(&scene.chain));
            assert!(panicked(move || work[call](&chain), number));
            scene.look();
            for &item in &scene.present[1..] {
                assert!(scene.chain.remove(item), "a lock is held, or an item missing");
            }
            assert!(scene.chain.remove(scene.incoming[1]));
        }
        assert!(halted > 3, "call {call} was halted {halted} times");
    }
}
