//! The commands that create filters and change items.

use std::ffi::CStr;

use guira::InsertError;

use super::{arguments::Creation, max_bytes};
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
    key.set(Value::reserve(*settings, seed, max_bytes(context))?);
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
) -> Result<bool, InsertError> {
    let max_bytes = || max_bytes(context);
    match adding {
        Adding::Copies => cuckoo.insert(item, &max_bytes).map(|()| true),
        Adding::Absent => cuckoo.insert_unique(item, &max_bytes),
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
    if key.value().is_none() {
        if !may_create {
            return Err(Error::NotFound);
        }
        create(context, &mut key, name, &creation)?;
    }
    let cuckoo = key.value_mut().ok_or(Error::NotFound)?.ready_mut()?;
    let mut refusals = 0;
    let add = |item: Text| {
        if refusals == MAX_REFUSALS {
            let present = adding == Adding::Absent && cuckoo.filter.contains(item.bytes());
            return if present { Ok(false) } else { Err(InsertError::Full) };
        }
        let outcome = add_item(context, cuckoo, item.bytes(), adding);
        refusals += usize::from(outcome == Err(InsertError::Full));
        outcome
    };
    let outcomes: Vec<_> = items.map(add).collect();
    let added: Vec<Text> = args
        .from(number + 1)
        .zip(&outcomes)
        .filter_map(|(item, outcome)| (*outcome == Ok(true)).then_some(item))
        .collect();
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
            (Ok(added), Adding::Copies) => context.reply_bool(added),
            (Ok(added), Adding::Absent) => context.reply_integer(added.into()),
            (Err(_), _) => context.reply_integer(-1),
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
