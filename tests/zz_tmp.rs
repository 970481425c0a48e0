//! tmp
mod common;
use common::{build, hashers, kind::*, rng};
use guira::Layout;
use rand::RngExt;
#[test]
fn blow() {
    for &layout in Layout::GROWING {
        let filter = build::<GrowingSets, hashers::Part>(hashers::bad, 48, layout, 31);
        let mut rng = rng(1);
        let first = filter.slots();
        let mut outcomes = std::collections::BTreeMap::new();
        let start = std::time::Instant::now();
        let mut mine = vec![];
        for i in 0..400_000u64 {
            let key: u64 = rng.random();
            let before = filter.slots();
            match filter.insert(&key) {
                Ok(()) => {
                    mine.push(key);
                    *outcomes.entry("ok").or_insert(0) += 1;
                }
                Err(e) => {
                    *outcomes
                        .entry(match e {
                            guira::InsertError::Full => "full",
                            guira::InsertError::TooManyCopies => "copies",
                            guira::InsertError::FullyGrown => "grown",
                            _ => "other",
                        })
                        .or_insert(0) += 1;
                }
            }
            if mine.len() > 900 {
                for _ in 0..2 {
                    let k = mine.swap_remove(rng.random_range(0..mine.len()));
                    assert!(filter.remove(&k));
                }
            }
            let _ = before;
            if i.is_power_of_two() || i % 50_000 == 0 || start.elapsed().as_secs() > 10 {
                println!(
                    "{layout:?} {i}: len {} slots {} ({}x) {outcomes:?} {:?}",
                    filter.len(),
                    filter.slots(),
                    filter.slots() / first,
                    start.elapsed()
                );
                if start.elapsed().as_secs() > 10 {
                    break;
                }
            }
        }
    }
}
