// What allocates nothing: lookups, inserts, removals, masks, batches, sweeps, advances, and clears,
// with and without a clock.

#define _GNU_SOURCE
#include <pthread.h>

#include "allocator.h"

// Capacities of full objects, of which all items were tried. The large ones have room for more.
enum { ITEMS = 3000, LARGE = 300000 };

// Hashes in fields of structs, which are gathered, and side by side.
static struct { uint64_t before, hash; } fields[2 * ITEMS];
static uint64_t hashes[2 * ITEMS];
static uint16_t values[2 * ITEMS];
static bool some[2 * ITEMS], others[2 * ITEMS];

static guira_filter *filter;
static guira_map *map;
static guira_expiring *expiring;
static size_t items;
// Whether the items of the expiring set have a time to live.
static bool timed;
static uint64_t generation, now;

static void number_all(size_t n, uint64_t first) {
    number(hashes, n, first);
    for (size_t i = 0; i < n; i++) fields[i].hash = hashes[i];
}

// Creates an object. A growing one may take no more bytes than it has at first.
#define CREATE(type)                                       \
    do {                                                   \
        guira_params params = params_of(items, growing);   \
        if (#type[0] == 'e' && timed) {                    \
            params.ttl_ns = 1000000;                       \
            params.clock = read_clock;                     \
            params.clock_context = &now;                   \
        } else if (#type[0] == 'e') {                      \
            params.window = 13;                            \
        }                                                  \
        type = type##_create(&params);                     \
        if (!growing) break;                               \
        params.max_bytes = type##_info(type).bytes;        \
        OK(guira_##type##_destroy(type));                  \
        type = type##_create(&params);                     \
    } while (0)

static void create_all(uint32_t growing) {
    CREATE(filter);
    CREATE(map);
    CREATE(expiring);
    generation = expiring_generation(expiring);
    for (uint64_t hash = 0; hash < items; hash++) {
        OK(guira_filter_insert(filter, hash));
        OK(guira_map_insert(map, hash, hash & 0xff));
        OK(guira_expiring_insert(expiring, hash, NULL));
    }
}

static void destroy_all(void) {
    OK(guira_filter_destroy(filter));
    OK(guira_map_destroy(map));
    OK(guira_expiring_destroy(expiring));
}

// The calls that allocate nothing, in groups. Each group is made on a thread that has called the
// library before, and then as the first calls of a new thread.

#define LOOKUPS(type)                                                                 \
    do {                                                                              \
        size_t n = 0;                                                                 \
        CHECK(type##_contains(type, 5) && type##_count(type, 5) > 0);                 \
        CHECK(type##_len(type) >= items && type##_info(type).bytes > 0);              \
        CHECK(type##_contains_mask(type, hashes, 8, 64) != 0);                        \
        CHECK(type##_contains_mask(type, &fields[0].hash, 16, 64) != 0);              \
        OK(guira_##type##_contains_batch(type, hashes, 8, 1000, some, &n));           \
        CHECK(n >= 32);                                                               \
        OK(guira_##type##_contains_batch(type, &fields[0].hash, 16, 1000, some, &n)); \
        CHECK(type##_hash(type, "a", 1) != 0);                                        \
        OK(guira_##type##_hash_batch(type, hashes, 8, 64, 8, out, 8));                \
    } while (0)

static void lookups(void) {
    uint64_t out[64], mask = 0;
    uint16_t value;
    bool found = false;
    size_t n = 0;
    number_all(1000, items - 32);
    LOOKUPS(filter);
    LOOKUPS(map);
    LOOKUPS(expiring);
    OK(guira_map_get(map, 5, &value, &found));
    CHECK(found && map_contains_value(map, 5, 5));
    OK(guira_map_get_mask(map, hashes, 8, 64, values, &mask));
    CHECK(mask != 0);
    OK(guira_map_get_batch(map, &fields[0].hash, 16, 1000, values, some, &n));
    CHECK(n >= 32);
    OK(guira_map_values(map, 5, values, 64, &n));
    CHECK(n > 0);
}

// Makes inserts of new items, `hash` and those behind it. A small object refuses the last ones.
#define INSERTS(call)                                                      \
    do {                                                                   \
        guira_status last = GUIRA_OK;                                      \
        for (uint64_t hash = items; hash < items + ITEMS; hash++) {        \
            last = (call);                                                 \
            CHECK(last == GUIRA_OK || last == GUIRA_ERR_FULL);             \
        }                                                                  \
        CHECK(last == GUIRA_ERR_FULL || items == LARGE);                   \
    } while (0)

static void filter_inserts(void) {
    INSERTS(guira_filter_insert(filter, hash));
    for (int i = 0; i < 100; i++) guira_filter_insert(filter, 17); // until there are too many
}

static void filter_unique_inserts(void) {
    bool is_new;
    INSERTS(guira_filter_insert_unique(filter, hash, &is_new));
}

static void map_inserts(void) { INSERTS(guira_map_insert(map, hash, 3)); }

static void map_unique_inserts(void) {
    uint16_t present;
    bool is_new;
    INSERTS(guira_map_insert_unique(map, hash, 4, &is_new, &present));
}

static void expiring_inserts(void) {
    INSERTS(guira_expiring_insert(expiring, hash, NULL));
    for (uint64_t hash = 0; hash < ITEMS; hash++) {
        guira_status last =
            timed ? guira_expiring_insert_for_ns(expiring, items + hash, 2, NULL)
                  : guira_expiring_insert_for_generations(expiring, items + hash, 2, NULL);
        CHECK(last != GUIRA_ERR_PANIC && last != GUIRA_ERR_LIFE);
    }
}

static void expiring_unique_inserts(void) {
    bool is_new;
    INSERTS(guira_expiring_insert_unique(expiring, hash, &is_new, NULL));
}

static void expiring_refreshing_inserts(void) {
    bool is_new;
    INSERTS(guira_expiring_insert_or_refresh(expiring, hash, &is_new));
}

// Checks an insert of 64 items, which a removal makes room for.
#define BATCH(removals, call) \
    do {                      \
        removals;             \
        OK(call);             \
        EQUAL(n, 64);         \
    } while (0)

// Batches that refuse nothing.
static void batches(void) {
    size_t n;
    const uint64_t *at = &fields[0].hash;
    number_all(64, 0);
    for (int i = 0; i < 64; i++) values[i] = i;
#define REMOVE OK(guira_filter_remove_batch(filter, hashes, 8, 64, some, &n))
    BATCH(REMOVE, guira_filter_insert_batch(filter, hashes, 8, 64, some, &n));
    BATCH(REMOVE, guira_filter_insert_batch(filter, at, 16, 64, some, &n));
    BATCH(REMOVE, guira_filter_insert_unique_batch(filter, hashes, 8, 64, some, others, &n));
    BATCH(OK(guira_map_remove_batch(map, at, 16, 64, values, some, &n)),
          guira_map_insert_batch(map, at, 16, 64, values, some, &n));
#define EXPIRE for (int i = 0; i < 64; i++) CHECK(expiring_remove(expiring, i, generation))
    BATCH(EXPIRE, guira_expiring_insert_batch(expiring, at, 16, 64, some, &n));
    BATCH(EXPIRE, guira_expiring_insert_unique_batch(expiring, at, 16, 64, some, others, &n));
    BATCH(EXPIRE, guira_expiring_insert_or_refresh_batch(expiring, at, 16, 64, some, others, &n));
}

static void masks(void) {
    uint64_t inserted, refused = 0, found;
    for (uint64_t first = items - 64; first < items + ITEMS; first += 64) {
        number_all(64, first);
        guira_filter_insert_unique_mask(filter, hashes, 8, 64, &inserted, &refused);
        guira_expiring_insert_unique_mask(expiring, &fields[0].hash, 16, 64, &inserted, NULL);
        guira_expiring_insert_or_refresh_mask(expiring, hashes, 8, 64, &inserted, NULL);
        OK(guira_expiring_refresh_mask(expiring, hashes, 8, 64, &found));
    }
    CHECK(refused != 0 || items == LARGE);
}

static void removals(void) {
    for (uint64_t hash = 0; hash < 100; hash++) {
        CHECK(filter_remove(filter, hash));
        CHECK(map_replace(map, hash, hash, 1) && map_remove(map, hash, 1));
        CHECK(expiring_refresh(expiring, hash + 100));
        CHECK(expiring_remove(expiring, hash, generation));
    }
}

static void generations(void) {
    for (int i = 0; i < 20; i++) {
        now += 200000; // more than a generation
        OK(guira_expiring_sweep(expiring, 100, NULL));
        CHECK(expiring_advance(expiring) > generation);
        guira_expiring_insert(expiring, i, NULL);
    }
}

static void clears(void) {
    OK(guira_filter_clear(filter));
    OK(guira_map_clear(map));
    OK(guira_expiring_clear(expiring));
}

#define GROUP(name) {#name, name}
static const struct group {
    const char *name;
    void (*calls)(void);
} GROUPS[] = {
    GROUP(lookups), GROUP(filter_inserts), GROUP(filter_unique_inserts), GROUP(map_inserts),
    GROUP(map_unique_inserts), GROUP(expiring_inserts), GROUP(expiring_unique_inserts),
    GROUP(expiring_refreshing_inserts), GROUP(batches), GROUP(masks), GROUP(removals),
    GROUP(generations), GROUP(clears),
};

static bool failed;

static void *make(void *group) {
    const struct group *calls = group;
    watch(0, 0);
    calls->calls();
    watched = false;
    if (count > 0) {
        printf("%s of %zu items%s: %ld allocations\n", calls->name, items,
               timed ? ", timed" : "", count);
        failed = true;
    }
    return NULL;
}

static void allocate_nothing(size_t capacity, uint32_t growing) {
    items = capacity;
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++) {
        struct group group = GROUPS[i];
        create_all(growing);
        make(&group);
        destroy_all();
        create_all(growing);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, make, &group) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        destroy_all();
    }
}

int main(void) {
    keep_messages();
    for (uint32_t growing = 0; growing < 2; growing++) {
        for (int i = 0; i < 2; i++) {
            timed = i == 1;
            allocate_nothing(ITEMS, growing);
            if (!timed) allocate_nothing(LARGE, growing);
        }
    }
    return heard_messages() || failed;
}
