// guira: concurrent cuckoo filters. Sets, maps and expiring sets in a few bits per item, with
// removal, lookups without locks, and no false negatives.
//
// Generated from the Rust sources by cbindgen. Do not edit.
//
// Types
//
// - guira_filter: a set. With a fixed capacity, or growing (`growing` in its parameters).
// - guira_map: keys with values of up to 16 bits. With a fixed capacity, or growing.
// - guira_expiring: a set that forgets its items after a window of generations. The caller begins
//   each generation, by `guira_advance`.
//
// Functions of sets have names such as `guira_insert`, those of maps `guira_map_insert`, and those
// of expiring sets `guira_expiring_insert`. What only one type can do has no such part in its name:
// `guira_get` (maps), `guira_advance` (expiring sets).
//
// An object stores a fingerprint of each item, and not the item itself. So a lookup never misses an
// item that is present, and rarely finds one that is absent: with a probability of at most
// `false_positive_rate` in `guira_info`, up to the capacity.
//
// Hashes
//
// Most functions take items as 64-bit hashes. Any hash function serves, and integer keys serve as
// they are: each object mixes what it gets with a seed of its own. Items with equal hashes are one
// item. Use the same hash for an item in all calls on an object. One hash may serve several
// objects. `guira_hash` and `guira_hash_bulk` hash the bytes of keys, and functions whose names end
// in `_key` call them. A key is bytes: let structs have no padding, or clear it.
//
// Results
//
// - `int` and `int64_t`: 1 or 0 for yes or no, 0 (GUIRA_OK) where there is no question, a number of
//   items, or a negative code of `guira_err`. `guira_strerror` returns a text for a code.
// - `uint64_t`: a mask, a hash or a number, and 0 on misuse, as the function says.
// - What a call writes comes last in its parameters. An error leaves it alone, unless the function
//   says otherwise. (Arrays of results may be cleared.)
//
// Misuse that can be noticed (null pointers, impossible lengths and parameters) is an error and
// changes nothing. Misuse that cannot be noticed is undefined behaviour: pointers that lead to
// fewer values than the function says, results that overlap other arguments, objects that were
// destroyed. Arrays of no items may be null.
//
// Panics of the library do not leave it: see GUIRA_ERR_PANIC.
//
// Memory
//
// Lookups, inserts, removals, refreshes, bursts, bulk functions, sweeps, `guira_advance` and
// `guira_clear` allocate nothing. Calls that allocate return an error if memory is refused, told
// apart from a full object: functions that create, copy, merge, load or save an object return
// GUIRA_ERR_NO_MEMORY, and so does an insert into a growing object that needs another segment.
// GUIRA_ERR_FULL means that the object may not grow. The object is as before. (For paths of more
// than 380 bytes, and for symbolic links, the standard library of Rust allocates, and ends the
// process if memory is refused.)
//
// Structs
//
// Structs of parameters and of facts begin with their size, so that later releases can add fields.
// Initialize them by the macros below. The library accepts larger structs whose unknown fields are
// 0.
//
// Threads
//
// - "Threads: shared": any number of threads may make such calls on one object at the same time.
// - "Threads: exclusive": no other call on the object may overlap this one.
// - "Threads: any": the function uses no object that exists before.
//
// Calls on different objects never need any care. A call that finds an item sees everything that
// the thread that inserted it had written before. Lookups take no lock. Where a call "takes a
// lock", it is one of up to 2,048 of the object, for which a thread spins briefly and then leaves
// the processor to others. Do not call functions from signal handlers, or in the child of a `fork`
// of a process with several threads.
//
// Removal
//
// Remove only what you inserted, once, and after the insert returned: every removal is paid for by
// one insert that returned success for an equal item (with the same value in a map, and with the
// same generation in an expiring set), and no `clear` came between. Otherwise you may remove
// another item that has the same fingerprint, which lookups then miss. A call that did not insert
// because it found the item has inserted nothing, so it entitles to no removal. In a map,
// `guira_replace` needs what a removal needs, and entitles to a removal of the new value.
//
// Environment
//
// GUIRA_KERNEL=scalar, avx2 or avx512 makes batches of lookups use these instructions, if the
// processor has them, in place of the best ones. It is read once, by a call that creates or loads
// an object: if it is set, this call ends the process if memory is refused.

#ifndef GUIRA_H
#define GUIRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What functions return that have nothing else to tell.
#define GUIRA_OK 0

// Initial values of structs: all fields 0 but their size.
#ifdef __cplusplus
#define GUIRA_INIT(type) [] { type value{}; value.size = sizeof value; return value; }()
#else
#define GUIRA_INIT(type) {.size = sizeof(type)}
#endif
#define GUIRA_FILTER_PARAMS_INIT GUIRA_INIT(guira_filter_params)
#define GUIRA_MAP_PARAMS_INIT GUIRA_INIT(guira_map_params)
#define GUIRA_EXPIRING_PARAMS_INIT GUIRA_INIT(guira_expiring_params)
#define GUIRA_INFO_INIT GUIRA_INIT(guira_info)

// Largest number of items in a call of a function whose name ends in `_mask`.
#define GUIRA_MAX_BURST 64

// What went wrong. An error changes nothing, unless the function says otherwise.
typedef enum {
  // A pointer is null that must not be null.
  GUIRA_ERR_NULL = -1,
  // A pointer is not aligned to its type, a length exceeds the address space, or a burst has
  // more than 64 items.
  GUIRA_ERR_ARGUMENT = -2,
  // The field `size` of a struct is too small or implausible: initialize the struct by its
  // `_INIT` macro. Or a field is set that this release does not know.
  GUIRA_ERR_STRUCT_SIZE = -3,
  // The capacity is zero or too large.
  GUIRA_ERR_CAPACITY = -4,
  // The false-positive rate is not above 0 and below 1, or lower than is possible.
  GUIRA_ERR_RATE = -5,
  // Another parameter has an impossible value, or needs `growing`, or `max_bytes` is too low for
  // the first segment.
  GUIRA_ERR_SETTING = -6,
  // The system refused the memory. If an insert returns it: that of another segment, without
  // which there is no room.
  GUIRA_ERR_NO_MEMORY = -7,
  // The item was not inserted: no empty slot is within reach, and the object may not grow.
  GUIRA_ERR_FULL = -8,
  // The item was not inserted: its buckets hold too many copies of it already, or as many as
  // `max_copies` allows.
  GUIRA_ERR_TOO_MANY_COPIES = -9,
  // The value has more bits than the values of the map.
  GUIRA_ERR_VALUE_TOO_LARGE = -10,
  // The number of generations is not in 1 to the window.
  GUIRA_ERR_LIFE = -11,
  // The file could not be read or written. On Linux and macOS, `errno` tells why.
  GUIRA_ERR_IO = -12,
  // A callback returned an error.
  GUIRA_ERR_CALLBACK = -13,
  // The bytes are not a snapshot.
  GUIRA_ERR_NOT_A_SNAPSHOT = -14,
  // A later release made the snapshot.
  GUIRA_ERR_UNKNOWN_VERSION = -15,
  // The snapshot is of another type of object.
  GUIRA_ERR_OTHER_TYPE = -16,
  // The items of the snapshot were hashed by another hasher. (This library uses
  // `StableHashBuilder::with_seed` of the Rust crate.)
  GUIRA_ERR_OTHER_HASHER = -17,
  // The bytes end before the snapshot does.
  GUIRA_ERR_TRUNCATED = -18,
  // The snapshot is damaged, or more bytes follow it in its file.
  GUIRA_ERR_DAMAGED = -19,
  // The objects differ in layout, size or seed, so they cannot be merged.
  GUIRA_ERR_MISMATCH = -20,
  // The object does not grow, so it cannot shrink.
  GUIRA_ERR_NOT_GROWING = -21,
  // A panic inside the library, which is a defect. A message was printed to standard error. The
  // object remains usable, and may have changed.
  GUIRA_ERR_PANIC = -22,
} guira_err;

// A set that forgets its items after a window of generations.
typedef struct guira_expiring guira_expiring;

// A set of items, with a fixed capacity or growing.
typedef struct guira_filter guira_filter;

// A map from keys to values of up to 16 bits, with a fixed capacity or growing.
typedef struct guira_map guira_map;

// Parameters of a set. Initialize it by `GUIRA_FILTER_PARAMS_INIT`, then set `capacity` and what
// else you need. A field that is 0 has its default.
typedef struct {
  // Bytes of this struct. The `_INIT` macro sets it.
  size_t size;
  // Distinct items that must fit. Required. At most one set in 10,000 refuses one of them. A
  // growing set starts with this capacity.
  uint64_t capacity;
  // Target false-positive rate, above 0 and below 1. Default: 0.00012, or 0.001 if the set
  // grows.
  double false_positive_rate;
  // Seed, which makes a set reproducible. Default: a random one. A seed that others know gives
  // up the protection against chosen keys.
  uint64_t seed;
  // If the set grows: limit on its memory, in bytes. Default: none.
  uint64_t max_bytes;
  // 1 if the set grows when it is full. Default: 0.
  uint32_t growing;
  // If the set grows: 2, 4, 8 or 16, how many times as many buckets each segment has as the one
  // before it. Default: 2.
  uint32_t growth_factor;
  // Limit on the copies of one item. Default: what fits into its two buckets.
  uint32_t max_copies;
  // Threads that are expected to write at the same time. More of them are allowed, and may wait
  // for one another. Default: by the capacity.
  uint32_t writers;
  // 1 to prefer speed to size, where the target rate leaves a choice. Default: 0.
  uint32_t fastest;
  // 1 to ask for no huge pages. Default: 0, and tables of 2 MiB and more are on huge pages,
  // where the system has them.
  uint32_t no_huge_pages;
} guira_filter_params;

// Receives the next `len` bytes of a snapshot. Returns 0, or another number to end the save with
// `GUIRA_ERR_CALLBACK`. `context` is that of the call. Must return: a `longjmp` or a C++ exception
// out of a callback ends the process or worse.
typedef int (*guira_write_fn)(void *context, const void *bytes, size_t len);

// Writes the next bytes of a snapshot to `buffer`, at most `len`. Returns their number, 0 if there
// are none left, or a negative number to end the load with `GUIRA_ERR_CALLBACK`. `context` is that
// of the call. Must return: a `longjmp` or a C++ exception out of a callback ends the process or
// worse.
typedef int64_t (*guira_read_fn)(void *context, void *buffer, size_t len);

// Facts and statistics about an object. Initialize it by `GUIRA_INFO_INIT`.
typedef struct {
  // Bytes of this struct. The `_INIT` macro sets it.
  size_t size;
  // Items in the object, copies counted. Exact if no other thread writes. Items that have
  // expired do not count.
  uint64_t items;
  // Distinct items for which the present segments were built. Most objects hold a few more.
  uint64_t capacity;
  // Slots: an upper bound on the items.
  uint64_t slots;
  // Bytes of the object and all that it has allocated.
  uint64_t bytes;
  // Bytes that the next segment of a growing object will take, or 0 if it cannot grow.
  uint64_t next_growth_bytes;
  // Upper bound on the false-positive rate, while there are no more items than `capacity`. With
  // fewer items the rate is lower, in proportion.
  double false_positive_rate;
  // `items / slots`, 0 to 1. Slots that have expired and are not swept yet do not count.
  double load_factor;
  // The present generation of an expiring set, otherwise 0.
  uint64_t generation;
  // The window of an expiring set in generations, otherwise 0.
  uint32_t window;
  // Segments. An object that does not grow has one.
  uint32_t segments;
  // Slots per bucket, in the last segment.
  uint32_t slots_per_bucket;
  // Bits of a fingerprint, in the last segment.
  uint32_t fingerprint_bits;
  // Bits of a value of a map, otherwise 0.
  uint32_t value_bits;
  // 1 if the object grows, otherwise 0.
  uint32_t growing;
} guira_info;

// Parameters of a map. Initialize it by `GUIRA_MAP_PARAMS_INIT`, then set `capacity` and what else
// you need. A field that is 0 has its default.
typedef struct {
  // Bytes of this struct. The `_INIT` macro sets it.
  size_t size;
  // Distinct items that must fit. Required. At most one map in 10,000 refuses one of them. A
  // growing map starts with this capacity.
  uint64_t capacity;
  // Target false-positive rate, above 0 and below 1: how often a key has the value of another
  // one. Default: 0.002, or 0.003 if the map grows.
  double false_positive_rate;
  // Seed: see `guira_filter_params`.
  uint64_t seed;
  // If the map grows: limit on its memory, in bytes. Default: none.
  uint64_t max_bytes;
  // Bits of a value, 1 to 16. Default: 8.
  uint32_t value_bits;
  // 1 if the map grows when it is full. Default: 0.
  uint32_t growing;
  // If the map grows: see `guira_filter_params`.
  uint32_t growth_factor;
  // Limit on the items of one key. Default: what fits into its two buckets.
  uint32_t max_copies;
  // Threads that are expected to write at the same time: see `guira_filter_params`.
  uint32_t writers;
  // 1 to ask for no huge pages: see `guira_filter_params`.
  uint32_t no_huge_pages;
} guira_map_params;

// Parameters of an expiring set. Initialize it by `GUIRA_EXPIRING_PARAMS_INIT`, then set
// `capacity` and what else you need. A field that is 0 has its default.
typedef struct {
  // Bytes of this struct. The `_INIT` macro sets it.
  size_t size;
  // Distinct items that must fit. Required. Let it be those of `window + 2` generations, since
  // what has expired occupies its slot until it is swept. Each insert without `_unique` counts.
  // At most one set in 10,000 refuses one of so many.
  uint64_t capacity;
  // Target false-positive rate, above 0 and below 1. Default: 0.002.
  double false_positive_rate;
  // Seed: see `guira_filter_params`.
  uint64_t seed;
  // Window in generations, 1 to 253: an item is found in the generation of its insert and in
  // this many further ones. Default: 13.
  uint32_t window;
  // Threads that are expected to write at the same time: see `guira_filter_params`.
  uint32_t writers;
  // 1 to ask for no huge pages: see `guira_filter_params`.
  uint32_t no_huge_pages;
  // Always 0.
  uint32_t reserved;
  // Nanoseconds for which an item is found at least, if `guira_tick` begins all generations.
  // Default: none, and nothing is ever due.
  uint64_t time_to_live;
} guira_expiring_params;

// Returns the reading of a clock, in nanoseconds. `context` is that of the call. Must return: a
// `longjmp` or a C++ exception out of a callback ends the process or worse.
typedef uint64_t (*ClockFn)(void *context);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library, such as "0.1.0". It is never null and is valid forever.
//
// Threads: any.
const char *guira_version(void);

// Returns a text for a code, in English. It is never null and is valid forever. A number that is
// not negative is no error.
//
// Threads: any.
const char *guira_strerror(int code);

// Creates a set. Writes it to `*filter`.
//
// Returns 0, `GUIRA_ERR_NULL`, `GUIRA_ERR_STRUCT_SIZE`, `GUIRA_ERR_CAPACITY`, `GUIRA_ERR_RATE`,
// `GUIRA_ERR_SETTING` or `GUIRA_ERR_NO_MEMORY`.
// Threads: any.
int guira_create(const guira_filter_params *params,
                 guira_filter **filter);

// Destroys a set and releases its memory. Null is allowed.
//
// Threads: exclusive.
void guira_destroy(guira_filter *filter);

// Removes all items. An item whose insert overlaps the call may remain or not. So afterwards,
// remove only what was inserted after the call returned. No memory is released.
//
// Returns 0 or `GUIRA_ERR_NULL`.
// Threads: shared. Lookups do not wait for it.
int guira_clear(guira_filter *filter);

// Copies a set, with its seed. Writes the copy to `*copy`. Every item that is in the set from
// before the call until it returns is in the copy; from the copy, remove only those.
//
// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_NO_MEMORY`.
// Threads: shared. Lookups do not wait for it.
int guira_clone(const guira_filter *filter,
                guira_filter **copy);

// Saves a set to the file `path` and waits until it is on disk. The file is replaced as a whole:
// if the process is killed meanwhile, the old file or the new one is there. The file holds what
// `guira_clone` would copy. Takes as much memory as the set until it returns.
//
// Returns 0, `GUIRA_ERR_NULL`, `GUIRA_ERR_IO` (and sets `errno`) or `GUIRA_ERR_NO_MEMORY`.
// Threads: shared. Lookups do not wait for it.
int guira_save(const guira_filter *filter,
               const char *path);

// Saves a set through a callback, which is called with up to 64 KiB at a time. The bytes are those
// that `guira_save` writes. No lock is held during callbacks.
//
// Returns 0, `GUIRA_ERR_NULL`, `GUIRA_ERR_CALLBACK` or `GUIRA_ERR_NO_MEMORY`. What was passed to
// the callback before an error cannot be loaded.
// Threads: shared. Lookups do not wait for it.
int guira_save_to(const guira_filter *filter,
                  guira_write_fn write,
                  void *context);

// Loads a set from the file `path`: one that `guira_save` saved, or the Rust crate with its stable
// hasher. Writes it to `*filter`. Damaged files are refused.
//
// Returns 0, `GUIRA_ERR_NULL`, `GUIRA_ERR_IO` (and sets `errno`), `GUIRA_ERR_NOT_A_SNAPSHOT`,
// `GUIRA_ERR_UNKNOWN_VERSION`, `GUIRA_ERR_OTHER_TYPE`, `GUIRA_ERR_OTHER_HASHER`,
// `GUIRA_ERR_TRUNCATED`, `GUIRA_ERR_DAMAGED` or `GUIRA_ERR_NO_MEMORY`.
// Threads: any.
int guira_load(const char *path,
               guira_filter **filter);

// Loads a set through a callback, which is called until all bytes of the snapshot are there, and
// for none after them. Writes the set to `*filter`. Memory is taken as the bytes arrive (on Linux;
// elsewhere the system decides).
//
// Returns 0, `GUIRA_ERR_CALLBACK` or what `guira_load` returns, except for `GUIRA_ERR_IO`.
// Threads: any.
int guira_load_from(guira_read_fn read,
                    void *context,
                    guira_filter **filter);

// Writes facts and statistics about a set to `*info`, whose field `size` must be set.
//
// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_STRUCT_SIZE`.
// Threads: shared.
int guira_get_info(const guira_filter *filter,
                   guira_info *info);

// Returns the number of items, copies counted, or 0 for null. Exact if no other thread writes.
//
// Threads: shared.
uint64_t guira_len(const guira_filter *filter);

// Adds all items of `other` to `filter`, each copy. Both must have been created with the same
// parameters, and with the same seed, which is not 0; or one is a clone of the other. A growing
// set needs a capacity for the items of both.
//
// Returns 0, `GUIRA_ERR_NULL`, `GUIRA_ERR_MISMATCH`, `GUIRA_ERR_FULL`,
// `GUIRA_ERR_TOO_MANY_COPIES` or `GUIRA_ERR_NO_MEMORY`. On an error `filter` holds the same items
// as before.
// Threads: shared, with both sets.
int guira_merge(guira_filter *filter,
                const guira_filter *other);

// Releases the memory of segments of a growing set that its items do not need. Every item stays.
// Writes the number of bytes to `*released`, which may be null.
//
// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_NOT_GROWING`.
// Threads: exclusive.
int guira_shrink_to_fit(guira_filter *filter,
                        uint64_t *released);

// Returns the hash of a key of `len` bytes for this set, or 0 on misuse (`filter` or `key` is
// null). Any other 64-bit hash of the key serves as well, if all calls use the same: see "Hashes"
// above. This one depends on the seed of the set, so others cannot choose keys that collide. The
// Rust crate computes it for a `[u8]`.
//
// Threads: shared.
uint64_t guira_hash(const guira_filter *filter,
                    const void *key,
                    size_t len);

// Hashes `n` keys of `len` bytes each, which lie one after another at `keys`: `hashes[i]` becomes
// the hash of the `len` bytes at `keys + i * len`, as by `guira_hash`.
//
// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int guira_hash_bulk(const guira_filter *filter,
                    const void *keys,
                    size_t n,
                    size_t len,
                    uint64_t *hashes);

// Inserts an item by its hash. Copies count: an item that is inserted twice must be removed twice.
// Takes no lock if one of the item's two buckets has room.
//
// Returns 0, `GUIRA_ERR_FULL`, `GUIRA_ERR_TOO_MANY_COPIES`, `GUIRA_ERR_NO_MEMORY` if a growing set
// cannot grow, or `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_insert(guira_filter *filter,
                 uint64_t hash);

// As `guira_insert`, by a key of `len` bytes.
//
// Returns what `guira_insert` returns.
// Threads: shared.
int guira_insert_key(guira_filter *filter, const void *key, size_t len);

// Inserts an item by its hash if it is absent. If calls with one item overlap, exactly one of them
// inserts it. Takes a lock.
//
// Returns 1 if the item was inserted, 0 if it was found (rarely, another item with the same
// fingerprint was), `GUIRA_ERR_FULL`, `GUIRA_ERR_NO_MEMORY` if a growing set cannot grow, or
// `GUIRA_ERR_NULL`. After any result but 1, the caller owns no copy and must not remove one.
// Threads: shared.
int guira_insert_unique(guira_filter *filter,
                        uint64_t hash);

// As `guira_insert_unique`, by a key of `len` bytes.
//
// Returns what `guira_insert_unique` returns.
// Threads: shared.
int guira_insert_unique_key(guira_filter *filter, const void *key, size_t len);

// Looks up an item by its hash. Takes no lock and writes nothing.
//
// Returns 1 for an item that is in the set, 0 for an absent one, rarely 1 for an absent one, or
// `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_contains(const guira_filter *filter,
                   uint64_t hash);

// As `guira_contains`, by a key of `len` bytes.
//
// Returns what `guira_contains` returns.
// Threads: shared.
int guira_contains_key(const guira_filter *filter, const void *key, size_t len);

// Removes one copy of an item by its hash. Remove only what you inserted, once, and after the
// insert returned: see "Removal" above. Takes a lock.
//
// Returns 1 if there was a copy, otherwise 0, or `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_remove(guira_filter *filter,
                 uint64_t hash);

// As `guira_remove`, by a key of `len` bytes.
//
// Returns what `guira_remove` returns.
// Threads: shared.
int guira_remove_key(guira_filter *filter, const void *key, size_t len);

// Counts the copies of an item by its hash, with those of other items that have the same
// fingerprint. Takes a lock.
//
// Returns the number, or `GUIRA_ERR_NULL`.
// Threads: shared.
int64_t guira_count(const guira_filter *filter,
                    uint64_t hash);

// Looks up a burst of `n` items, at most 64. The cache lines of all of them are in flight at once.
//
// Returns a mask: bit `i` is set if `hashes[i]` is found. 0 on misuse: a null pointer, or more
// than 64 items.
// Threads: shared.
uint64_t guira_contains_mask(const guira_filter *filter,
                             const uint64_t *hashes,
                             size_t n);

// Inserts those of `n` items, at most 64, that are absent, each as `guira_insert_unique` does and
// in their order. An item that occurs twice is inserted once.
//
// Returns a mask: bit `i` is set if `hashes[i]` was inserted. Writes another one to `*refused`,
// which may be null: bit `i` is set if `hashes[i]` was absent and could not be inserted, because
// the set is full or cannot grow. (`guira_insert_unique` tells which.) An item with neither bit
// was found. On misuse (a null pointer, or more than 64 items) inserts nothing, returns 0, and sets
// all 64 bits of `*refused`.
// Threads: shared.
uint64_t guira_insert_unique_mask(guira_filter *filter,
                                  const uint64_t *hashes,
                                  size_t n,
                                  uint64_t *refused);

// Removes one copy of each of `n` items, at most 64. What `guira_remove` demands holds for each.
//
// Returns a mask: bit `i` is set if there was a copy of `hashes[i]`. 0 on misuse: a null pointer,
// or more than 64 items.
// Threads: shared.
uint64_t guira_remove_mask(guira_filter *filter,
                           const uint64_t *hashes,
                           size_t n);

// Inserts `n` items, in any order. Copies count. `refused[i]` becomes `true` if `hashes[i]` could
// not be inserted, because the set is full, cannot grow, or has too many copies of it.
// (`guira_insert` tells which.) `refused` may be null.
//
// Returns the number of items that were inserted, which is below `n` if some were refused,
// `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int64_t guira_insert_bulk(guira_filter *filter,
                          const uint64_t *hashes,
                          size_t n,
                          bool *refused);

// Inserts those of `n` items that are absent, in their order. `added[i]` becomes `true` if
// `hashes[i]` was inserted, and `refused[i]` if it was absent and could not be inserted, because
// the set is full or cannot grow. (`guira_insert_unique` tells which.) An item with neither was
// found. `refused` may be null.
//
// Returns the number of items that were inserted, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int64_t guira_insert_unique_bulk(guira_filter *filter,
                                 const uint64_t *hashes,
                                 size_t n,
                                 bool *added,
                                 bool *refused);

// Looks up `n` items: `found[i]` becomes whether `hashes[i]` is found.
//
// Returns the number of items that were found, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int64_t guira_contains_bulk(const guira_filter *filter,
                            const uint64_t *hashes,
                            size_t n,
                            bool *found);

// Removes one copy of each of `n` items: `removed[i]` becomes whether there was one of
// `hashes[i]`. What `guira_remove` demands holds for each.
//
// Returns the number of copies that were removed, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int64_t guira_remove_bulk(guira_filter *filter,
                          const uint64_t *hashes,
                          size_t n,
                          bool *removed);

// Creates a map. Writes it to `*map`.
//
// Returns what `guira_create` returns.
// Threads: any.
int guira_map_create(const guira_map_params *params, guira_map **map);

// Destroys a map and releases its memory. Null is allowed.
//
// Threads: exclusive.
void guira_map_destroy(guira_map *map);

// Removes all items, as `guira_clear` does.
//
// Returns 0 or `GUIRA_ERR_NULL`.
// Threads: shared. Lookups do not wait for it.
int guira_map_clear(guira_map *map);

// Copies a map to `*copy`, as `guira_clone` does. An item whose value is replaced meanwhile has
// its old or its new value in the copy, and must not be removed from it.
//
// Returns what `guira_clone` returns.
// Threads: shared. Lookups do not wait for it.
int guira_map_clone(const guira_map *map,
                    guira_map **copy);

// Saves a map to the file `path`, as `guira_save` does.
//
// Returns what `guira_save` returns.
// Threads: shared. Lookups do not wait for it.
int guira_map_save(const guira_map *map, const char *path);

// Saves a map through a callback, as `guira_save_to` does.
//
// Returns what `guira_save_to` returns.
// Threads: shared. Lookups do not wait for it.
int guira_map_save_to(const guira_map *map, guira_write_fn write, void *context);

// Loads a map from the file `path` to `*map`, as `guira_load` does.
//
// Returns what `guira_load` returns.
// Threads: any.
int guira_map_load(const char *path, guira_map **map);

// Loads a map through a callback to `*map`, as `guira_load_from` does.
//
// Returns what `guira_load_from` returns.
// Threads: any.
int guira_map_load_from(guira_read_fn read, void *context, guira_map **map);

// Writes facts and statistics about a map to `*info`, whose field `size` must be set.
//
// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_STRUCT_SIZE`.
// Threads: shared.
int guira_map_get_info(const guira_map *map,
                       guira_info *info);

// Returns the number of items, copies counted, or 0 for null. Exact if no other thread writes.
//
// Threads: shared.
uint64_t guira_map_len(const guira_map *map);

// Adds all items of `other` to `map`, as `guira_merge` does.
//
// Returns what `guira_merge` returns.
// Threads: shared, with both maps.
int guira_map_merge(guira_map *map, const guira_map *other);

// Releases the memory of segments of a growing map that its items do not need. Every item stays.
// Writes the number of bytes to `*released`, which may be null.
//
// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_NOT_GROWING`.
// Threads: exclusive.
int guira_map_shrink_to_fit(guira_map *map,
                            uint64_t *released);

// Returns the hash of a key of `len` bytes for this map, as `guira_hash` does for a set. 0 on
// misuse.
//
// Threads: shared.
uint64_t guira_map_hash(const guira_map *map,
                        const void *key,
                        size_t len);

// Hashes `n` keys of `len` bytes each, as `guira_hash_bulk` does.
//
// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int guira_map_hash_bulk(const guira_map *map,
                        const void *keys,
                        size_t n,
                        size_t len,
                        uint64_t *hashes);

// Inserts an item: the hash of a key, with a value. A key can have several values, and the same
// value several times. Takes no lock if one of the key's two buckets has room.
//
// Returns 0, `GUIRA_ERR_VALUE_TOO_LARGE`, `GUIRA_ERR_FULL`, `GUIRA_ERR_TOO_MANY_COPIES`,
// `GUIRA_ERR_NO_MEMORY` if a growing map cannot grow, or `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_map_insert(guira_map *map,
                     uint64_t hash,
                     uint16_t value);

// As `guira_map_insert`, by a key of `len` bytes.
//
// Returns what `guira_map_insert` returns.
// Threads: shared.
int guira_map_insert_key(guira_map *map, const void *key, size_t len, uint16_t value);

// Inserts an item if its key is absent, by the hash of the key. If calls with one key overlap,
// exactly one of them inserts its item. Writes the value that the key then has to `*found`, which
// may be null: `value`, or the one that was found. Takes a lock.
//
// Returns 1 if the item was inserted, 0 if the key was found (rarely, another key with the same
// fingerprint was), `GUIRA_ERR_VALUE_TOO_LARGE`, `GUIRA_ERR_FULL`, `GUIRA_ERR_NO_MEMORY` if a
// growing map cannot grow, or `GUIRA_ERR_NULL`. After any result but 1, the caller owns no item
// and must not remove or replace one.
// Threads: shared.
int guira_get_or_insert(guira_map *map,
                        uint64_t hash,
                        uint16_t value,
                        uint16_t *found);

// As `guira_get_or_insert`, by a key of `len` bytes.
//
// Returns what `guira_get_or_insert` returns.
// Threads: shared.
int guira_get_or_insert_key(guira_map *map,
                            const void *key,
                            size_t len,
                            uint16_t value,
                            uint16_t *found);

// Looks up a key by its hash. Writes one of its values to `*value`: rarely, that of another key
// with the same fingerprint. Leaves `*value` alone if the key is not found. Takes no lock.
//
// Returns 1 if the key is found, otherwise 0, and then it is not in the map; or `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_get(const guira_map *map,
              uint64_t hash,
              uint16_t *value);

// As `guira_get`, by a key of `len` bytes.
//
// Returns what `guira_get` returns.
// Threads: shared.
int guira_get_key(const guira_map *map, const void *key, size_t len, uint16_t *value);

// Looks up all values that a key may have, by its hash: its own, always, and rarely those of other
// keys. Writes the first `max` of them to `values`, in any order. Takes no lock.
//
// Returns the number of values, which may exceed `max`; `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int64_t guira_values(const guira_map *map,
                     uint64_t hash,
                     uint16_t *values,
                     size_t max);

// Looks up a key by its hash, with whatever value. Takes no lock.
//
// Returns 1 for a key that is in the map, 0 for an absent one, rarely 1 for an absent one, or
// `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_map_contains(const guira_map *map,
                       uint64_t hash);

// As `guira_map_contains`, by a key of `len` bytes.
//
// Returns what `guira_map_contains` returns.
// Threads: shared.
int guira_map_contains_key(const guira_map *map, const void *key, size_t len);

// Looks up an item: a key by its hash, with this value. Takes no lock.
//
// Returns 1 if `value` is one of the values of the key, otherwise 0, or `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_contains_value(const guira_map *map,
                         uint64_t hash,
                         uint16_t value);

// Replaces the value `old` of an item by `replacement`, by the hash of its key. Replace only what
// you inserted, with the value that you inserted or set last: see "Removal" above. Lookups find
// the old value or the new one. Takes a lock.
//
// Returns 1 if there was such an item, otherwise 0 (also if a value is too large), or
// `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_replace(guira_map *map,
                  uint64_t hash,
                  uint16_t old,
                  uint16_t replacement);

// As `guira_replace`, by a key of `len` bytes.
//
// Returns what `guira_replace` returns.
// Threads: shared.
int guira_replace_key(guira_map *map,
                      const void *key,
                      size_t len,
                      uint16_t old,
                      uint16_t replacement);

// Removes an item: a key by its hash, with this value. Remove only what you inserted, with the
// value that you inserted or set last, and never with one that a lookup returned: see "Removal"
// above. Takes a lock.
//
// Returns 1 if there was such an item, otherwise 0 (also if the value is too large), or
// `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_map_remove(guira_map *map,
                     uint64_t hash,
                     uint16_t value);

// As `guira_map_remove`, by a key of `len` bytes.
//
// Returns what `guira_map_remove` returns.
// Threads: shared.
int guira_map_remove_key(guira_map *map, const void *key, size_t len, uint16_t value);

// Counts the items of a key by its hash, whatever their values, with those of other keys that have
// the same fingerprint. Takes a lock.
//
// Returns the number, or `GUIRA_ERR_NULL`.
// Threads: shared.
int64_t guira_map_count(const guira_map *map,
                        uint64_t hash);

// Looks up a burst of `n` keys, at most 64. The cache lines of all of them are in flight at once.
//
// Returns a mask: bit `i` is set if `hashes[i]` is found, with whatever value. 0 on misuse: a null
// pointer, or more than 64 keys.
// Threads: shared.
uint64_t guira_map_contains_mask(const guira_map *map,
                                 const uint64_t *hashes,
                                 size_t n);

// Looks up the values of a burst of `n` keys, at most 64: `values[i]` becomes a value of
// `hashes[i]`, as `guira_get` finds it, or 0 if the key is not found.
//
// Returns a mask: bit `i` is set if `hashes[i]` is found. 0 on misuse: a null pointer, or more
// than 64 keys.
// Threads: shared.
uint64_t guira_get_mask(const guira_map *map,
                        const uint64_t *hashes,
                        size_t n,
                        uint16_t *values);

// Looks up the values of `n` keys: `values[i]` becomes a value of `hashes[i]`, as `guira_get`
// finds it, or 0 if the key is not found, and `found[i]` whether it is found.
//
// Returns the number of keys that were found, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int64_t guira_get_bulk(const guira_map *map,
                       const uint64_t *hashes,
                       size_t n,
                       uint16_t *values,
                       bool *found);

// Looks up `n` keys: `found[i]` becomes whether `hashes[i]` is found, with whatever value.
//
// Returns the number of keys that were found, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int64_t guira_map_contains_bulk(const guira_map *map,
                                const uint64_t *hashes,
                                size_t n,
                                bool *found);

// Inserts `n` items, in any order: the hashes of keys, with `values[i]` for `hashes[i]`. Copies
// count. `refused[i]` becomes `true` if an item could not be inserted, because the map is full,
// cannot grow, or has too many items of the key. (`guira_map_insert` tells which.) `refused` may
// be null.
//
// Returns the number of items that were inserted, which is below `n` if some were refused;
// `GUIRA_ERR_VALUE_TOO_LARGE` if a value is, and then no item was inserted; `GUIRA_ERR_NULL` or
// `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int64_t guira_map_insert_bulk(guira_map *map,
                              const uint64_t *hashes,
                              const uint16_t *values,
                              size_t n,
                              bool *refused);

// Removes `n` items: `removed[i]` becomes whether there was one of `hashes[i]` with `values[i]`.
// What `guira_map_remove` demands holds for each.
//
// Returns the number of items that were removed, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int64_t guira_map_remove_bulk(guira_map *map,
                              const uint64_t *hashes,
                              const uint16_t *values,
                              size_t n,
                              bool *removed);

// Creates an expiring set. Writes it to `*filter`.
//
// Returns what `guira_create` returns.
// Threads: any.
int guira_expiring_create(const guira_expiring_params *params, guira_expiring **filter);

// Destroys an expiring set and releases its memory. Null is allowed.
//
// Threads: exclusive.
void guira_expiring_destroy(guira_expiring *filter);

// Removes all items, as `guira_clear` does. The generation stays.
//
// Returns 0 or `GUIRA_ERR_NULL`.
// Threads: shared. Lookups do not wait for it.
int guira_expiring_clear(guira_expiring *filter);

// Copies an expiring set to `*copy`, as `guira_clone` does. The copy starts in the same
// generation, and is advanced by itself from then on.
//
// Returns what `guira_clone` returns.
// Threads: shared. Lookups do not wait for it.
int guira_expiring_clone(const guira_expiring *filter,
                         guira_expiring **copy);

// Saves an expiring set to the file `path`, as `guira_save` does, with its generation and the ages
// of its items.
//
// Returns what `guira_save` returns.
// Threads: shared. Lookups do not wait for it.
int guira_expiring_save(const guira_expiring *filter,
                        const char *path);

// Saves an expiring set through a callback, as `guira_save_to` does.
//
// Returns what `guira_save_to` returns.
// Threads: shared. Lookups do not wait for it.
int guira_expiring_save_to(const guira_expiring *filter,
                           guira_write_fn write,
                           void *context);

// Loads an expiring set from the file `path` to `*filter`, as `guira_load` does. For the set, no
// time has passed since it was saved: call `guira_advance_to`.
//
// Returns what `guira_load` returns.
// Threads: any.
int guira_expiring_load(const char *path,
                        guira_expiring **filter);

// Loads an expiring set through a callback to `*filter`, as `guira_load_from` does.
//
// Returns what `guira_load_from` returns.
// Threads: any.
int guira_expiring_load_from(guira_read_fn read,
                             void *context,
                             guira_expiring **filter);

// Writes facts and statistics about an expiring set to `*info`, whose field `size` must be set.
//
// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_STRUCT_SIZE`.
// Threads: shared.
int guira_expiring_get_info(const guira_expiring *filter,
                            guira_info *info);

// Returns the number of items that have not expired, copies counted, or 0 for null. Exact if no
// other thread writes.
//
// Threads: shared.
uint64_t guira_expiring_len(const guira_expiring *filter);

// Begins the next generation. Items that are older than the window are no longer found. To let
// items live for a time, call `guira_tick` instead.
//
// First sweeps the buckets that were not swept since the last call. Lookups and inserts go on
// meanwhile. Calls that overlap may share a generation, which begins after each of them did.
//
// Returns the new generation, or 0 for null.
// Threads: shared.
uint64_t guira_advance(guira_expiring *filter);

// Begins the next generation if it is due: if the clock has moved forward by `time_to_live` /
// window since the generation before began. Call this several times in that time. `clock` is read
// once, and twice if a generation begins. All calls must read one clock. It may be set back. Each
// step forward begins at most one generation too early.
//
// Returns the generation that began, or 0 if none is due, or for null.
// Threads: shared. One of the calls that overlap begins the generation, the others return 0.
uint64_t guira_tick(guira_expiring *filter,
                    ClockFn clock,
                    void *context);

// Makes up for a time in which nobody used the set: begins the generations that are due by the
// clock of `guira_tick`, but at most window + 1. Call it after a load, before the set is used, and
// call `guira_tick` right before a save. The clock should be the time of day. A monotonic clock
// must have begun after the save, or it can forget everything; the time between two processes does
// not count with it.
//
// Returns the present generation, or 0 for null.
// Threads: shared.
uint64_t guira_advance_to(guira_expiring *filter,
                          ClockFn clock,
                          void *context);

// Frees what has expired in the next `buckets` buckets of those that were not swept in this
// generation. (There are `slots / slots_per_bucket` of them: see `guira_info`.) Never necessary:
// it spreads the work of `guira_advance` over the generation.
//
// Returns the number of buckets that are left, or 0 for null.
// Threads: shared.
uint64_t guira_sweep(guira_expiring *filter,
                     uint64_t buckets);

// Returns the present generation, or 0 for null. A new set starts in some generation above 0.
//
// Threads: shared.
uint64_t guira_generation(const guira_expiring *filter);

// Returns the hash of a key of `len` bytes for this set, as `guira_hash` does. 0 on misuse.
//
// Threads: shared.
uint64_t guira_expiring_hash(const guira_expiring *filter,
                             const void *key,
                             size_t len);

// Hashes `n` keys of `len` bytes each, as `guira_hash_bulk` does.
//
// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int guira_expiring_hash_bulk(const guira_expiring *filter,
                             const void *keys,
                             size_t n,
                             size_t len,
                             uint64_t *hashes);

// Inserts an item by its hash, for the whole window. Copies count, until they expire. Writes the
// generation, which a removal names, to `*generation`, which may be null.
//
// Returns 0, `GUIRA_ERR_FULL`, `GUIRA_ERR_TOO_MANY_COPIES` or `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_expiring_insert(guira_expiring *filter,
                          uint64_t hash,
                          uint64_t *generation);

// As `guira_expiring_insert`, by a key of `len` bytes.
//
// Returns what `guira_expiring_insert` returns.
// Threads: shared.
int guira_expiring_insert_key(guira_expiring *filter,
                              const void *key,
                              size_t len,
                              uint64_t *generation);

// Inserts an item by its hash for a shorter life: for this many generations after the present one,
// 1 to the window. Writes the generation that a removal names to `*generation`, which may be null.
// (It is a past one: the item is as old as if it had been inserted earlier.)
//
// Returns what `guira_expiring_insert` returns, or `GUIRA_ERR_LIFE`.
// Threads: shared.
int guira_insert_for(guira_expiring *filter,
                     uint64_t hash,
                     uint32_t generations,
                     uint64_t *generation);

// Inserts an item by its hash if it has not been seen within the window. If calls with one item
// overlap, exactly one of them inserts it. An item that is found is not refreshed. Writes the
// generation of an item that was inserted to `*generation`, which may be null. Takes a lock.
//
// Returns 1 if the item was inserted, 0 if it was found (rarely, another item with the same
// fingerprint was), `GUIRA_ERR_FULL` or `GUIRA_ERR_NULL`. After any result but 1, the caller owns
// no copy and must not remove one.
// Threads: shared.
int guira_expiring_insert_unique(guira_expiring *filter,
                                 uint64_t hash,
                                 uint64_t *generation);

// As `guira_expiring_insert_unique`, by a key of `len` bytes.
//
// Returns what `guira_expiring_insert_unique` returns.
// Threads: shared.
int guira_expiring_insert_unique_key(guira_expiring *filter,
                                     const void *key,
                                     size_t len,
                                     uint64_t *generation);

// Inserts an item by its hash, also if the set is full: then it replaces the oldest item in the
// two buckets. In a set on which this is called, items may be forgotten early, and nobody may
// remove anything.
//
// Returns 1 if an item was replaced that had not expired, otherwise 0, or `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_insert_evicting(guira_expiring *filter,
                          uint64_t hash);

// Looks up an item by its hash. Takes no lock and writes nothing.
//
// Returns 1 for an item that was inserted within the window, otherwise 0, rarely 1, or
// `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_expiring_contains(const guira_expiring *filter,
                            uint64_t hash);

// As `guira_expiring_contains`, by a key of `len` bytes.
//
// Returns what `guira_expiring_contains` returns.
// Threads: shared.
int guira_expiring_contains_key(const guira_expiring *filter, const void *key, size_t len);

// Makes an item, by its hash, as young as if it were inserted now, if it is found. Nobody may
// remove an item that is refreshed: it is left to expire. Takes a lock.
//
// Returns 1 if the item was found, otherwise 0 (then insert it), or `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_refresh(guira_expiring *filter,
                  uint64_t hash);

// As `guira_refresh`, by a key of `len` bytes.
//
// Returns what `guira_refresh` returns.
// Threads: shared.
int guira_refresh_key(guira_expiring *filter, const void *key, size_t len);

// Removes one copy of an item, by its hash, before it expires. `generation` is the one that the
// insert wrote. Remove only what you inserted, once: see "Removal" above. Takes a lock.
//
// Returns 1 if there was a copy, otherwise 0 (also if it has expired), or `GUIRA_ERR_NULL`.
// Threads: shared.
int guira_expiring_remove(guira_expiring *filter,
                          uint64_t hash,
                          uint64_t generation);

// As `guira_expiring_remove`, by a key of `len` bytes.
//
// Returns what `guira_expiring_remove` returns.
// Threads: shared.
int guira_expiring_remove_key(guira_expiring *filter,
                              const void *key,
                              size_t len,
                              uint64_t generation);

// Counts the copies of an item, by its hash, that have not expired, with those of other items that
// have the same fingerprint. Takes a lock.
//
// Returns the number, or `GUIRA_ERR_NULL`.
// Threads: shared.
int64_t guira_expiring_count(const guira_expiring *filter,
                             uint64_t hash);

// Looks up a burst of `n` items, at most 64. The cache lines of all of them are in flight at once.
//
// Returns a mask: bit `i` is set if `hashes[i]` is found. 0 on misuse: a null pointer, or more
// than 64 items.
// Threads: shared.
uint64_t guira_expiring_contains_mask(const guira_expiring *filter,
                                      const uint64_t *hashes,
                                      size_t n);

// Inserts those of `n` items, at most 64, that have not been seen within the window, each as
// `guira_expiring_insert_unique` does and in their order. An item that occurs twice is inserted
// once.
//
// Returns a mask: bit `i` is set if `hashes[i]` was inserted. Writes another one to `*refused`,
// which may be null: bit `i` is set if there was no room for `hashes[i]`. (If `refused` is null,
// such items cannot be told from those that were found.) Misuse (a null pointer, or more than 64
// items) inserts nothing, returns 0, and sets all 64 bits of `*refused`.
// Threads: shared.
uint64_t guira_expiring_insert_unique_mask(guira_expiring *filter,
                                           const uint64_t *hashes,
                                           size_t n,
                                           uint64_t *refused);

// Makes each of `n` items, at most 64, as young as if it were inserted now, if it is found: each
// as `guira_refresh` does and in their order. Nobody may remove an item that is refreshed.
//
// Returns a mask: bit `i` is set if `hashes[i]` was found (otherwise insert it). 0 on misuse: a
// null pointer, or more than 64 items.
// Threads: shared.
uint64_t guira_refresh_mask(guira_expiring *filter,
                            const uint64_t *hashes,
                            size_t n);

// Inserts `n` items for the whole window, in any order. Copies count. All of them get the
// generation in which the call began. If all were inserted, writes it to `*generation`, which may
// be null; otherwise writes 0, and nobody may remove those that were. `refused[i]` becomes `true`
// if `hashes[i]` could not be inserted, because the set is full or has too many copies of it.
// `refused` may be null.
//
// Returns the number of items that were inserted, which is below `n` if some were refused,
// `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int64_t guira_expiring_insert_bulk(guira_expiring *filter,
                                   const uint64_t *hashes,
                                   size_t n,
                                   uint64_t *generation,
                                   bool *refused);

// Inserts those of `n` items that have not been seen within the window, in their order. `added[i]`
// becomes `true` if `hashes[i]` was inserted, and `refused[i]` if it was not found and could not
// be inserted, because the set is full. An item with neither was found. `refused` may be null.
//
// Returns the number of items that were inserted, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int64_t guira_expiring_insert_unique_bulk(guira_expiring *filter,
                                          const uint64_t *hashes,
                                          size_t n,
                                          bool *added,
                                          bool *refused);

// Looks up `n` items: `found[i]` becomes whether `hashes[i]` was inserted within the window.
//
// Returns the number of items that were found, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
// Threads: shared.
int64_t guira_expiring_contains_bulk(const guira_expiring *filter,
                                     const uint64_t *hashes,
                                     size_t n,
                                     bool *found);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GUIRA_H */
