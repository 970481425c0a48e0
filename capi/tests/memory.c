// What allocates nothing: lookups, inserts, removals, bursts, bulk calls, sweeps, advances, clears,
// and shrinking.

#define _GNU_SOURCE
#include <pthread.h>

#include "allocator.h"

// One object of each type, full: capacity for so many items, of which all were tried.
enum { ITEMS = 3000, LARGE = 300000 };

static struct {
    guira_filter *sets[2];
    guira_map *maps[2];
    guira_expiring *expiring;
    size_t items;
    uint64_t generation;
} all;

static guira_filter *create_set(size_t capacity, uint32_t growing, uint64_t max_bytes) {
    guira_filter_params params = GUIRA_FILTER_PARAMS_INIT;
    params.capacity = capacity, params.growing = growing, params.max_bytes = max_bytes;
    params.seed = 1;
    guira_filter *set = NULL;
    EQUAL(guira_create(&params, &set), 0);
    return set;
}

static guira_map *create_map(size_t capacity, uint32_t growing, uint64_t max_bytes) {
    guira_map_params params = GUIRA_MAP_PARAMS_INIT;
    params.capacity = capacity, params.growing = growing, params.max_bytes = max_bytes;
    params.seed = 1;
    guira_map *map = NULL;
    EQUAL(guira_map_create(&params, &map), 0);
    return map;
}

static guira_expiring *create_expiring(size_t capacity) {
    guira_expiring_params params = GUIRA_EXPIRING_PARAMS_INIT;
    params.capacity = capacity;
    params.time_to_live = 1000000;
    guira_expiring *expiring = NULL;
    EQUAL(guira_expiring_create(&params, &expiring), 0);
    return expiring;
}

// The bytes with which a growing object stays as it is.
static uint64_t bytes_of_set(size_t capacity) {
    guira_info info = GUIRA_INFO_INIT;
    guira_filter *set = create_set(capacity, 1, 0);
    EQUAL(guira_get_info(set, &info), 0);
    guira_destroy(set);
    return info.bytes;
}

static uint64_t bytes_of_map(size_t capacity) {
    guira_info info = GUIRA_INFO_INIT;
    guira_map *map = create_map(capacity, 1, 0);
    EQUAL(guira_map_get_info(map, &info), 0);
    guira_map_destroy(map);
    return info.bytes;
}

static void create_all(size_t capacity) {
    all.items = capacity;
    for (uint32_t growing = 0; growing < 2; growing++) {
        all.sets[growing] = create_set(capacity, growing, growing ? bytes_of_set(capacity) : 0);
        all.maps[growing] = create_map(capacity, growing, growing ? bytes_of_map(capacity) : 0);
    }
    all.expiring = create_expiring(capacity);
    all.generation = guira_generation(all.expiring);
    for (uint64_t hash = 0; hash < capacity; hash++) {
        for (int i = 0; i < 2; i++) {
            EQUAL(guira_insert(all.sets[i], hash), 0);
            EQUAL(guira_map_insert(all.maps[i], hash, hash & 0xff), 0);
        }
        EQUAL(guira_expiring_insert(all.expiring, hash, NULL), 0);
    }
}

static void destroy_all(void) {
    for (int i = 0; i < 2; i++) guira_destroy(all.sets[i]), guira_map_destroy(all.maps[i]);
    guira_expiring_destroy(all.expiring);
}

// The calls that allocate nothing, in groups. Each group is made on a thread that has called the
// library before, and then as the first calls of a new thread.

static void lookups(void) {
    uint64_t hashes[64], out[64];
    uint16_t values[64];
    bool found[64];
    number(hashes, 64, all.items - 32);
    for (int i = 0; i < 2; i++) {
        CHECK(guira_contains(all.sets[i], 5) == 1 && guira_contains_key(all.sets[i], "a", 1) >= 0);
        CHECK(guira_count(all.sets[i], 5) > 0 && guira_len(all.sets[i]) >= all.items);
        CHECK(guira_contains_mask(all.sets[i], hashes, 64) != 0);
        CHECK(guira_contains_bulk(all.sets[i], hashes, 64, found) >= 32);
        CHECK(guira_hash_bulk(all.sets[i], hashes, 64, 8, out) == 0);
        CHECK(guira_map_contains(all.maps[i], 5) == 1 && guira_get(all.maps[i], 5, values) == 1);
        CHECK(guira_map_contains_mask(all.maps[i], hashes, 64) != 0);
        CHECK(guira_map_contains_bulk(all.maps[i], hashes, 64, found) >= 32);
        CHECK(guira_get_mask(all.maps[i], hashes, 64, values) != 0);
        CHECK(guira_get_bulk(all.maps[i], hashes, 64, values, found) >= 32);
        CHECK(guira_values(all.maps[i], 5, values, 64) > 0);
        CHECK(guira_contains_value(all.maps[i], 5, 5) == 1 && guira_map_count(all.maps[i], 5) > 0);
    }
    CHECK(guira_expiring_contains(all.expiring, 5) == 1);
    CHECK(guira_expiring_count(all.expiring, 5) > 0);
    CHECK(guira_expiring_contains_mask(all.expiring, hashes, 64) != 0);
    CHECK(guira_expiring_contains_bulk(all.expiring, hashes, 64, found) >= 32);
    guira_info info = GUIRA_INFO_INIT;
    CHECK(guira_get_info(all.sets[1], &info) == 0 && info.next_growth_bytes == 0);
}

static int last_code;

static void set_inserts(void) {
    for (int i = 0; i < 2; i++) {
        for (uint64_t hash = all.items; hash < all.items + ITEMS; hash++) {
            last_code = guira_insert(all.sets[i], hash);
            CHECK(last_code == 0 || last_code == GUIRA_ERR_FULL);
            guira_insert(all.sets[i], 17); // until there are too many
        }
        CHECK(last_code == GUIRA_ERR_FULL || all.items == LARGE);
    }
}

static void set_unique_inserts(void) {
    for (int i = 0; i < 2; i++) {
        for (uint64_t hash = all.items; hash < all.items + ITEMS; hash++) {
            last_code = guira_insert_unique(all.sets[i], hash);
            CHECK(last_code >= 0 || last_code == GUIRA_ERR_FULL);
        }
        CHECK(guira_insert_unique_key(all.sets[i], "a", 1) != GUIRA_ERR_PANIC);
    }
}

static void map_inserts(void) {
    uint16_t found;
    for (int i = 0; i < 2; i++) {
        for (uint64_t hash = all.items; hash < all.items + ITEMS; hash += 2) {
            last_code = guira_map_insert(all.maps[i], hash, 3);
            CHECK(last_code == 0 || last_code == GUIRA_ERR_FULL);
            last_code = guira_get_or_insert(all.maps[i], hash + 1, 4, &found);
            CHECK(last_code >= 0 || last_code == GUIRA_ERR_FULL);
        }
    }
}

static void expiring_inserts(void) {
    for (uint64_t hash = all.items; hash < all.items + ITEMS; hash += 2) {
        last_code = guira_expiring_insert(all.expiring, hash, NULL);
        CHECK(last_code == 0 || last_code == GUIRA_ERR_FULL);
        CHECK(guira_insert_for(all.expiring, hash, 2, NULL) <= 0);
        last_code = guira_expiring_insert_unique(all.expiring, hash + 1, NULL);
        CHECK(last_code >= 0 || last_code == GUIRA_ERR_FULL);
        CHECK(guira_insert_evicting(all.expiring, hash + ITEMS) >= 0);
    }
}

static uint64_t hashes[2 * ITEMS];
static uint16_t values[2 * ITEMS];
static bool some[2 * ITEMS], others[2 * ITEMS];

static void bulks(void) {
    size_t n = 2 * ITEMS;
    int64_t added, most = (int64_t)n - (all.items == ITEMS);
    number(hashes, n, all.items - ITEMS / 2);
    for (int i = 0; i < 2; i++) {
        added = guira_insert_bulk(all.sets[i], hashes, n, some);
        CHECK(added > 0 && added <= most);
        added = guira_insert_unique_bulk(all.sets[i], hashes, n, some, others);
        CHECK(added >= 0 && added <= most);
        added = guira_map_insert_bulk(all.maps[i], hashes, values, n, some);
        CHECK(added > 0 && added <= most);
        CHECK(guira_remove_bulk(all.sets[i], hashes, 2, some) == 2);
        CHECK(guira_map_remove_bulk(all.maps[i], hashes, values, n, some) > 0);
    }
    added = guira_expiring_insert_bulk(all.expiring, hashes, n, NULL, some);
    CHECK(added > 0 && added <= most);
    added = guira_expiring_insert_unique_bulk(all.expiring, hashes, n, some, others);
    CHECK(added >= 0 && added <= most);
}

static void masks(void) {
    uint64_t refused;
    for (uint64_t first = all.items - 64; first < all.items + ITEMS; first += 64) {
        number(hashes, 64, first);
        for (int i = 0; i < 2; i++) guira_insert_unique_mask(all.sets[i], hashes, 64, &refused);
        guira_expiring_insert_unique_mask(all.expiring, hashes, 64, &refused);
        guira_refresh_mask(all.expiring, hashes, 64);
    }
    CHECK(refused != 0 || all.items == LARGE);
    number(hashes, 64, 0);
    for (int i = 0; i < 2; i++) EQUAL(guira_remove_mask(all.sets[i], hashes, 64), -1LL);
}

static void removals(void) {
    for (uint64_t hash = 0; hash < 100; hash++) {
        for (int i = 0; i < 2; i++) {
            EQUAL(guira_remove(all.sets[i], hash), 1);
            EQUAL(guira_replace(all.maps[i], hash, hash, 1), 1);
            EQUAL(guira_map_remove(all.maps[i], hash, 1), 1);
        }
        CHECK(guira_refresh(all.expiring, hash + 100) == 1);
        EQUAL(guira_expiring_remove(all.expiring, hash, all.generation), 1);
    }
}

static uint64_t read_clock(void *now) { return *(uint64_t *)now; }

static void generations(void) {
    uint64_t now = 0;
    for (int i = 0; i < 20; i++) {
        CHECK(guira_advance(all.expiring) > all.generation);
        now += 1000000;
        guira_tick(all.expiring, read_clock, &now);
        guira_advance_to(all.expiring, read_clock, &now);
        guira_sweep(all.expiring, 100);
        guira_expiring_insert(all.expiring, i, NULL);
    }
}

static void clears(void) {
    for (int i = 0; i < 2; i++) {
        EQUAL(guira_clear(all.sets[i]), 0);
        EQUAL(guira_map_clear(all.maps[i]), 0);
    }
    EQUAL(guira_expiring_clear(all.expiring), 0);
}

static const struct group {
    const char *name;
    void (*calls)(void);
} GROUPS[] = {
    {"lookups", lookups},
    {"inserts into sets", set_inserts},
    {"unique inserts into sets", set_unique_inserts},
    {"inserts into maps", map_inserts},
    {"inserts into expiring sets", expiring_inserts},
    {"bulk calls", bulks},
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

// Objects of several segments: a key with more values than a pair of buckets holds, and shrinking.
static void segments(void) {
    guira_map *map = create_map(ITEMS, 1, 0);
    guira_filter *set = create_set(ITEMS, 1, 0);
    uint16_t many[256];
    uint64_t released = 0;
    for (uint64_t hash = 0; hash < 20 * ITEMS; hash++) {
        EQUAL(guira_map_insert(map, hash, 1), 0);
        EQUAL(guira_insert(set, hash), 0);
        if (hash % 500 == 0) guira_map_insert(map, 7, hash / 500 + 2);
    }
    watch(0, 0);
    CHECK(guira_values(map, 7, many, 256) > 12);
    for (uint64_t hash = 2 * ITEMS; hash < 20 * ITEMS; hash++) {
        CHECK(guira_map_remove(map, hash, 1) == 1 && guira_remove(set, hash) == 1);
    }
    CHECK(guira_map_shrink_to_fit(map, &released) == 0 && released > 0);
    CHECK(guira_shrink_to_fit(set, &released) == 0 && released > 0);
    watched = false;
    if (count > 0) {
        printf("shrinking: %ld allocations\n", count);
        failed = true;
    }
    for (uint64_t hash = 0; hash < 2 * ITEMS; hash++) {
        CHECK(guira_map_contains(map, hash) == 1 && guira_contains(set, hash) == 1);
    }
    guira_map_destroy(map);
    guira_destroy(set);
}

int main(void) {
    keep_messages();
    allocate_nothing(ITEMS);
    allocate_nothing(LARGE);
    segments();
    return heard_messages() || failed;
}
