//! The table that grows by splitting.
#![allow(missing_docs)]
use guira::raw::*;
fn run<L: GrowingLayout>(first: u64, load: u32, n: u64, max: u64) {
    let table =
        GrowingTable::new::<L>(first, Limits { buckets: max, load }, 128, (true, true)).unwrap();
    let item = |key: u64| table.growth().item::<L>(mix(key, 42));
    let mut inserted = 0;
    for key in 0..n {
        if let Err(e) = table.insert::<L>(&item(key)) {
            println!("{e:?} at {key}");
            break;
        }
        inserted += 1;
        if key.is_power_of_two() {
            assert!((0..key).all(|k| table.contains::<L>(&item(k))), "{key}");
        }
    }
    assert!((0..inserted).all(|k| table.contains::<L>(&item(k))));
    let fp = (0..1_000_000u64).filter(|k| table.contains::<L>(&item(k + (1 << 40)))).count();
    println!(
        "{} slots: {inserted} items, {:?}, load {:.4}, fp {:.5} %",
        L::SLOTS,
        table.size(),
        inserted as f64 / (table.buckets() * L::SLOTS as u64) as f64,
        fp as f64 / 10000.0
    );
    for k in 0..inserted / 2 {
        assert!(table.remove::<L>(&item(k)), "{k}");
    }
    assert!((inserted / 2..inserted).all(|k| table.contains::<L>(&item(k))));
    for k in inserted / 2..inserted {
        assert!(table.remove::<L>(&item(k)), "{k}");
    }
}
#[test]
fn grows() {
    run::<Leveled<4, 7>>(312, 205, 1_000_000, 312 << 15);
    run::<Leveled<5, 6>>(256, 205, 20_000, 256 << 15);
    run::<Leveled<3, 8>>(256, 210, 400_000, 256 << 15);
    run::<Leveled<2, 8>>(256, 190, 400_000, 256 << 15);
    run::<Leveled<4, 7>>(1, 205, 1_000_000, 1 << 15);
    run::<Leveled<3, 8>>(3, 205, 1_000_000, 3 << 15);
    run::<Leveled<4, 7>>(1000, 205, 40_000, 9000);
}
