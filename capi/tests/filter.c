// What only sets can do, on fixed and growing ones.

#include "check.h"

enum { ITEMS = 1000, MORE = 3 * ITEMS };

static guira_filter *create(uint32_t growing) {
    guira_params params = params_of(ITEMS, growing);
    params.false_positive_rate = 0.001;
    return filter_create(&params);
}

static void items(uint32_t growing) {
    guira_filter *filter = create(growing);
    bool answer = true;
    OK(guira_filter_insert(filter, 7));
    OK(guira_filter_insert(filter, 7));
    EQUAL(filter_count(filter, 7), 2);
    EQUAL(filter_len(filter), 2);
    CHECK(!filter_insert_unique(filter, 7) && filter_insert_unique(filter, 8));
    CHECK(filter_remove(filter, 7) && filter_remove(filter, 7) && !filter_remove(filter, 7));
    CHECK(!filter_contains(filter, 7) && filter_contains(filter, 8));
    OK(guira_filter_remove(filter, 8, NULL));
    EQUAL(filter_len(filter), 0);
    STATUS(guira_filter_insert(NULL, 1), GUIRA_ERR_NULL);
    STATUS(guira_filter_insert_unique(NULL, 1, &answer), GUIRA_ERR_NULL);
    STATUS(guira_filter_insert_unique(filter, 1, NULL), GUIRA_ERR_NULL);
    STATUS(guira_filter_remove(NULL, 1, &answer), GUIRA_ERR_NULL);
    EQUAL(filter_len(filter), 0);
    CHECK(answer);
    OK(guira_filter_destroy(filter));
}

static void bursts(uint32_t growing, struct way way) {
    guira_filter *filter = create(growing);
    uint64_t hashes[65], inserted = 77, refused = 77;
    size_t stride = way.stride;
    number(hashes, 65, 100);
    const uint64_t *all = laid(hashes, 65, way);
    OK(guira_filter_insert_unique_mask(filter, all, stride, 4, &inserted, &refused));
    CHECK(inserted == 0xf && refused == 0);
    all = laid(hashes + 2, 32, way);
    OK(guira_filter_insert_unique_mask(filter, all, stride, 32, &inserted, NULL));
    EQUAL(inserted, 0xfffffffc);
    all = laid(hashes, 65, way);
    OK(guira_filter_insert_unique_mask(filter, all, stride, 64, &inserted, &refused));
    EQUAL(inserted, UINT64_MAX << 34);
    EQUAL(filter_len(filter), 64);
    inserted = refused = 77;
    STATUS(guira_filter_insert_unique_mask(filter, all, stride, 65, &inserted, &refused),
           GUIRA_ERR_ARGUMENT);
    STATUS(guira_filter_insert_unique_mask(NULL, all, stride, 1, &inserted, &refused),
           GUIRA_ERR_NULL);
    STATUS(guira_filter_insert_unique_mask(filter, NULL, stride, 1, &inserted, &refused),
           GUIRA_ERR_NULL);
    STATUS(guira_filter_insert_unique_mask(filter, all, stride, 1, NULL, &refused),
           GUIRA_ERR_NULL);
    CHECK(inserted == 77 && refused == 77);
    EQUAL(filter_len(filter), 64);
    // An item that occurs twice is inserted once.
    uint64_t twice[] = {1, 2, 1};
    OK(guira_filter_insert_unique_mask(filter, laid(twice, 3, way), stride, 3, &inserted, NULL));
    EQUAL(inserted, 3);
    OK(guira_filter_destroy(filter));
}

static void batches(uint32_t growing, struct way way) {
    guira_filter *filter = create(growing);
    uint64_t hashes[ITEMS];
    bool flags[ITEMS], refused[ITEMS];
    size_t count = 0, stride = way.stride, half = ITEMS / 2;
    number(hashes, ITEMS, 5000);
    const uint64_t *all = laid(hashes, ITEMS, way);
    memset(refused, 1, sizeof refused);
    OK(guira_filter_insert_batch(filter, all, stride, half, refused, &count));
    EQUAL(count, half);
    CHECK(memchr(refused, 1, half) == NULL && refused[half]);
    for (size_t i = 0; i < half; i++) CHECK(filter_contains(filter, hashes[i]));
    OK(guira_filter_insert_unique_batch(filter, all, stride, ITEMS, flags, refused, &count));
    CHECK(count > half - 10 && count <= half);
    CHECK(memchr(flags, 1, half) == NULL && memchr(refused, 1, ITEMS) == NULL);
    size_t added = count;
    for (size_t i = 0; i < ITEMS; i++) count -= flags[i];
    EQUAL(count, 0);
    OK(guira_filter_remove_batch(filter, all, stride, half, flags, &count));
    EQUAL(count, half);
    CHECK(memchr(flags, 0, half) == NULL);
    EQUAL(filter_len(filter), added);
    uint64_t mixed[] = {5500, 1000000, 5501};
    OK(guira_filter_remove_batch(filter, laid(mixed, 3, way), stride, 3, flags, NULL));
    CHECK(flags[0] && !flags[1] && flags[2]);

    // Arrays of nothing, and without answers.
    OK(guira_filter_insert_batch(filter, NULL, stride, 0, NULL, NULL));
    OK(guira_filter_insert_unique_batch(filter, NULL, stride, 0, NULL, NULL, NULL));
    OK(guira_filter_remove_batch(filter, NULL, stride, 0, NULL, NULL));
    all = laid(hashes, ITEMS, way);
    OK(guira_filter_insert_unique_batch(filter, all, stride, 2, flags, NULL, NULL));
    STATUS(guira_filter_insert_batch(NULL, all, stride, 1, flags, &count), GUIRA_ERR_NULL);
    STATUS(guira_filter_insert_batch(filter, NULL, stride, 1, flags, &count), GUIRA_ERR_NULL);
    STATUS(guira_filter_insert_batch(filter, all, 7, 1, flags, &count), GUIRA_ERR_ARGUMENT);
    STATUS(guira_filter_insert_unique_batch(NULL, all, stride, 1, flags, NULL, &count),
           GUIRA_ERR_NULL);
    STATUS(guira_filter_insert_unique_batch(filter, all, stride, 1, NULL, flags, &count),
           GUIRA_ERR_NULL);
    STATUS(guira_filter_remove_batch(NULL, all, stride, 1, flags, &count), GUIRA_ERR_NULL);
    STATUS(guira_filter_remove_batch(filter, all, stride, 1, NULL, &count), GUIRA_ERR_NULL);
    OK(guira_filter_destroy(filter));
}

// What a full set refuses is refused in every form, and changes nothing.
static void full(struct way way) {
    guira_filter *filter = create(0);
    static uint64_t hashes[MORE];
    static bool inserted[MORE], refused[MORE];
    uint64_t out[64], new = 0, mask = 0, found = 0;
    size_t count = 0, counted = 0, outs = 0, stride = way.stride;
    number(hashes, MORE, 0);
    STATUS(guira_filter_insert_unique_batch(filter, laid(hashes, MORE, way), stride, MORE, inserted,
                                            refused, &count), GUIRA_ERR_FULL);
    CHECK(count >= ITEMS && count < MORE);
    for (size_t i = 0; i < MORE; i++) {
        CHECK(!(inserted[i] && refused[i]));
        if (inserted[i]) CHECK(filter_contains(filter, hashes[i]));
        counted += inserted[i];
        if (refused[i] && outs < 64) out[outs++] = hashes[i];
    }
    EQUAL(counted, count);
    EQUAL(filter_len(filter), count);
    CHECK(outs == 64);
    STATUS(guira_filter_insert_unique_mask(filter, laid(out, 64, way), stride, 64, &new, &mask),
           GUIRA_ERR_FULL);
    OK(guira_filter_contains_mask(filter, out, 8, 64, &found));
    CHECK(new == 0 && (mask | found) == UINT64_MAX && mask != 0);
    memset(refused, 0, sizeof refused);
    guira_status status =
        guira_filter_insert_batch(filter, laid(hashes, MORE, way), stride, MORE, refused, &count);
    CHECK(status == GUIRA_ERR_FULL || status == GUIRA_ERR_TOO_MANY_COPIES);
    CHECK(count < MORE);
    for (size_t i = 0; i < MORE; i++) count += refused[i];
    EQUAL(count, MORE);
    bool answer = true;
    status = GUIRA_OK;
    for (size_t i = 0; i < 64 && status == GUIRA_OK; i++) {
        answer = true;
        status = guira_filter_insert_unique(filter, out[i], &answer);
    }
    EQUAL(status, GUIRA_ERR_FULL);
    CHECK(answer);
    while ((status = guira_filter_insert(filter, 1)) == GUIRA_OK) {}
    CHECK(status == GUIRA_ERR_FULL || status == GUIRA_ERR_TOO_MANY_COPIES);
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

static void growth(void) {
    guira_filter *filter = create(1);
    for (uint64_t hash = 0; hash < 20 * ITEMS; hash++) OK(guira_filter_insert(filter, hash));
    guira_info info = filter_info(filter);
    CHECK(info.segments > 2 && info.items == 20 * ITEMS && info.false_positive_rate <= 0.001);
    uint64_t bytes = info.bytes, released = 0;
    for (uint64_t hash = 100; hash < 20 * ITEMS; hash++) CHECK(filter_remove(filter, hash));
    OK(guira_filter_shrink_to_fit(filter, &released));
    CHECK(released > 0 && filter_info(filter).bytes == bytes - released);
    for (uint64_t hash = 0; hash < 100; hash++) CHECK(filter_contains(filter, hash));
    OK(guira_filter_shrink_to_fit(filter, NULL));
    OK(guira_filter_destroy(filter));

    guira_params params = params_of(0, 1); // without a capacity
    params.max_bytes = 100000;
    filter = filter_create(&params);
    guira_status status;
    for (uint64_t hash = 0; (status = guira_filter_insert(filter, hash)) == GUIRA_OK; hash++) {}
    EQUAL(status, GUIRA_ERR_FULL);
    info = filter_info(filter);
    CHECK(info.bytes <= 100000 && info.items > 3 * ITEMS);
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
    CHECK(info.slots_per_bucket == 5 && info.fingerprint_bits == 12); // plain 5 x 12
    OK(guira_filter_destroy(filter));
}

static void merging(uint32_t growing) {
    guira_filter *a = create(growing), *b = create(growing), *other = NULL;
    for (uint64_t hash = 0; hash < 400; hash++) OK(guira_filter_insert(a, hash));
    for (uint64_t hash = 300; hash < 600; hash++) OK(guira_filter_insert(b, hash));
    OK(guira_filter_merge(a, b));
    for (uint64_t hash = 0; hash < 600; hash++) CHECK(filter_contains(a, hash));
    EQUAL(filter_len(a), 700);
    guira_params params = params_of(ITEMS, growing);
    params.false_positive_rate = 0.001;
    params.seed = 0; // another seed
    other = filter_create(&params);
    STATUS(guira_filter_merge(a, other), GUIRA_ERR_MISMATCH);
    OK(guira_filter_destroy(other));
    other = create(!growing);
    STATUS(guira_filter_merge(a, other), GUIRA_ERR_MISMATCH);
    STATUS(guira_filter_merge(a, NULL), GUIRA_ERR_NULL);
    STATUS(guira_filter_merge(NULL, a), GUIRA_ERR_NULL);
    EQUAL(filter_len(a), 700);
    uint64_t released = 77;
    STATUS(guira_filter_shrink_to_fit(growing ? other : a, &released), GUIRA_ERR_NOT_GROWING);
    STATUS(guira_filter_shrink_to_fit(NULL, &released), GUIRA_ERR_NULL);
    EQUAL(released, 77);
    OK(guira_filter_destroy(a));
    OK(guira_filter_destroy(b));
    OK(guira_filter_destroy(other));
}

int main(void) {
    for (uint32_t growing = 0; growing < 2; growing++) {
        items(growing);
        merging(growing);
        for (int i = 0; i < WAYS_N; i++) {
            bursts(growing, WAYS[i]);
            batches(growing, WAYS[i]);
        }
    }
    for (int i = 0; i < WAYS_N; i++) full(WAYS[i]);
    copies();
    growth();
    layouts();
    return 0;
}
