//! Snapshots in short steps: dumps, and loaders that write what they received.

use std::{collections::BTreeMap, io::ErrorKind};

use guira::{
    CuckooFilter, Dump, Filter, GrowingFilter, LoadError,
    kind::{Contents, Growth},
};

use super::common::{
    forge::{BLOCK, HEADER, ahead, blocks, number, table},
    kind::{GrowingMaps, GrowingSets, Kind, Sets, new},
    rng,
    saved::{self, crowd, filled, received, sample},
};

/// Words that are wrong, but not malformed, are written as they arrived, and the checksums are
/// those of what arrived.
#[test]
fn a_loader_that_received_damage_writes_it() {
    let (filter, _) = filled::<Sets>(CuckooFilter::builder().capacity(20_000).seed(1), 10_000);
    let bytes = filter.to_bytes();
    let table = table(&bytes).expect("a whole snapshot");
    for (at, len) in blocks(&bytes) {
        let mut damaged = bytes[..table].to_vec();
        let word =
            (at..at + len).step_by(8).find(|&at| number(&bytes, at) > 1 << 16).expect("items");
        // Its first fingerprint is another one, and not zero.
        damaged[word] ^= if damaged[word] == 1 { 2 } else { 1 };
        let mut first = CuckooFilter::loader();
        first.push(&damaged).expect("no checksum has arrived");
        let received = received(&first);
        assert!(received == damaged);
        for (loader, rest) in
            [(&mut first, &[][..]), (&mut { CuckooFilter::loader() }, &received[..])]
        {
            loader.push(rest).expect("no checksum has arrived");
            let error = loader.push(&bytes[table..]).expect_err("a wrong checksum");
            assert!(matches!(error, LoadError::DamagedBuckets));
            assert!(saved::received(loader) == damaged, "after an error");
        }
    }
}

/// A writer that accepts some bytes, fails once, and then accepts all.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let some = bytes.len().min(self.0);
        self.0 = if some == 0 { usize::MAX } else { self.0 - some };
        if some == 0 { Err(ErrorKind::StorageFull.into()) } else { Ok(some) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_error_of_the_writer_is_returned_and_harms_no_loader() {
    let bytes =
        filled::<Sets>(CuckooFilter::builder().capacity(60_000).seed(1), 10_000).0.to_bytes();
    let mut loader = CuckooFilter::loader();
    loader.push(&bytes[..bytes.len() - 3]).expect("its own snapshot");
    let header = HEADER;
    for room in [0, header, header + 5, header + BLOCK, header + BLOCK + 5, bytes.len() - 4] {
        let error = loader.write_received(Full(room)).expect_err("no room");
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
    loader.write_received(Full(bytes.len() - 3)).expect("room");
    loader.push(&bytes[bytes.len() - 3..]).expect("its own snapshot");
    assert!(loader.finish().expect("complete").to_bytes() == bytes);
}

/// The bytes of a dump, which is complete.
fn read<C: Contents, G: Growth>(dump: &Dump, filter: &Filter<C, G>) -> Vec<u8> {
    let mut bytes = vec![0; dump.len() as usize + 1];
    let read = dump.read_at(filter, 0, &mut bytes);
    bytes.truncate(read);
    bytes
}

fn dumps_go_over_as_many_blocks_as_they_may<K: Kind>(keys: u64) {
    let (filter, _) = filled::<K>(new::<K>().capacity(50).seed(1), keys);
    let bytes = filter.to_bytes();
    let all = blocks(&bytes).len();
    assert!(all > 8, "{all} blocks");
    for max_blocks in [1, 2, 3, all - 1, all, all + 1, usize::MAX] {
        let mut dump = filter.dump();
        assert!(!dump.prepare(&filter, 0).expect("memory"));
        for _ in 1..all.div_ceil(max_blocks) {
            assert!(!dump.prepare(&filter, max_blocks).expect("memory"), "{max_blocks}");
            assert!(read(&dump, &filter).is_empty());
        }
        assert!(dump.prepare(&filter, max_blocks).expect("memory"), "{max_blocks}");
        assert!(read(&dump, &filter) == bytes);
    }
}

#[test]
fn a_dump_goes_over_as_many_blocks_as_it_may() {
    dumps_go_over_as_many_blocks_as_they_may::<GrowingMaps>(200_000);
    dumps_go_over_as_many_blocks_as_they_may::<GrowingSets>(400_000);
}

/// What is read of a filter that was changed meanwhile is refused.
#[test]
fn a_change_after_the_first_pass_is_detected() {
    let build = || filled::<Sets>(CuckooFilter::builder().capacity(50_000).seed(1), 20_000).0;
    let filter = build();
    let mut dump = filter.dump();
    assert!(dump.prepare(&filter, usize::MAX).expect("memory"));
    let load = |bytes: &[u8]| CuckooFilter::loader().bytes(bytes);
    assert!(load(&read(&dump, &filter)).expect("no change").to_bytes() == build().to_bytes());
    for key in 0..200_u64 {
        assert!(filter.remove(&key));
        let bytes = read(&dump, &filter);
        assert!(matches!(load(&bytes), Err(LoadError::DamagedBuckets)), "{key} was removed");
        // The change is in the part that is read after it, or in the one before.
        let (before, after) = bytes.split_at(bytes.len() / 2);
        let original = build().to_bytes();
        for mixed in [[&original[..before.len()], after], [before, &original[before.len()..]]] {
            let mixed = mixed.concat();
            assert!(mixed == original || load(&mixed).is_err());
        }
        filter.insert(&key).expect("room");
        // It may be in another slot now.
        if filter.to_bytes() == original {
            assert!(load(&read(&dump, &filter)).is_ok());
        }
    }
}

/// What is accepted of a filter that was changed between two steps of the first pass is what the
/// filter was when the pass was complete.
#[test]
fn a_change_during_the_first_pass_is_detected_or_included() {
    let (filter, _) = filled::<Sets>(CuckooFilter::builder().capacity(50_000).seed(1), 20_000);
    let (mut refused, mut accepted) = (0, 0);
    for key in 0..100_u64 {
        let mut dump = filter.dump();
        assert!(!dump.prepare(&filter, 1).expect("memory"));
        assert!(filter.remove(&key));
        assert!(dump.prepare(&filter, usize::MAX).expect("memory"));
        let bytes = read(&dump, &filter);
        match CuckooFilter::loader().bytes(&bytes) {
            Ok(_) => {
                assert!(bytes == filter.to_bytes());
                accepted += 1;
            }
            Err(error) => {
                assert!(matches!(error, LoadError::DamagedBuckets));
                refused += 1;
            }
        }
    }
    // The first of two blocks was gone over.
    assert!(refused > 10 && accepted > 10, "{refused} and {accepted}");
}

/// Filters of other shapes, and a filter that has grown.
#[test]
fn a_dump_refuses_another_filter() {
    fn check<C: Contents, G: Growth>(dump: &mut Dump, other: &Filter<C, G>) {
        let error = dump.prepare(other, usize::MAX).expect_err("another filter");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let mut buffer = [7; 64];
        for offset in [0, 60, 200, dump.len() - 1] {
            assert_eq!(dump.read_at(other, offset, &mut buffer), 0);
        }
        assert_eq!(buffer, [7; 64]);
    }
    let fixed = |capacity| filled::<Sets>(CuckooFilter::builder().capacity(capacity).seed(1), 9).0;
    let growing = || filled::<GrowingSets>(GrowingFilter::builder().capacity(100).seed(1), 90).0;
    let (small, large, grown) = (fixed(1_000), fixed(100_000), growing());
    for prepared in [false, true] {
        let of = |filter: &CuckooFilter| {
            let mut dump = filter.dump();
            assert!(!prepared || dump.prepare(filter, usize::MAX).expect("memory"));
            dump
        };
        check(&mut of(&small), &large);
        check(&mut of(&large), &small);
        check(&mut of(&large), &grown);
        let growing = growing();
        let mut dump = growing.dump();
        assert!(!prepared || dump.prepare(&growing, usize::MAX).expect("memory"));
        growing.insert_batch(100..2_000_u64).expect("room to grow");
        check(&mut dump, &growing);
    }
    // A dump that refused another filter goes on with its own.
    let mut dump = large.dump();
    assert!(!dump.prepare(&large, 1).expect("memory"));
    check(&mut dump, &small);
    assert!(dump.prepare(&large, usize::MAX).expect("memory"));
    assert!(read(&dump, &large) == large.to_bytes());
}

/// A dump goes over the words in steps, and reads them from any place on, also where they are those
/// of children ahead.
#[test]
fn a_dump_remembers_the_children_ahead() {
    let filter = sample::<GrowingSets>();
    let bytes = saved::saved(&filter, &mut rng(1));
    let [numbers, words] = ahead(&bytes);
    assert!(numbers.len() >= 16, "{numbers:?}");
    let mut dump = filter.dump();
    while !dump.prepare(&filter, 1).expect("memory") {}
    for from in numbers.start - 20..words.end {
        let mut piece = [0; 24];
        let read = dump.read_at(&filter, from as u64, &mut piece);
        assert!(piece[..read] == bytes[from..from + read], "{from}");
    }
}

/// The children ahead of one filter may have no memory in another one with as many words. Then they
/// are not read.
#[test]
fn a_dump_of_another_filter_with_as_many_words_harms_nothing() {
    let ahead_of_its_turn = |seed| {
        let builder = GrowingFilter::builder().capacity(1).seed(seed).reserve_address_space(false);
        let (filter, _) = filled::<GrowingSets>(builder, 900);
        crowd::<GrowingSets>(&filter, 1);
        filter
    };
    // The filters whose number of words is the most frequent one.
    let mut by_length = BTreeMap::<_, Vec<_>>::new();
    for filter in (0..300).map(ahead_of_its_turn) {
        by_length.entry(filter.dump().len()).or_default().push(filter);
    }
    let mut others = by_length.into_values().max_by_key(Vec::len).expect("some filters");
    let filter = others.pop().expect("a filter");
    let bytes = filter.to_bytes();
    let mut dump = filter.dump();
    assert!(dump.prepare(&filter, usize::MAX).expect("memory"));
    let mut compared = 0;
    for other in others.into_iter().take(10) {
        let read = read(&dump, &other);
        assert!(read.len() == bytes.len() && GrowingFilter::loader().bytes(&read).is_err());
        compared += 1;
    }
    assert!(compared > 3, "{compared}");
}
