//! Views: lookups in the bytes of a snapshot.

use core::time::Duration;

use guira_rs::{
    Hashed, LoadError,
    kind::{Contents, Expiring, Fixed, Growing, Map, Set},
};

use crate::{
    hashes::Room,
    object::loader,
    pointer::{In, Optional, Out, Owned, Ref},
    status::Status,
};

/// A view of an object of some type, which may grow or not.
pub enum View {
    Set(Of<Set>),
    Map(Of<Map>),
    Expiring(Of<Expiring>),
}

/// The views of the objects of one type. C lends the bytes until the view is destroyed.
#[expect(clippy::large_enum_variant, reason = "each is allocated by itself, and lives for long")]
pub enum Of<C: Contents> {
    Fixed(guira_rs::View<'static, C, Fixed>),
    Growing(guira_rs::View<'static, C, Growing>),
}

/// Where a snapshot tells what it holds, and whether that grows.
const CONTENTS: usize = 16;
const GROWTH: usize = 17;

/// Evaluates the body with `$view` bound to the view of either growth.
macro_rules! either {
    ($of:expr, $view:ident => $body:expr) => {
        match $of {
            Of::Fixed($view) => $body,
            Of::Growing($view) => $body,
        }
    };
}

/// Evaluates the body with `$view` bound to a view of any kind.
macro_rules! any {
    ($any:expr, $view:ident => $body:expr) => {
        match $any {
            View::Set(of) => either!(of, $view => $body),
            View::Map(of) => either!(of, $view => $body),
            View::Expiring(of) => either!(of, $view => $body),
        }
    };
}

impl<C: Contents> Of<C> {
    fn open(bytes: &'static [u8]) -> Result<Self, LoadError> {
        Ok(if bytes.get(GROWTH) == Some(&1) {
            Self::Growing(loader().view(bytes)?)
        } else {
            Self::Fixed(loader().view(bytes)?)
        })
    }
}

impl View {
    fn open(bytes: &'static [u8]) -> Result<Self, LoadError> {
        match bytes.get(CONTENTS) {
            Some(1) => Of::open(bytes).map(Self::Map),
            Some(2) => Of::open(bytes).map(Self::Expiring),
            _ => Of::open(bytes).map(Self::Set),
        }
    }

    fn map(&self) -> Result<&Of<Map>, Status> {
        let Self::Map(map) = self else { return Err(Status::ErrOtherType) };
        Ok(map)
    }

    fn expiring(&self) -> Result<&Of<Expiring>, Status> {
        let Self::Expiring(expiring) = self else { return Err(Status::ErrOtherType) };
        Ok(expiring)
    }
}

export! { view:
    fn open(bytes: In<u8>, len: usize, view: Out<*mut View>) {
        let place = view.place()?;
        place.write(Owned::on_heap(View::open(bytes.lent(len)?)?)?);
    }

    fn destroy(view: Owned<View>) {
        view.destroy();
    }

    fn verify(view: Ref<View>) {
        any!(view.get()?, view => view.verify())?;
    }

    fn hash(view: Ref<View>, key: In<u8>, len: usize, hash: Out<u64>) {
        let (view, place) = (view.get()?, hash.place()?);
        let key = key.key(len)?;
        place.write(any!(view, view => view.hash_key(key)).0);
    }

    fn contains(view: Ref<View>, hash: u64, found: Out<bool>) {
        let (view, place) = (view.get()?, found.place()?);
        place.write(any!(view, view => view.contains(&Hashed(hash))));
    }

    fn contains_mask(
        view: Ref<View>,
        hashes: In<u64>,
        stride: usize,
        n: usize,
        found: Out<u64>,
    ) {
        let (view, place, mut room) = (view.get()?, found.place()?, Room::new());
        let hashes = hashes.burst(stride, n, &mut room)?;
        place.write(any!(view, view => view.contains_mask(hashes)));
    }

    fn contains_batch(
        view: Ref<View>,
        hashes: In<u64>,
        stride: usize,
        n: usize,
        found: Out<bool>,
        count: Optional<usize>,
    ) {
        let (view, hashes) = (view.get()?, hashes.hashes(stride, n)?);
        let (place, found) = (count.place()?, found.slice(n)?);
        let count = hashes.sum(|part, hashes| {
            any!(view, view => view.contains_batch(hashes, &mut found[part]))
        });
        place.map(|place| place.write(count));
    }

    fn count(view: Ref<View>, hash: u64, count: Out<usize>) {
        let (view, place) = (view.get()?, count.place()?);
        place.write(any!(view, view => view.count(&Hashed(hash))));
    }

    fn get(view: Ref<View>, hash: u64, value: Out<u16>, found: Out<bool>) {
        let (map, value, found) = (view.get()?.map(), value.place()?, found.place()?);
        let present = either!(map?, map => map.get(&Hashed(hash)));
        found.write(present.is_some());
        value.write(present.unwrap_or(0));
    }

    fn get_mask(
        view: Ref<View>,
        hashes: In<u64>,
        stride: usize,
        n: usize,
        values: Out<u16>,
        found: Out<u64>,
    ) {
        let (map, place, mut room) = (view.get()?.map(), found.place()?, Room::new());
        let hashes = hashes.burst(stride, n, &mut room)?;
        let values = values.slice(n)?;
        place.write(either!(map?, map => map.get_mask(hashes, values)));
    }

    fn values(view: Ref<View>, hash: u64, values: Out<u16>, max: usize, count: Out<usize>) {
        let (map, place, places) = (view.get()?.map(), count.place()?, values.slice(max)?);
        let found = either!(map?, map => map.values(&Hashed(hash)));
        place.write(found.len());
        places.iter_mut().zip(found).for_each(|(place, value)| *place = value);
    }

    fn in_generation(view: Ref<View>, generation: u64, later: Out<*mut View>) {
        let (expiring, place) = (view.get()?.expiring(), later.place()?);
        let of = match expiring? {
            Of::Fixed(view) => Of::Fixed(view.in_generation(generation)?),
            Of::Growing(view) => Of::Growing(view.in_generation(generation)?),
        };
        place.write(Owned::on_heap(View::Expiring(of))?);
    }

    fn after_ns(view: Ref<View>, time_ns: u64, later: Out<*mut View>) {
        let (expiring, place) = (view.get()?.expiring(), later.place()?);
        let time = Duration::from_nanos(time_ns);
        let of = match expiring? {
            Of::Fixed(view) => Of::Fixed(view.after(time)?),
            Of::Growing(view) => Of::Growing(view.after(time)?),
        };
        place.write(Owned::on_heap(View::Expiring(of))?);
    }

    fn generation(view: Ref<View>, generation: Out<u64>) {
        let (expiring, place) = (view.get()?.expiring(), generation.place()?);
        place.write(either!(expiring?, view => view.generation()));
    }
}
