//! The commands.

mod creation;
mod dump;
mod read;
mod write;

use std::ffi::{CStr, c_int};

use valkey_module::raw::{
    self, REDISMODULE_CMD_KEY_ACCESS as ACCESS, REDISMODULE_CMD_KEY_DELETE as DELETE,
    REDISMODULE_CMD_KEY_INSERT as INSERT, REDISMODULE_CMD_KEY_OW as OW,
    REDISMODULE_CMD_KEY_RO as RO, REDISMODULE_CMD_KEY_RW as RW,
    REDISMODULE_CMD_KEY_UPDATE as UPDATE,
};

use crate::server::{self, Command};

const ONE: &CStr = c"O(1)";
const ITEMS: &CStr = c"O(n) for n items";
const BYTES: &CStr = c"O(n) for n bytes";

const READS: [&CStr; 2] = [c"readonly", c"read slow cuckoo"];
const READS_FAST: [&CStr; 2] = [c"readonly fast", c"read fast cuckoo"];
const WRITES: [&CStr; 2] = [c"write", c"write slow cuckoo"];
const WRITES_FAST: [&CStr; 2] = [c"write fast", c"write fast cuckoo"];
const ALLOCATES: [&CStr; 2] = [c"write deny-oom", c"write slow cuckoo"];
const ALLOCATES_FAST: [&CStr; 2] = [c"write deny-oom fast", c"write fast cuckoo"];
const REPLAYS: [&CStr; 2] = [c"write deny-oom fast", c"write fast dangerous cuckoo"];

/// Defines all commands: name, function, number of arguments, kind, effect on the key, cost,
/// summary.
macro_rules! commands {
    ($($name:literal, $function:expr, $arity:literal, $kind:expr, $key:expr, $complexity:expr,
        $summary:literal;)*) => {
        pub static ALL: &[Command] = &[$({
            unsafe extern "C" fn entry(
                context: *mut raw::RedisModuleCtx,
                argv: *mut *mut raw::RedisModuleString,
                argc: c_int,
            ) -> c_int {
                // SAFETY: the server calls this with valid arguments.
                unsafe { server::run($name, context, argv, argc, $function) }
            }
            Command {
                name: $name,
                entry,
                arity: $arity,
                kind: $kind,
                key: $key,
                complexity: $complexity,
                summary: $summary,
            }
        }),*];
    };
}

commands! {
    c"cf.reserve", write::reserve, -3, ALLOCATES, RW | INSERT, ONE,
        c"Creates an empty cuckoo filter";
    c"cf.add", |call| write::add(call, false), 3, ALLOCATES_FAST, RW | INSERT, ONE,
        c"Adds a copy of an item, and creates the filter if there is none";
    c"cf.addnx", |call| write::add(call, true), 3, ALLOCATES_FAST, RW | INSERT, ONE,
        c"Adds an item if it is absent, and creates the filter if there is none";
    c"cf.insert", |call| write::insert(call, false), -4, ALLOCATES, RW | INSERT, ITEMS,
        c"Adds a copy of each item, and creates the filter if there is none";
    c"cf.insertnx", |call| write::insert(call, true), -4, ALLOCATES, RW | INSERT, ITEMS,
        c"Adds the items that are absent, and creates the filter if there is none";
    c"cf.replay", write::replay, 7, REPLAYS, RW | INSERT, ONE,
        c"Repeats an insert on replicas and from the AOF, and is CF.ADD or CF.ADDNX elsewhere";
    c"cf.del", write::del, 3, WRITES_FAST, RW | DELETE, ONE,
        c"Removes a copy of an item";
    c"cf.compact", write::compact, 2, WRITES, RW | UPDATE, BYTES,
        c"Releases memory that is no longer needed";
    c"cf.exists", read::exists, 3, READS_FAST, RO | ACCESS, ONE,
        c"Returns whether an item may be in the filter";
    c"cf.mexists", read::mexists, -3, READS_FAST, RO | ACCESS, ITEMS,
        c"Returns for each item whether it may be in the filter";
    c"cf.count", read::count, 3, READS_FAST, RO | ACCESS, ONE,
        c"Returns the number of copies of an item, or more";
    c"cf.info", read::info, -2, READS_FAST, RO | ACCESS, ONE,
        c"Returns the settings and the size of a filter";
    c"cf.scandump", dump::scandump, 3, READS, RO | ACCESS, ONE,
        c"Returns the next chunk of a filter's data";
    c"cf.loadchunk", dump::loadchunk, 4, ALLOCATES, RW | UPDATE, BYTES,
        c"Loads the next chunk of a filter's data";
    c"cf.load", dump::load, 3, ALLOCATES, OW | INSERT, BYTES,
        c"Loads a filter from a single chunk";
}
