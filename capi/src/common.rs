//! The functions that several types have.

use core::ffi::{c_char, c_void};

use guira_rs::{
    Hashed,
    kind::{Expiring, Map, Set},
};

use crate::{
    hashes::Room,
    info::Info,
    object::{Object, to_path},
    params::Params,
    pointer::{In, Optional, Out, Owned, Ref, Shared},
    refusals::Refusals,
    status::Status,
    stream::{ReadFn, Stream, WriteFn},
};

/// Exports what all types have.
macro_rules! common {
    ($type:ident, $contents:ty) => {
        pub mod $type {
            use super::*;

            type This = Object<$contents>;

            export! { $type:
                fn create(params: In<Params>, object: Out<*mut This>) {
                    let place = object.place()?;
                    place.write(Owned::on_heap(This::create(&params.read()?)?)?);
                }

                fn destroy(object: Owned<This>) {
                    object.destroy();
                }

                fn info(object: Ref<This>, info: Out<Info>) {
                    info.fill(object.get()?.info())?;
                }

                fn len(object: Ref<This>, len: Out<u64>) {
                    let (object, place) = (object.get()?, len.place()?);
                    place.write(either!(object, filter => filter.len()) as u64);
                }

                fn clear(object: Shared<This>) {
                    either!(object.get()?, filter => filter.clear());
                }

                fn clone(object: Ref<This>, copy: Out<*mut This>) {
                    let (object, place) = (object.get()?, copy.place()?);
                    place.write(Owned::on_heap(object.copy()?)?);
                }

                fn save(object: Ref<This>, path: In<c_char>) {
                    either!(object.get()?, filter => filter.save(to_path(&path)?))?;
                }

                fn write_to(object: Ref<This>, write: WriteFn, context: *mut c_void) {
                    let object = object.get()?;
                    let mut stream = Stream::new(write, context)?;
                    let written = either!(object, filter => filter.write_to(&mut stream));
                    stream.outcome(written)?;
                }

                fn load(path: In<c_char>, object: Out<*mut This>) {
                    let place = object.place()?;
                    place.write(Owned::on_heap(This::load(to_path(&path)?)?)?);
                }

                fn read_from(read: ReadFn, context: *mut c_void, object: Out<*mut This>) {
                    let place = object.place()?;
                    let mut stream = Stream::new(read, context)?;
                    let loaded = This::read_from(&mut stream);
                    place.write(Owned::on_heap(stream.outcome(loaded)?)?);
                }

                fn hash(object: Ref<This>, key: In<u8>, len: usize, hash: Out<u64>) {
                    let (object, place) = (object.get()?, hash.place()?);
                    let key = key.key(len)?;
                    place.write(either!(object, filter => filter.hash_key(key)).0);
                }

                fn hash_batch(
                    object: Ref<This>,
                    keys: In<u8>,
                    stride: usize,
                    n: usize,
                    len: usize,
                    hashes: Out<u64>,
                    hashes_stride: usize,
                ) {
                    let (object, keys) = (object.get()?, keys.keys(stride, n, len)?);
                    either!(object, filter => {
                        hashes.scatter(hashes_stride, n, keys.map(|key| filter.hash_key(key).0))
                    })?;
                }

                fn contains(object: Ref<This>, hash: u64, found: Out<bool>) {
                    let (object, place) = (object.get()?, found.place()?);
                    place.write(either!(object, filter => filter.contains(&Hashed(hash))));
                }

                fn contains_mask(
                    object: Ref<This>,
                    hashes: In<u64>,
                    stride: usize,
                    n: usize,
                    found: Out<u64>,
                ) {
                    let (object, place, mut room) = (object.get()?, found.place()?, Room::new());
                    let hashes = hashes.burst(stride, n, &mut room)?;
                    place.write(either!(object, filter => filter.contains_mask(hashes)));
                }

                fn contains_batch(
                    object: Ref<This>,
                    hashes: In<u64>,
                    stride: usize,
                    n: usize,
                    found: Out<bool>,
                    count: Optional<usize>,
                ) {
                    let (object, hashes) = (object.get()?, hashes.hashes(stride, n)?);
                    let (place, found) = (count.place()?, found.slice(n)?);
                    let count = hashes.sum(|part, hashes| {
                        either!(object, it => it.contains_batch(hashes, &mut found[part]))
                    });
                    place.map(|place| place.write(count));
                }

                fn count(object: Ref<This>, hash: u64, count: Out<usize>) {
                    let (object, place) = (object.get()?, count.place()?);
                    place.write(either!(object, filter => filter.count(&Hashed(hash))));
                }

                fn shrink_to_fit(object: Owned<This>, released: Optional<u64>) {
                    let place = released.place()?;
                    let Object::Growing(filter) = object.get_mut()? else {
                        return Err(Status::ErrNotGrowing);
                    };
                    let before = filter.size_in_bytes();
                    filter.shrink_step(u64::MAX);
                    let bytes = before - filter.size_in_bytes();
                    place.map(|place| place.write(bytes as u64));
                }
            }
        }
    };
}

common!(filter, Set);
common!(map, Map);
common!(expiring, Expiring);

/// Exports what sets and maps have.
macro_rules! permanent {
    ($module:ident, $type:ident, $contents:ty) => {
        pub mod $module {
            use super::*;

            type This = Object<$contents>;

            export! { $type:
                fn merge(object: Shared<This>, other: Ref<This>) {
                    match (object.get()?, other.get()?) {
                        (Object::Fixed(filter), Object::Fixed(other)) => filter.merge(other)?,
                        (Object::Growing(filter), Object::Growing(other)) => filter.merge(other)?,
                        _ => return Err(Status::ErrMismatch),
                    }
                }
            }
        }
    };
}

permanent!(permanent_filter, filter, Set);
permanent!(permanent_map, map, Map);

/// Exports what sets and expiring sets have: inserts of many items that are absent.
macro_rules! unique {
    (
        $module:ident, $type:ident, $contents:ty,
        ($single:ident, $mask:ident, $batch:ident)
    ) => {
        pub mod $module {
            use super::*;

            type This = Object<$contents>;

            export! { $type:
                fn $mask(
                    object: Shared<This>,
                    hashes: In<u64>,
                    stride: usize,
                    n: usize,
                    inserted: Out<u64>,
                    refused: Optional<u64>,
                ) {
                    let (object, mut room) = (object.get()?, Room::new());
                    let (inserted, refused) = (inserted.place()?, refused.place()?);
                    let hashes = hashes.burst(stride, n, &mut room)?;
                    let mut outcome = either!(object, filter => filter.$mask(hashes));
                    let (mut at, mut failed) = (outcome.refused, Ok(()));
                    // A mask does not say why: the first one that is still refused does.
                    while at != 0 && failed.is_ok() {
                        let place = at.trailing_zeros() as usize;
                        let again = either!(object, filter => {
                            filter.$single(&hashes[place]).map(|found| found.is_new())
                        });
                        failed = again.map(|is_new| {
                            outcome.added |= u64::from(is_new) << place;
                            outcome.refused &= !(1 << place);
                        });
                        at &= at - 1;
                    }
                    inserted.write(outcome.added);
                    refused.map(|place| place.write(outcome.refused));
                    failed?;
                }

                fn $batch(
                    object: Shared<This>,
                    hashes: In<u64>,
                    stride: usize,
                    n: usize,
                    inserted: Out<bool>,
                    refused: Optional<bool>,
                    count: Optional<usize>,
                ) {
                    let (object, hashes) = (object.get()?, hashes.hashes(stride, n)?);
                    let (place, inserted) = (count.place()?, inserted.slice(n)?);
                    let mut refusals = Refusals::new(refused.slice(n)?);
                    let count = hashes.sum(|part, hashes| {
                        let new = &mut inserted[part.clone()];
                        let outcome = either!(object, it => it.$batch(hashes, new));
                        outcome.unwrap_or_else(|error| refusals.add(part, &error))
                    });
                    place.map(|place| place.write(count));
                    refusals.outcome()?;
                }
            }
        }
    };
}

unique!(unique_filter, filter, Set, (insert_unique, insert_unique_mask, insert_unique_batch));
unique!(
    unique_expiring,
    expiring,
    Expiring,
    (insert_unique, insert_unique_mask, insert_unique_batch)
);
unique!(
    refreshing_expiring,
    expiring,
    Expiring,
    (insert_or_refresh, insert_or_refresh_mask, insert_or_refresh_batch)
);
