// Every function of sets, on fixed and growing ones.

#include "check.h"

enum { ITEMS = 1000 };

static guira_filter *create(uint32_t growing) {
    guira_filter_params params = GUIRA_FILTER_PARAMS_INIT;
    params.capacity = ITEMS;
    params.false_positive_rate = 0.001;
    params.seed = 1; // so that every run has the same false positives
    params.growing = growing;
    guira_filter *filter = NULL;
    EQUAL(guira_create(&params, &filter), 0);
    CHECK(filter != NULL);
    return filter;
}

static void items(uint32_t growing) {
    guira_filter *filter = create(growing);
    EQUAL(guira_contains(filter, 7), 0);
    EQUAL(guira_insert(filter, 7), 0);
    EQUAL(guira_insert(filter, 7), 0);
    EQUAL(guira_contains(filter, 7), 1);
    EQUAL(guira_count(filter, 7), 2);
    EQUAL(guira_len(filter), 2);
    EQUAL(guira_insert_unique(filter, 7), 0);
    EQUAL(guira_insert_unique(filter, 8), 1);
    EQUAL(guira_remove(filter, 7), 1);
    EQUAL(guira_remove(filter, 7), 1);
    EQUAL(guira_remove(filter, 7), 0);
    EQUAL(guira_remove(filter, 8), 1);

    const char *key = "tyto alba";
    EQUAL(guira_insert_key(filter, key, 9), 0);
    EQUAL(guira_contains_key(filter, key, 9), 1);
    EQUAL(guira_contains_key(filter, key, 8), 0);
    EQUAL(guira_contains(filter, guira_hash(filter, key, 9)), 1);
    EQUAL(guira_insert_unique_key(filter, key, 9), 0);
    EQUAL(guira_insert_unique_key(filter, key, 4), 1);
    EQUAL(guira_remove_key(filter, key, 9), 1);
    EQUAL(guira_remove_key(filter, key, 9), 0);
    EQUAL(guira_insert_key(filter, NULL, 0), 0); // the empty key
    EQUAL(guira_contains_key(filter, key, 0), 1);

    guira_filter *copy = NULL;
    EQUAL(guira_clone(filter, &copy), 0);
    EQUAL(guira_clear(filter), 0);
    EQUAL(guira_len(filter), 0);
    EQUAL(guira_contains_key(filter, key, 4), 0);
    EQUAL(guira_contains_key(copy, key, 4), 1);
    guira_destroy(filter);
    guira_destroy(copy);
}

static void bursts(uint32_t growing) {
    guira_filter *filter = create(growing);
    uint64_t hashes[64], refused = 99;
    number(hashes, 64, 100);
    EQUAL(guira_contains_mask(filter, hashes, 64), 0);
    EQUAL(guira_insert_unique_mask(filter, hashes, 4, &refused), 0xf);
    EQUAL(refused, 0);
    EQUAL(guira_insert_unique_mask(filter, hashes + 2, 32, NULL), 0xfffffffc);
    EQUAL(guira_contains_mask(filter, hashes, 64) & 0x3ffffffff, 0x3ffffffff);
    uint64_t mixed[] = {100, 1000000, 101};
    EQUAL(guira_contains_mask(filter, mixed, 3), 5);
    EQUAL(guira_remove_mask(filter, mixed, 3), 5);
    EQUAL(guira_contains_mask(filter, mixed, 3), 0);
    EQUAL(guira_insert_unique_mask(filter, hashes, 64, &refused), ~0xfffffffcULL & ~0x300000000ULL);
    EQUAL(guira_contains_mask(filter, hashes, 64), ~0ULL);
    EQUAL(guira_len(filter), 64);
    guira_destroy(filter);
}

static void bulk(uint32_t growing) {
    guira_filter *filter = create(growing);
    uint64_t hashes[ITEMS];
    bool results[ITEMS], refused[ITEMS];
    number(hashes, ITEMS, 5000);
    memset(refused, 1, sizeof refused);
    EQUAL(guira_insert_bulk(filter, hashes, ITEMS / 2, refused), ITEMS / 2);
    CHECK(memchr(refused, 1, ITEMS / 2) == NULL && refused[ITEMS / 2]);
    EQUAL(guira_contains_bulk(filter, hashes, ITEMS / 2, results), ITEMS / 2);
    CHECK(memchr(results, 0, ITEMS / 2) == NULL);
    int64_t added = guira_insert_unique_bulk(filter, hashes, ITEMS, results, refused);
    CHECK(added > ITEMS / 2 - 10 && added <= ITEMS / 2);
    CHECK(memchr(results, 1, ITEMS / 2) == NULL && memchr(refused, 1, ITEMS) == NULL);
    EQUAL(guira_remove_bulk(filter, hashes, ITEMS / 2, results), ITEMS / 2);
    CHECK(memchr(results, 0, ITEMS / 2) == NULL);
    EQUAL(guira_len(filter), added);
    EQUAL(guira_contains_bulk(filter, hashes + ITEMS / 2, ITEMS / 2, results), ITEMS / 2);

    // Arrays of nothing.
    EQUAL(guira_contains_bulk(filter, NULL, 0, NULL), 0);
    EQUAL(guira_contains_mask(filter, NULL, 0), 0);
    EQUAL(guira_insert_bulk(filter, NULL, 0, NULL), 0);

    // Keys that lie one after another.
    char keys[3][8] = {"cuckoo", "ani", "guira"};
    uint64_t hashed[3];
    EQUAL(guira_hash_bulk(filter, keys, 3, sizeof keys[0], hashed), 0);
    for (int i = 0; i < 3; i++) CHECK(hashed[i] == guira_hash(filter, keys[i], 8));
    CHECK(hashed[0] != hashed[1] && hashed[1] != hashed[2]);
    guira_destroy(filter);
}

// What a full set refuses is refused in every form, and changes nothing.
static void full(void) {
    guira_filter *filter = create(0);
    enum { MORE = 3 * ITEMS };
    static uint64_t hashes[MORE];
    static bool added[MORE], refused[MORE];
    number(hashes, MORE, 0);
    int64_t inserted = guira_insert_unique_bulk(filter, hashes, MORE, added, refused);
    CHECK(inserted >= ITEMS && inserted < MORE);
    int64_t counted = 0;
    uint64_t out[64];
    size_t outs = 0;
    for (size_t i = 0; i < MORE; i++) {
        CHECK(!(added[i] && refused[i]));
        counted += added[i];
        if (refused[i] && outs < 64) out[outs++] = hashes[i];
    }
    EQUAL(counted, inserted);
    EQUAL(guira_len(filter), inserted);
    CHECK(outs == 64);
    uint64_t mask = 0;
    EQUAL(guira_insert_unique_mask(filter, out, 64, &mask), 0);
    CHECK((mask | guira_contains_mask(filter, out, 64)) == ~0ULL && mask != 0);
    memset(refused, 0, sizeof refused);
    int64_t more = guira_insert_bulk(filter, hashes, MORE, refused);
    CHECK(more < MORE);
    for (size_t i = 0; i < MORE; i++) more += refused[i];
    EQUAL(more, MORE);
    int code = 0;
    for (size_t i = 0; i < 64 && code == 0; i++) code = guira_insert_unique(filter, out[i]);
    EQUAL(code, GUIRA_ERR_FULL);
    while ((code = guira_insert(filter, 1)) == 0) {}
    CHECK(code == GUIRA_ERR_FULL || code == GUIRA_ERR_TOO_MANY_COPIES);
    guira_destroy(filter);

    guira_filter_params params = GUIRA_FILTER_PARAMS_INIT;
    params.capacity = 100;
    params.max_copies = 2;
    EQUAL(guira_create(&params, &filter), 0);
    EQUAL(guira_insert(filter, 1), 0);
    EQUAL(guira_insert(filter, 1), 0);
    EQUAL(guira_insert(filter, 1), GUIRA_ERR_TOO_MANY_COPIES);
    guira_destroy(filter);
}

static void growth(void) {
    guira_filter *filter = create(1);
    guira_info info = GUIRA_INFO_INIT;
    EQUAL(guira_get_info(filter, &info), 0);
    CHECK(info.growing == 1 && info.segments == 1 && info.next_growth_bytes > 0);
    for (uint64_t hash = 0; hash < 20 * ITEMS; hash++) EQUAL(guira_insert(filter, hash), 0);
    EQUAL(guira_get_info(filter, &info), 0);
    CHECK(info.segments > 2 && info.items == 20 * ITEMS && info.false_positive_rate <= 0.001);
    uint64_t bytes = info.bytes, released = 0;
    for (uint64_t hash = 100; hash < 20 * ITEMS; hash++) EQUAL(guira_remove(filter, hash), 1);
    EQUAL(guira_shrink_to_fit(filter, &released), 0);
    EQUAL(guira_get_info(filter, &info), 0);
    CHECK(released > 0 && info.bytes == bytes - released);
    for (uint64_t hash = 0; hash < 100; hash++) EQUAL(guira_contains(filter, hash), 1);
    EQUAL(guira_shrink_to_fit(filter, NULL), 0);
    guira_destroy(filter);

    guira_filter_params params = GUIRA_FILTER_PARAMS_INIT;
    params.capacity = ITEMS;
    params.growing = 1;
    params.growth_factor = 8;
    params.max_bytes = 100000;
    EQUAL(guira_create(&params, &filter), 0);
    int code;
    for (uint64_t hash = 0; (code = guira_insert(filter, hash)) == 0; hash++) {}
    EQUAL(code, GUIRA_ERR_FULL);
    EQUAL(guira_get_info(filter, &info), 0);
    CHECK(info.bytes <= 100000 && info.items > 3 * ITEMS);
    guira_destroy(filter);
}

static void info(void) {
    guira_filter *filter = create(0);
    for (uint64_t hash = 0; hash < ITEMS; hash++) EQUAL(guira_insert(filter, hash), 0);
    guira_info info = GUIRA_INFO_INIT;
    EQUAL(guira_get_info(filter, &info), 0);
    CHECK(info.size == sizeof info && info.items == ITEMS && info.capacity == ITEMS);
    CHECK(info.slots >= ITEMS && info.bytes * 8 > 13 * ITEMS && info.segments == 1);
    CHECK(info.load_factor == (double)info.items / (double)info.slots);
    CHECK(info.false_positive_rate > 0 && info.false_positive_rate <= 0.001);
    CHECK(info.slots_per_bucket == 5 && info.fingerprint_bits == 14); // semi-sorted 5 x 14
    CHECK(info.growing == 0 && info.window == 0 && info.generation == 0 && info.value_bits == 0);
    CHECK(info.next_growth_bytes == 0);

    // A later header has a larger struct.
    struct {
        guira_info info;
        uint64_t more[2];
    } larger = {GUIRA_INFO_INIT, {5, 6}};
    larger.info.size = sizeof larger;
    EQUAL(guira_get_info(filter, &larger.info), 0);
    CHECK(larger.info.size == sizeof larger && larger.info.items == ITEMS);
    CHECK(larger.more[0] == 0 && larger.more[1] == 0);
    guira_destroy(filter);

    guira_filter_params params = GUIRA_FILTER_PARAMS_INIT;
    params.capacity = ITEMS;
    params.false_positive_rate = 0.01;
    params.fastest = 1;
    params.writers = 8;
    params.no_huge_pages = 1;
    EQUAL(guira_create(&params, &filter), 0);
    EQUAL(guira_get_info(filter, &info), 0);
    CHECK(info.slots_per_bucket == 5 && info.fingerprint_bits == 12); // plain 5 x 12
    guira_destroy(filter);
}

static void merging(uint32_t growing) {
    guira_filter *a = create(growing), *b = create(growing), *other = NULL;
    for (uint64_t hash = 0; hash < 400; hash++) EQUAL(guira_insert(a, hash), 0);
    for (uint64_t hash = 300; hash < 600; hash++) EQUAL(guira_insert(b, hash), 0);
    EQUAL(guira_merge(a, b), 0);
    for (uint64_t hash = 0; hash < 600; hash++) EQUAL(guira_contains(a, hash), 1);
    EQUAL(guira_len(a), 700);
    guira_filter_params params = GUIRA_FILTER_PARAMS_INIT;
    params.capacity = ITEMS;
    params.false_positive_rate = 0.001;
    params.growing = growing;
    EQUAL(guira_create(&params, &other), 0); // with another seed
    EQUAL(guira_merge(a, other), GUIRA_ERR_MISMATCH);
    guira_destroy(other);
    other = create(!growing);
    EQUAL(guira_merge(a, other), GUIRA_ERR_MISMATCH);
    EQUAL(guira_len(a), 700);
    guira_destroy(a);
    guira_destroy(b);
    guira_destroy(other);
}

int main(void) {
    for (uint32_t growing = 0; growing < 2; growing++) {
        items(growing);
        bursts(growing);
        bulk(growing);
        merging(growing);
    }
    full();
    growth();
    info();
    CHECK(strchr(guira_version(), '.') != NULL);
    return 0;
}
