//! Serde: a filter is serialized as the bytes of its snapshot.

use alloc::vec::Vec;
use core::{fmt, hash::BuildHasher};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor},
    ser,
};

use super::LoadError;
use crate::{
    Filter,
    kind::{Contents, Growth},
};

/// Largest number of bytes for which memory is reserved before they arrive.
const MAX_RESERVED: usize = 1 << 16;

impl<C: Contents, G: Growth, S: BuildHasher> Serialize for Filter<C, G, S> {
    /// Serializes the bytes of [`to_bytes`](Filter::to_bytes). JSON writes each as a number, and
    /// takes about three times as many.
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        serializer.serialize_bytes(&self.try_to_bytes().map_err(ser::Error::custom)?)
    }
}

impl<'de, C: Contents, G: Growth> Deserialize<'de> for Filter<C, G> {
    /// Loads a filter with the default hasher, made from the filter's seed, and without a clock of
    /// the caller. For others, serialize the bytes, and pass them with the hasher and the clock to
    /// a [`Loader`](crate::Loader).
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let load = |bytes: &[u8]| Self::loader().bytes(bytes);
        deserializer.deserialize_byte_buf(Bytes(load))
    }
}

/// Loads a filter from bytes, in whatever form a serde format provides them.
struct Bytes<F>(F);

impl<'de, T, F: FnOnce(&[u8]) -> Result<T, LoadError>> Visitor<'de> for Bytes<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a filter's snapshot")
    }

    fn visit_bytes<R: Error>(self, bytes: &[u8]) -> Result<Self::Value, R> {
        (self.0)(bytes).map_err(R::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let reserved = sequence.size_hint().unwrap_or(0).min(MAX_RESERVED);
        let mut bytes = Vec::new();
        bytes.try_reserve(reserved).map_err(A::Error::custom)?;
        while let Some(byte) = sequence.next_element()? {
            bytes.try_reserve(1).map_err(A::Error::custom)?;
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
