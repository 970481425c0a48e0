//! Any checksum as the hash of a filter, here SHA-1: through a `BuildHasher`, and as `Hashed` keys.
//!
//! ```text
//! cargo run --release -p guira-evaluation --example checksum
//! ```
//!
//! A checksum without a secret protects against nobody who chooses keys, so use it only where the
//! hash must be the same everywhere.

use std::hash::{BuildHasherDefault, Hasher};

use guira::{CuckooFilter, Hashed};
use sha1::{Digest, Sha1};

/// A hasher that returns the first 64 bits of a SHA-1 checksum.
#[derive(Clone, Default)]
struct Sha1Hasher(Sha1);

impl Hasher for Sha1Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        first_bits(self.0.clone())
    }
}

/// Returns the first 64 bits of a checksum. The filter takes the fingerprint and the bucket from
/// them.
fn first_bits(checksum: Sha1) -> u64 {
    let bytes = checksum.finalize();
    u64::from_be_bytes(bytes[..8].try_into().expect("a checksum has 20 bytes"))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // With a hasher: all methods take keys.
    let by_key = CuckooFilter::builder()
        .capacity(10_000)
        .hasher(BuildHasherDefault::<Sha1Hasher>::default())
        .build()?;
    by_key.insert("tyto alba")?;
    assert!(by_key.contains("tyto alba"));
    assert!(by_key.remove("tyto alba"));

    // As `Hashed` keys: for checksums that exist already, for example as the names of stored
    // objects.
    let by_checksum = CuckooFilter::with_capacity(10_000);
    let checksum = Sha1::new().chain_update(b"tyto alba");
    by_checksum.insert(&Hashed(first_bits(checksum.clone())))?;
    assert!(by_checksum.contains(&Hashed(first_bits(checksum))));

    for key in 0..10_000 {
        by_key.insert(&key.to_string())?;
    }
    assert!((0..10_000).all(|key| by_key.contains(&key.to_string())));
    let absent = (0..1_000_000).filter(|key| by_key.contains(&format!("absent {key}"))).count();
    println!("All keys are present, and {absent} of a million others seem to be");
    Ok(())
}
