// Several threads on one object: nothing is lost, and each item is inserted once.

#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ITEMS = 6400 };

static guira_filter *filter;
static guira_map *map;
static guira_expiring *expiring;

// Inserts all items beside the other threads, in bursts. Returns the number that it inserted.
static void *insert(void *argument) {
    size_t *inserted = argument;
    uint64_t hashes[64], refused;
    for (uint64_t first = 0; first < ITEMS; first += 64) {
        number(hashes, 64, first);
        uint64_t added = guira_insert_unique_mask(filter, hashes, 64, &refused);
        CHECK(refused == 0);
        for (; added != 0; added &= added - 1) ++*inserted;
        EQUAL(guira_contains_mask(filter, hashes, 64), -1LL);
        for (int i = 0; i < 64; i++) {
            uint16_t value = 0;
            CHECK(guira_get_or_insert(map, hashes[i], 3, &value) >= 0);
            EQUAL(value, 3);
            CHECK(guira_expiring_insert_unique(expiring, hashes[i], NULL) >= 0);
        }
        EQUAL(guira_expiring_contains_mask(expiring, hashes, 64), -1LL);
        if (first == ITEMS / 2) {
            guira_filter *copy;
            EQUAL(guira_clone(filter, &copy), 0);
            EQUAL(guira_contains_mask(copy, hashes, 64), -1LL);
            guira_destroy(copy);
            guira_advance(expiring);
        }
    }
    return NULL;
}

int main(void) {
    guira_filter_params params = GUIRA_FILTER_PARAMS_INIT;
    params.capacity = ITEMS;
    params.writers = THREADS;
    EQUAL(guira_create(&params, &filter), 0);
    guira_map_params map_params = GUIRA_MAP_PARAMS_INIT;
    map_params.capacity = ITEMS;
    EQUAL(guira_map_create(&map_params, &map), 0);
    guira_expiring_params expiring_params = GUIRA_EXPIRING_PARAMS_INIT;
    expiring_params.capacity = 2 * ITEMS;
    EQUAL(guira_expiring_create(&expiring_params, &expiring), 0);
    pthread_t threads[THREADS];
    size_t inserted[THREADS] = {0}, sum = 0;
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, insert, &inserted[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        sum += inserted[i];
    }
    EQUAL(guira_len(filter), sum);
    // All but aliases: 200 of them are less likely than 1 in 10^20.
    CHECK(sum <= ITEMS && sum > ITEMS - 200);
    guira_destroy(filter);
    guira_map_destroy(map);
    guira_expiring_destroy(expiring);
    return 0;
}
