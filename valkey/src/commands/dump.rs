//! The commands that move a filter in chunks.
//!
//! A dump goes over the filter twice: first to count items and to compute checksums, which the
//! header holds, then to read. Each call does a small part of it, whatever the size of the filter.
//! While the first pass lasts, the chunks hold no bytes of the stream; a filter of up to
//! [`PREPARED`] blocks is prepared at once.
//!
//! The iterator holds the place in the stream where the next chunk begins, and a part of a number
//! that tells the states of the filter apart. So if the filter changes while it is dumped, the next
//! call fails, and the dump starts again; if not, any client can go on with it, also after another
//! one has finished, and at a replica. (Should two states share that part, the chunks of both do
//! not fit together: the last chunk holds checksums of all others.)

use crate::{
    error::Error,
    server::{Call, Key, Reply},
    stream,
    value::Value,
};

/// Blocks of 64 KiB that a call prepares: 4 MiB. So a call takes a few milliseconds.
const PREPARED: usize = 64;
/// Bytes of the stream in a chunk. A call that makes or loads one takes a few milliseconds, too.
const CHUNK: usize = 2 << 20;
/// Bytes of the header with which a dump of `RedisBloom` begins.
const REDISBLOOM_HEADER: usize = 38;
/// The bits that hold a part of the number of the filter's state.
const STATE: i64 = ((1 << 12) - 1) << stream::PLACE_BITS;
/// The bit of iterators that come with an empty chunk.
const PREPARING: i64 = 1 << 52;

/// `CF.SCANDUMP key iterator`
pub fn scandump(call: Call) -> Result<Reply, Error> {
    let mut key = Key::read(call)?;
    let iterator = call.get(2)?.integer().filter(|&iterator| iterator >= 0);
    let (next, chunk) = next_chunk(key.existing()?, iterator.ok_or_else(invalid)?)?;
    call.reply(Reply::Array(2));
    call.reply(Reply::Integer(next));
    Ok(if next == 0 { Reply::Null } else { Reply::Bytes(chunk) })
}

/// Returns the iterator that follows this one, and the chunk between them.
fn next_chunk(value: &mut Value, iterator: i64) -> Result<(i64, Vec<u8>), Error> {
    let state = ((value.state()? << stream::PLACE_BITS) as i64) & STATE;
    if iterator > 0 && iterator & STATE != state {
        return Err(Error::text(
            "the filter changed since the dump began, or the iterator is invalid: start again at 0",
        ));
    }
    let start = stream::place(iterator).unwrap_or(0);
    let refused = |_| Error::text("there is no memory for a dump");
    if !value.prepare_dump(PREPARED).map_err(refused)? {
        return Ok((PREPARING | state | stream::iterator(start), stream::seal(Vec::new(), start)));
    }
    let bytes = value.read_dump(start, CHUNK).map_err(refused)?;
    if bytes.is_empty() {
        value.end_dump();
        return Ok((0, bytes));
    }
    let end = start + bytes.len() as u64;
    Ok((state | stream::iterator(end), stream::seal(bytes, end)))
}

/// `CF.LOADCHUNK key iterator data`
pub fn loadchunk(call: Call) -> Result<Reply, Error> {
    let mut key = Key::write(call)?;
    let iterator = call.get(2)?.integer().filter(|&iterator| iterator > 0);
    let iterator = iterator.ok_or_else(invalid)?;
    let end = stream::place(iterator).ok_or_else(invalid)?;
    let chunk = call.get(3)?.bytes();
    // Its first chunk, which is only a header. All of ours hold a checksum beside their place.
    if iterator == 1 && chunk.len() == REDISBLOOM_HEADER {
        return Err(Error::REDISBLOOM);
    }
    let (start, bytes) = stream::open(chunk, end)?;
    if !bytes.is_empty() {
        if start == 0 {
            // It replaces what the key holds, and its expiry.
            key.set(Value::load(bytes, call.limits(0, usize::MAX))?);
        } else {
            key.existing()?.push(start, bytes)?;
        }
        call.changed_as_called();
    }
    Ok(Reply::OK)
}

/// `CF.LOAD key data`
pub fn load(call: Call) -> Result<Reply, Error> {
    let mut key = Key::write(call)?;
    let chunk = call.get(2)?.bytes();
    let end = (chunk.len() as u64).saturating_sub(stream::CHECKSUM as u64);
    let (_, bytes) = stream::open(chunk, end)?;
    if key.value().is_some() {
        return Err(Error::EXISTS);
    }
    let value = Value::load(bytes, call.limits(0, usize::MAX))?;
    if !value.is_complete() {
        return Err(Error::text("the chunk is not all of the filter: use CF.LOADCHUNK"));
    }
    key.set(value);
    call.changed_as_called();
    Ok(Reply::OK)
}

fn invalid() -> Error {
    Error::text("invalid iterator")
}
