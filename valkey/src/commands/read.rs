//! The commands that change nothing.

use std::ffi::CStr;

use crate::{
    error::Error,
    filter::{Filter, each},
    server::{Call, Key, Reply},
    value::Value,
};

/// Items that are looked up together. Their hashes and answers stay in a first-level cache.
const BATCH: usize = 256;

/// `CF.EXISTS key item`
pub fn exists(call: Call) -> Result<Reply, Error> {
    let item = call.get(2)?.bytes();
    Ok(Reply::Bool(match Key::read(call)?.value() {
        None => false,
        Some(value) => each!(value.filter()?, filter => filter.contains(item)),
    }))
}

/// `CF.MEXISTS key item [item ...]`
pub fn mexists(call: Call) -> Result<Reply, Error> {
    let mut key = Key::read(call)?;
    let filter = key.value().map(|value| value.filter()).transpose()?;
    let mut items = call.from(2);
    if items.len() == 0 {
        return Err(Error::ARITY);
    }
    call.reply(Reply::Array(items.len()));
    let (mut batch, mut found) = ([&[][..]; BATCH], [false; BATCH]);
    while items.len() > 0 {
        let len = items.len().min(BATCH);
        for (place, item) in batch.iter_mut().zip(items.by_ref().take(len)) {
            *place = item.bytes();
        }
        if let Some(filter) = filter {
            each!(filter, filter => filter.contains_batch(&batch[..len], &mut found[..len]));
        }
        found[..len].iter().for_each(|&found| call.reply(Reply::Bool(found)));
    }
    Ok(Reply::Done)
}

/// `CF.COUNT key item`
pub fn count(call: Call) -> Result<Reply, Error> {
    let item = call.get(2)?.bytes();
    let count = match Key::read(call)?.value() {
        None => 0,
        Some(value) => each!(value.filter()?, filter => filter.count(item)),
    };
    Ok(Reply::Integer(count as i64))
}

/// The fields of `CF.INFO` that clients know, in the order that they expect: the name in the reply,
/// the word that requests the field alone, and its value.
type Field = (&'static CStr, &'static str, fn(&Value, &Filter) -> u64);
const FIELDS: [Field; 8] = [
    (c"Size", "SIZE", |value, _| value.bytes() as u64),
    (c"Number of buckets", "BUCKETS", |_, filter| {
        each!(filter, filter => {
            filter.slots() as u64 / u64::from(filter.layout().slots_per_bucket())
        })
    }),
    (c"Number of filters", "FILTERS", |_, _| 1),
    (c"Number of items inserted", "ITEMS", |_, filter| each!(filter, it => it.len() as u64)),
    (c"Number of items deleted", "DELETED", |value, _| value.settings.deleted),
    (c"Bucket size", "BUCKETSIZE", |value, _| match value.settings.bucket_size {
        0 => 2,
        given => given.into(),
    }),
    (c"Expansion rate", "EXPANSION", |value, _| value.settings.expansion.into()),
    (c"Max iterations", "MAXITERATIONS", |value, _| value.settings.max_iterations.into()),
];

/// `CF.INFO key [field]`
pub fn info(call: Call) -> Result<Reply, Error> {
    let mut key = Key::read(call)?;
    let value = &*key.existing()?;
    let filter = value.filter()?;
    if call.len() == 2 {
        call.reply(Reply::Map(FIELDS.len()));
        for (name, _, field) in FIELDS {
            call.reply(Reply::Word(name));
            call.reply(Reply::Integer(field(value, filter) as i64));
        }
        return Ok(Reply::Done);
    }
    if call.len() > 3 {
        return Err(Error::ARITY);
    }
    let word = call.get(2)?;
    let reply = match FIELDS.iter().find(|(_, field, _)| word.is(field)) {
        Some((_, _, field)) => Reply::Integer(field(value, filter) as i64),
        None if word.is("CAPACITY") => Reply::Integer(value.settings.capacity as i64),
        None if word.is("ERROR") => Reply::Number(value.settings.error_rate),
        None => return Err(Error::text("unknown field of CF.INFO")),
    };
    call.reply(Reply::Array(1));
    Ok(reply)
}
