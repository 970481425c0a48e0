// What only sets can do, on fixed and growing ones.

#include "check.h"

enum { ITEMS = 1000 };

static guira_filter *create(uint32_t growing) {
    guira_params params = params_of(ITEMS, growing);
    params.false_positive_rate = 0.001;
    return filter_create(&params);
}

static void items(uint32_t growing) {
    guira_filter *filter = create(growing);
    OK(guira_filter_insert(filter, 7));
    OK(guira_filter_insert(filter, 7));
    EQUAL(filter_count(filter, 7), 2);
    EQUAL(filter_len(filter), 2);
    CHECK(!filter_insert_unique(filter, 7) && filter_insert_unique(filter, 8));
    CHECK(filter_remove(filter, 7) && filter_remove(filter, 7) && !filter_remove(filter, 7));
    CHECK(!filter_contains(filter, 7) && filter_contains(filter, 8));
    OK(guira_filter_remove(filter, 8, NULL));
    EQUAL(filter_len(filter), 0);
    OK(guira_filter_destroy(filter));
}

static void removals(uint32_t growing, struct way way) {
    guira_filter *filter = create(growing);
    uint64_t hashes[ITEMS], mixed[] = {5500, 1000000, 5501};
    bool flags[ITEMS];
    size_t count = 0, stride = way.stride;
    number(hashes, ITEMS, 5000);
    OK(guira_filter_insert_batch(filter, hashes, 8, ITEMS, NULL, NULL));
    const uint64_t *all = laid(hashes, ITEMS, way);
    OK(guira_filter_remove_batch(filter, all, stride, 500, flags, &count));
    CHECK(count == 500 && memchr(flags, 0, 500) == NULL && filter_len(filter) == 500);
    OK(guira_filter_remove_batch(filter, laid(mixed, 3, way), stride, 3, flags, NULL));
    CHECK(flags[0] && !flags[1] && flags[2] && filter_len(filter) == 498);
    OK(guira_filter_remove_batch(filter, NULL, stride, 0, NULL, NULL));
    OK(guira_filter_destroy(filter));
}

static void copies(void) {
    guira_params params = params_of(100, 0);
    params.max_copies = 2;
    guira_filter *filter = filter_create(&params);
    bool refused[4];
    uint64_t hashes[] = {1, 1, 1, 2};
    size_t count = 0;
    STATUS(guira_filter_insert_batch(filter, hashes, 8, 4, refused, &count),
           GUIRA_ERR_TOO_MANY_COPIES);
    CHECK(count == 3 && refused[0] + refused[1] + refused[2] == 1 && !refused[3]);
    STATUS(guira_filter_insert(filter, 1), GUIRA_ERR_TOO_MANY_COPIES);
    OK(guira_filter_destroy(filter));
}

static void growth(uint32_t no_reserve) {
    guira_params params = params_of(ITEMS, 1);
    params.false_positive_rate = 0.001;
    params.no_reserve = no_reserve;
    guira_filter *filter = filter_create(&params);
    guira_info info = filter_info(filter);
    uint64_t first = info.bytes, step = info.next_growth_bytes;
    CHECK(step >= 512 && step <= 16384); // some blocks of the allocator, or a page of the system
    for (uint64_t hash = 0; hash < 20 * ITEMS; hash++) OK(guira_filter_insert(filter, hash));
    info = filter_info(filter);
    CHECK(info.items == 20 * ITEMS && info.false_positive_rate <= 0.001);
    CHECK(info.slots_per_bucket == 3 && info.fingerprint_bits == 19); // growing 3 x 20
    // 26.6 bits per item at the load at which it grows.
    CHECK(info.bytes > first && 8 * info.bytes < 31 * info.items);
    OK(guira_filter_destroy(filter));

    params = params_of(0, 1); // without a capacity
    params.max_bytes = 100000;
    params.no_reserve = no_reserve;
    filter = filter_create(&params);
    guira_status status;
    for (uint64_t hash = 0; (status = guira_filter_insert(filter, hash)) == GUIRA_OK; hash++) {}
    EQUAL(status, GUIRA_ERR_FULL);
    info = filter_info(filter);
    CHECK(info.bytes <= 100000 && info.items > 20 * ITEMS && info.next_growth_bytes > 0);
    OK(guira_filter_destroy(filter));
}

// A set that need not grow far has another layout, and then an error of its own.
static void largest_capacity(void) {
    guira_params params = params_of(ITEMS, 1);
    params.max_capacity = 5 * ITEMS;
    params.false_positive_rate = 0.002;
    guira_filter *filter = filter_create(&params);
    CHECK(filter_info(filter).slots_per_bucket == 4);
    guira_status status = GUIRA_OK;
    bool refused[64] = {false}, inserted = false;
    for (uint64_t hash = 0; status == GUIRA_OK; hash++) status = guira_filter_insert(filter, hash);
    EQUAL(status, GUIRA_ERR_FULLY_GROWN);
    guira_info info = filter_info(filter);
    CHECK(info.items >= 5 * ITEMS && info.capacity >= 5 * ITEMS && info.capacity < 6 * ITEMS);
    EQUAL(info.next_growth_bytes, 0);
    uint64_t next = UINT64_C(1) << 40, hashes[64];
    do {
        status = guira_filter_insert_unique(filter, next++, &inserted);
    } while (status == GUIRA_OK);
    EQUAL(status, GUIRA_ERR_FULLY_GROWN);
    number(hashes, 64, next);
    while (status = guira_filter_insert_batch(filter, hashes, 8, 64, refused, NULL),
           status == GUIRA_OK) {
        number(hashes, 64, next += 64);
    }
    EQUAL(status, GUIRA_ERR_FULLY_GROWN);
    OK(guira_filter_destroy(filter));
}

static void layouts(void) {
    guira_filter *filter = create(0);
    guira_info info = filter_info(filter);
    CHECK(info.slots_per_bucket == 5 && info.fingerprint_bits == 14); // semi-sorted 5 x 14
    CHECK(info.window == 0 && info.generation == 0 && info.value_bits == 0);
    OK(guira_filter_destroy(filter));
    guira_params params = params_of(ITEMS, 0);
    params.false_positive_rate = 0.01;
    params.fastest = 1;
    params.writers = 8;
    params.no_huge_pages = 1;
    filter = filter_create(&params);
    info = filter_info(filter);
    CHECK(info.slots_per_bucket == 6 && info.fingerprint_bits == 10); // plain 6 x 10
    OK(guira_filter_destroy(filter));
}

int main(void) {
    for (uint32_t growing = 0; growing < 2; growing++) {
        items(growing);
        for (int i = 0; i < WAYS_N; i++) removals(growing, WAYS[i]);
    }
    copies();
    growth(0);
    growth(1);
    largest_capacity();
    layouts();
    return 0;
}
