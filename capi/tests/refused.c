// What happens if memory is refused: an error that is not "full", and nothing changes.
// `refused FOLDER`

#define _GNU_SOURCE
#include "allocator.h"

enum { ITEMS = 3000 };

static char path[4096];
static uint8_t bytes[1 << 20];
static struct stream saved = {.bytes = bytes, .fails_at = SIZE_MAX};
static uint32_t growing;
// Whether growing sets take all memory from the allocator.
static uint32_t no_reserve;

// Unlike `write_stream`, this allocates nothing.
static int write_bytes(void *context, const void *more, size_t len) {
    struct stream *stream = context;
    CHECK(stream->len + len <= sizeof bytes);
    memcpy(stream->bytes + stream->len, more, len);
    stream->len += len;
    return 0;
}

// Returns parameters for an object of the type that has this name.
static guira_params params_for(const char *type, uint32_t grows) {
    guira_params params = params_of(ITEMS, grows);
    params.writers = 8;
    if (strcmp(type, "expiring") == 0) {
        params.window = 13;
    } else {
        params.no_reserve = grows & no_reserve;
    }
    return params;
}

// The objects of each type, of which those of index 1 grow, and the operations that allocate.
#define OPERATIONS(type)                                                                         \
    static guira_##type *type##s[2], *other_##type##s[2], *new_##type;                           \
    static guira_status type##_creates(void) {                                                   \
        guira_params params = params_for(#type, growing);                                        \
        return guira_##type##_create(&params, &new_##type);                                      \
    }                                                                                            \
    static guira_status type##_clones(void) {                                                    \
        return guira_##type##_clone(type##s[growing], &new_##type);                              \
    }                                                                                            \
    static guira_status type##_writes(void) {                                                    \
        saved.len = 0;                                                                           \
        return guira_##type##_write_to(type##s[growing], write_bytes, &saved);                   \
    }                                                                                            \
    static guira_status type##_reads(void) {                                                     \
        saved.at = 0;                                                                            \
        return guira_##type##_read_from(read_stream, &saved, &new_##type);                       \
    }                                                                                            \
    static guira_status type##_saves(void) { return guira_##type##_save(type##s[growing], path); } \
    static guira_status type##_loads(void) { return guira_##type##_load(path, &new_##type); }
OPERATIONS(filter)
OPERATIONS(map)
OPERATIONS(expiring)

static guira_status filter_merges(void) {
    return guira_filter_merge(new_filter, other_filters[growing]);
}
static guira_status map_merges(void) { return guira_map_merge(new_map, other_maps[growing]); }

// An item that does not fit unless its object grows.
static uint64_t next;
static bool is_new;

static guira_status filter_inserts(void) { return guira_filter_insert(filters[1], next); }
static guira_status filter_inserts_unique(void) {
    return guira_filter_insert_unique(filters[1], next, &is_new);
}
static guira_status map_inserts(void) { return guira_map_insert(maps[1], next, 3); }
static guira_status map_inserts_unique(void) {
    return guira_map_insert_unique(maps[1], next, 3, &is_new, NULL);
}

// What the operations must leave as it is.
static void check_all(uint64_t items) {
    for (int i = 0; i < 2; i++) {
        for (uint64_t hash = 0; hash < ITEMS; hash++) {
            CHECK(filter_contains(filters[i], hash) && map_contains(maps[i], hash));
        }
    }
    for (uint64_t hash = 0; hash < ITEMS; hash++) CHECK(expiring_contains(expirings[0], hash));
    EQUAL(filter_len(filters[1]) + map_len(maps[1]), items);
    EQUAL(filter_len(filters[0]) + map_len(maps[0]), 2 * ITEMS);
    EQUAL(expiring_len(expirings[0]), ITEMS);
}

static void destroy_new(void) {
    OK(guira_filter_destroy(new_filter));
    OK(guira_map_destroy(new_map));
    OK(guira_expiring_destroy(new_expiring));
    new_filter = NULL, new_map = NULL, new_expiring = NULL;
}

static bool failed;

// Whether an operation may succeed although an allocation of it is refused. A merge that may not
// grow may find room. A growing object may be refused addresses, and take memory from the
// allocator. An insert that found room may be refused what it would grow by.
static bool spares;

// Calls an operation again and again, and refuses another one of its allocations each time, first
// that one alone and then all from it on, until none is refused. `before` makes what it needs.
static void refuse_each(const char *name, void (*before)(void), guira_status (*operation)(void)) {
    uint64_t items = filter_len(filters[1]) + map_len(maps[1]);
    long refusals = 0;
    for (int all = 0; all < 2; all++) {
        for (long number = 0;; number++) {
            if (before != NULL) before();
            watch(number, all ? LONG_MAX : number + 1);
            guira_status status = operation();
            watched = false;
            bool succeeded = status == GUIRA_OK, complete = succeeded && count <= number;
            // An insert that succeeds has changed its object, so it is not made again.
            bool changed = filter_len(filters[1]) + map_len(maps[1]) > items;
            if (!complete) {
                refusals++;
                if (status != GUIRA_ERR_NO_MEMORY && !(succeeded && spares)) {
                    printf("%s, %u, without allocation %ld: %d\n", name, growing, number, status);
                    failed = true;
                    destroy_new();
                    return;
                }
                bool is_new_object = new_filter || new_map || new_expiring;
                CHECK(before != NULL || succeeded || (!is_new_object && !changed));
                check_all(items + changed);
            }
            bool last = changed || (complete && all == 1);
            destroy_new();
            if (last) {
                CHECK(refusals > 0);
                return;
            }
            if (complete) break;
        }
    }
}

// Calls an operation that inserts items into a growing object, one after the other. Refuses each
// allocation of an insert that needs more memory.
static void refuse_growth(const char *name, guira_status (*insert)(void), int growths) {
    for (; growths > 0; growths--) {
        for (;; next++) {
            watch(0, LONG_MAX);
            guira_status status = insert();
            watched = false;
            if (status == GUIRA_ERR_NO_MEMORY) break;
            if (status != GUIRA_OK) {
                printf("%s: %d\n", name, status);
                failed = true;
                return;
            }
        }
        refuse_each(name, NULL, insert);
        next++;
    }
}

// A set shrinks without any memory.
static void refuse_shrinking(void) {
    guira_params params = params_for("filter", 1);
    guira_filter *filter = filter_create(&params);
    for (uint64_t hash = 0; hash < 5 * ITEMS; hash++) OK(guira_filter_insert(filter, hash));
    for (uint64_t hash = ITEMS; hash < 5 * ITEMS; hash++) CHECK(filter_remove(filter, hash));
    uint64_t bytes = filter_info(filter).bytes, released = 0;
    watch(0, LONG_MAX);
    guira_status status = guira_filter_shrink_to_fit(filter, &released);
    watched = false;
    EQUAL(status, GUIRA_OK);
    EQUAL(count, 0);
    CHECK(released > 0);
    EQUAL(filter_info(filter).bytes, bytes - released);
    for (uint64_t hash = 0; hash < ITEMS; hash++) CHECK(filter_contains(filter, hash));
    EQUAL(filter_len(filter), ITEMS);
    OK(guira_filter_destroy(filter));
}

static void new_objects(void) {
    OK(filter_creates());
    OK(map_creates());
    OK(guira_filter_insert(new_filter, 5));
    OK(guira_map_insert(new_map, 5, 5));
}

// A batch beside refusals: what is not refused is inserted.
static void batch(void) {
    enum { N = 9 * ITEMS };
    static uint64_t hashes[N];
    static bool refused[N];
    uint64_t mask = 0, inserted = 0;
    size_t count = 0;
    guira_params params = params_for("filter", 1);
    guira_filter *filter = filter_create(&params);
    number(hashes, N, 0);
    watch(0, LONG_MAX);
    guira_status status = guira_filter_insert_batch(filter, hashes, 8, N, refused, &count);
    guira_status of_mask = guira_filter_insert_unique_mask(filter, hashes + N - 64, 8, 64,
                                                           &inserted, &mask);
    watched = false;
    CHECK(status == GUIRA_ERR_NO_MEMORY && of_mask == GUIRA_ERR_NO_MEMORY);
    CHECK(count >= ITEMS && count < N);
    for (size_t i = 0; i < N; i++) {
        count -= !refused[i];
        if (!refused[i]) CHECK(filter_contains(filter, hashes[i]));
    }
    EQUAL(count, 0);
    CHECK(mask != 0 && (inserted & mask) == 0);
    OK(guira_filter_insert_batch(filter, hashes, 8, N, NULL, &count));
    EQUAL(count, N);
    OK(guira_filter_destroy(filter));
}

// `reserves` and `loads_reserve`: whether new objects, and loaded ones, reserve addresses.
#define REFUSE(type, reserves, loads_reserve)               \
    do {                                                    \
        spares = reserves;                                  \
        refuse_each(#type " create", NULL, type##_creates); \
        refuse_each(#type " clone", NULL, type##_clones);   \
        spares = false;                                     \
        refuse_each(#type " write", NULL, type##_writes);   \
        refuse_each(#type " save", NULL, type##_saves);     \
        spares = loads_reserve;                             \
        refuse_each(#type " load", NULL, type##_loads);     \
        OK(type##_writes());                                \
        refuse_each(#type " read", NULL, type##_reads);     \
        spares = false;                                     \
    } while (0)

static void refuse_all(void) {
    for (int i = 0; i < 2; i++) {
        guira_params params = params_for("filter", (uint32_t)i);
        filters[i] = filter_create(&params), other_filters[i] = filter_create(&params);
        params = params_for("map", (uint32_t)i);
        maps[i] = map_create(&params), other_maps[i] = map_create(&params);
        params = params_for("expiring", (uint32_t)i);
        if (i == 0) expirings[0] = expiring_create(&params);
        for (uint64_t hash = 0; hash < ITEMS; hash++) {
            OK(guira_filter_insert(filters[i], hash));
            OK(guira_map_insert(maps[i], hash, 1));
            if (i == 0) OK(guira_expiring_insert(expirings[0], hash, NULL));
        }
    }
    // So that a merge needs memory to grow.
    for (uint64_t hash = 0; hash < 5 * ITEMS; hash++) {
        OK(guira_filter_insert(other_filters[1], hash));
        OK(guira_map_insert(other_maps[1], hash, 1));
    }
    for (growing = 0; growing < 2; growing++) {
        REFUSE(filter, growing && !no_reserve, growing);
        spares = true;
        refuse_each("filter merge", new_objects, filter_merges);
        REFUSE(map, growing && !no_reserve, growing);
        spares = true;
        refuse_each("map merge", new_objects, map_merges);
    }
    growing = 0;
    REFUSE(expiring, false, false);
    growing = 1;
    next = ITEMS;
    spares = true;
    refuse_growth("filter insert", filter_inserts, 2);
    refuse_growth("filter insert unique", filter_inserts_unique, 1);
    next = ITEMS;
    refuse_growth("map insert", map_inserts, 2);
    refuse_growth("map insert unique", map_inserts_unique, 1);
    batch();
    refuse_shrinking();
    for (int i = 0; i < 2; i++) {
        OK(guira_filter_destroy(filters[i]));
        OK(guira_filter_destroy(other_filters[i]));
        OK(guira_map_destroy(maps[i]));
        OK(guira_map_destroy(other_maps[i]));
        OK(guira_expiring_destroy(expirings[i]));
        OK(guira_expiring_destroy(other_expirings[i]));
        expirings[i] = other_expirings[i] = NULL;
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 2 && snprintf(path, sizeof path, "%s/refused", argv[1]) < (int)sizeof path);
    keep_messages();
    for (no_reserve = 0; no_reserve < 2; no_reserve++) refuse_all();
    return heard_messages() || failed;
}
