//! The commands that create filters and change items.

use std::ffi::CStr;

use guira::InsertError;

use super::arguments::Creation;
use crate::{
    cuckoo::Cuckoo,
    error::Error,
    server::{Args, Context, Key, Text, random},
    stream::Settings,
    value::Value,
};

/// `CF.RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n] [ERROR rate] [SEED n]`
pub fn reserve(context: Context, args: Args) -> Result<(), Error> {
    let name = args.get(1)?;
    let mut key = Key::write(context, name)?;
    let mut creation = Creation::new();
    creation.set_capacity(args, 2)?;
    for number in (3..args.len()).step_by(2) {
        if !creation.read(args, number)? {
            return Err(Error::text("syntax error"));
        }
    }
    if key.value().is_some() {
        return Err(Error::Exists);
    }
    create(context, &mut key, name, &creation)?;
    context.changed(name, c"cf.reserve");
    context.reply_word(c"OK");
    Ok(())
}

/// Creates the filter of a key, and replicates its creation with all that decides its content.
fn create(context: Context, key: &mut Key, name: Text, creation: &Creation) -> Result<(), Error> {
    let Creation { settings, seed } = creation;
    let seed = seed.unwrap_or_else(random);
    key.set(Value::reserve(*settings, seed, context.limits())?);
    let Settings { capacity, error_rate, bucket_size, max_iterations, expansion } = settings;
    let mut options = vec![
        capacity.to_string(),
        "MAXITERATIONS".into(),
        max_iterations.to_string(),
        "EXPANSION".into(),
        expansion.to_string(),
        "ERROR".into(),
        error_rate.to_string(),
        "SEED".into(),
        (seed as i64).to_string(),
    ];
    if *bucket_size > 0 {
        options.extend(["BUCKETSIZE".into(), bucket_size.to_string()]);
    }
    context.replicate_words(c"CF.RESERVE", name, &options);
    Ok(())
}

/// Items without room after which `CF.INSERT` and `CF.INSERTNX` try no more: each of them costs a
/// long search.
const MAX_REFUSALS: usize = 64;

/// How items are added.
#[derive(Clone, Copy, PartialEq)]
enum Adding {
    /// Every one.
    Copies,
    /// Those that are absent.
    Absent,
}

/// Adds an item. Returns whether it was added.
fn add_item(
    context: Context,
    cuckoo: &mut Cuckoo,
    item: &[u8],
    adding: Adding,
) -> Result<bool, Error> {
    let limits = || context.limits();
    match adding {
        Adding::Copies => cuckoo.insert(item, &limits).map(|()| true),
        Adding::Absent => cuckoo.insert_unique(item, &limits),
    }
}

/// `CF.ADD key item`
pub fn add(context: Context, args: Args) -> Result<(), Error> {
    add_one(context, args, Adding::Copies, c"cf.add")
}

/// `CF.ADDNX key item`
pub fn add_nx(context: Context, args: Args) -> Result<(), Error> {
    add_one(context, args, Adding::Absent, c"cf.addnx")
}

fn add_one(context: Context, args: Args, adding: Adding, event: &CStr) -> Result<(), Error> {
    let (name, item) = (args.get(1)?, args.get(2)?);
    let mut key = Key::write(context, name)?;
    if key.value().is_none() {
        create(context, &mut key, name, &Creation::new())?;
    }
    let cuckoo = key.value_mut().ok_or(Error::NotFound)?.ready_mut()?;
    let added = add_item(context, cuckoo, item.bytes(), adding)?;
    if added {
        context.replicate_verbatim();
        context.changed(name, event);
    }
    context.reply_bool(added);
    Ok(())
}

/// `CF.INSERT key [CAPACITY n] [NOCREATE] [...] ITEMS item [item ...]`
pub fn insert(context: Context, args: Args) -> Result<(), Error> {
    insert_all(context, args, Adding::Copies)
}

/// `CF.INSERTNX key [CAPACITY n] [NOCREATE] [...] ITEMS item [item ...]`
pub fn insert_nx(context: Context, args: Args) -> Result<(), Error> {
    insert_all(context, args, Adding::Absent)
}

fn insert_all(context: Context, args: Args, adding: Adding) -> Result<(), Error> {
    let name = args.get(1)?;
    let mut key = Key::write(context, name)?;
    let (mut creation, mut may_create, mut number) = (Creation::new(), true, 2);
    loop {
        let option = args.get(number)?;
        if option.is("ITEMS") {
            break;
        } else if option.is("NOCREATE") {
            may_create = false;
            number += 1;
            continue;
        } else if option.is("CAPACITY") {
            creation.set_capacity(args, number + 1)?;
        } else if !creation.read(args, number)? {
            return Err(Error::text("syntax error"));
        }
        number += 2;
    }
    let items = args.from(number + 1);
    if items.len() == 0 {
        return Err(Error::Arity);
    }
    // Before anything is changed, since the server may refuse this memory.
    let (mut added, mut outcomes) = (Vec::new(), Vec::<i8>::new());
    added
        .try_reserve_exact(items.len())
        .and_then(|()| outcomes.try_reserve_exact(items.len()))
        .map_err(|_| Error::text("there is no memory for so many items"))?;
    if key.value().is_none() {
        if !may_create {
            return Err(Error::NotFound);
        }
        create(context, &mut key, name, &creation)?;
    }
    let cuckoo = key.value_mut().ok_or(Error::NotFound)?.ready_mut()?;
    let (mut refusals, mut refused) = (0, None);
    for item in items {
        let outcome = if refusals < MAX_REFUSALS {
            add_item(context, cuckoo, item.bytes(), adding)
        } else if adding == Adding::Absent && cuckoo.filter.contains(item.bytes()) {
            Ok(false)
        } else {
            Err(Error::Insert(InsertError::Full))
        };
        if outcome == Ok(true) {
            added.push(item);
        }
        outcomes.push(outcome.as_ref().map_or(-1, |&added| added.into()));
        if let Err(error) = outcome {
            refusals += usize::from(error != Error::Insert(InsertError::TooManyCopies));
            refused.get_or_insert(error);
        }
    }
    // Otherwise the reply says which items were refused. Nobody reads the replies to an AOF.
    if let Some(error) = refused
        && (added.is_empty() && error == Error::OutOfMemory || context.is_from_aof())
    {
        return Err(error);
    }
    let (command, event) = match adding {
        Adding::Copies => (c"CF.INSERT", c"cf.insert"),
        Adding::Absent => (c"CF.INSERTNX", c"cf.insertnx"),
    };
    if !added.is_empty() {
        context.replicate_items(command, name, &added);
        context.changed(name, event);
    }
    context.reply_array(outcomes.len());
    for outcome in outcomes {
        match (outcome, adding) {
            (0..=1, Adding::Copies) => context.reply_bool(outcome == 1),
            _ => context.reply_integer(outcome.into()),
        }
    }
    Ok(())
}

/// `CF.DEL key item`
pub fn del(context: Context, args: Args) -> Result<(), Error> {
    let (name, item) = (args.get(1)?, args.get(2)?);
    let mut key = Key::write(context, name)?;
    let value = key.value_mut().ok_or(Error::text("Not found"))?;
    let removed = value.ready_mut()?.remove(item.bytes());
    if removed {
        context.replicate_verbatim();
        context.changed(name, c"cf.del");
    }
    context.reply_bool(removed);
    Ok(())
}

/// `CF.COMPACT key`
pub fn compact(context: Context, args: Args) -> Result<(), Error> {
    let name = args.get(1)?;
    let mut key = Key::write(context, name)?;
    if key.value_mut().ok_or(Error::NotFound)?.ready_mut()?.compact() {
        context.replicate_verbatim();
        context.changed(name, c"cf.compact");
    }
    context.reply_word(c"OK");
    Ok(())
}
