//! The commands.

mod arguments;
mod dump;
mod read;
mod write;

use std::ffi::CStr;

use valkey_module::raw::{
    REDISMODULE_CMD_KEY_ACCESS as ACCESS, REDISMODULE_CMD_KEY_DELETE as DELETE,
    REDISMODULE_CMD_KEY_INSERT as INSERT, REDISMODULE_CMD_KEY_OW as OW,
    REDISMODULE_CMD_KEY_RO as RO, REDISMODULE_CMD_KEY_RW as RW,
    REDISMODULE_CMD_KEY_UPDATE as UPDATE,
};

use crate::server::{Command, Entry, entry};

const ONE: &CStr = c"O(1)";
const ITEMS: &CStr = c"O(n) for n items";
const BYTES: &CStr = c"O(n) for n bytes";

const READS: &CStr = c"readonly";
const READS_FAST: &CStr = c"readonly fast";
const WRITES: &CStr = c"write";
const WRITES_FAST: &CStr = c"write fast";
const ALLOCATES: &CStr = c"write deny-oom";
const ALLOCATES_FAST: &CStr = c"write deny-oom fast";

/// A command: name, function, number of arguments, flags, effect on the key, cost, summary.
const fn command(
    name: &'static CStr,
    entry: Entry,
    arity: i32,
    flags: &'static CStr,
    key: u32,
    complexity: &'static CStr,
    summary: &'static CStr,
) -> Command {
    Command { name, entry, arity, flags, key, complexity, summary }
}

/// All commands.
#[rustfmt::skip]
pub static ALL: [Command; 14] = [
    command(c"cf.reserve", entry!(write::reserve), -3, ALLOCATES, RW | INSERT, ONE,
        c"Creates an empty cuckoo filter"),
    command(c"cf.add", entry!(write::add), 3, ALLOCATES_FAST, RW | INSERT, ONE,
        c"Adds a copy of an item, and creates the filter if there is none"),
    command(c"cf.addnx", entry!(write::add_nx), 3, ALLOCATES_FAST, RW | INSERT, ONE,
        c"Adds an item if it is absent, and creates the filter if there is none"),
    command(c"cf.insert", entry!(write::insert), -4, ALLOCATES, RW | INSERT, ITEMS,
        c"Adds a copy of each item, and creates the filter if there is none"),
    command(c"cf.insertnx", entry!(write::insert_nx), -4, ALLOCATES, RW | INSERT, ITEMS,
        c"Adds the items that are absent, and creates the filter if there is none"),
    command(c"cf.del", entry!(write::del), 3, WRITES_FAST, RW | DELETE, ONE,
        c"Removes a copy of an item"),
    command(c"cf.compact", entry!(write::compact), 2, WRITES, RW | UPDATE, BYTES,
        c"Releases segments that are no longer needed"),
    command(c"cf.exists", entry!(read::exists), 3, READS_FAST, RO | ACCESS, ONE,
        c"Returns whether an item may be in the filter"),
    command(c"cf.mexists", entry!(read::mexists), -3, READS_FAST, RO | ACCESS, ITEMS,
        c"Returns for each item whether it may be in the filter"),
    command(c"cf.count", entry!(read::count), 3, READS_FAST, RO | ACCESS, ONE,
        c"Returns the number of copies of an item, or more"),
    command(c"cf.info", entry!(read::info), -2, READS_FAST, RO | ACCESS, ONE,
        c"Returns the settings and the size of a filter"),
    command(c"cf.scandump", entry!(dump::scandump), 3, READS, RO | ACCESS, ONE,
        c"Returns the next chunk of a filter's data"),
    command(c"cf.loadchunk", entry!(dump::loadchunk), 4, ALLOCATES, RW | UPDATE, BYTES,
        c"Loads the next chunk of a filter's data"),
    command(c"cf.load", entry!(dump::load), 3, ALLOCATES, OW | INSERT, BYTES,
        c"Loads a filter from a single chunk"),
];
