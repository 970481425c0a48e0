// guira: concurrent cuckoo filters. Sets, maps and expiring sets in a few bits per item, with
// removal, lookups without locks, and no false negatives. For C99 and later, and for C++17.
// `README.md` has a first program.
//
// Link with -lguira, and with the static library also with -lpthread -ldl -lm.
//
// Types
//
// - guira_filter: a set.
// - guira_map: keys with values of up to 16 bits.
// - guira_expiring: a set that forgets its items after a time to live, or after a window of
//   generations, which the caller begins.
// - guira_view: lookups in the bytes of a saved object of any type, such as a mapped file.
//
// Objects have a fixed capacity, or grow: `growing` in the parameters. They grow in small steps
// while items are inserted, at a constant load: each step splits some buckets, and takes at most a
// 64th of the memory. A lookup reads two buckets at any size. An expiring set sweeps what has
// expired before it grows.
//
// An object stores a fingerprint of each item, not the item itself. So a lookup never misses an
// item that is present, and rarely finds one that is absent: with a probability of at most
// `false_positive_rate` in `guira_info`, up to the capacity.
//
// Hashes
//
// An item is a 64-bit hash. Any hash function serves, and integer keys serve as they are: each
// object mixes what it gets with a seed of its own. Items with equal hashes are one item. One hash
// may serve several objects. `guira_filter_hash` and its siblings hash the bytes of a key. Let
// structs that are keys have no padding, or clear it.
//
// Many hashes are passed as `hashes, stride, n`: the first hash, the distance from one to the next
// in bytes, and their number. So they may be fields of structs:
//
//     uint64_t hashes[32];
//     guira_filter_contains_mask(filter, hashes, sizeof hashes[0], 32, &found);
//     struct packet packets[32];
//     guira_filter_contains_mask(filter, &packets[0].hash, sizeof packets[0], 32, &found);
//
// The stride of hashes is at least 8, also if there are none. Hashes need no alignment. Those side
// by side are read in place, others are gathered first.
//
// - Functions whose names end in `_mask` take up to 64 hashes, and answer in the bits of a
//   `uint64_t`: bit `i` is that of hash `i`, and the bits from `n` on are 0. The cache misses of
//   all of them overlap.
// - Functions whose names end in `_batch` take any number of hashes, and answer in arrays, in which
//   element `i` is that of hash `i`.
//
// Results
//
// Every function returns a `guira_status`, which is GUIRA_OK or says what went wrong; only
// `guira_version` and `guira_status_message` return texts. Answers go through the last pointers.
// These must not be null, unless the function says so. The comments leave out what most functions
// can return: GUIRA_ERR_NULL, GUIRA_ERR_ARGUMENT and GUIRA_ERR_PANIC.
//
// An error changes nothing and writes no answer. (It may clear an array of answers.) There are two
// exceptions. If a `_mask` or `_batch` function cannot insert some items, it inserts the others,
// writes all answers, and returns why it refused one of them. GUIRA_OK means that it refused none.
// After GUIRA_ERR_PANIC, the object may have changed. A growing object may have grown: "nothing"
// means its items.
//
// Where GUIRA_ERR_FULL stands below, a growing object returns GUIRA_ERR_FULLY_GROWN or _NO_MEMORY,
// if that is why it cannot grow. (A merge returns GUIRA_ERR_FULL or _NO_MEMORY.)
//
// Misuse that can be noticed (null pointers, impossible lengths and parameters) is an error. Misuse
// that cannot be noticed is undefined behaviour: pointers to fewer values than the function says,
// answers that overlap other arguments, objects that were destroyed. Arrays of no items may be
// null.
//
// Removal
//
// Remove only what you inserted, once, and after the insert returned: every removal is paid for by
// one insert that returned success for an equal item (with the same value in a map, and with the
// same generation in an expiring set), and no clear came between. Otherwise you may remove another
// item that has the same fingerprint, which lookups then miss. A call that did not insert because
// it found the item has inserted nothing, so it entitles to no removal. In a map, a replacement
// needs what a removal needs, and entitles to a removal of the new value. So the caller needs its
// own record of what it inserted, such as its table of flows. What a lookup returns is no record.
//
// Threads
//
// Any number of threads may make calls on one object at the same time, but for calls of functions
// whose comments say "exclusive": no other call on the object may overlap these. Calls on different
// objects never need any care. A call that finds an item sees everything that the thread that
// inserted it had written before. Lookups take no lock. Where a call "takes a lock", it is one of
// up to 2,048 of the object, for which a thread spins briefly and then leaves the processor to
// others. Do not call functions from signal handlers, or in the child of a `fork` of a process with
// several threads.
//
// Memory
//
// Functions that create, clone, merge, save, load or view an object allocate, and so does an insert
// into a growing object that takes memory to grow. If memory is refused, they return
// GUIRA_ERR_NO_MEMORY: nothing is created, and an item for which there is no room is not inserted.
// (A set takes memory before it is full. While that is refused, it goes on to fill the room that it
// has.) A `_batch` of inserts takes memory to list what it refuses. If that is refused, it ends,
// with GUIRA_ERR_NO_MEMORY, and `refused` is true for every item from the first one that could not
// be listed, though some of these may be inserted. guira_view_verify allocates 8 bytes for each
// 64 KiB. All other functions allocate nothing. (For paths of more than 380 bytes, and for symbolic
// links, the standard library of Rust allocates, and ends the process if memory is refused.)
//
// Environment
//
// GUIRA_KERNEL=scalar, avx2 or avx512 makes batches of lookups use these instructions, if the
// processor has them, in place of the best ones. It is read once, by a call that creates, loads or
// views an object: if it is set, this call ends the process if memory is refused.

#ifndef GUIRA_H
#define GUIRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Types -----------------------------------------------------------------------------------

typedef struct guira_filter guira_filter;
typedef struct guira_map guira_map;
typedef struct guira_expiring guira_expiring;
typedef struct guira_view guira_view;

// What a function returns.
typedef enum guira_status {
    GUIRA_OK = 0,
    // A pointer is null that must not be null.
    GUIRA_ERR_NULL = 1,
    // A pointer other than that to hashes is not aligned to its type, the bytes of a view do not
    // begin at a multiple of 8, a stride of hashes is below 8, a length exceeds the address
    // space, or a mask is asked of more than 64 items.
    GUIRA_ERR_ARGUMENT = 2,
    // The field `size` of a struct is too small or implausible: use `guira_params_init` or
    // `guira_info_init`. Or a field is set that this release does not know.
    GUIRA_ERR_STRUCT_SIZE = 3,
    // The capacity is zero in an object that does not grow. Or it needs more than 2^32 buckets of 2
    // to 8 slots each, or `max_capacity` does.
    GUIRA_ERR_CAPACITY = 4,
    // `max_capacity` is smaller than the capacity.
    GUIRA_ERR_MAX_CAPACITY_TOO_LOW = 5,
    // The false-positive rate is not above 0 and below 1, or lower than is possible.
    GUIRA_ERR_RATE = 6,
    // Another parameter has an impossible value, or is not for this type. Or `max_bytes` is too
    // low.
    GUIRA_ERR_SETTING = 7,
    // The system refused the memory. From an insert: the memory to grow, without which there is no
    // room.
    GUIRA_ERR_NO_MEMORY = 8,
    // No empty slot is within reach of the item, and the object may not grow, or not beyond
    // `max_bytes`. The item may fit after removals, or once the next generation has begun.
    GUIRA_ERR_FULL = 9,
    // As GUIRA_ERR_FULL, in a growing object that has grown as far as its `max_capacity` needs, or
    // without one, as far as its rate allows. With a larger one, or a larger capacity, it would
    // grow further.
    GUIRA_ERR_FULLY_GROWN = 10,
    // The buckets of the item hold too many copies of it, or as many as `max_copies` allows; or in
    // a growing object, copies of a few items fill the buckets around.
    GUIRA_ERR_TOO_MANY_COPIES = 11,
    // The value has more bits than the values of the map.
    GUIRA_ERR_VALUE_TOO_LARGE = 12,
    // The life is longer than `ttl_ns`; or the number of generations is not in 1 to the window; or
    // it is a time where there is no `ttl_ns`, or a number of generations where there is one.
    GUIRA_ERR_LIFE = 13,
    // The file could not be read or written. On Linux and macOS, `errno` tells why.
    GUIRA_ERR_IO = 14,
    // A callback returned an error.
    GUIRA_ERR_CALLBACK = 15,
    // The bytes are not a snapshot.
    GUIRA_ERR_NOT_A_SNAPSHOT = 16,
    // The snapshot has a format version that this release does not know.
    GUIRA_ERR_UNKNOWN_VERSION = 17,
    // The snapshot is of another type of object.
    GUIRA_ERR_OTHER_TYPE = 18,
    // The items of the snapshot were hashed by another hasher than `StableHashBuilder`, the default
    // of the Rust crate.
    GUIRA_ERR_OTHER_HASHER = 19,
    // The bytes end before the snapshot does.
    GUIRA_ERR_TRUNCATED = 20,
    // The snapshot is damaged, or more bytes follow it in its file.
    GUIRA_ERR_DAMAGED = 21,
    // The objects differ in layout, size or seed, so they cannot be merged. Or the one that items
    // are added to has grown much further: merge it into the other one.
    GUIRA_ERR_MISMATCH = 22,
    // The object does not grow, so it cannot shrink.
    GUIRA_ERR_NOT_GROWING = 23,
    // A panic inside the library, which is a defect. A message was printed to standard error. The
    // object remains usable, and may have changed.
    GUIRA_ERR_PANIC = 24,
    // The saved expiring set had a `clock`: use `guira_expiring_load_with_clock` or
    // `guira_expiring_read_from_with_clock`. Or it had none, and one was passed.
    GUIRA_ERR_CLOCK = 25,
} guira_status;

// Callbacks get the `context` of the call. They must return: a `longjmp` or a C++ exception out of
// a callback ends the process or worse.

// Receives the next `len` bytes of a snapshot. Returns 0, or another number to end the save with
// GUIRA_ERR_CALLBACK.
typedef int (*guira_write_fn)(void *context, const void *bytes, size_t len);

// Writes the next bytes of a snapshot to `buffer`, at most `len`. Returns their number, 0 if none
// are left, or a negative number to end the load with GUIRA_ERR_CALLBACK.
typedef int64_t (*guira_read_fn)(void *context, void *buffer, size_t len);

// Returns the reading of a clock, in nanoseconds.
typedef uint64_t (*guira_clock_fn)(void *context);

// Parameters of an object: `guira_params_init` returns them. A field that is 0 has its default, and
// must be 0 if it is not for the type. Later releases may add fields.
typedef struct guira_params {
    // Bytes of this struct: `guira_params_init` sets it.
    size_t size;
    // Distinct items that must fit. At most one object in 10,000 refuses one of so many. For an
    // expiring set, count what has expired, too, which occupies its slot until it is swept: a third
    // more than come in `ttl_ns`, or the items of `window + 2` generations. Count all copies. A
    // growing object starts with this capacity, and at least with 1,024 slots; by default with
    // 4,096. Required if the object does not grow.
    uint64_t capacity;
    // Target false-positive rate, above 0 and below 1: how often an absent item is found, and in a
    // map, how often an absent key has the value of another one. Default: 0.00012 for a set, 0.001
    // for a growing one, 0.002 for a map or an expiring set, 0.005 for a growing one of these.
    double false_positive_rate;
    // Seed, which makes an object reproducible. Default: a random one. A seed that others know
    // gives up the protection against chosen keys.
    uint64_t seed;
    // Limit on the memory in bytes. Default: none.
    uint64_t max_bytes;
    // Growing objects: items up to which they must be able to grow. They may start larger for that.
    // The fewer they are, the fewer bits per item the target rate may need. Default: as far as the
    // rate allows, to at least 4,096 and at most 32,768 times their first size.
    uint64_t max_capacity;
    // Items that may be equal at a time (in a map the items of one key): the size is chosen so that
    // the capacity holds for them. More of some items take the room of others. Default: 1, or
    // `max_copies`.
    uint64_t copies;
    // Expiring sets: the time to live, 20 us to 36 years. An item is found for this time after its
    // insert or refresh began, and not after 1.2 times this time and two lags of the clock after
    // that returned, whatever is written or not. It is found for longer only while a thread that is
    // stopped in a call, or a lack of writes that sweep, holds up the next generation. The clock is
    // a monotonic one of the system: from 361 ms on a coarse one, which lags behind by at most
    // 72 ms. An expiring set needs either this or a `window`.
    uint64_t ttl_ns;
    // Expiring sets with a `ttl_ns`: a clock in its place, and what it gets. Calls that create,
    // load, write, count, copy, save or sweep call it, and lookups that find a copy, from any
    // thread and at the same time. It returns nanoseconds from any start on, should be one that
    // never goes back, and must not use the set. It and its context must remain valid until the set
    // and all its clones are destroyed. Default: none.
    guira_clock_fn clock;
    void *clock_context;
    // Expiring sets: window in generations, 1 to 253. An item is found in the generation of its
    // insert and in this many further ones, which `guira_expiring_advance` begins. Not together
    // with a `ttl_ns`.
    uint32_t window;
    // Maps: bits of a value, 1 to 16. Default: 8.
    uint32_t value_bits;
    // 1 if the object grows. Default: 0.
    uint32_t growing;
    // Sets and maps: limit on the copies of one item, or on the items of one key. Default: what
    // fits into two buckets.
    uint32_t max_copies;
    // Threads that are expected to write at the same time. More of them are allowed, and may wait
    // for one another. Default: by the capacity.
    uint32_t writers;
    // Sets: 1 to prefer speed to size, where the target rate leaves a choice. Default: 0.
    uint32_t fastest;
    // 1 to ask for no huge pages. Default: 0, and tables of 2 MiB and more are on huge pages, where
    // the system has them.
    uint32_t no_huge_pages;
    // Growing objects: 1 to take all memory from the allocator (`calloc`), in blocks of at most a
    // 64th of the table. Lookups are slower then. Default: 0, and on 64-bit Linux address space is
    // reserved for all buckets that there may ever be, 8 bytes for each, and becomes memory in
    // steps of that size.
    uint32_t no_reserve;
} guira_params;

// Returns parameters with this capacity and otherwise defaults.
static inline guira_params guira_params_init(uint64_t capacity) {
    guira_params params;
    memset(&params, 0, sizeof params);
    params.size = sizeof params;
    params.capacity = capacity;
    return params;
}

// Facts and statistics about an object. Later releases may add fields.
typedef struct guira_info {
    // Bytes of this struct: `guira_info_init` sets it.
    size_t size;
    // Items in the object, copies counted. Exact if no other thread writes. Items that have expired
    // do not count.
    uint64_t items;
    // Distinct items for which the object was built, or has grown. Most objects hold a few more.
    uint64_t capacity;
    // Slots: an upper bound on the items. The load is `items / slots`.
    uint64_t slots;
    // Bytes of the object and all that it has allocated.
    uint64_t bytes;
    // Bytes of the next step of growth: about a 64th of the memory at most (or a page). 0 if the
    // object cannot grow any further.
    uint64_t next_growth_bytes;
    // Upper bound on the false-positive rate, while there are no more items than `capacity`. With
    // fewer items the rate of an object that does not grow is lower, in proportion. After a merge
    // into a growing object, the rates of both objects add.
    double false_positive_rate;
    // The current generation of an expiring set, otherwise 0.
    uint64_t generation;
    // The window of an expiring set in generations, otherwise 0.
    uint32_t window;
    // Slots per bucket.
    uint32_t slots_per_bucket;
    // Bits of a fingerprint. (A growing object compares fewer with older items.)
    uint32_t fingerprint_bits;
    // Bits of a value of a map, otherwise 0.
    uint32_t value_bits;
    // 1 if the object grows, otherwise 0.
    uint32_t growing;
} guira_info;

// Returns an empty struct, to be filled by `guira_filter_info` or a sibling.
static inline guira_info guira_info_init(void) {
    guira_info info;
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    return info;
}

// Returns the version of the library, such as "0.1.0", which is valid forever.
const char *guira_version(void);

// Returns a text for a status, in English, which is valid forever.
const char *guira_status_message(guira_status status);

// ---- Objects of all types --------------------------------------------------------------------

// Creates an object.
//
// Errors: GUIRA_ERR_STRUCT_SIZE, _CAPACITY, _MAX_CAPACITY_TOO_LOW, _RATE, _SETTING, _NO_MEMORY.
guira_status guira_filter_create(const guira_params *params, guira_filter **filter);
guira_status guira_map_create(const guira_params *params, guira_map **map);
guira_status guira_expiring_create(const guira_params *params, guira_expiring **expiring);

// Destroys an object and releases its memory. Null is allowed. Exclusive.
guira_status guira_filter_destroy(guira_filter *filter);
guira_status guira_map_destroy(guira_map *map);
guira_status guira_expiring_destroy(guira_expiring *expiring);

// Writes facts and statistics to `*info`, which `guira_info_init` has made.
//
// Errors: GUIRA_ERR_STRUCT_SIZE.
guira_status guira_filter_info(const guira_filter *filter, guira_info *info);
guira_status guira_map_info(const guira_map *map, guira_info *info);
guira_status guira_expiring_info(const guira_expiring *expiring, guira_info *info);

// Writes the number of items, copies counted, to `*len`. Exact if no other thread writes. Items
// that have expired do not count.
guira_status guira_filter_len(const guira_filter *filter, uint64_t *len);
guira_status guira_map_len(const guira_map *map, uint64_t *len);
guira_status guira_expiring_len(const guira_expiring *expiring, uint64_t *len);

// Removes all items. An item whose insert overlaps the call may remain or not. So afterwards,
// remove only what was inserted after the call returned. No memory is released. The generation of
// an expiring set stays. Lookups do not wait for it.
guira_status guira_filter_clear(guira_filter *filter);
guira_status guira_map_clear(guira_map *map);
guira_status guira_expiring_clear(guira_expiring *expiring);

// Copies an object, with its seed and generation. Every item that is in the object from before the
// call until it returns is in the copy; from the copy, remove only those. An item of a map whose
// value is replaced meanwhile has its old or its new value in the copy, and must not be removed
// from it. Lookups do not wait for it.
//
// Errors: GUIRA_ERR_NO_MEMORY.
guira_status guira_filter_clone(const guira_filter *filter, guira_filter **copy);
guira_status guira_map_clone(const guira_map *map, guira_map **copy);
guira_status guira_expiring_clone(const guira_expiring *expiring, guira_expiring **copy);

// Saves an object to the file `path` and waits until it is on disk. The file is replaced as a
// whole: if the process is killed meanwhile, the old file or the new one is there. It holds what a
// clone would hold. Takes as much memory as the object until it returns. Lookups do not wait.
//
// Errors: GUIRA_ERR_IO (and sets `errno`), GUIRA_ERR_NO_MEMORY.
guira_status guira_filter_save(const guira_filter *filter, const char *path);
guira_status guira_map_save(const guira_map *map, const char *path);
guira_status guira_expiring_save(const guira_expiring *expiring, const char *path);

// Passes the bytes that a save would write to a callback, up to 64 KiB at a time. No lock is held
// during callbacks, and lookups do not wait. What a callback received before an error cannot be
// loaded.
//
// Errors: GUIRA_ERR_CALLBACK, GUIRA_ERR_NO_MEMORY.
guira_status guira_filter_write_to(const guira_filter *filter, guira_write_fn write, void *context);
guira_status guira_map_write_to(const guira_map *map, guira_write_fn write, void *context);
guira_status guira_expiring_write_to(const guira_expiring *expiring, guira_write_fn write,
                                     void *context);

// Loads an object from the file `path`, which a save wrote, here or in Rust with the default
// hasher. It has the seed of the saved one, so the hashes of keys stay the same. Damaged files are
// refused. For an expiring set, no time has passed since it was saved. A growing object reserves
// address space, whether or not the saved one did, and has no limit on its memory.
//
// Errors: GUIRA_ERR_IO (and sets `errno`), _NOT_A_SNAPSHOT, _UNKNOWN_VERSION, _OTHER_TYPE,
// _OTHER_HASHER, _TRUNCATED, _DAMAGED, _CLOCK, _NO_MEMORY.
guira_status guira_filter_load(const char *path, guira_filter **filter);
guira_status guira_map_load(const char *path, guira_map **map);
guira_status guira_expiring_load(const char *path, guira_expiring **expiring);

// Loads an object from a callback, which is called until all bytes of the snapshot are there, and
// for none after them. The header says how much memory is allocated: forged bytes can ask for
// 32 GiB. (On Linux, pages are written only as bytes arrive.)
//
// Errors: GUIRA_ERR_CALLBACK, and those of a load but for GUIRA_ERR_IO.
guira_status guira_filter_read_from(guira_read_fn read, void *context, guira_filter **filter);
guira_status guira_map_read_from(guira_read_fn read, void *context, guira_map **map);
guira_status guira_expiring_read_from(guira_read_fn read, void *context,
                                      guira_expiring **expiring);

// As the loads above, for an expiring set that had a `clock` when it was saved: with that clock, or
// another one. See `guira_params`.
guira_status guira_expiring_load_with_clock(const char *path, guira_clock_fn clock, void *context,
                                            guira_expiring **expiring);
guira_status guira_expiring_read_from_with_clock(guira_read_fn read, void *read_context,
                                                 guira_clock_fn clock, void *clock_context,
                                                 guira_expiring **expiring);

// Writes the hash of a key of `len` bytes to `*hash`. Any other 64-bit hash of the key serves as
// well, if all calls use the same. This one depends on the seed of the object, so others cannot
// choose keys that collide. It is that of a `[u8]` in Rust.
guira_status guira_filter_hash(const guira_filter *filter, const void *key, size_t len,
                               uint64_t *hash);
guira_status guira_map_hash(const guira_map *map, const void *key, size_t len, uint64_t *hash);
guira_status guira_expiring_hash(const guira_expiring *expiring, const void *key, size_t len,
                                 uint64_t *hash);

// Hashes `n` keys of `len` bytes each, `stride` bytes apart. Writes the hashes to `hashes`,
// `hashes_stride` bytes apart. So keys and hashes may be fields of the same structs.
guira_status guira_filter_hash_batch(const guira_filter *filter, const void *keys, size_t stride,
                                     size_t n, size_t len, uint64_t *hashes, size_t hashes_stride);
guira_status guira_map_hash_batch(const guira_map *map, const void *keys, size_t stride, size_t n,
                                  size_t len, uint64_t *hashes, size_t hashes_stride);
guira_status guira_expiring_hash_batch(const guira_expiring *expiring, const void *keys,
                                       size_t stride, size_t n, size_t len, uint64_t *hashes,
                                       size_t hashes_stride);

// Looks up an item: `*found` becomes true for one that is present (in a map, with whatever value;
// in an expiring set, that has not expired), and rarely for an absent one. Takes no lock and
// writes nothing to the object.
guira_status guira_filter_contains(const guira_filter *filter, uint64_t hash, bool *found);
guira_status guira_map_contains(const guira_map *map, uint64_t hash, bool *found);
guira_status guira_expiring_contains(const guira_expiring *expiring, uint64_t hash, bool *found);

// Looks up at most 64 items: bit `i` of `*found` is set if item `i` is found.
guira_status guira_filter_contains_mask(const guira_filter *filter, const uint64_t *hashes,
                                        size_t stride, size_t n, uint64_t *found);
guira_status guira_map_contains_mask(const guira_map *map, const uint64_t *hashes, size_t stride,
                                     size_t n, uint64_t *found);
guira_status guira_expiring_contains_mask(const guira_expiring *expiring, const uint64_t *hashes,
                                          size_t stride, size_t n, uint64_t *found);

// Looks up `n` items: `found[i]` becomes whether item `i` is found, and `*count`, which may be
// null, how many are.
guira_status guira_filter_contains_batch(const guira_filter *filter, const uint64_t *hashes,
                                         size_t stride, size_t n, bool *found, size_t *count);
guira_status guira_map_contains_batch(const guira_map *map, const uint64_t *hashes, size_t stride,
                                      size_t n, bool *found, size_t *count);
guira_status guira_expiring_contains_batch(const guira_expiring *expiring, const uint64_t *hashes,
                                           size_t stride, size_t n, bool *found, size_t *count);

// Counts the copies of an item, or the items of a key in a map whatever their values, with those of
// other items that have the same fingerprint. Takes a lock.
guira_status guira_filter_count(const guira_filter *filter, uint64_t hash, size_t *count);
guira_status guira_map_count(const guira_map *map, uint64_t hash, size_t *count);
guira_status guira_expiring_count(const guira_expiring *expiring, uint64_t hash, size_t *count);

// Releases the memory of a growing object that its items do not need. Every item stays. Writes the
// number of bytes to `*released`, which may be null. Takes no memory meanwhile. Exclusive.
//
// Errors: GUIRA_ERR_NOT_GROWING.
guira_status guira_filter_shrink_to_fit(guira_filter *filter, uint64_t *released);
guira_status guira_map_shrink_to_fit(guira_map *map, uint64_t *released);
guira_status guira_expiring_shrink_to_fit(guira_expiring *expiring, uint64_t *released);

// ---- Sets and maps ---------------------------------------------------------------------------

// Adds all items of `other`, each copy. Both objects must have been created with the same
// parameters and with the same seed, which is not 0; or one is a clone of the other. They may have
// grown differently.
//
// Errors: GUIRA_ERR_MISMATCH, _FULL, _TOO_MANY_COPIES, _NO_MEMORY.
guira_status guira_filter_merge(guira_filter *filter, const guira_filter *other);
guira_status guira_map_merge(guira_map *map, const guira_map *other);

// ---- Sets ------------------------------------------------------------------------------------

// Inserts an item. Copies count: an item that is inserted twice must be removed twice. Takes no
// lock if one of the item's two buckets has room.
//
// Errors: GUIRA_ERR_FULL, _TOO_MANY_COPIES.
guira_status guira_filter_insert(guira_filter *filter, uint64_t hash);

// Inserts an item if it is absent. If calls with one item overlap, exactly one of them inserts it.
// `*inserted` becomes false if the item was found (rarely, another item with the same fingerprint
// was). Then the caller owns no copy and must not remove one. Takes a lock.
//
// Errors: GUIRA_ERR_FULL.
guira_status guira_filter_insert_unique(guira_filter *filter, uint64_t hash, bool *inserted);

// Removes one copy of an item. Remove only what you inserted, once, and after the insert returned:
// see "Removal" above. `*removed`, which may be null, becomes whether there was one. Takes a lock.
guira_status guira_filter_remove(guira_filter *filter, uint64_t hash, bool *removed);

// Inserts those of at most 64 items that are absent, in their order. An item that occurs twice is
// inserted once, or refused twice. Bit `i` of `*inserted` is set if item `i` was inserted, and bit
// `i` of `*refused`, which may be null, if it was absent and could not be inserted. An item with
// neither was found.
//
// Errors: GUIRA_ERR_FULL, if an item was refused.
guira_status guira_filter_insert_unique_mask(guira_filter *filter, const uint64_t *hashes,
                                             size_t stride, size_t n, uint64_t *inserted,
                                             uint64_t *refused);

// Inserts `n` items, in any order. Copies count. `refused[i]` becomes whether item `i` could not be
// inserted, and `*count` how many items were inserted. Both may be null.
//
// Errors: GUIRA_ERR_FULL and _TOO_MANY_COPIES, if an item was refused.
guira_status guira_filter_insert_batch(guira_filter *filter, const uint64_t *hashes, size_t stride,
                                       size_t n, bool *refused, size_t *count);

// As `guira_filter_insert_unique_mask`, for `n` items. Answers go to `inserted[i]` and
// `refused[i]`, and the number of inserted items to `*count`. `refused` and `count` may be null.
//
// Errors: GUIRA_ERR_FULL, if an item was refused.
guira_status guira_filter_insert_unique_batch(guira_filter *filter, const uint64_t *hashes,
                                              size_t stride, size_t n, bool *inserted,
                                              bool *refused, size_t *count);

// Removes one copy of each of `n` items: `removed[i]` becomes whether there was one of item `i`,
// and `*count`, which may be null, how many there were. What a removal demands holds for each.
guira_status guira_filter_remove_batch(guira_filter *filter, const uint64_t *hashes, size_t stride,
                                       size_t n, bool *removed, size_t *count);

// ---- Maps ------------------------------------------------------------------------------------

// Inserts a key with a value. A key can have several values, and the same value several times.
// Takes no lock if one of the key's two buckets has room.
//
// Errors: GUIRA_ERR_VALUE_TOO_LARGE, _FULL, _TOO_MANY_COPIES.
guira_status guira_map_insert(guira_map *map, uint64_t hash, uint16_t value);

// Inserts a key with a value if the key is absent. If calls with one key overlap, exactly one of
// them inserts. `*inserted` becomes false if the key was found (rarely, another key with the same
// fingerprint was). Then the caller owns no item and must not remove or replace one. `*present`,
// which may be null, becomes the value that the key then has: `value`, or the one that was found.
// Takes a lock.
//
// If another key was found, this one loses its value when that key is removed. A caller that has to
// own an item (for a flow that is new by its own records) calls `guira_map_insert` with the value
// that was found, and later removes this item.
//
// Errors: GUIRA_ERR_VALUE_TOO_LARGE, _FULL.
guira_status guira_map_insert_unique(guira_map *map, uint64_t hash, uint16_t value, bool *inserted,
                                     uint16_t *present);

// Looks up a key. If it is found, `*found` becomes true and `*value` one of its values: rarely,
// that of another key with the same fingerprint. Otherwise `*value` becomes 0. Takes no lock.
guira_status guira_map_get(const guira_map *map, uint64_t hash, uint16_t *value, bool *found);

// Looks up all values that a key may have: its own, always, and rarely those of other keys. Writes
// the first `max` of them to `values`, in any order, and their number, which may exceed `max`, to
// `*count`. Takes no lock.
guira_status guira_map_values(const guira_map *map, uint64_t hash, uint16_t *values, size_t max,
                              size_t *count);

// Looks up a key with a value: `*found` becomes whether it is one of the values that the key may
// have. Takes no lock.
guira_status guira_map_contains_value(const guira_map *map, uint64_t hash, uint16_t value,
                                      bool *found);

// Replaces the value `old` of a key by `value`. Replace only what you inserted, with the value that
// you inserted or set last: see "Removal" above. `*replaced`, which may be null, becomes whether
// the key had that value (false if one is too large). Lookups find the old value or the new one.
// Takes a lock.
guira_status guira_map_replace(guira_map *map, uint64_t hash, uint16_t old, uint16_t value,
                               bool *replaced);

// Removes a key with a value. Remove only what you inserted, with the value that you inserted or
// set last, and never with one that a lookup returned: see "Removal" above. `*removed`, which may
// be null, becomes whether the key had that value (false if it is too large). Takes a lock.
guira_status guira_map_remove(guira_map *map, uint64_t hash, uint16_t value, bool *removed);

// Looks up the values of at most 64 keys: `values[i]` becomes a value of key `i`, as by
// `guira_map_get`, or 0 if the key is not found. Bit `i` of `*found` is set if it is found.
guira_status guira_map_get_mask(const guira_map *map, const uint64_t *hashes, size_t stride,
                                size_t n, uint16_t *values, uint64_t *found);

// As `guira_map_get_mask`, for `n` keys: `found[i]` becomes whether key `i` is found, and `*count`,
// which may be null, how many are.
guira_status guira_map_get_batch(const guira_map *map, const uint64_t *hashes, size_t stride,
                                 size_t n, uint16_t *values, bool *found, size_t *count);

// Inserts `n` keys, in any order, key `i` with `values[i]`. Copies count. `refused[i]` becomes
// whether key `i` could not be inserted, and `*count` how many were inserted. Both may be null. If
// a value is too large, no key is inserted.
//
// Errors: GUIRA_ERR_VALUE_TOO_LARGE; GUIRA_ERR_FULL and _TOO_MANY_COPIES, if a key was refused.
guira_status guira_map_insert_batch(guira_map *map, const uint64_t *hashes, size_t stride, size_t n,
                                    const uint16_t *values, bool *refused, size_t *count);

// Removes `n` keys, key `i` with `values[i]`: `removed[i]` becomes whether it had that value, and
// `*count`, which may be null, how many had. What a removal demands holds for each.
guira_status guira_map_remove_batch(guira_map *map, const uint64_t *hashes, size_t stride, size_t n,
                                    const uint16_t *values, bool *removed, size_t *count);

// ---- Expiring sets: items --------------------------------------------------------------------

// Inserts an item, for `ttl_ns` or the whole window. Copies count, until they expire. Writes the
// generation, which a removal names, to `*generation`, which may be null.
//
// Errors: GUIRA_ERR_FULL, _TOO_MANY_COPIES.
guira_status guira_expiring_insert(guira_expiring *expiring, uint64_t hash, uint64_t *generation);

// Inserts an item for a shorter life: for this time, at most `ttl_ns`. It may be found for as long
// as others. Writes the generation that a removal names to `*generation`, which may be null.
//
// Errors: GUIRA_ERR_LIFE, _FULL, _TOO_MANY_COPIES.
guira_status guira_expiring_insert_for_ns(guira_expiring *expiring, uint64_t hash, uint64_t life_ns,
                                          uint64_t *generation);

// As above, in a set without a `ttl_ns`: for this many generations after the current one, 1 to the
// window. (The item is as old as if it had been inserted earlier, in the generation that is
// written.)
//
// Errors: GUIRA_ERR_LIFE, _FULL, _TOO_MANY_COPIES.
guira_status guira_expiring_insert_for_generations(guira_expiring *expiring, uint64_t hash,
                                                   uint32_t generations, uint64_t *generation);

// As `guira_filter_insert_unique`: inserts an item if it is not found. An item that was found is
// not refreshed. `*generation`, which may be null, becomes the generation of the insert, or 0.
//
// Errors: GUIRA_ERR_FULL.
guira_status guira_expiring_insert_unique(guira_expiring *expiring, uint64_t hash, bool *inserted,
                                          uint64_t *generation);

// Inserts an item if it is not found, and refreshes it if it is, in one step: `*inserted` becomes
// whether it was inserted. Nobody may remove the item: it is left to expire. Takes a lock.
//
// Errors: GUIRA_ERR_FULL.
guira_status guira_expiring_insert_or_refresh(guira_expiring *expiring, uint64_t hash,
                                              bool *inserted);

// Makes an item as young as if it were inserted now, if it is found. To insert one that is not,
// too, call `guira_expiring_insert_or_refresh`. Nobody may remove an item that is refreshed: it is
// left to expire. Takes a lock.
guira_status guira_expiring_refresh(guira_expiring *expiring, uint64_t hash, bool *found);

// Removes one copy of an item before it expires. `generation` is the one that the insert wrote.
// Remove only what you inserted, once: see "Removal" above. `*removed`, which may be null, becomes
// whether there was one (false if it has expired). Takes a lock.
guira_status guira_expiring_remove(guira_expiring *expiring, uint64_t hash, uint64_t generation,
                                   bool *removed);

// As `guira_filter_insert_unique_mask`: inserts those of at most 64 items that are not found.
//
// Errors: GUIRA_ERR_FULL, if an item was refused.
guira_status guira_expiring_insert_unique_mask(guira_expiring *expiring, const uint64_t *hashes,
                                               size_t stride, size_t n, uint64_t *inserted,
                                               uint64_t *refused);

// As `guira_expiring_insert_or_refresh`, for at most 64 items, in order. Bit `i` of `*inserted` is
// set if item `i` was inserted, and bit `i` of `*refused`, which may be null, if it was neither
// found nor inserted.
//
// Errors: GUIRA_ERR_FULL, if an item was refused.
guira_status guira_expiring_insert_or_refresh_mask(guira_expiring *expiring, const uint64_t *hashes,
                                                   size_t stride, size_t n, uint64_t *inserted,
                                                   uint64_t *refused);

// Makes each of at most 64 items as young as if it were inserted now, if it is found. Bit `i` of
// `*found` is set if item `i` was found. Nobody may remove an item that is refreshed.
guira_status guira_expiring_refresh_mask(guira_expiring *expiring, const uint64_t *hashes,
                                         size_t stride, size_t n, uint64_t *found);

// Inserts `n` items, in any order. Copies count. Nobody may remove them: the generations are not
// told. `refused[i]` becomes whether item `i` could not be inserted, and `*count` how many items
// were inserted. Both may be null.
//
// Errors: GUIRA_ERR_FULL and _TOO_MANY_COPIES, if an item was refused.
guira_status guira_expiring_insert_batch(guira_expiring *expiring, const uint64_t *hashes,
                                         size_t stride, size_t n, bool *refused, size_t *count);

// As `guira_filter_insert_unique_batch`: inserts those of `n` items that are not found.
//
// Errors: GUIRA_ERR_FULL, if an item was refused.
guira_status guira_expiring_insert_unique_batch(guira_expiring *expiring, const uint64_t *hashes,
                                                size_t stride, size_t n, bool *inserted,
                                                bool *refused, size_t *count);

// As `guira_expiring_insert_or_refresh`, for `n` items, in order: `inserted[i]` becomes whether
// item `i` was inserted, `refused[i]` whether it was neither found nor inserted, and `*count` how
// many were inserted. The last two may be null.
//
// Errors: GUIRA_ERR_FULL, if an item was refused.
guira_status guira_expiring_insert_or_refresh_batch(guira_expiring *expiring,
                                                    const uint64_t *hashes, size_t stride, size_t n,
                                                    bool *inserted, bool *refused, size_t *count);

// ---- Expiring sets: generations --------------------------------------------------------------

// Begins the next generation of a set with a `window`. Items that are older than the window are no
// longer found. Writes the new generation to `*generation`, which may be null. In a set with a
// `ttl_ns`, writes begin the generations: this begins none, and writes the current one.
//
// First sweeps the buckets that were not swept since the last call. Lookups and inserts go on
// meanwhile. Calls that overlap may share a generation, which begins after each of them did.
guira_status guira_expiring_advance(guira_expiring *expiring, uint64_t *generation);

// Frees what has expired in the next `buckets` buckets of those that were not swept in this
// generation, or in all of them if there are fewer. (There are `slots / slots_per_bucket` of them:
// see `guira_info`.) Never necessary: writes sweep, and `guira_expiring_advance` does. It spreads
// the work, and makes room earlier. Writes the number of buckets that are left to `*left`, which
// may be null.
guira_status guira_expiring_sweep(guira_expiring *expiring, uint64_t buckets, uint64_t *left);

// Writes the current generation to `*generation`. A new set starts in some generation above 0.
guira_status guira_expiring_generation(const guira_expiring *expiring, uint64_t *generation);

// ---- Views -----------------------------------------------------------------------------------

// Opens a view: lookups in the `len` bytes of a snapshot, such as a file that a save wrote and that
// is mapped. It copies nothing, takes microseconds and a few kilobytes at any size, and looks up
// items by the code of a loaded object. (On big-endian and 32-bit machines it copies.) The bytes
// begin at a multiple of 8, as a mapped file does. They may be in memory that can only be read.
//
// The bytes must stay as they are until the view is destroyed, with all views that were made of it.
// So never write to a file that may be mapped: replace it by a rename, as a save does. Then a view
// goes on with the old file.
//
// Only the header is validated. Whatever the other bytes are, calls read nothing outside of them,
// but answers may be wrong: call `guira_view_verify` if you do not trust them.
//
// Errors: GUIRA_ERR_ARGUMENT for bytes that are not aligned, _NOT_A_SNAPSHOT, _UNKNOWN_VERSION,
// _OTHER_HASHER, _TRUNCATED, _DAMAGED, _NO_MEMORY.
guira_status guira_view_open(const void *bytes, size_t len, guira_view **view);

// Destroys a view. The bytes stay the caller's. Null is allowed. Exclusive.
guira_status guira_view_destroy(guira_view *view);

// Validates all bytes as a load does. Reads all of them.
//
// Errors: GUIRA_ERR_DAMAGED, _NO_MEMORY.
guira_status guira_view_verify(const guira_view *view);

// Writes the hash of a key of `len` bytes to `*hash`: that of the saved object.
guira_status guira_view_hash(const guira_view *view, const void *key, size_t len, uint64_t *hash);

// Looks up an item: see `guira_filter_contains`.
guira_status guira_view_contains(const guira_view *view, uint64_t hash, bool *found);

// Looks up at most 64 items: bit `i` of `*found` is set if item `i` is found.
guira_status guira_view_contains_mask(const guira_view *view, const uint64_t *hashes, size_t stride,
                                      size_t n, uint64_t *found);

// Looks up `n` items: `found[i]` becomes whether item `i` is found, and `*count`, which may be
// null, how many are.
guira_status guira_view_contains_batch(const guira_view *view, const uint64_t *hashes,
                                       size_t stride, size_t n, bool *found, size_t *count);

// Counts the copies of an item: see `guira_filter_count`. Takes one of a few locks of the view.
guira_status guira_view_count(const guira_view *view, uint64_t hash, size_t *count);

// Looks up a key of a map: see `guira_map_get`, `_get_mask` and `_values`.
//
// Errors: GUIRA_ERR_OTHER_TYPE, if the snapshot is not of a map.
guira_status guira_view_get(const guira_view *view, uint64_t hash, uint16_t *value, bool *found);
guira_status guira_view_get_mask(const guira_view *view, const uint64_t *hashes, size_t stride,
                                 size_t n, uint16_t *values, uint64_t *found);
guira_status guira_view_values(const guira_view *view, uint64_t hash, uint16_t *values, size_t max,
                               size_t *count);

// Makes a view of the same bytes in a later generation, or at a time after the save. It finds what
// the saved expiring set would find then if nothing had been inserted since. No time passes for a
// view by itself. Takes about a microsecond.
//
// Errors: GUIRA_ERR_OTHER_TYPE, if the snapshot is not of an expiring set; _NO_MEMORY.
guira_status guira_view_in_generation(const guira_view *view, uint64_t generation,
                                      guira_view **later);
guira_status guira_view_after_ns(const guira_view *view, uint64_t time_ns, guira_view **later);

// Writes the generation in which items are looked up to `*generation`: that of the save, unless
// `guira_view_in_generation` has made the view.
//
// Errors: GUIRA_ERR_OTHER_TYPE, if the snapshot is not of an expiring set.
guira_status guira_view_generation(const guira_view *view, uint64_t *generation);

#ifdef __cplusplus
} // extern "C"
#endif

#endif
