//! Snapshots that were changed, with their checksums made right again.

use rapidhash::v3::rapidhash_v3;

/// Bytes of the header, and of them before its own checksum.
pub const HEADER: usize = 64;
const CHECKED: usize = 56;

/// Makes the checksum of a header right.
pub fn amend_header(bytes: &mut [u8]) {
    let checksum = rapidhash_v3(&bytes[..CHECKED]);
    bytes[CHECKED..HEADER].copy_from_slice(&checksum.to_le_bytes());
}

/// Makes both checksums of a snapshot right.
///
/// # Panics
/// If it is shorter than one.
pub fn amend(bytes: &mut [u8]) {
    amend_header(bytes);
    let (buckets, end) = bytes[HEADER..].split_last_chunk_mut::<8>().expect("a snapshot");
    *end = rapidhash_v3(buckets).to_le_bytes();
}
