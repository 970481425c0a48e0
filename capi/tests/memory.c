// What allocates nothing: lookups, inserts, removals, masks, batches, sweeps, advances, and clears.

#define _GNU_SOURCE
#include <pthread.h>

#include "allocator.h"

// One object of each type, full: capacity for so many items, of which all were tried.
enum { ITEMS = 3000, LARGE = 300000 };

// Hashes in fields of structs, which are gathered, and side by side.
static struct { uint64_t before, hash; } fields[2 * ITEMS];
static uint64_t hashes[2 * ITEMS];
static uint16_t values[2 * ITEMS];
static bool some[2 * ITEMS], others[2 * ITEMS];

static struct {
    guira_filter *filters[2];
    guira_map *maps[2];
    guira_expiring *expiring;
    size_t items;
    uint64_t generation;
} all;

static void number_all(size_t n, uint64_t first) {
    number(hashes, n, first);
    for (size_t i = 0; i < n; i++) fields[i].hash = hashes[i];
}

static void create_all(size_t capacity) {
    all.items = capacity;
    for (uint32_t growing = 0; growing < 2; growing++) {
        guira_params params = params_of(capacity, growing), of_map = params;
        if (growing) {
            // The bytes with which a growing object stays as it is.
            all.filters[1] = filter_create(&params), all.maps[1] = map_create(&params);
            params.max_bytes = filter_info(all.filters[1]).bytes;
            of_map.max_bytes = map_info(all.maps[1]).bytes;
            OK(guira_filter_destroy(all.filters[1]));
            OK(guira_map_destroy(all.maps[1]));
        }
        all.filters[growing] = filter_create(&params);
        all.maps[growing] = map_create(&of_map);
    }
    guira_params params = guira_params_init(capacity);
    params.time_to_live = 1000000;
    all.expiring = expiring_create(&params);
    all.generation = expiring_generation(all.expiring);
    for (uint64_t hash = 0; hash < capacity; hash++) {
        for (int i = 0; i < 2; i++) {
            OK(guira_filter_insert(all.filters[i], hash));
            OK(guira_map_insert(all.maps[i], hash, hash & 0xff));
        }
        OK(guira_expiring_insert(all.expiring, hash, NULL));
    }
}

static void destroy_all(void) {
    for (int i = 0; i < 2; i++) {
        OK(guira_filter_destroy(all.filters[i]));
        OK(guira_map_destroy(all.maps[i]));
    }
    OK(guira_expiring_destroy(all.expiring));
}

// The calls that allocate nothing, in groups. Each group is made on a thread that has called the
// library before, and then as the first calls of a new thread.

#define LOOKUPS(type, object)                                                           \
    do {                                                                                \
        uint64_t mask = 0, hash;                                                        \
        size_t n = 0;                                                                   \
        CHECK(type##_contains(object, 5) && type##_count(object, 5) > 0);               \
        CHECK(type##_len(object) >= all.items && type##_info(object).bytes > 0);        \
        OK(guira_##type##_contains_mask(object, hashes, 8, 64, &mask));                 \
        CHECK(mask != 0);                                                               \
        OK(guira_##type##_contains_mask(object, &fields[0].hash, 16, 64, &mask));       \
        OK(guira_##type##_contains_batch(object, hashes, 8, 1000, some, &n));           \
        CHECK(n >= 32);                                                                 \
        OK(guira_##type##_contains_batch(object, &fields[0].hash, 16, 1000, some, &n)); \
        OK(guira_##type##_hash(object, "a", 1, &hash));                                 \
        OK(guira_##type##_hash_batch(object, hashes, 8, 64, 8, out, 8));                \
    } while (0)

static void lookups(void) {
    uint64_t out[64], mask = 0;
    uint16_t value;
    bool found = false;
    size_t n = 0;
    number_all(1000, all.items - 32);
    for (int i = 0; i < 2; i++) {
        LOOKUPS(filter, all.filters[i]);
        LOOKUPS(map, all.maps[i]);
        OK(guira_map_get(all.maps[i], 5, &value, &found));
        CHECK(found && map_contains_value(all.maps[i], 5, 5));
        OK(guira_map_get_mask(all.maps[i], hashes, 8, 64, values, &mask));
        CHECK(mask != 0);
        OK(guira_map_get_batch(all.maps[i], &fields[0].hash, 16, 1000, values, some, &n));
        CHECK(n >= 32);
        OK(guira_map_values(all.maps[i], 5, values, 64, &n));
        CHECK(n > 0);
    }
    LOOKUPS(expiring, all.expiring);
}

static guira_status last;

static void filter_inserts(void) {
    for (int i = 0; i < 2; i++) {
        for (uint64_t hash = all.items; hash < all.items + ITEMS; hash++) {
            last = guira_filter_insert(all.filters[i], hash);
            CHECK(last == GUIRA_OK || last == GUIRA_ERR_FULL);
            guira_filter_insert(all.filters[i], 17); // until there are too many
        }
        CHECK(last == GUIRA_ERR_FULL || all.items == LARGE);
    }
}

static void filter_unique_inserts(void) {
    bool is_new;
    for (int i = 0; i < 2; i++) {
        for (uint64_t hash = all.items; hash < all.items + ITEMS; hash++) {
            last = guira_filter_insert_unique(all.filters[i], hash, &is_new);
            CHECK(last == GUIRA_OK || last == GUIRA_ERR_FULL);
        }
    }
}

static void map_inserts(void) {
    uint16_t present;
    bool is_new;
    for (int i = 0; i < 2; i++) {
        for (uint64_t hash = all.items; hash < all.items + ITEMS; hash += 2) {
            last = guira_map_insert(all.maps[i], hash, 3);
            CHECK(last == GUIRA_OK || last == GUIRA_ERR_FULL);
            last = guira_map_insert_unique(all.maps[i], hash + 1, 4, &is_new, &present);
            CHECK(last == GUIRA_OK || last == GUIRA_ERR_FULL);
        }
    }
}

static void expiring_inserts(void) {
    bool answer;
    for (uint64_t hash = all.items; hash < all.items + ITEMS; hash += 2) {
        last = guira_expiring_insert(all.expiring, hash, NULL);
        CHECK(last == GUIRA_OK || last == GUIRA_ERR_FULL);
        last = guira_expiring_insert_for(all.expiring, hash, 2, NULL);
        CHECK(last != GUIRA_ERR_PANIC && last != GUIRA_ERR_LIFE);
        last = guira_expiring_insert_unique(all.expiring, hash + 1, &answer, NULL);
        CHECK(last == GUIRA_OK || last == GUIRA_ERR_FULL);
        OK(guira_expiring_insert_evicting(all.expiring, hash + ITEMS, &answer));
    }
}

// Checks an insert of many items, at least one of which a small object refuses.
#define INSERTS(call)                                                               \
    do {                                                                            \
        n = SIZE_MAX, last = (call);                                                \
        CHECK(last == GUIRA_ERR_FULL || (last == GUIRA_OK && all.items == LARGE));  \
        CHECK(n < len || (n == len && all.items == LARGE));                         \
    } while (0)

static void batches(void) {
    size_t n, len = 2 * ITEMS;
    const uint64_t *at = &fields[0].hash;
    number_all(len, all.items - ITEMS / 2);
    for (int i = 0; i < 2; i++) {
        guira_filter *filter = all.filters[i];
        if (i == 0) INSERTS(guira_filter_insert_batch(filter, hashes, 8, len, some, &n));
        if (i == 1) INSERTS(guira_filter_insert_batch(filter, at, 16, len, some, &n));
        INSERTS(guira_filter_insert_unique_batch(filter, hashes, 8, len, some, others, &n));
        INSERTS(guira_map_insert_batch(all.maps[i], at, 16, len, values, some, &n));
        OK(guira_filter_remove_batch(filter, hashes, 8, 2, some, &n));
        EQUAL(n, 2);
        OK(guira_map_remove_batch(all.maps[i], at, 16, len, values, some, &n));
        CHECK(n > 0);
    }
    INSERTS(guira_expiring_insert_batch(all.expiring, at, 16, len, NULL, some, &n));
    INSERTS(guira_expiring_insert_unique_batch(all.expiring, at, 16, len, some, others, &n));
}

static void masks(void) {
    uint64_t inserted, refused = 0, found;
    for (uint64_t first = all.items - 64; first < all.items + ITEMS; first += 64) {
        number_all(64, first);
        for (int i = 0; i < 2; i++) {
            guira_filter_insert_unique_mask(all.filters[i], hashes, 8, 64, &inserted, &refused);
        }
        guira_expiring_insert_unique_mask(all.expiring, &fields[0].hash, 16, 64, &inserted, NULL);
        OK(guira_expiring_refresh_mask(all.expiring, hashes, 8, 64, &found));
    }
    CHECK(refused != 0 || all.items == LARGE);
}

static void removals(void) {
    bool answer = false;
    for (uint64_t hash = 0; hash < 100; hash++) {
        for (int i = 0; i < 2; i++) {
            CHECK(filter_remove(all.filters[i], hash));
            OK(guira_map_replace(all.maps[i], hash, hash, 1, &answer));
            CHECK(answer && map_remove(all.maps[i], hash, 1));
        }
        OK(guira_expiring_refresh(all.expiring, hash + 100, &answer));
        CHECK(answer);
        OK(guira_expiring_remove(all.expiring, hash, all.generation, &answer));
        CHECK(answer);
    }
}

static void generations(void) {
    uint64_t now = 0;
    for (int i = 0; i < 20; i++) {
        CHECK(expiring_advance(all.expiring) > all.generation);
        now += 1000000;
        OK(guira_expiring_tick(all.expiring, read_clock, &now, NULL));
        OK(guira_expiring_advance_to(all.expiring, read_clock, &now, NULL));
        OK(guira_expiring_sweep(all.expiring, 100, NULL));
        guira_expiring_insert(all.expiring, i, NULL);
    }
}

static void clears(void) {
    for (int i = 0; i < 2; i++) {
        OK(guira_filter_clear(all.filters[i]));
        OK(guira_map_clear(all.maps[i]));
    }
    OK(guira_expiring_clear(all.expiring));
}

static const struct group {
    const char *name;
    void (*calls)(void);
} GROUPS[] = {
    {"lookups", lookups},
    {"inserts into filters", filter_inserts},
    {"unique inserts into filters", filter_unique_inserts},
    {"inserts into maps", map_inserts},
    {"inserts into expiring sets", expiring_inserts},
    {"batches", batches},
    {"masks", masks},
    {"removals", removals},
    {"generations", generations},
    {"clears", clears},
};

static bool failed;

static void *make(void *group) {
    const struct group *calls = group;
    watch(0, 0);
    calls->calls();
    watched = false;
    if (count > 0) {
        printf("%s of %zu items: %ld allocations\n", calls->name, all.items, count);
        failed = true;
    }
    return NULL;
}

static void allocate_nothing(size_t capacity) {
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++) {
        struct group group = GROUPS[i];
        create_all(capacity);
        make(&group);
        destroy_all();
        create_all(capacity);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, make, &group) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        destroy_all();
    }
}

int main(void) {
    keep_messages();
    allocate_nothing(ITEMS);
    allocate_nothing(LARGE);
    return heard_messages() || failed;
}
