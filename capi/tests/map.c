// Every function of maps, on fixed and growing ones.

#include "check.h"

enum { ITEMS = 1000 };

static guira_map *create(uint32_t growing) {
    guira_map_params params = GUIRA_MAP_PARAMS_INIT;
    params.capacity = ITEMS;
    params.seed = 1;
    params.growing = growing;
    params.value_bits = 10;
    guira_map *map = NULL;
    EQUAL(guira_map_create(&params, &map), 0);
    CHECK(map != NULL);
    return map;
}

static void items(uint32_t growing) {
    guira_map *map = create(growing);
    uint16_t value = 77, values[2] = {0};
    EQUAL(guira_get(map, 5, &value), 0);
    CHECK(value == 77);
    EQUAL(guira_map_insert(map, 5, 1000), 0);
    EQUAL(guira_map_insert(map, 5, 1024), GUIRA_ERR_VALUE_TOO_LARGE);
    EQUAL(guira_get(map, 5, &value), 1);
    EQUAL(value, 1000);
    EQUAL(guira_map_contains(map, 5), 1);
    EQUAL(guira_map_contains(map, 6), 0);
    EQUAL(guira_contains_value(map, 5, 1000), 1);
    EQUAL(guira_contains_value(map, 5, 999), 0);
    EQUAL(guira_map_insert(map, 5, 3), 0);
    EQUAL(guira_map_count(map, 5), 2);
    EQUAL(guira_values(map, 5, values, 2), 2);
    CHECK(values[0] + values[1] == 1003);
    EQUAL(guira_values(map, 5, values, 1), 2);
    CHECK(values[1] == 0 || values[1] == 1000 || values[1] == 3);
    EQUAL(guira_values(map, 6, NULL, 0), 0);
    EQUAL(guira_replace(map, 5, 3, 4), 1);
    EQUAL(guira_replace(map, 5, 3, 4), 0);
    EQUAL(guira_map_remove(map, 5, 3), 0);
    EQUAL(guira_map_remove(map, 5, 4), 1);
    EQUAL(guira_map_remove(map, 5, 1000), 1);
    EQUAL(guira_map_len(map), 0);
    EQUAL(guira_get_or_insert(map, 9, 20, &value), 1);
    EQUAL(value, 20);
    EQUAL(guira_get_or_insert(map, 9, 21, &value), 0);
    EQUAL(value, 20);
    EQUAL(guira_get_or_insert(map, 9, 21, NULL), 0);

    const char *key = "guira guira";
    EQUAL(guira_map_insert_key(map, key, 11, 1), 0);
    EQUAL(guira_map_contains_key(map, key, 11), 1);
    EQUAL(guira_map_contains_key(map, key, 10), 0);
    EQUAL(guira_map_contains(map, guira_map_hash(map, key, 11)), 1);
    EQUAL(guira_get_key(map, key, 11, &value), 1);
    EQUAL(value, 1);
    EQUAL(guira_replace_key(map, key, 11, 1, 2), 1);
    EQUAL(guira_get_or_insert_key(map, key, 11, 3, &value), 0);
    EQUAL(value, 2);
    EQUAL(guira_map_remove_key(map, key, 11, 1), 0);
    EQUAL(guira_map_remove_key(map, key, 11, 2), 1);

    guira_map *copy = NULL;
    EQUAL(guira_map_clone(map, &copy), 0);
    EQUAL(guira_map_clear(map), 0);
    EQUAL(guira_map_contains(map, 9), 0);
    EQUAL(guira_get(copy, 9, &value), 1);
    EQUAL(value, 20);
    guira_map_destroy(map);
    guira_map_destroy(copy);
}

static void bulk(uint32_t growing) {
    guira_map *map = create(growing);
    uint64_t hashes[ITEMS];
    uint16_t values[ITEMS], found_values[ITEMS];
    bool flags[ITEMS];
    number(hashes, ITEMS, 300);
    for (int i = 0; i < ITEMS; i++) values[i] = (uint16_t)(i % 1000);
    values[7] = 5000;
    EQUAL(guira_map_insert_bulk(map, hashes, values, ITEMS, NULL), GUIRA_ERR_VALUE_TOO_LARGE);
    EQUAL(guira_map_len(map), 0);
    values[7] = 7;
    EQUAL(guira_map_insert_bulk(map, hashes, values, 600, flags), 600);
    CHECK(memchr(flags, 1, 600) == NULL);
    int64_t found = guira_get_bulk(map, hashes, ITEMS, found_values, flags);
    CHECK(found >= 600 && found < 610);
    int right = 0;
    for (int i = 0; i < ITEMS; i++) {
        found -= flags[i];
        right += flags[i] && found_values[i] == values[i];
        CHECK(flags[i] || found_values[i] == 0);
        CHECK(flags[i] || i >= 600);
    }
    EQUAL(found, 0);
    CHECK(right > 590);
    CHECK(guira_map_contains_bulk(map, hashes, ITEMS, flags) >= 600);
    CHECK(memchr(flags, 0, 600) == NULL);

    uint64_t mixed[] = {300, 1000000, 305};
    EQUAL(guira_map_contains_mask(map, mixed, 3), 5);
    EQUAL(guira_get_mask(map, mixed, 3, found_values), 5);
    CHECK(found_values[0] == 0 && found_values[1] == 0 && found_values[2] == 5);
    EQUAL(guira_map_contains_mask(map, hashes, 64), ~0ULL);
    EQUAL(guira_get_mask(map, hashes, 64, found_values), ~0ULL);

    EQUAL(guira_map_remove_bulk(map, hashes, values, 600, flags), 600);
    CHECK(memchr(flags, 0, 600) == NULL);
    EQUAL(guira_map_remove_bulk(map, hashes, values, 600, flags), 0);
    EQUAL(guira_map_len(map), 0);

    char keys[2][4] = {"ani", "kea"};
    uint64_t hashed[2];
    EQUAL(guira_map_hash_bulk(map, keys, 2, 4, hashed), 0);
    CHECK(hashed[1] == guira_map_hash(map, keys[1], 4) && hashed[0] != hashed[1]);
    guira_map_destroy(map);
}

static void whole(uint32_t growing) {
    guira_map *a = create(growing), *b = create(growing), *other = create(!growing);
    for (uint64_t hash = 0; hash < 300; hash++) EQUAL(guira_map_insert(a, hash, 1), 0);
    for (uint64_t hash = 300; hash < 500; hash++) EQUAL(guira_map_insert(b, hash, 2), 0);
    EQUAL(guira_map_merge(a, b), 0);
    EQUAL(guira_map_merge(a, other), GUIRA_ERR_MISMATCH);
    for (uint64_t hash = 0; hash < 500; hash++) {
        EQUAL(guira_contains_value(a, hash, hash < 300 ? 1 : 2), 1);
    }
    guira_info info = GUIRA_INFO_INIT;
    EQUAL(guira_map_get_info(a, &info), 0);
    CHECK(info.value_bits == 10 && info.items == 500 && info.growing == growing);
    uint64_t released = 77;
    if (growing) {
        for (uint64_t hash = 1000; hash < 9000; hash++) EQUAL(guira_map_insert(a, hash, 3), 0);
        for (uint64_t hash = 1000; hash < 9000; hash++) EQUAL(guira_map_remove(a, hash, 3), 1);
        EQUAL(guira_map_shrink_to_fit(a, &released), 0);
        CHECK(released > 1000 && released != 77);
        EQUAL(guira_contains_value(a, 17, 1), 1);
    } else {
        EQUAL(guira_map_shrink_to_fit(a, &released), GUIRA_ERR_NOT_GROWING);
        EQUAL(released, 77);
    }
    guira_map_destroy(a);
    guira_map_destroy(b);
    guira_map_destroy(other);
}

static void full(void) {
    guira_map *map = create(0);
    enum { MORE = 3 * ITEMS };
    static uint64_t hashes[MORE];
    static uint16_t values[MORE];
    static bool refused[MORE];
    number(hashes, MORE, 0);
    int64_t inserted = guira_map_insert_bulk(map, hashes, values, MORE, refused);
    CHECK(inserted >= ITEMS && inserted < MORE);
    EQUAL(guira_map_len(map), inserted);
    for (size_t i = 0; i < MORE; i++) {
        inserted += refused[i];
        if (!refused[i]) EQUAL(guira_contains_value(map, hashes[i], 0), 1);
    }
    EQUAL(inserted, MORE);
    int code;
    for (uint64_t hash = 10000; (code = guira_map_insert(map, hash, 0)) == 0; hash++) {}
    EQUAL(code, GUIRA_ERR_FULL);
    uint16_t value = 5;
    for (uint64_t hash = 10000; (code = guira_get_or_insert(map, hash, 1, &value)) >= 0; hash++) {}
    EQUAL(code, GUIRA_ERR_FULL);
    guira_map_destroy(map);
}

int main(void) {
    for (uint32_t growing = 0; growing < 2; growing++) {
        items(growing);
        bulk(growing);
        whole(growing);
    }
    full();
    return 0;
}
