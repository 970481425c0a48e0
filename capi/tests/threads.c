// Several threads on one object: nothing is lost, and each item is inserted once.

#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ITEMS = 6400 };

static guira_filter *filter;
static guira_map *map;
static guira_expiring *expiring;

// Inserts all items beside the other threads, in bursts. Returns the number that it inserted.
static void *insert(void *argument) {
    size_t *count = argument;
    uint64_t hashes[64], inserted;
    for (uint64_t first = 0; first < ITEMS; first += 64) {
        number(hashes, 64, first);
        OK(guira_filter_insert_unique_mask(filter, hashes, 8, 64, &inserted, NULL));
        for (; inserted != 0; inserted &= inserted - 1) ++*count;
        EQUAL(filter_contains_mask(filter, hashes, 8, 64), UINT64_MAX);
        for (int i = 0; i < 64; i++) {
            uint16_t value = 0;
            bool is_new;
            OK(guira_map_insert_unique(map, hashes[i], 3, &is_new, &value));
            EQUAL(value, 3);
            OK(guira_expiring_insert_unique(expiring, hashes[i], &is_new, NULL));
        }
        EQUAL(expiring_contains_mask(expiring, hashes, 8, 64), UINT64_MAX);
        if (first == ITEMS / 2) {
            guira_filter *copy;
            OK(guira_filter_clone(filter, &copy));
            EQUAL(filter_contains_mask(copy, hashes, 8, 64), UINT64_MAX);
            OK(guira_filter_destroy(copy));
            expiring_advance(expiring);
        }
    }
    return NULL;
}

int main(void) {
    guira_params params = guira_params_init(2 * ITEMS);
    params.writers = THREADS;
    filter = filter_create(&params);
    map = map_create(&params);
    expiring = expiring_create(&params);
    pthread_t threads[THREADS];
    size_t counts[THREADS] = {0}, sum = 0;
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, insert, &counts[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        sum += counts[i];
    }
    EQUAL(filter_len(filter), sum);
    // All but aliases: 200 of them are less likely than 1 in 10^20.
    CHECK(sum <= ITEMS && sum > ITEMS - 200);
    OK(guira_filter_destroy(filter));
    OK(guira_map_destroy(map));
    OK(guira_expiring_destroy(expiring));
    return 0;
}
