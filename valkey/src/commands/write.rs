//! The commands that create filters and change items.

use guira::Shrinking;

use super::creation::Creation;
use crate::{
    error::Error,
    filter::each,
    server::{Call, Key, Reply, Text},
    value::{Permits, Value},
};

/// `CF.RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n] [ERROR rate] [SEED n]`
pub fn reserve(call: Call) -> Result<Reply, Error> {
    let mut key = Key::write(call)?;
    let mut creation = Creation::new();
    creation.read_capacity(call, 2)?;
    for number in (3..call.len()).step_by(2) {
        creation.read(call, number)?;
    }
    if key.value().is_some() {
        return Err(Error::EXISTS);
    }
    creation.create(call, &mut key)?;
    call.changed();
    Ok(Reply::OK)
}

/// `CF.ADD key item`, and `CF.ADDNX key item`, which adds an item only if it is absent.
pub fn add(call: Call, unique: bool) -> Result<Reply, Error> {
    let item = call.get(2)?;
    let mut key = Key::write(call)?;
    if key.value().is_none() {
        Creation::new().create(call, &mut key)?;
    }
    insert_one(call, key.existing()?, item, unique, || call.replicate_as_called())
}

/// Inserts an item under the limits of this server. `replicate` does so if nothing but the item
/// matters.
fn insert_one(
    call: Call,
    value: &mut Value,
    item: Text,
    unique: bool,
    replicate: impl FnOnce(),
) -> Result<Reply, Error> {
    let (outcome, permits) = value.insert(item.bytes(), unique, call);
    let added = outcome == Ok(true);
    match permits {
        Some(permits) => call.replicate_insert(item, unique, added, permits),
        None if added => replicate(),
        None => {}
    }
    if added {
        call.changed();
    }
    outcome.map(Reply::Bool)
}

/// `CF.REPLAY key item unique added permits max-bytes`: an insert whose outcome depends on the
/// limits where it came from. It may have been refused, and have split buckets nevertheless.
///
/// It is repeated only if it comes from the primary or the AOF. What a client says of permits would
/// be wrong here, and at the replicas. So for a client it is an ordinary insert into a filter that
/// exists, and nothing if it was refused: an AOF may be piped into a server.
pub fn replay(call: Call) -> Result<Reply, Error> {
    let item = call.get(2)?;
    let number = |place| {
        let number = call.get(place)?.integer().and_then(|number| u64::try_from(number).ok());
        number.ok_or(Error::text("the numbers of CF.REPLAY are integers from 0 up"))
    };
    let (unique, added) = (number(3)? != 0, number(4)? != 0);
    let permits = Permits { number: number(5)?, max_bytes: number(6)? as usize };
    let call = call.named(if unique { c"cf.addnx" } else { c"cf.add" });
    let mut key = Key::write(call)?;
    let value = key.existing()?;
    let insert = |value: &mut Value| {
        insert_one(call, value, item, unique, || call.replicate_by_name(&[item.bytes()]))
    };
    if !call.is_replayed() {
        return if added { insert(value) } else { Ok(Reply::Bool(false)) };
    }
    let (outcome, has_split) = value.replay(item.bytes(), unique, permits);
    let is_added = outcome == Ok(true);
    if is_added || has_split {
        call.replicate_insert(item, unique, is_added, permits);
    }
    if is_added {
        call.changed();
    }
    if is_added == added {
        return Ok(Reply::OK);
    }
    // The replica has changed the filter by itself. It shall hold what its primary holds.
    if added {
        insert(value)?;
    }
    Err(Error::text("the filter is not the one in which the item was inserted"))
}

/// Items without room after which `CF.INSERT` and `CF.INSERTNX` try no more: each of them costs a
/// long search.
const MAX_REFUSALS: usize = 64;

/// `CF.INSERT key [CAPACITY n] [NOCREATE] [...] ITEMS item [item ...]`, and `CF.INSERTNX`, which
/// adds the items that are absent.
pub fn insert(call: Call, unique: bool) -> Result<Reply, Error> {
    let mut key = Key::write(call)?;
    let (mut creation, mut number) = (Creation::new(), 2);
    loop {
        let option = call.get(number)?;
        if option.is("ITEMS") {
            break;
        } else if option.is("NOCREATE") {
            creation.allowed = false;
            number += 1;
            continue;
        } else if option.is("CAPACITY") {
            creation.read_capacity(call, number + 1)?;
        } else {
            creation.read(call, number)?;
        }
        number += 2;
    }
    let items = call.from(number + 1);
    if items.len() == 0 {
        return Err(Error::ARITY);
    }
    // Before anything is changed, since the server may refuse this memory.
    let (mut added, mut outcomes) = (Vec::new(), Vec::<i8>::new());
    added
        .try_reserve_exact(items.len())
        .and_then(|()| outcomes.try_reserve_exact(items.len()))
        .map_err(|_| Error::text("there is no memory for so many items"))?;
    if key.value().is_none() {
        if !creation.allowed {
            return Err(Error::NOT_FOUND);
        }
        creation.create(call, &mut key)?;
    }
    let value = key.existing()?;
    value.filter()?;
    let (mut refusals, mut refused, mut changed) = (0, None, false);
    for item in items {
        let bytes = item.bytes();
        let (outcome, permits) = if refusals < MAX_REFUSALS {
            value.insert(bytes, unique, call)
        } else if unique && each!(value.filter()?, filter => filter.contains(bytes)) {
            (Ok(false), None)
        } else {
            (Err(Error::FULL), None)
        };
        let is_added = outcome == Ok(true);
        changed |= is_added;
        if let Some(permits) = permits {
            // In the order of the items.
            call.replicate_items(&added);
            added.clear();
            call.replicate_insert(item, unique, is_added, permits);
        } else if is_added {
            added.push(item);
        }
        outcomes.push(outcome.as_ref().map_or(-1, |&added| added.into()));
        if let Err(error) = outcome {
            refusals += usize::from(error != Error::TOO_MANY_COPIES);
            refused.get_or_insert(error);
        }
    }
    call.replicate_items(&added);
    if changed {
        call.changed();
    }
    // Otherwise the reply says which items were refused. Nobody reads that of a primary or an AOF.
    if let Some(error) = refused
        && (!changed && error == Error::OUT_OF_MEMORY || call.is_replayed())
    {
        return Err(error);
    }
    call.reply(Reply::Array(outcomes.len()));
    for outcome in outcomes {
        call.reply(match outcome {
            0..=1 if !unique => Reply::Bool(outcome == 1),
            _ => Reply::Integer(outcome.into()),
        });
    }
    Ok(Reply::Done)
}

/// `CF.DEL key item`
pub fn del(call: Call) -> Result<Reply, Error> {
    let item = call.get(2)?;
    let mut key = Key::write(call)?;
    let value = key.value().ok_or_else(|| Error::text("Not found"))?;
    let removed = value.remove(item.bytes())?;
    if removed {
        call.changed_as_called();
    }
    Ok(Reply::Bool(removed))
}

/// `CF.COMPACT key`
pub fn compact(call: Call) -> Result<Reply, Error> {
    let step = Key::write(call)?.existing()?.compact()?;
    if step != Shrinking::Unchanged {
        call.changed_as_called();
    }
    Ok(if step == Shrinking::Unfinished { Reply::Word(c"MORE") } else { Reply::OK })
}
