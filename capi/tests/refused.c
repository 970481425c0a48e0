// What happens if memory is refused: an error that is not "full", and nothing changes.
// `refused FOLDER`

#define _GNU_SOURCE
#include "allocator.h"

enum { ITEMS = 3000 };

static char path[4096];
static uint8_t bytes[1 << 20];
static struct stream saved = {.bytes = bytes, .fails_at = SIZE_MAX};

// Unlike `write_stream`, this allocates nothing.
static int write_bytes(void *context, const void *more, size_t len) {
    struct stream *stream = context;
    CHECK(stream->len + len <= sizeof bytes);
    memcpy(stream->bytes + stream->len, more, len);
    stream->len += len;
    return 0;
}

// The objects of the test. Those of index 1 grow.
static guira_filter *sets[2], *other_sets[2], *new_set;
static guira_map *maps[2], *other_maps[2], *new_map;
static guira_expiring *expiring, *new_expiring;
static uint32_t growing;

static guira_filter *create_set(uint32_t grows) {
    guira_filter_params params = GUIRA_FILTER_PARAMS_INIT;
    params.capacity = ITEMS, params.growing = grows, params.seed = 1, params.writers = 8;
    guira_filter *set = NULL;
    int code = guira_create(&params, &set);
    CHECK((code == 0) == (set != NULL) && (code == 0 || code == GUIRA_ERR_NO_MEMORY));
    return set;
}

static guira_map *create_map(uint32_t grows) {
    guira_map_params params = GUIRA_MAP_PARAMS_INIT;
    params.capacity = ITEMS, params.growing = grows, params.seed = 1;
    guira_map *map = NULL;
    int code = guira_map_create(&params, &map);
    CHECK((code == 0) == (map != NULL) && (code == 0 || code == GUIRA_ERR_NO_MEMORY));
    return map;
}

static int create_expiring(void) {
    guira_expiring_params params = GUIRA_EXPIRING_PARAMS_INIT;
    params.capacity = ITEMS;
    return guira_expiring_create(&params, &new_expiring);
}

static int created(bool is_there) { return is_there ? 0 : GUIRA_ERR_NO_MEMORY; }

// The operations that allocate.
static int set_create(void) { return created((new_set = create_set(growing)) != NULL); }
static int map_create(void) { return created((new_map = create_map(growing)) != NULL); }
static int set_clone(void) { return guira_clone(sets[growing], &new_set); }
static int map_clone(void) { return guira_map_clone(maps[growing], &new_map); }
static int expiring_clone(void) { return guira_expiring_clone(expiring, &new_expiring); }
static int set_save(void) { return guira_save(sets[growing], path); }
static int map_save(void) { return guira_map_save(maps[growing], path); }
static int expiring_save(void) { return guira_expiring_save(expiring, path); }
static int set_load(void) { return guira_load(path, &new_set); }
static int map_load(void) { return guira_map_load(path, &new_map); }
static int expiring_load(void) { return guira_expiring_load(path, &new_expiring); }

static int set_save_to(void) {
    saved.len = 0;
    return guira_save_to(sets[growing], write_bytes, &saved);
}

static int map_save_to(void) {
    saved.len = 0;
    return guira_map_save_to(maps[growing], write_bytes, &saved);
}

static int expiring_save_to(void) {
    saved.len = 0;
    return guira_expiring_save_to(expiring, write_bytes, &saved);
}

static int set_load_from(void) {
    saved.at = 0;
    return guira_load_from(read_stream, &saved, &new_set);
}

static int map_load_from(void) {
    saved.at = 0;
    return guira_map_load_from(read_stream, &saved, &new_map);
}

static int expiring_load_from(void) {
    saved.at = 0;
    return guira_expiring_load_from(read_stream, &saved, &new_expiring);
}

static int set_merge(void) { return guira_merge(new_set, other_sets[growing]); }
static int map_merge(void) { return guira_map_merge(new_map, other_maps[growing]); }

// An item that does not fit unless its object grows.
static uint64_t next;

static int set_insert(void) { return guira_insert(sets[1], next); }
static int set_insert_unique(void) { return guira_insert_unique(sets[1], next); }
static int map_insert(void) { return guira_map_insert(maps[1], next, 3); }
static int map_get_or_insert(void) { return guira_get_or_insert(maps[1], next, 3, NULL); }

// What the operations must leave as it is.
static void check_all(uint64_t items) {
    for (int i = 0; i < 2; i++) {
        for (uint64_t hash = 0; hash < ITEMS; hash++) {
            EQUAL(guira_contains(sets[i], hash), 1);
            EQUAL(guira_map_contains(maps[i], hash), 1);
        }
    }
    for (uint64_t hash = 0; hash < ITEMS; hash++) EQUAL(guira_expiring_contains(expiring, hash), 1);
    EQUAL(guira_len(sets[1]) + guira_map_len(maps[1]), items);
    EQUAL(guira_len(sets[0]) + guira_map_len(maps[0]), 2 * ITEMS);
    EQUAL(guira_expiring_len(expiring), ITEMS);
}

static void destroy_new(void) {
    guira_destroy(new_set);
    guira_map_destroy(new_map);
    guira_expiring_destroy(new_expiring);
    new_set = NULL, new_map = NULL, new_expiring = NULL;
}

static bool failed;

// Calls an operation again and again, and refuses another one of its allocations each time, first
// that one alone and then all from it on, until it succeeds. `before` makes what it needs.
static void refuse_each(const char *name, void (*before)(void), int (*operation)(void)) {
    uint64_t items = guira_len(sets[1]) + guira_map_len(maps[1]);
    long refusals = 0;
    for (int all = 0; all < 2; all++) {
        for (long number = 0;; number++) {
            if (before != NULL) before();
            watch(number, all ? LONG_MAX : number + 1);
            int code = operation();
            watched = false;
            bool succeeded = code >= 0 && count <= number;
            if (!succeeded) {
                refusals++;
                // A merge that may not append a segment may find room in the others.
                bool merged = code == 0 && before != NULL;
                if (code != GUIRA_ERR_NO_MEMORY && !merged) {
                    printf("%s, %u, without allocation %ld: %d\n", name, growing, number, code);
                    failed = true;
                    destroy_new();
                    return;
                }
                if (before == NULL) CHECK(!new_set && !new_map && !new_expiring);
                check_all(items);
            }
            // An insert that succeeds has changed its object, so it is not made again.
            bool changed = guira_len(sets[1]) + guira_map_len(maps[1]) > items;
            bool last = succeeded && (all == 1 || changed);
            destroy_new();
            if (last) {
                CHECK(refusals > 0);
                return;
            }
            if (succeeded) break;
        }
    }
}

// Calls an operation that inserts items into a growing object, one after the other. Refuses each
// allocation of an insert that needs another segment.
static void refuse_growth(const char *name, int (*insert)(void), int growths) {
    for (; growths > 0; growths--) {
        for (;; next++) {
            watch(0, LONG_MAX);
            int code = insert();
            watched = false;
            if (code == GUIRA_ERR_NO_MEMORY) break;
            if (code < 0) {
                printf("%s: %d\n", name, code);
                failed = true;
                return;
            }
        }
        refuse_each(name, NULL, insert);
    }
}

static void new_objects(void) {
    new_set = create_set(growing);
    new_map = create_map(growing);
    CHECK(guira_insert(new_set, 5) == 0 && guira_map_insert(new_map, 5, 5) == 0);
}

// A batch beside refusals: what is not refused is inserted.
static void bulk(void) {
    enum { N = 9 * ITEMS };
    static uint64_t hashes[N];
    static bool refused[N];
    uint64_t mask = 0;
    guira_filter *set = create_set(1);
    number(hashes, N, 0);
    watch(0, LONG_MAX);
    int64_t inserted = guira_insert_bulk(set, hashes, N, refused);
    uint64_t added = guira_insert_unique_mask(set, hashes + N - 64, 64, &mask);
    watched = false;
    CHECK(inserted >= ITEMS && inserted < N);
    for (size_t i = 0; i < N; i++) {
        inserted -= !refused[i];
        if (!refused[i]) EQUAL(guira_contains(set, hashes[i]), 1);
    }
    EQUAL(inserted, 0);
    CHECK(mask != 0 && (added & mask) == 0);
    EQUAL(guira_insert_bulk(set, hashes, N, NULL), N);
    guira_destroy(set);
}

int main(int argc, char **argv) {
    CHECK(argc == 2 && snprintf(path, sizeof path, "%s/refused", argv[1]) < (int)sizeof path);
    keep_messages();
    EQUAL(create_expiring(), 0);
    expiring = new_expiring, new_expiring = NULL;
    for (growing = 0; growing < 2; growing++) {
        sets[growing] = create_set(growing), maps[growing] = create_map(growing);
        other_sets[growing] = create_set(growing), other_maps[growing] = create_map(growing);
    }
    for (uint64_t hash = 0; hash < ITEMS; hash++) {
        for (int i = 0; i < 2; i++) {
            CHECK(guira_insert(sets[i], hash) == 0 && guira_map_insert(maps[i], hash, 1) == 0);
        }
        EQUAL(guira_expiring_insert(expiring, hash, NULL), 0);
    }
    // So that a merge appends segments.
    for (uint64_t hash = 0; hash < 5 * ITEMS; hash++) {
        EQUAL(guira_insert(other_sets[1], hash), 0);
        EQUAL(guira_map_insert(other_maps[1], hash, 1), 0);
    }
    // So that there is room in the first segment.
    for (uint64_t hash = 0; hash < ITEMS / 3; hash++) {
        EQUAL(guira_remove(other_sets[1], hash), 1);
        EQUAL(guira_map_remove(other_maps[1], hash, 1), 1);
    }
    for (growing = 0; growing < 2; growing++) {
        refuse_each("set: create", NULL, set_create);
        refuse_each("set: clone", NULL, set_clone);
        refuse_each("set: save to", NULL, set_save_to);
        refuse_each("set: load from", NULL, set_load_from);
        refuse_each("set: save", NULL, set_save);
        refuse_each("set: load", NULL, set_load);
        refuse_each("set: merge", new_objects, set_merge);
        refuse_each("map: create", NULL, map_create);
        refuse_each("map: clone", NULL, map_clone);
        refuse_each("map: save to", NULL, map_save_to);
        refuse_each("map: load from", NULL, map_load_from);
        refuse_each("map: save", NULL, map_save);
        refuse_each("map: load", NULL, map_load);
        refuse_each("map: merge", new_objects, map_merge);
    }
    refuse_each("expiring set: create", NULL, create_expiring);
    refuse_each("expiring set: clone", NULL, expiring_clone);
    refuse_each("expiring set: save to", NULL, expiring_save_to);
    refuse_each("expiring set: load from", NULL, expiring_load_from);
    refuse_each("expiring set: save", NULL, expiring_save);
    refuse_each("expiring set: load", NULL, expiring_load);
    next = ITEMS;
    refuse_growth("set: insert", set_insert, 2);
    refuse_growth("set: insert unique", set_insert_unique, 1);
    next = ITEMS;
    refuse_growth("map: insert", map_insert, 2);
    refuse_growth("map: get or insert", map_get_or_insert, 1);
    bulk();
    for (growing = 0; growing < 2; growing++) {
        guira_destroy(sets[growing]), guira_destroy(other_sets[growing]);
        guira_map_destroy(maps[growing]), guira_map_destroy(other_maps[growing]);
    }
    guira_expiring_destroy(expiring);
    return heard_messages() || failed;
}
