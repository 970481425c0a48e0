//! Filters in serde's formats: as the bytes of a snapshot.

use core::{fmt, hash::BuildHasher};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor},
};

use crate::{CuckooFilter, LoadError, StableHashBuilder};

/// Bytes that are made room for before they have come, at most.
const FORESEEN: usize = 1 << 16;

impl<S: BuildHasher> Serialize for CuckooFilter<S> {
    /// As the bytes of [`to_bytes`](CuckooFilter::to_bytes).
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        serializer.serialize_bytes(&self.to_bytes())
    }
}

impl<'de> Deserialize<'de> for CuckooFilter {
    /// As [`from_bytes`](CuckooFilter::from_bytes).
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(Snapshot(Self::from_bytes))
    }
}

impl<'de> Deserialize<'de> for CuckooFilter<StableHashBuilder> {
    /// With [`StableHashBuilder::default`]; a filter with another seed has to be loaded by
    /// [`from_bytes_with_hasher`](CuckooFilter::from_bytes_with_hasher).
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let load = |bytes: &[u8]| Self::from_bytes_with_hasher(bytes, StableHashBuilder::default());
        deserializer.deserialize_byte_buf(Snapshot(load))
    }
}

/// Loads a filter from bytes, in whatever form a format has them.
struct Snapshot<F>(F);

impl<'de, S, F: FnOnce(&[u8]) -> Result<CuckooFilter<S>, LoadError>> Visitor<'de> for Snapshot<F> {
    type Value = CuckooFilter<S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a filter's snapshot")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        (self.0)(bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let foreseen = sequence.size_hint().unwrap_or(0).min(FORESEEN);
        let mut bytes = Vec::with_capacity(foreseen);
        while let Some(byte) = sequence.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
