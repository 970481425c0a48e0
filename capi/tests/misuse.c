// Misuse that the library notices: an error, and nothing changes.

#include "check.h"

static int none_written(void *context, const void *bytes, size_t len) {
    (void)context, (void)bytes, (void)len;
    return 0;
}

static void null_objects(void) {
    uint64_t hash = 1, u64 = 77;
    uint16_t u16 = 77;
    bool flag = true;
    guira_info info = GUIRA_INFO_INIT;
    guira_filter *filter = NULL;
    guira_map *map = NULL;
    guira_expiring *expiring = NULL;
    guira_destroy(NULL);
    guira_map_destroy(NULL);
    guira_expiring_destroy(NULL);

    EQUAL(guira_create(NULL, &filter), GUIRA_ERR_NULL);
    EQUAL(guira_map_create(NULL, &map), GUIRA_ERR_NULL);
    EQUAL(guira_expiring_create(NULL, &expiring), GUIRA_ERR_NULL);
    EQUAL(guira_load(NULL, &filter), GUIRA_ERR_NULL);
    EQUAL(guira_load("x", NULL), GUIRA_ERR_NULL);
    EQUAL(guira_load_from(NULL, NULL, &filter), GUIRA_ERR_NULL);
    CHECK(filter == NULL && map == NULL && expiring == NULL);

    EQUAL(guira_clear(NULL), GUIRA_ERR_NULL);
    EQUAL(guira_clone(NULL, &filter), GUIRA_ERR_NULL);
    EQUAL(guira_save(NULL, "x"), GUIRA_ERR_NULL);
    EQUAL(guira_save_to(NULL, none_written, NULL), GUIRA_ERR_NULL);
    EQUAL(guira_get_info(NULL, &info), GUIRA_ERR_NULL);
    EQUAL(guira_len(NULL), 0);
    EQUAL(guira_merge(NULL, NULL), GUIRA_ERR_NULL);
    EQUAL(guira_shrink_to_fit(NULL, &u64), GUIRA_ERR_NULL);
    EQUAL(guira_hash(NULL, "x", 1), 0);
    EQUAL(guira_hash_bulk(NULL, "x", 1, 1, &u64), GUIRA_ERR_NULL);
    EQUAL(guira_insert(NULL, 1), GUIRA_ERR_NULL);
    EQUAL(guira_insert_key(NULL, "x", 1), GUIRA_ERR_NULL);
    EQUAL(guira_insert_unique(NULL, 1), GUIRA_ERR_NULL);
    EQUAL(guira_contains(NULL, 1), GUIRA_ERR_NULL);
    EQUAL(guira_remove(NULL, 1), GUIRA_ERR_NULL);
    EQUAL(guira_count(NULL, 1), GUIRA_ERR_NULL);
    EQUAL(guira_contains_mask(NULL, &hash, 1), 0);
    EQUAL(guira_remove_mask(NULL, &hash, 1), 0);
    EQUAL(guira_insert_bulk(NULL, &hash, 1, &flag), GUIRA_ERR_NULL);
    EQUAL(guira_contains_bulk(NULL, &hash, 1, &flag), GUIRA_ERR_NULL);
    EQUAL(guira_remove_bulk(NULL, &hash, 1, &flag), GUIRA_ERR_NULL);
    CHECK(u64 == 77 && flag);
    EQUAL(guira_insert_unique_mask(NULL, &hash, 1, &u64), 0);
    CHECK(u64 == UINT64_MAX);

    EQUAL(guira_map_insert(NULL, 1, 1), GUIRA_ERR_NULL);
    EQUAL(guira_get(NULL, 1, &u16), GUIRA_ERR_NULL);
    EQUAL(guira_get_or_insert(NULL, 1, 1, &u16), GUIRA_ERR_NULL);
    EQUAL(guira_values(NULL, 1, &u16, 1), GUIRA_ERR_NULL);
    EQUAL(guira_get_mask(NULL, &hash, 1, &u16), 0);
    EQUAL(guira_get_bulk(NULL, &hash, 1, &u16, &flag), GUIRA_ERR_NULL);
    EQUAL(guira_map_remove(NULL, 1, 1), GUIRA_ERR_NULL);
    EQUAL(guira_advance(NULL), 0);
    EQUAL(guira_sweep(NULL, 5), 0);
    EQUAL(guira_generation(NULL), 0);
    EQUAL(guira_refresh(NULL, 1), GUIRA_ERR_NULL);
    EQUAL(guira_refresh_mask(NULL, &hash, 1), 0);
    EQUAL(guira_expiring_insert(NULL, 1, NULL), GUIRA_ERR_NULL);
    CHECK(u16 == 77 && flag);
}

static void null_arguments(void) {
    guira_filter_params params = GUIRA_FILTER_PARAMS_INIT;
    params.capacity = 100;
    EQUAL(guira_create(&params, NULL), GUIRA_ERR_NULL);
    guira_filter *filter;
    EQUAL(guira_create(&params, &filter), 0);
    uint64_t hashes[65] = {0}, refused = 0;
    bool flags[65];
    EQUAL(guira_clone(filter, NULL), GUIRA_ERR_NULL);
    EQUAL(guira_save(filter, NULL), GUIRA_ERR_NULL);
    EQUAL(guira_save_to(filter, NULL, NULL), GUIRA_ERR_NULL);
    EQUAL(guira_get_info(filter, NULL), GUIRA_ERR_NULL);
    EQUAL(guira_merge(filter, NULL), GUIRA_ERR_NULL);
    EQUAL(guira_shrink_to_fit(filter, NULL), GUIRA_ERR_NOT_GROWING);
    EQUAL(guira_hash(filter, NULL, 1), 0);
    EQUAL(guira_insert_key(filter, NULL, 1), GUIRA_ERR_NULL);
    EQUAL(guira_contains_mask(filter, NULL, 1), 0);
    EQUAL(guira_insert_bulk(filter, NULL, 1, NULL), GUIRA_ERR_NULL);
    EQUAL(guira_contains_bulk(filter, hashes, 1, NULL), GUIRA_ERR_NULL);
    EQUAL(guira_insert_unique_bulk(filter, hashes, 1, NULL, NULL), GUIRA_ERR_NULL);

    // Bursts that are too long.
    EQUAL(guira_insert_unique_mask(filter, hashes, 65, &refused), 0);
    CHECK(refused == UINT64_MAX);
    EQUAL(guira_len(filter), 0);
    EQUAL(guira_insert(filter, 0), 0);
    EQUAL(guira_contains_mask(filter, hashes, 64), -1LL);
    EQUAL(guira_contains_mask(filter, hashes, 65), 0);
    EQUAL(guira_remove_mask(filter, hashes, 65), 0);

    // Lengths that no memory has, and pointers that are not aligned.
    EQUAL(guira_contains_bulk(filter, hashes, SIZE_MAX / 2, flags), GUIRA_ERR_ARGUMENT);
    EQUAL(guira_hash_bulk(filter, hashes, 2, SIZE_MAX / 2 + 1, hashes + 1), GUIRA_ERR_ARGUMENT);
    uint64_t *odd = (uint64_t *)(void *)((char *)hashes + 1);
    EQUAL(guira_contains_bulk(filter, odd, 4, flags), GUIRA_ERR_ARGUMENT);
    EQUAL(guira_contains_mask(filter, odd, 4), 0);
    EQUAL(guira_len(filter), 1);
    guira_destroy(filter);
}

static int code_of(guira_filter_params params) {
    guira_filter *filter = NULL;
    int code = guira_create(&params, &filter);
    CHECK((code == 0) == (filter != NULL));
    guira_destroy(filter);
    return code;
}

#define WITH(field, value)                                 \
    params = (guira_filter_params)GUIRA_FILTER_PARAMS_INIT; \
    params.capacity = 100;                                 \
    params.field = value

static void parameters(void) {
    guira_filter_params params = GUIRA_FILTER_PARAMS_INIT;
    EQUAL(code_of(params), GUIRA_ERR_CAPACITY);
    WITH(capacity, UINT64_MAX);
    EQUAL(code_of(params), GUIRA_ERR_CAPACITY);
    WITH(false_positive_rate, 1.5);
    EQUAL(code_of(params), GUIRA_ERR_RATE);
    WITH(false_positive_rate, -0.0);
    EQUAL(code_of(params), GUIRA_ERR_RATE);
    WITH(false_positive_rate, 1e-12);
    EQUAL(code_of(params), GUIRA_ERR_RATE);
    WITH(growing, 2);
    EQUAL(code_of(params), GUIRA_ERR_SETTING);
    WITH(fastest, 7);
    EQUAL(code_of(params), GUIRA_ERR_SETTING);
    WITH(no_huge_pages, 2);
    EQUAL(code_of(params), GUIRA_ERR_SETTING);
    WITH(max_bytes, 1 << 20);
    EQUAL(code_of(params), GUIRA_ERR_SETTING); // of a set that does not grow
    params.growing = 1;
    EQUAL(code_of(params), 0);
    params.max_bytes = 10;
    EQUAL(code_of(params), GUIRA_ERR_SETTING);
    WITH(growth_factor, 3);
    EQUAL(code_of(params), GUIRA_ERR_SETTING);
    params.growing = 1;
    EQUAL(code_of(params), GUIRA_ERR_SETTING);
    // 2^37 bytes, which a process may be refused or not.
    WITH(capacity, UINT64_C(1) << 36);
    int code = code_of(params);
    CHECK(code == 0 || code == GUIRA_ERR_NO_MEMORY || code == GUIRA_ERR_CAPACITY);

    // Sizes of the struct.
    WITH(size, 0);
    EQUAL(code_of(params), GUIRA_ERR_STRUCT_SIZE);
    WITH(size, sizeof params - 1);
    EQUAL(code_of(params), GUIRA_ERR_STRUCT_SIZE);
    WITH(size, SIZE_MAX);
    EQUAL(code_of(params), GUIRA_ERR_STRUCT_SIZE);
    struct {
        guira_filter_params params;
        uint64_t later;
    } larger = {GUIRA_FILTER_PARAMS_INIT, 0};
    larger.params.size = sizeof larger;
    larger.params.capacity = 100;
    guira_filter *filter = NULL;
    EQUAL(guira_create(&larger.params, &filter), 0);
    guira_destroy(filter);
    filter = NULL;
    larger.later = 1;
    EQUAL(guira_create(&larger.params, &filter), GUIRA_ERR_STRUCT_SIZE);
    CHECK(filter == NULL);
    guira_info info = GUIRA_INFO_INIT;
    info.size = 8;
    info.items = 77;
    WITH(capacity, 100);
    EQUAL(guira_create(&params, &filter), 0);
    EQUAL(guira_get_info(filter, &info), GUIRA_ERR_STRUCT_SIZE);
    CHECK(info.items == 77);
    guira_destroy(filter);

    guira_map_params map_params = GUIRA_MAP_PARAMS_INIT;
    guira_map *map = NULL;
    map_params.capacity = 100;
    map_params.value_bits = 17;
    EQUAL(guira_map_create(&map_params, &map), GUIRA_ERR_SETTING);
    guira_expiring_params expiring_params = GUIRA_EXPIRING_PARAMS_INIT;
    guira_expiring *expiring = NULL;
    expiring_params.capacity = 100;
    expiring_params.window = 254;
    EQUAL(guira_expiring_create(&expiring_params, &expiring), GUIRA_ERR_SETTING);
    expiring_params.window = 0;
    expiring_params.reserved = 1;
    EQUAL(guira_expiring_create(&expiring_params, &expiring), GUIRA_ERR_STRUCT_SIZE);
}

static void texts(void) {
    const char *unknown = guira_strerror(-1000);
    CHECK(strcmp(guira_strerror(0), "no error") == 0 && guira_strerror(5) == guira_strerror(0));
    for (int code = GUIRA_ERR_PANIC; code < 0; code++) {
        const char *text = guira_strerror(code);
        CHECK(strlen(text) > 5 && text != unknown);
        for (int other = code + 1; other <= 0; other++) {
            CHECK(strcmp(text, guira_strerror(other)) != 0);
        }
    }
    CHECK(guira_strerror(GUIRA_ERR_PANIC - 1) == unknown && guira_strerror(INT32_MIN) == unknown);
}

int main(void) {
    null_objects();
    null_arguments();
    parameters();
    texts();
    return 0;
}
