// Every function of expiring sets.

#include "check.h"

enum { ITEMS = 1000, WINDOW = 2 };

static guira_expiring *create(void) {
    guira_expiring_params params = GUIRA_EXPIRING_PARAMS_INIT;
    params.capacity = ITEMS;
    params.seed = 1;
    params.window = WINDOW;
    guira_expiring *filter = NULL;
    EQUAL(guira_expiring_create(&params, &filter), 0);
    CHECK(filter != NULL);
    return filter;
}

static uint64_t read_clock(void *now) { return *(uint64_t *)now; }

// Time by a clock of the caller, in two processes.
static void ticks(void) {
    guira_expiring_params params = GUIRA_EXPIRING_PARAMS_INIT;
    params.capacity = ITEMS;
    params.window = WINDOW;
    params.time_to_live = 20;
    guira_expiring *filter = NULL, *copy = NULL;
    EQUAL(guira_expiring_create(&params, &filter), 0);
    uint64_t first = guira_generation(filter), now = 1000;
    EQUAL(guira_tick(filter, read_clock, &now), 0);
    EQUAL(guira_expiring_insert(filter, 1, NULL), 0);
    now = 1009;
    EQUAL(guira_tick(filter, read_clock, &now), 0);
    EQUAL(guira_expiring_clone(filter, &copy), 0);
    now = 1010;
    EQUAL(guira_tick(filter, read_clock, &now), first + 1);
    EQUAL(guira_expiring_contains(filter, 1), 1);
    now = 1029;
    EQUAL(guira_advance_to(copy, read_clock, &now), first + 2);
    EQUAL(guira_expiring_contains(copy, 1), 1);
    now = 1030;
    EQUAL(guira_tick(copy, read_clock, &now), first + 3);
    EQUAL(guira_expiring_contains(copy, 1), 0);
    EQUAL(guira_tick(NULL, read_clock, &now), 0);
    EQUAL(guira_tick(copy, NULL, NULL), 0);
    EQUAL(guira_advance_to(NULL, read_clock, &now), 0);
    EQUAL(guira_advance_to(copy, NULL, NULL), 0);
    guira_expiring_destroy(copy);
    guira_expiring_destroy(filter);
}

static void items(void) {
    guira_expiring *filter = create();
    uint64_t now = guira_generation(filter), generation = 0;
    CHECK(now > 0);
    EQUAL(guira_expiring_insert(filter, 1, &generation), 0);
    EQUAL(generation, now);
    EQUAL(guira_expiring_insert(filter, 1, NULL), 0);
    EQUAL(guira_expiring_count(filter, 1), 2);
    EQUAL(guira_expiring_contains(filter, 1), 1);
    EQUAL(guira_expiring_contains(filter, 2), 0);
    EQUAL(guira_expiring_remove(filter, 1, now), 1);
    EQUAL(guira_expiring_remove(filter, 1, now), 1);
    EQUAL(guira_expiring_remove(filter, 1, now), 0);
    EQUAL(guira_expiring_insert_unique(filter, 2, &generation), 1);
    EQUAL(generation, now);
    generation = 77;
    EQUAL(guira_expiring_insert_unique(filter, 2, &generation), 0);
    EQUAL(generation, 77);
    EQUAL(guira_insert_for(filter, 3, 1, &generation), 0);
    EQUAL(generation, now - 1);
    EQUAL(guira_insert_for(filter, 3, 0, NULL), GUIRA_ERR_LIFE);
    EQUAL(guira_insert_for(filter, 3, WINDOW + 1, NULL), GUIRA_ERR_LIFE);
    EQUAL(guira_insert_evicting(filter, 4), 0);
    EQUAL(guira_expiring_len(filter), 3);

    EQUAL(guira_advance(filter), now + 1);
    EQUAL(guira_generation(filter), now + 1);
    EQUAL(guira_expiring_contains(filter, 3), 1);
    EQUAL(guira_refresh(filter, 4), 1);
    EQUAL(guira_refresh(filter, 5), 0);
    guira_advance(filter);
    EQUAL(guira_expiring_contains(filter, 3), 0);
    EQUAL(guira_expiring_contains(filter, 2), 1);
    guira_advance(filter);
    EQUAL(guira_expiring_contains(filter, 2), 0);
    EQUAL(guira_expiring_contains(filter, 4), 1); // refreshed
    EQUAL(guira_expiring_len(filter), 1);
    while (guira_sweep(filter, 10) > 0) {}

    const char *key = "nonce";
    EQUAL(guira_expiring_insert_key(filter, key, 5, &generation), 0);
    EQUAL(generation, now + 3);
    EQUAL(guira_expiring_contains_key(filter, key, 5), 1);
    EQUAL(guira_expiring_contains_key(filter, key, 4), 0);
    EQUAL(guira_expiring_contains(filter, guira_expiring_hash(filter, key, 5)), 1);
    EQUAL(guira_expiring_insert_unique_key(filter, key, 5, NULL), 0);
    EQUAL(guira_expiring_insert_unique_key(filter, key, 4, &generation), 1);
    EQUAL(guira_expiring_remove_key(filter, key, 4, generation), 1);
    EQUAL(guira_refresh_key(filter, key, 5), 1);

    guira_expiring *copy = NULL;
    EQUAL(guira_expiring_clone(filter, &copy), 0);
    EQUAL(guira_expiring_clear(filter), 0);
    EQUAL(guira_expiring_len(filter), 0);
    EQUAL(guira_expiring_contains_key(copy, key, 5), 1);
    EQUAL(guira_generation(copy), now + 3);
    guira_info info = GUIRA_INFO_INIT;
    EQUAL(guira_expiring_get_info(copy, &info), 0);
    CHECK(info.window == WINDOW && info.generation == now + 3 && info.items == 2);
    guira_expiring_destroy(filter);
    guira_expiring_destroy(copy);
}

static void bulk(void) {
    guira_expiring *filter = create();
    uint64_t hashes[ITEMS], refused = 99, generation = 0;
    bool flags[ITEMS], refusals[ITEMS];
    number(hashes, ITEMS, 40);
    EQUAL(guira_expiring_insert_unique_mask(filter, hashes, 40, &refused), 0xffffffffff);
    EQUAL(refused, 0);
    EQUAL(guira_expiring_insert_unique_mask(filter, hashes + 38, 3, NULL), 4);
    EQUAL(guira_expiring_contains_mask(filter, hashes, 41), 0x1ffffffffff);
    EQUAL(guira_expiring_insert_bulk(filter, hashes + 100, 100, &generation, refusals), 100);
    EQUAL(generation, guira_generation(filter));
    CHECK(memchr(refusals, 1, 100) == NULL);
    EQUAL(guira_expiring_contains_bulk(filter, hashes + 100, 100, flags), 100);
    CHECK(memchr(flags, 0, 100) == NULL);
    int64_t added = guira_expiring_insert_unique_bulk(filter, hashes + 150, 100, flags, refusals);
    CHECK(added > 45 && added <= 50);
    CHECK(memchr(flags, 1, 50) == NULL);
    for (int i = 0; i < WINDOW + 1; i++) guira_advance(filter);
    EQUAL(guira_expiring_contains_bulk(filter, hashes, ITEMS, flags), 0);

    EQUAL(guira_expiring_insert_bulk(filter, hashes, 3, NULL, NULL), 3);
    guira_advance(filter);
    EQUAL(guira_refresh_mask(filter, hashes + 1, 40), 3);
    EQUAL(guira_refresh_mask(filter, hashes, 65), 0);
    for (int i = 0; i < WINDOW; i++) guira_advance(filter);
    EQUAL(guira_expiring_contains_mask(filter, hashes, 3), 6);

    char keys[2][4] = {"ani", "kea"};
    uint64_t hashed[2];
    EQUAL(guira_expiring_hash_bulk(filter, keys, 2, 4, hashed), 0);
    CHECK(hashed[1] == guira_expiring_hash(filter, keys[1], 4) && hashed[0] != hashed[1]);
    guira_expiring_destroy(filter);
}

static void full(void) {
    guira_expiring *filter = create();
    enum { MORE = 3 * ITEMS };
    static uint64_t hashes[MORE];
    static bool added[MORE], refused[MORE];
    number(hashes, MORE, 0);
    int64_t inserted = guira_expiring_insert_unique_bulk(filter, hashes, MORE, added, refused);
    CHECK(inserted >= ITEMS && inserted < MORE);
    uint64_t mask = 0, generation = 99;
    uint64_t out[64];
    size_t outs = 0;
    for (size_t i = 0; i < MORE && outs < 64; i++) {
        if (refused[i]) out[outs++] = hashes[i];
    }
    CHECK(outs == 64);
    EQUAL(guira_expiring_insert_unique_mask(filter, out, 64, &mask), 0);
    CHECK(mask != 0);
    CHECK(guira_expiring_insert_bulk(filter, hashes, MORE, &generation, refused) < MORE);
    EQUAL(generation, 0);
    CHECK(memchr(refused, 1, MORE) != NULL);
    int code = 0, evicted = 0;
    for (size_t i = 0; i < 64 && code >= 0; i++) {
        code = guira_expiring_insert_unique(filter, out[i], NULL);
    }
    EQUAL(code, GUIRA_ERR_FULL);
    for (size_t i = 0; i < 64; i++) {
        evicted += guira_insert_evicting(filter, 100000 + i);
        EQUAL(guira_expiring_contains(filter, 100000 + i), 1);
    }
    CHECK(evicted > 0);
    guira_expiring_destroy(filter);
}

int main(void) {
    items();
    ticks();
    bulk();
    full();
    return 0;
}
