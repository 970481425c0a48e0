// Several threads on one object: nothing is lost, and each item is inserted once.

#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { THREADS = 4, ITEMS = 6400 };

static guira_filter *filter;
static guira_map *map;
static guira_expiring *expiring, *timed;
// The time of `timed`.
static atomic_uint_fast64_t now;

static uint64_t read_time(void *time) { return atomic_load((atomic_uint_fast64_t *)time); }

// What a thread has inserted.
struct counts { size_t items, timed; };

// Inserts all items beside the other threads, in bursts. Counts those that it inserted.
static void *insert(void *argument) {
    struct counts *counts = argument;
    uint64_t hashes[64], inserted;
    for (uint64_t first = 0; first < ITEMS; first += 64) {
        number(hashes, 64, first);
        OK(guira_filter_insert_unique_mask(filter, hashes, 8, 64, &inserted, NULL));
        for (; inserted != 0; inserted &= inserted - 1) counts->items++;
        EQUAL(filter_contains_mask(filter, hashes, 8, 64), UINT64_MAX);
        // All of it takes less than a time to live.
        atomic_fetch_add(&now, 64);
        OK(guira_expiring_insert_or_refresh_mask(timed, hashes, 8, 64, &inserted, NULL));
        for (; inserted != 0; inserted &= inserted - 1) counts->timed++;
        EQUAL(expiring_contains_mask(timed, hashes, 8, 64), UINT64_MAX);
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
    params.window = 13;
    expiring = expiring_create(&params);
    params.window = 0;
    params.ttl_ns = THREADS * ITEMS;
    params.clock = read_time, params.clock_context = &now;
    timed = expiring_create(&params);
    pthread_t threads[THREADS];
    struct counts counts[THREADS] = {{0, 0}}, sum = {0, 0};
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, insert, &counts[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        sum.items += counts[i].items, sum.timed += counts[i].timed;
    }
    EQUAL(filter_len(filter), sum.items);
    EQUAL(expiring_len(timed), sum.timed);
    // All but aliases: 200 of them are less likely than 1 in 10^20.
    CHECK(sum.items <= ITEMS && sum.items > ITEMS - 200);
    CHECK(sum.timed <= ITEMS && sum.timed > ITEMS - 200);
    // They are forgotten together.
    atomic_fetch_add(&now, 2 * params.ttl_ns);
    EQUAL(expiring_len(timed), 0);
    OK(guira_filter_destroy(filter));
    OK(guira_map_destroy(map));
    OK(guira_expiring_destroy(expiring));
    OK(guira_expiring_destroy(timed));
    return 0;
}
