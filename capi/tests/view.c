// Views of saved objects of every type, fixed and growing, in a mapped file: `view FOLDER`.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { ITEMS = 1000, ALL = 2 * ITEMS };

static uint64_t hashes[ALL];
static char path[4096];

// A file that is mapped, and a view of it.
struct mapped {
    void *bytes;
    size_t len;
    guira_view *view;
};

// Maps the file `path`, and opens a view of it.
static struct mapped map_file(void) {
    struct mapped mapped = {0};
    struct stat status;
    int file = open(path, O_RDONLY);
    CHECK(file >= 0 && fstat(file, &status) == 0);
    mapped.len = (size_t)status.st_size;
    mapped.bytes = mmap(NULL, mapped.len, PROT_READ, MAP_SHARED, file, 0);
    CHECK(mapped.bytes != MAP_FAILED);
    close(file);
    OK(guira_view_open(mapped.bytes, mapped.len, &mapped.view));
    OK(guira_view_verify(mapped.view));
    return mapped;
}

static void unmap(struct mapped mapped) {
    OK(guira_view_destroy(mapped.view));
    munmap(mapped.bytes, mapped.len);
}

ANSWER(bool, view_contains, (const guira_view *view, uint64_t hash), view, hash)
ANSWER(uint64_t, view_hash, (const guira_view *view, const void *key, size_t len), view, key, len)
ANSWER(size_t, view_count, (const guira_view *view, uint64_t hash), view, hash)
ANSWER(uint64_t, view_generation, (const guira_view *view), view)
ANSWER(uint64_t, view_contains_mask,
       (const guira_view *view, const uint64_t *some, size_t stride, size_t n), view, some, stride,
       n)

// Compares all answers of a view with those of the object that was saved: of `_contains` and of
// `_count`, for all hashes.
static void compare(const guira_view *view, const bool *contained, const size_t *counts) {
    static bool found[ALL];
    for (int i = 0; i < ALL; i++) {
        CHECK(view_contains(view, hashes[i]) == contained[i]);
        EQUAL(view_count(view, hashes[i]), counts[i]);
    }
    for (int way = 0; way < WAYS_N; way++) {
        size_t stride = WAYS[way].stride, count = 0, expected = 0;
        const uint64_t *all = laid(hashes, ALL, WAYS[way]);
        OK(guira_view_contains_batch(view, all, stride, ALL, found, &count));
        for (int i = 0; i < ALL; i++) expected += contained[i];
        CHECK(memcmp(found, contained, sizeof found) == 0 && count == expected);
        for (size_t at = 0; at + 64 < ALL; at += 61) {
            uint64_t mask = view_contains_mask(view, laid(hashes + at, 64, WAYS[way]), stride, 64);
            for (int i = 0; i < 64; i++) CHECK((mask >> i & 1) == contained[at + i]);
        }
    }
}

// What only views of maps, and only views of expiring sets can do.
static void no_map(const guira_view *view) {
    uint16_t value = 77;
    uint64_t mask = 77;
    size_t count = 77;
    bool found = false;
    STATUS(guira_view_get(view, 1, &value, &found), GUIRA_ERR_OTHER_TYPE);
    STATUS(guira_view_get_mask(view, hashes, 8, 0, NULL, &mask), GUIRA_ERR_OTHER_TYPE);
    STATUS(guira_view_values(view, 1, NULL, 0, &count), GUIRA_ERR_OTHER_TYPE);
    CHECK(value == 77 && mask == 77 && count == 77);
}

static void no_expiring(const guira_view *view) {
    guira_view *later = NULL;
    uint64_t generation = 77;
    STATUS(guira_view_in_generation(view, 1, &later), GUIRA_ERR_OTHER_TYPE);
    STATUS(guira_view_after_ns(view, 1, &later), GUIRA_ERR_OTHER_TYPE);
    STATUS(guira_view_generation(view, &generation), GUIRA_ERR_OTHER_TYPE);
    CHECK(later == NULL && generation == 77);
}

static bool contained[ALL];
static size_t counts[ALL];

static void sets(uint32_t growing) {
    guira_params params = params_of(growing ? 10 : ITEMS + 1, growing);
    guira_filter *filter = filter_create(&params);
    for (int i = 0; i < ITEMS; i++) OK(guira_filter_insert(filter, hashes[i]));
    OK(guira_filter_insert(filter, hashes[0]));
    OK(guira_filter_save(filter, path));
    struct mapped mapped = map_file();
    for (int i = 0; i < ALL; i++) {
        contained[i] = filter_contains(filter, hashes[i]);
        counts[i] = filter_count(filter, hashes[i]);
    }
    CHECK(counts[0] >= 2);
    CHECK(view_hash(mapped.view, "key", 3) == filter_hash(filter, "key", 3));
    // A save replaces the file, and the view goes on with the old one.
    OK(guira_filter_clear(filter));
    OK(guira_filter_save(filter, path));
    compare(mapped.view, contained, counts);
    no_map(mapped.view);
    no_expiring(mapped.view);
    unmap(mapped);
    OK(guira_filter_destroy(filter));
}

static void maps(uint32_t growing) {
    guira_params params = params_of(growing ? 10 : ITEMS, growing);
    guira_map *map = map_create(&params);
    for (int i = 0; i < ITEMS; i++) OK(guira_map_insert(map, hashes[i], (uint16_t)(i % 256)));
    OK(guira_map_save(map, path));
    struct mapped mapped = map_file();
    for (int i = 0; i < ALL; i++) {
        contained[i] = map_contains(map, hashes[i]);
        counts[i] = map_count(map, hashes[i]);
        uint16_t value[2] = {77, 77}, values[2][12] = {{0}};
        bool found[2] = {false};
        size_t n[2] = {0};
        OK(guira_map_get(map, hashes[i], &value[0], &found[0]));
        OK(guira_view_get(mapped.view, hashes[i], &value[1], &found[1]));
        OK(guira_map_values(map, hashes[i], values[0], 12, &n[0]));
        OK(guira_view_values(mapped.view, hashes[i], values[1], 12, &n[1]));
        CHECK(value[0] == value[1] && found[0] == found[1] && n[0] == n[1]);
        CHECK(memcmp(values[0], values[1], sizeof values[0]) == 0);
    }
    uint16_t values[2][64];
    uint64_t masks[2];
    OK(guira_map_get_mask(map, hashes + ITEMS - 20, 8, 64, values[0], &masks[0]));
    OK(guira_view_get_mask(mapped.view, hashes + ITEMS - 20, 8, 64, values[1], &masks[1]));
    CHECK(masks[0] == masks[1] && memcmp(values[0], values[1], sizeof values[0]) == 0);
    compare(mapped.view, contained, counts);
    no_expiring(mapped.view);
    unmap(mapped);
    OK(guira_map_destroy(map));
}

// Notes what a set finds.
static void look_up(const guira_expiring *set) {
    for (int i = 0; i < ALL; i++) {
        contained[i] = expiring_contains(set, hashes[i]);
        counts[i] = expiring_count(set, hashes[i]);
    }
}

// In later generations, which the test begins.
static void expiring(uint32_t growing) {
    guira_params params = params_of(growing ? 10 : ITEMS, growing);
    params.window = 2;
    guira_expiring *set = expiring_create(&params);
    for (int i = 0; i < ITEMS; i++) {
        if (i == ITEMS / 2) expiring_advance(set);
        OK(guira_expiring_insert(set, hashes[i], NULL));
    }
    OK(guira_expiring_save(set, path));
    struct mapped mapped = map_file();
    uint64_t saved = expiring_generation(set);
    EQUAL(view_generation(mapped.view), saved);
    guira_view *view = NULL;
    look_up(set);
    OK(guira_view_after_ns(mapped.view, UINT64_MAX, &view)); // there are no times
    EQUAL(view_generation(view), saved);
    compare(view, contained, counts);
    OK(guira_view_destroy(view));
    for (uint64_t later = 0; later < 5; later++) {
        look_up(set);
        CHECK(contained[ITEMS - 1] == (later < 3));
        OK(guira_view_in_generation(mapped.view, saved + later, &view));
        EQUAL(view_generation(view), saved + later);
        compare(view, contained, counts);
        OK(guira_view_destroy(view));
        expiring_advance(set);
    }
    no_map(mapped.view);
    unmap(mapped);
    OK(guira_expiring_destroy(set));
}

// At later times.
static void timed(uint32_t growing) {
    guira_params params = params_of(growing ? 10 : ITEMS, growing);
    uint64_t now = 5, ttl = UINT64_C(60000000000);
    params.ttl_ns = ttl, params.clock = read_clock, params.clock_context = &now;
    guira_expiring *set = expiring_create(&params);
    for (int i = 0; i < ITEMS; i++) {
        OK(guira_expiring_insert(set, hashes[i], NULL));
        now += ttl / 2 / ITEMS; // the first one is half a time to live older than the last one
    }
    OK(guira_expiring_save(set, path));
    struct mapped mapped = map_file();
    uint64_t saved = now, generation = expiring_generation(set);
    EQUAL(view_generation(mapped.view), generation);
    for (uint64_t part = 0; part <= 26; part++) {
        guira_view *view = NULL;
        now = saved + ttl / 20 * part;
        look_up(set);
        CHECK(contained[0] || part >= 10);
        CHECK(contained[ITEMS - 1] || part >= 20);
        CHECK(!contained[0] || part < 14);
        CHECK(!contained[ITEMS - 1] || part < 24);
        OK(guira_view_after_ns(mapped.view, now - saved, &view));
        EQUAL(view_generation(view), generation);
        compare(view, contained, counts);
        OK(guira_view_destroy(view));
        if (part == 0) compare(mapped.view, contained, counts);
    }
    // A view of a view, and a time behind all others. No time passes for a view by itself.
    guira_view *views[2] = {NULL, NULL};
    OK(guira_view_after_ns(mapped.view, UINT64_MAX, &views[0]));
    OK(guira_view_after_ns(views[0], 0, &views[1]));
    EQUAL(view_contains_mask(views[0], hashes, 8, 64), 0);
    EQUAL(view_contains_mask(views[1], hashes, 8, 64), UINT64_MAX);
    for (int i = 0; i < 2; i++) OK(guira_view_destroy(views[i]));
    no_map(mapped.view);
    unmap(mapped);
    OK(guira_expiring_destroy(set));
}

// Bytes that are no snapshot, or are damaged.
static void damage(void) {
    guira_params params = params_of(100, 0);
    guira_filter *filter = filter_create(&params);
    struct stream stream = {.fails_at = SIZE_MAX};
    OK(guira_filter_write_to(filter, write_stream, &stream));
    uint64_t *words = malloc(stream.len + 8);
    CHECK(words != NULL);
    uint8_t *bytes = memcpy(words, stream.bytes, stream.len);
    guira_view *view = NULL;
    size_t header = (size_t)bytes[12] | (size_t)bytes[13] << 8; // its length, which it contains
    CHECK(header > 100 && header < stream.len);
    size_t ends[] = {0, 5, 15, 16, 17, 100, header - 1, header, stream.len / 2, stream.len - 1};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        STATUS(guira_view_open(bytes, ends[i], &view), GUIRA_ERR_TRUNCATED);
    }
    size_t places[] = {0, 8, 30, 100};
    guira_status damages[] = {
        GUIRA_ERR_NOT_A_SNAPSHOT, GUIRA_ERR_UNKNOWN_VERSION, GUIRA_ERR_DAMAGED, GUIRA_ERR_DAMAGED
    };
    for (int i = 0; i < 4; i++) {
        bytes[places[i]] ^= 99;
        STATUS(guira_view_open(bytes, stream.len, &view), damages[i]);
        bytes[places[i]] ^= 99;
    }
    STATUS(guira_view_open(bytes, stream.len + 8, &view), GUIRA_ERR_DAMAGED);
    STATUS(guira_view_open(bytes, SIZE_MAX, &view), GUIRA_ERR_ARGUMENT);
    memmove(bytes + 1, bytes, stream.len);
    STATUS(guira_view_open(bytes + 1, stream.len, &view), GUIRA_ERR_ARGUMENT);
    memmove(bytes, bytes + 1, stream.len);
    CHECK(view == NULL);
    // Buckets are read only by `guira_view_verify` and by lookups.
    bytes[header + 8] ^= 99;
    OK(guira_view_open(bytes, stream.len, &view));
    STATUS(guira_view_verify(view), GUIRA_ERR_DAMAGED);
    OK(guira_view_destroy(view));
    OK(guira_view_destroy(NULL));
    free(words);
    free(stream.bytes);
    OK(guira_filter_destroy(filter));
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    CHECK(snprintf(path, sizeof path, "%s/viewed", argv[1]) < (int)sizeof path);
    number(hashes, ALL, 1);
    for (uint32_t growing = 0; growing < 2; growing++) {
        sets(growing);
        maps(growing);
        expiring(growing);
        timed(growing);
    }
    damage();
    unlink(path);
    return 0;
}
