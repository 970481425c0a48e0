// What only expiring sets can do: `expiring FOLDER`.

#include <time.h>
#include <unistd.h>

#include "check.h"

enum { ITEMS = 1000, MORE = 3 * ITEMS, WINDOW = 2 };

// The time to live of sets with a clock of the test, and when an item is found no longer.
#define TTL UINT64_C(60000000000)
#define MOST(ttl) ((ttl) + (ttl) / 5)

static char path[4096];

ANSWER(bool, expiring_insert_or_refresh, (guira_expiring *expiring, uint64_t hash), expiring, hash)

// A set whose generations the test begins.
static guira_expiring *create(uint32_t growing) {
    guira_params params = params_of(ITEMS, growing);
    params.window = WINDOW;
    return expiring_create(&params);
}

// A set with a time to live, by the clock of the system if there is no other one.
static guira_expiring *create_timed(uint32_t growing, uint64_t ttl, uint64_t *now) {
    guira_params params = params_of(ITEMS, growing);
    params.ttl_ns = ttl;
    if (now != NULL) params.clock = read_clock, params.clock_context = now;
    return expiring_create(&params);
}

static void items(uint32_t growing) {
    guira_expiring *expiring = create(growing);
    uint64_t now = expiring_generation(expiring), generation = 0, left = 1;
    bool answer = false;
    CHECK(now > 0);
    OK(guira_expiring_insert(expiring, 1, &generation));
    EQUAL(generation, now);
    OK(guira_expiring_insert(expiring, 1, NULL));
    EQUAL(expiring_count(expiring, 1), 2);
    CHECK(expiring_contains(expiring, 1) && !expiring_contains(expiring, 2));
    CHECK(expiring_remove(expiring, 1, now));
    OK(guira_expiring_remove(expiring, 1, now, NULL));
    CHECK(!expiring_remove(expiring, 1, now));
    OK(guira_expiring_insert_unique(expiring, 2, &answer, &generation));
    CHECK(answer && generation == now);
    OK(guira_expiring_insert_unique(expiring, 2, &answer, &generation));
    CHECK(!answer && generation == 0);
    OK(guira_expiring_insert_for_generations(expiring, 3, 1, &generation));
    EQUAL(generation, now - 1);
    OK(guira_expiring_insert(expiring, 4, NULL));
    OK(guira_expiring_insert(expiring, 4, NULL));
    CHECK(expiring_insert_or_refresh(expiring, 6) && !expiring_insert_or_refresh(expiring, 6));
    EQUAL(expiring_len(expiring), 5);
    guira_info info = expiring_info(expiring);
    CHECK(info.window == WINDOW && info.generation == now && info.value_bits == 0);

    EQUAL(expiring_advance(expiring), now + 1);
    EQUAL(expiring_generation(expiring), now + 1);
    CHECK(expiring_refresh(expiring, 4) && !expiring_refresh(expiring, 5));
    CHECK(!expiring_insert_or_refresh(expiring, 6));
    CHECK(expiring_contains(expiring, 3));
    OK(guira_expiring_advance(expiring, NULL));
    CHECK(!expiring_contains(expiring, 3) && expiring_contains(expiring, 2));
    EQUAL(expiring_advance(expiring), now + 3);
    CHECK(!expiring_contains(expiring, 2)); // the others were refreshed
    CHECK(expiring_contains(expiring, 4) && expiring_contains(expiring, 6));
    EQUAL(expiring_len(expiring), 2);
    while (left > 0) OK(guira_expiring_sweep(expiring, 10, &left));
    OK(guira_expiring_sweep(expiring, 10, NULL));

    guira_expiring *copy = NULL;
    OK(guira_expiring_clone(expiring, &copy));
    OK(guira_expiring_clear(expiring));
    CHECK(!expiring_contains(expiring, 4) && expiring_contains(copy, 4));
    EQUAL(expiring_generation(copy), now + 3);
    EQUAL(expiring_generation(expiring), now + 3);
    OK(guira_expiring_destroy(expiring));
    OK(guira_expiring_destroy(copy));
}

// Checks whether an item is found, by every lookup.
static void check_found(const guira_expiring *expiring, uint64_t hash, bool expected) {
    bool found = !expected;
    EQUAL(expiring_contains(expiring, hash), expected);
    EQUAL(expiring_contains_mask(expiring, &hash, 8, 1), expected);
    OK(guira_expiring_contains_batch(expiring, &hash, 8, 1, &found, NULL));
    EQUAL(found, expected);
    EQUAL(expiring_count(expiring, hash) > 0, expected);
}

// An item is found for the time to live, and no longer than 1.2 times that, with this number of
// writes in a time to live. Copies have the same clock.
static void lives(uint32_t growing, uint64_t ttl, uint64_t writes) {
    uint64_t now = 1000, hash = 1000000;
    guira_expiring *expiring = create_timed(growing, ttl, &now), *copy = NULL;
    for (uint64_t item = 0; item < 40; item++) {
        now += ttl / 41 * item; // anywhere in a generation
        uint64_t start = now, generation = 0;
        if (item % 2 == 0) {
            OK(guira_expiring_insert(expiring, item, &generation));
            EQUAL(generation, expiring_generation(expiring));
        } else {
            OK(guira_expiring_insert_batch(expiring, &item, 8, 1, NULL, NULL));
        }
        OK(guira_expiring_clone(expiring, &copy));
        for (uint64_t write = 1; write <= writes; write++) {
            now = start + (ttl - 1) / writes * write;
            check_found(expiring, item, true);
            OK(guira_expiring_insert(expiring, hash++, NULL));
        }
        now = start + ttl - 1;
        check_found(expiring, item, true);
        check_found(copy, item, true);
        now = start + MOST(ttl);
        check_found(expiring, item, false);
        check_found(copy, item, false);
        EQUAL(expiring_len(copy), 0);
        if (writes == 0) EQUAL(expiring_len(expiring), 0);
        CHECK(!expiring_refresh(expiring, item));
        if (item % 2 == 0) CHECK(!expiring_remove(expiring, item, generation));
        OK(guira_expiring_insert(expiring, hash++, NULL));
        check_found(expiring, item, false);
        OK(guira_expiring_destroy(copy));
    }
    CHECK(expiring_info(expiring).window == 6);
    OK(guira_expiring_destroy(expiring));
}

// Writes begin the generations of a set with a time to live, and what has expired makes room.
static void generations(uint32_t growing) {
    uint64_t now = 0, left = 1, released = 0;
    guira_expiring *expiring = create_timed(growing, TTL, &now);
    uint64_t first = expiring_generation(expiring);
    CHECK(first > 0);
    EQUAL(expiring_advance(expiring), first);
    for (uint64_t i = 0; i < 20; i++) {
        OK(guira_expiring_insert(expiring, i, NULL));
        now += TTL / 5; // more than a generation
    }
    uint64_t generation = expiring_generation(expiring);
    CHECK(generation >= first + 19 - 1);
    EQUAL(expiring_advance(expiring), generation);
    OK(guira_expiring_sweep(expiring, 1, NULL)); // a generation was due
    EQUAL(expiring_generation(expiring), generation + 1);
    now += 2 * TTL;
    while (left > 0) OK(guira_expiring_sweep(expiring, 100, &left));
    EQUAL(expiring_len(expiring), 0);
    for (uint64_t round = 0; round < 5; round++) {
        for (uint64_t hash = 0; hash < ITEMS; hash++) {
            OK(guira_expiring_insert(expiring, round << 32 | hash, NULL));
        }
        EQUAL(expiring_len(expiring), ITEMS);
        now += 2 * TTL;
    }
    OK(guira_expiring_insert(expiring, 7, NULL));
    OK(guira_expiring_clear(expiring));
    CHECK(!expiring_contains(expiring, 7));
    if (growing) OK(guira_expiring_shrink_to_fit(expiring, &released));
    OK(guira_expiring_destroy(expiring));
}

// What is inserted or refreshed lives from then on.
static void refreshes(uint32_t growing) {
    uint64_t now = 500;
    guira_expiring *expiring = create_timed(growing, TTL, &now);
    bool is_new = false;
    CHECK(expiring_insert_or_refresh(expiring, 1));
    OK(guira_expiring_insert_unique(expiring, 2, &is_new, NULL));
    OK(guira_expiring_insert(expiring, 3, NULL));
    CHECK(is_new);
    for (int i = 0; i < 5; i++) {
        now += TTL * 7 / 10;
        CHECK(!expiring_insert_or_refresh(expiring, 1));
        CHECK(expiring_refresh(expiring, 3));
        OK(guira_expiring_insert_unique(expiring, 2, &is_new, NULL)); // refreshes nothing
        EQUAL(is_new, i % 2);
    }
    EQUAL(expiring_count(expiring, 1), 1);
    EQUAL(expiring_len(expiring), 3);
    now += TTL - 1;
    CHECK(expiring_contains(expiring, 1) && expiring_contains(expiring, 3));
    CHECK(!expiring_contains(expiring, 2));
    now += TTL / 5 + 1;
    CHECK(!expiring_contains(expiring, 1) && !expiring_contains(expiring, 3));
    CHECK(expiring_insert_or_refresh(expiring, 1));
    OK(guira_expiring_destroy(expiring));
}

// Shorter lives, and lives that are refused.
static void shorter(uint32_t growing) {
    uint64_t now = 0, generation = 0, shorter = 0;
    guira_expiring *timed = create_timed(growing, TTL, &now), *counted = create(growing);
    for (uint64_t percent = 0; percent <= 100; percent++) {
        uint64_t life = TTL * percent / 100, start = now += TTL / 11;
        OK(guira_expiring_insert_for_ns(timed, percent, life, &generation));
        CHECK(generation <= expiring_generation(timed));
        shorter += generation < expiring_generation(timed);
        if (life > 0) {
            now = start + life - 1;
            check_found(timed, percent, true);
        }
        now = start + MOST(TTL);
        check_found(timed, percent, false);
        now = start + TTL / 7;
        // The answer is the generation of its removal.
        OK(guira_expiring_insert_for_ns(timed, 1000 + percent, life, &generation));
        CHECK(expiring_remove(timed, 1000 + percent, generation));
    }
    CHECK(shorter > 50);
    OK(guira_expiring_insert_for_ns(timed, 1, TTL, NULL));
    uint64_t len = expiring_len(timed);
    STATUS(guira_expiring_insert_for_ns(timed, 2, TTL + 1, &generation), GUIRA_ERR_LIFE);
    STATUS(guira_expiring_insert_for_ns(timed, 2, UINT64_MAX, NULL), GUIRA_ERR_LIFE);
    for (uint32_t life = 0; life <= 7; life++) {
        STATUS(guira_expiring_insert_for_generations(timed, 2, life, NULL), GUIRA_ERR_LIFE);
    }
    EQUAL(expiring_len(timed), len);
    generation = 77;
    STATUS(guira_expiring_insert_for_ns(counted, 2, 1, &generation), GUIRA_ERR_LIFE);
    STATUS(guira_expiring_insert_for_ns(counted, 2, 0, &generation), GUIRA_ERR_LIFE);
    STATUS(guira_expiring_insert_for_generations(counted, 2, 0, &generation), GUIRA_ERR_LIFE);
    STATUS(guira_expiring_insert_for_generations(counted, 2, WINDOW + 1, NULL), GUIRA_ERR_LIFE);
    CHECK(generation == 77 && expiring_len(counted) == 0);
    OK(guira_expiring_insert_for_generations(counted, 2, WINDOW, &generation));
    EQUAL(generation, expiring_generation(counted));
    OK(guira_expiring_destroy(timed));
    OK(guira_expiring_destroy(counted));
}

// The generation and the ages of items are in a snapshot.
static void saved(uint32_t growing) {
    guira_expiring *expiring = create(growing), *loaded = NULL;
    OK(guira_expiring_insert(expiring, 1, NULL));
    for (int i = 0; i < WINDOW; i++) expiring_advance(expiring);
    OK(guira_expiring_insert(expiring, 2, NULL));
    struct stream stream = {.fails_at = SIZE_MAX};
    OK(guira_expiring_write_to(expiring, write_stream, &stream));
    OK(guira_expiring_read_from(read_stream, &stream, &loaded));
    EQUAL(expiring_generation(loaded), expiring_generation(expiring));
    CHECK(expiring_contains(loaded, 1));
    expiring_advance(loaded);
    CHECK(!expiring_contains(loaded, 1) && expiring_contains(loaded, 2));
    free(stream.bytes);
    OK(guira_expiring_destroy(loaded));
    OK(guira_expiring_destroy(expiring));
}

// Both loads with a clock: of the file `path`, and of a stream.
static guira_status load_both(struct stream *stream, uint64_t *now, guira_expiring *loaded[2]) {
    guira_status status = guira_expiring_load_with_clock(path, read_clock, now, &loaded[0]);
    stream->at = 0;
    STATUS(guira_expiring_read_from_with_clock(read_stream, stream, read_clock, now, &loaded[1]),
           status);
    return status;
}

// Saves a set to the file `path`, and returns its bytes.
static struct stream save_both(const guira_expiring *expiring) {
    struct stream stream = {.fails_at = SIZE_MAX};
    OK(guira_expiring_save(expiring, path));
    OK(guira_expiring_write_to(expiring, write_stream, &stream));
    return stream;
}

// A set with a clock is loaded with that clock, or with another one that tells other times.
static void saved_with_clock(uint32_t growing) {
    uint64_t now = 7 * TTL, other = 3;
    guira_expiring *expiring = create_timed(growing, TTL, &now), *loaded[2] = {NULL, NULL};
    OK(guira_expiring_insert(expiring, 1, NULL));
    now += TTL / 2;
    OK(guira_expiring_insert(expiring, 2, NULL));
    now += TTL / 4;
    struct stream stream = save_both(expiring);
    STATUS(guira_expiring_load(path, &loaded[0]), GUIRA_ERR_CLOCK);
    STATUS(guira_expiring_read_from(read_stream, &stream, &loaded[0]), GUIRA_ERR_CLOCK);
    CHECK(loaded[0] == NULL);
    OK(load_both(&stream, &other, loaded));
    EQUAL(stream.at, stream.len);
    for (int i = 0; i < 2; i++) {
        // No time has passed since the save.
        guira_info info = expiring_info(loaded[i]);
        CHECK(info.growing == growing && info.window == 6 && info.items == 2);
        EQUAL(info.generation, expiring_generation(expiring));
        other = 3 + TTL / 4 - 1;
        CHECK(expiring_contains(loaded[i], 1) && expiring_contains(loaded[i], 2));
        other = 3 + TTL * 3 / 4 - 1;
        CHECK(!expiring_contains(loaded[i], 1) && expiring_contains(loaded[i], 2));
        CHECK(!expiring_insert_or_refresh(loaded[i], 2));
        other += TTL - 1;
        CHECK(expiring_contains(loaded[i], 2));
        other = 3 + 2 * TTL;
        CHECK(!expiring_contains(loaded[i], 2));
        other = 3;
        OK(guira_expiring_destroy(loaded[i]));
    }
    // Streams that end or fail, and no file.
    guira_expiring *none = NULL;
    size_t ends[] = {0, 12, 100, stream.len / 2, stream.len - 1};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct stream end = {.bytes = stream.bytes, .len = ends[i], .fails_at = SIZE_MAX};
        STATUS(guira_expiring_read_from_with_clock(read_stream, &end, read_clock, &now, &none),
               GUIRA_ERR_TRUNCATED);
        end = (struct stream){.bytes = stream.bytes, .len = stream.len, .fails_at = ends[i]};
        STATUS(guira_expiring_read_from_with_clock(read_stream, &end, read_clock, &now, &none),
               GUIRA_ERR_CALLBACK);
    }
    CHECK(unlink(path) == 0);
    STATUS(guira_expiring_load_with_clock(path, read_clock, &now, &none), GUIRA_ERR_IO);
    CHECK(none == NULL);
    free(stream.bytes);
    OK(guira_expiring_destroy(expiring));
}

// A clock is refused for a set that had none of its own, and for an object of another type.
static void saved_without_clock(uint32_t growing) {
    uint64_t now = 0;
    guira_expiring *sets[] = {create(growing), create_timed(growing, TTL, NULL)};
    guira_expiring *loaded[2] = {NULL, NULL}, *none[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        OK(guira_expiring_insert(sets[i], 1, NULL));
        struct stream stream = save_both(sets[i]);
        STATUS(load_both(&stream, &now, none), GUIRA_ERR_CLOCK);
        stream.at = 0;
        OK(guira_expiring_load(path, &loaded[0]));
        OK(guira_expiring_read_from(read_stream, &stream, &loaded[1]));
        for (int j = 0; j < 2; j++) {
            CHECK(expiring_contains(loaded[j], 1));
            OK(guira_expiring_destroy(loaded[j]));
        }
        free(stream.bytes);
        OK(guira_expiring_destroy(sets[i]));
    }
    guira_params params = params_of(ITEMS, growing);
    guira_filter *filter = filter_create(&params);
    struct stream stream = {.fails_at = SIZE_MAX};
    OK(guira_filter_save(filter, path));
    OK(guira_filter_write_to(filter, write_stream, &stream));
    STATUS(load_both(&stream, &now, none), GUIRA_ERR_OTHER_TYPE);
    CHECK(none[0] == NULL && none[1] == NULL);
    free(stream.bytes);
    OK(guira_filter_destroy(filter));
}

static void batches(uint32_t growing, struct way way) {
    guira_expiring *expiring = create(growing);
    uint64_t hashes[300], found = 77;
    size_t count = 0, stride = way.stride;
    number(hashes, 300, 40);
    const uint64_t *all = laid(hashes, 300, way);
    OK(guira_expiring_insert_batch(expiring, all, stride, 300, NULL, &count));
    EQUAL(count, 300);
    EQUAL(expiring_len(expiring), 300);
    OK(guira_expiring_clear(expiring));
    OK(guira_expiring_insert_batch(expiring, all, stride, 3, NULL, NULL));
    expiring_advance(expiring);
    STATUS(guira_expiring_refresh_mask(expiring, all, stride, 65, &found), GUIRA_ERR_ARGUMENT);
    EQUAL(found, 77);
    OK(guira_expiring_refresh_mask(expiring, laid(hashes + 1, 40, way), stride, 40, &found));
    EQUAL(found, 3);
    for (int i = 0; i < WINDOW; i++) expiring_advance(expiring);
    EQUAL(expiring_contains_mask(expiring, hashes, 8, 3), 6);
    OK(guira_expiring_destroy(expiring));
}

// Many items that are inserted or refreshed.
static void refreshing_batches(uint32_t growing, struct way way) {
    uint64_t now = 9, hashes[300], inserted = 0, refused = 77, twice[] = {700, 5, 701, 700};
    guira_expiring *expiring = create_timed(growing, TTL, &now);
    bool are_new[300], are_refused[300];
    size_t count = 0, stride = way.stride;
    number(hashes, 300, 0);
    const uint64_t *all = laid(hashes, 300, way);
    OK(guira_expiring_insert_or_refresh_mask(expiring, all, stride, 4, &inserted, &refused));
    CHECK(inserted == 0xf && refused == 0);
    now += TTL * 3 / 4;
    OK(guira_expiring_insert_or_refresh_mask(expiring, all, stride, 64, &inserted, NULL));
    EQUAL(inserted, UINT64_MAX << 4);
    OK(guira_expiring_insert_or_refresh_mask(expiring, laid(twice, 4, way), stride, 4, &inserted,
                                             &refused));
    CHECK(inserted == 5 && refused == 0 && expiring_len(expiring) == 66); // one occurs twice
    OK(guira_expiring_insert_or_refresh_mask(expiring, NULL, stride, 0, &inserted, &refused));
    EQUAL(inserted, 0);
    inserted = refused = 77;
    all = laid(hashes, 300, way);
    STATUS(guira_expiring_insert_or_refresh_mask(expiring, all, stride, 65, &inserted, &refused),
           GUIRA_ERR_ARGUMENT);
    STATUS(guira_expiring_insert_or_refresh_mask(expiring, all, 7, 2, &inserted, &refused),
           GUIRA_ERR_ARGUMENT);
    CHECK(inserted == 77 && refused == 77 && expiring_len(expiring) == 66);
    // The first four were refreshed.
    now += TTL - 1;
    EQUAL(expiring_contains_mask(expiring, hashes, 8, 64), UINT64_MAX);

    memset(are_refused, 1, sizeof are_refused);
    OK(guira_expiring_insert_or_refresh_batch(expiring, all, stride, 300, are_new, are_refused,
                                              &count));
    CHECK(memchr(are_refused, 1, 300) == NULL && memchr(are_new, 1, 64) == NULL);
    CHECK(count > 300 - 64 - 10 && count <= 300 - 64);
    for (size_t i = 0; i < 300; i++) count -= are_new[i];
    EQUAL(count, 0);
    now += TTL / 2;
    OK(guira_expiring_insert_or_refresh_batch(expiring, all, stride, 200, are_new, NULL, NULL));
    CHECK(memchr(are_new, 1, 200) == NULL);
    OK(guira_expiring_insert_or_refresh_batch(expiring, NULL, stride, 0, NULL, NULL, NULL));
    now += TTL - 1;
    for (size_t i = 0; i < 200; i++) CHECK(expiring_contains(expiring, hashes[i]));
    for (size_t i = 200; i < 300; i++) CHECK(!expiring_contains(expiring, hashes[i]));
    OK(guira_expiring_destroy(expiring));
}

// A full set refuses items, and refreshes those that it has.
static void full(void) {
    guira_expiring *expiring = create(0);
    uint64_t hashes[MORE], inserted = 0, refused = 0;
    static bool are_new[MORE], are_refused[MORE];
    guira_status status = GUIRA_OK;
    bool answer = false;
    size_t count = 0;
    number(hashes, MORE, 0);
    STATUS(guira_expiring_insert_batch(expiring, hashes, 8, MORE, NULL, NULL), GUIRA_ERR_FULL);
    for (uint64_t hash = MORE; status == GUIRA_OK; hash++) {
        status = guira_expiring_insert_unique(expiring, hash, &answer, NULL);
    }
    EQUAL(status, GUIRA_ERR_FULL);
    status = GUIRA_OK;
    for (uint64_t hash = 2 * MORE; status == GUIRA_OK; hash++) {
        status = guira_expiring_insert_or_refresh(expiring, hash, &answer);
    }
    EQUAL(status, GUIRA_ERR_FULL);

    OK(guira_expiring_clear(expiring));
    STATUS(guira_expiring_insert_or_refresh_batch(expiring, hashes, 8, MORE, are_new, are_refused,
                                                  &count), GUIRA_ERR_FULL);
    CHECK(count >= ITEMS && count < MORE && expiring_len(expiring) == count);
    uint64_t of[2][64];
    size_t n[2] = {0, 0};
    for (size_t i = 0; i < MORE; i++) {
        CHECK(!(are_new[i] && are_refused[i]));
        CHECK(are_refused[i] || expiring_contains(expiring, hashes[i]));
        count -= are_new[i];
        bool is_out = are_refused[i] && !expiring_contains(expiring, hashes[i]);
        if ((is_out || are_new[i]) && n[is_out] < 64) of[is_out][n[is_out]++] = hashes[i];
    }
    CHECK(count == 0 && n[0] == 64 && n[1] == 64);
    expiring_advance(expiring);
    OK(guira_expiring_insert_or_refresh_mask(expiring, of[0], 8, 64, &inserted, &refused));
    CHECK(inserted == 0 && refused == 0);
    CHECK(!expiring_insert_or_refresh(expiring, of[0][0]));
    STATUS(guira_expiring_insert_or_refresh_mask(expiring, of[1], 8, 64, &inserted, &refused),
           GUIRA_ERR_FULL);
    CHECK(inserted == 0 && refused != 0);
    for (int i = 0; i < WINDOW; i++) expiring_advance(expiring);
    EQUAL(expiring_contains_mask(expiring, of[0], 8, 64), UINT64_MAX);
    // Others make room.
    OK(guira_expiring_insert_or_refresh_mask(expiring, of[1], 8, 64, &inserted, &refused));
    CHECK(inserted != 0 && refused == 0);
    OK(guira_expiring_destroy(expiring));
}

// The memory of what expired is released.
static void shrinks(void) {
    guira_expiring *expiring = create(1);
    uint64_t released = 0;
    for (uint64_t hash = 0; hash < 20000; hash++) OK(guira_expiring_insert(expiring, hash, NULL));
    for (int i = 0; i < WINDOW; i++) expiring_advance(expiring);
    OK(guira_expiring_insert(expiring, 20000, NULL));
    expiring_advance(expiring);
    EQUAL(expiring_len(expiring), 1);
    OK(guira_expiring_shrink_to_fit(expiring, &released));
    CHECK(released > 10000 && expiring_contains(expiring, 20000));
    OK(guira_expiring_destroy(expiring));
}

static uint64_t monotonic(void) {
    struct timespec time;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// A set forgets by the clock of the system, although nobody writes. The loop ends, since whatever
// is found for too long is an error.
static void keeps_time(uint32_t growing) {
    const uint64_t ttl = 3000000;
    guira_expiring *expiring = create_timed(growing, ttl, NULL);
    for (uint64_t hash = 0; hash < 5; hash++) {
        uint64_t before = monotonic(), looked_up, after;
        bool found;
        OK(guira_expiring_insert(expiring, hash, NULL));
        uint64_t inserted = monotonic();
        do {
            looked_up = monotonic();
            found = expiring_contains(expiring, hash);
            after = monotonic();
            CHECK(found || after - before >= ttl);
            CHECK(!found || looked_up - inserted < MOST(ttl));
        } while (found);
    }
    OK(guira_expiring_destroy(expiring));
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    CHECK(snprintf(path, sizeof path, "%s/expiring", argv[1]) < (int)sizeof path);
    const uint64_t writes[] = {0, 1, 5, 100};
    for (uint32_t growing = 0; growing < 2; growing++) {
        items(growing);
        for (int i = 0; i < 4; i++) {
            lives(growing, TTL, writes[i]);
            lives(growing, 1000000, writes[i]);
        }
        generations(growing);
        refreshes(growing);
        shorter(growing);
        keeps_time(growing);
        saved(growing);
        saved_with_clock(growing);
        saved_without_clock(growing);
        for (int i = 0; i < WAYS_N; i++) {
            batches(growing, WAYS[i]);
            refreshing_batches(growing, WAYS[i]);
        }
    }
    full();
    shrinks();
    unlink(path);
    return 0;
}
