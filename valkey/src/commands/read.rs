//! The commands that change nothing.

use std::ffi::CStr;

use crate::{
    cuckoo::Cuckoo,
    error::Error,
    server::{Args, Context, Key},
    value::Value,
};

/// Items that are looked up together. Their hashes and answers stay in a first-level cache.
const BATCH: usize = 256;

/// `CF.EXISTS key item`
pub fn exists(context: Context, args: Args) -> Result<(), Error> {
    let (name, item) = (args.get(1)?, args.get(2)?);
    let key = Key::read(context, name)?;
    let found = match key.value() {
        None => false,
        Some(value) => value.ready()?.filter.contains(item.bytes()),
    };
    context.reply_bool(found);
    Ok(())
}

/// `CF.MEXISTS key item [item ...]`
pub fn mexists(context: Context, args: Args) -> Result<(), Error> {
    let key = Key::read(context, args.get(1)?)?;
    let cuckoo = key.value().map(Value::ready).transpose()?;
    let mut items = args.from(2);
    if items.len() == 0 {
        return Err(Error::Arity);
    }
    context.reply_array(items.len());
    let (mut batch, mut found) = ([&[][..]; BATCH], [false; BATCH]);
    while items.len() > 0 {
        let len = items.len().min(BATCH);
        for (place, item) in batch.iter_mut().zip(items.by_ref().take(len)) {
            *place = item.bytes();
        }
        if let Some(cuckoo) = cuckoo {
            cuckoo.filter.contains_batch(&batch[..len], &mut found[..len]);
        }
        found[..len].iter().for_each(|&found| context.reply_bool(found));
    }
    Ok(())
}

/// `CF.COUNT key item`
pub fn count(context: Context, args: Args) -> Result<(), Error> {
    let (name, item) = (args.get(1)?, args.get(2)?);
    let key = Key::read(context, name)?;
    let count = match key.value() {
        None => 0,
        Some(value) => value.ready()?.filter.count(item.bytes()),
    };
    context.reply_integer(count as i64);
    Ok(())
}

/// A field of `CF.INFO`: its name in the reply, the word that requests it alone, and its value.
struct Field {
    name: &'static CStr,
    word: &'static str,
    value: fn(&Value, &Cuckoo) -> i64,
}

/// The fields that clients know, in the order that they expect.
const FIELDS: [Field; 8] = [
    Field { name: c"Size", word: "SIZE", value: |value, _| value.bytes() as i64 },
    Field {
        name: c"Number of buckets",
        word: "BUCKETS",
        value: |_, cuckoo| cuckoo.filter.buckets() as i64,
    },
    Field {
        name: c"Number of filters",
        word: "FILTERS",
        value: |_, cuckoo| cuckoo.filter.segments() as i64,
    },
    Field {
        name: c"Number of items inserted",
        word: "ITEMS",
        value: |_, cuckoo| cuckoo.filter.len() as i64,
    },
    Field {
        name: c"Number of items deleted",
        word: "DELETED",
        value: |_, cuckoo| cuckoo.deleted as i64,
    },
    Field {
        name: c"Bucket size",
        word: "BUCKETSIZE",
        value: |_, cuckoo| match cuckoo.settings.bucket_size {
            0 => 2,
            given => given.into(),
        },
    },
    Field {
        name: c"Expansion rate",
        word: "EXPANSION",
        value: |_, cuckoo| cuckoo.settings.expansion.into(),
    },
    Field {
        name: c"Max iterations",
        word: "MAXITERATIONS",
        value: |_, cuckoo| cuckoo.settings.max_iterations.into(),
    },
];

/// `CF.INFO key [field]`
pub fn info(context: Context, args: Args) -> Result<(), Error> {
    let key = Key::read(context, args.get(1)?)?;
    let value = key.value().ok_or(Error::NotFound)?;
    let cuckoo = value.ready()?;
    if args.len() == 2 {
        context.reply_map(FIELDS.len());
        for field in &FIELDS {
            context.reply_word(field.name);
            context.reply_integer((field.value)(value, cuckoo));
        }
        return Ok(());
    }
    let word = args.last(2)?;
    let field = FIELDS.iter().find(|field| word.is(field.word));
    let integer = match field {
        Some(field) => Some((field.value)(value, cuckoo)),
        None if word.is("CAPACITY") => Some(cuckoo.settings.capacity as i64),
        None if word.is("ERROR") => None,
        None => return Err(Error::text("unknown field of CF.INFO")),
    };
    context.reply_array(1);
    match integer {
        Some(integer) => context.reply_integer(integer),
        None => context.reply_number(cuckoo.settings.error_rate),
    }
    Ok(())
}
