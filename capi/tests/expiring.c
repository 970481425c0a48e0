// What only expiring sets can do.

#include "check.h"

enum { ITEMS = 1000, MORE = 3 * ITEMS, WINDOW = 2 };

static guira_expiring *create(uint32_t growing, uint64_t time_to_live) {
    guira_params params = params_of(ITEMS, growing);
    params.window = WINDOW;
    params.time_to_live = time_to_live;
    return expiring_create(&params);
}

static void items(uint32_t growing) {
    guira_expiring *expiring = create(growing, 0);
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
    OK(guira_expiring_insert_for(expiring, 3, 1, &generation));
    EQUAL(generation, now - 1);
    STATUS(guira_expiring_insert_for(expiring, 3, 0, NULL), GUIRA_ERR_LIFE);
    STATUS(guira_expiring_insert_for(expiring, 3, WINDOW + 1, NULL), GUIRA_ERR_LIFE);
    OK(guira_expiring_insert(expiring, 4, NULL));
    OK(guira_expiring_insert(expiring, 4, NULL));
    EQUAL(expiring_len(expiring), 4);
    guira_info info = expiring_info(expiring);
    CHECK(info.window == WINDOW && info.generation == now && info.value_bits == 0);

    EQUAL(expiring_advance(expiring), now + 1);
    EQUAL(expiring_generation(expiring), now + 1);
    CHECK(expiring_refresh(expiring, 4) && !expiring_refresh(expiring, 5));
    CHECK(expiring_contains(expiring, 3));
    OK(guira_expiring_advance(expiring, NULL));
    CHECK(!expiring_contains(expiring, 3) && expiring_contains(expiring, 2));
    EQUAL(expiring_advance(expiring), now + 3);
    CHECK(!expiring_contains(expiring, 2) && expiring_contains(expiring, 4)); // refreshed
    EQUAL(expiring_len(expiring), 1);
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

// Ticks at a time. Returns the generation that began.
static uint64_t tick(guira_expiring *expiring, uint64_t now) {
    uint64_t begun = 77;
    OK(guira_expiring_tick_by(expiring, read_clock, &now, &begun));
    return begun;
}

// Time by a clock of the caller, in two processes.
static void ticks(uint32_t growing) {
    guira_expiring *expiring = create(growing, 20), *copy = NULL;
    uint64_t first = expiring_generation(expiring), now = 1029, generation = 0;
    EQUAL(tick(expiring, 1000), 0);
    OK(guira_expiring_insert(expiring, 1, NULL));
    EQUAL(tick(expiring, 1009), 0);
    OK(guira_expiring_clone(expiring, &copy));
    EQUAL(tick(expiring, 1010), first + 1);
    CHECK(expiring_contains(expiring, 1));
    OK(guira_expiring_advance_to(copy, read_clock, &now, &generation));
    EQUAL(generation, first + 2);
    CHECK(expiring_contains(copy, 1));
    now = 1030;
    OK(guira_expiring_tick_by(copy, read_clock, &now, NULL));
    EQUAL(expiring_generation(copy), first + 3);
    CHECK(!expiring_contains(copy, 1));
    OK(guira_expiring_advance_to(copy, read_clock, &now, NULL));
    OK(guira_expiring_destroy(copy));
    OK(guira_expiring_destroy(expiring));
}

// The generation and the ages of items are in a snapshot.
static void saved(uint32_t growing) {
    guira_expiring *expiring = create(growing, 0), *loaded = NULL;
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

static void batches(uint32_t growing, struct way way) {
    guira_expiring *expiring = create(growing, 0);
    uint64_t hashes[300], found = 77, generation = 0;
    size_t count = 0, stride = way.stride;
    number(hashes, 300, 40);
    const uint64_t *all = laid(hashes, 300, way);
    OK(guira_expiring_insert_batch(expiring, all, stride, 300, &generation, NULL, &count));
    EQUAL(count, 300);
    EQUAL(generation, expiring_generation(expiring));
    for (int i = 0; i < 300; i++) CHECK(expiring_remove(expiring, hashes[i], generation));
    OK(guira_expiring_insert_batch(expiring, all, stride, 3, NULL, NULL, NULL));
    expiring_advance(expiring);
    STATUS(guira_expiring_refresh_mask(expiring, all, stride, 65, &found), GUIRA_ERR_ARGUMENT);
    EQUAL(found, 77);
    OK(guira_expiring_refresh_mask(expiring, laid(hashes + 1, 40, way), stride, 40, &found));
    EQUAL(found, 3);
    for (int i = 0; i < WINDOW; i++) expiring_advance(expiring);
    EQUAL(expiring_contains_mask(expiring, hashes, 8, 3), 6);
    OK(guira_expiring_destroy(expiring));
}

static void full(void) {
    guira_expiring *expiring = create(0, 0);
    uint64_t hashes[MORE], generation = 99;
    guira_status status = GUIRA_OK;
    bool answer = false;
    number(hashes, MORE, 0);
    STATUS(guira_expiring_insert_batch(expiring, hashes, 8, MORE, &generation, NULL, NULL),
           GUIRA_ERR_FULL);
    EQUAL(generation, 0);
    for (uint64_t hash = MORE; status == GUIRA_OK; hash++) {
        status = guira_expiring_insert_unique(expiring, hash, &answer, NULL);
    }
    EQUAL(status, GUIRA_ERR_FULL);
    OK(guira_expiring_destroy(expiring));
}

// The memory of what expired is released.
static void shrinks(void) {
    guira_expiring *expiring = create(1, 0);
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

// A set that keeps time itself: it forgets, whether anybody writes or not.
static void keeps_time(uint32_t growing) {
    guira_params params = params_of(ITEMS, growing);
    params.ttl = 3000000;
    guira_expiring *expiring = expiring_create(&params);
    uint64_t begun = 77;
    OK(guira_expiring_insert(expiring, 1, NULL));
    CHECK(expiring_info(expiring).window == 6);
    while (expiring_contains(expiring, 1)) OK(guira_expiring_tick(expiring, &begun));
    CHECK(begun == 0 || begun == expiring_generation(expiring));
    OK(guira_expiring_tick(expiring, NULL));
    OK(guira_expiring_insert(expiring, 2, NULL));
    while (expiring_contains(expiring, 2)) CHECK(!expiring_refresh(expiring, 3));
    OK(guira_expiring_destroy(expiring));
}

int main(void) {
    for (uint32_t growing = 0; growing < 2; growing++) {
        items(growing);
        ticks(growing);
        keeps_time(growing);
        saved(growing);
        for (int i = 0; i < WAYS_N; i++) batches(growing, WAYS[i]);
    }
    full();
    shrinks();
    return 0;
}
