// What only maps can do, on fixed and growing ones.

#include "check.h"

enum { ITEMS = 1000 };

static guira_map *create(uint32_t growing) {
    guira_params params = params_of(ITEMS, growing);
    params.value_bits = 10;
    return map_create(&params);
}

// Returns the value of a key, or -1.
static int get(const guira_map *map, uint64_t hash) {
    uint16_t value = 77;
    bool found = false;
    OK(guira_map_get(map, hash, &value, &found));
    CHECK(found || value == 0);
    return found ? value : -1;
}

static void items(uint32_t growing) {
    guira_map *map = create(growing);
    uint16_t value = 77, values[2] = {0};
    size_t count = 0;
    bool answer = false;
    CHECK(get(map, 5) == -1);
    OK(guira_map_insert(map, 5, 1000));
    STATUS(guira_map_insert(map, 5, 1024), GUIRA_ERR_VALUE_TOO_LARGE);
    CHECK(get(map, 5) == 1000 && map_contains(map, 5) && !map_contains(map, 6));
    CHECK(map_contains_value(map, 5, 1000) && !map_contains_value(map, 5, 999));
    OK(guira_map_insert(map, 5, 3));
    EQUAL(map_count(map, 5), 2);
    OK(guira_map_values(map, 5, values, 2, &count));
    CHECK(count == 2 && values[0] + values[1] == 1003);
    values[1] = 77;
    OK(guira_map_values(map, 5, values, 1, &count));
    CHECK(count == 2 && (values[0] == 1000 || values[0] == 3) && values[1] == 77);
    OK(guira_map_values(map, 6, NULL, 0, &count));
    EQUAL(count, 0);
    CHECK(map_replace(map, 5, 3, 4) && !map_replace(map, 5, 3, 4));
    OK(guira_map_replace(map, 5, 4, 6, NULL));
    CHECK(!map_remove(map, 5, 3) && !map_remove(map, 5, 5000) && map_remove(map, 5, 6));
    OK(guira_map_remove(map, 5, 1000, NULL));
    EQUAL(map_len(map), 0);
    OK(guira_map_insert_unique(map, 9, 20, &answer, &value));
    CHECK(answer && value == 20);
    OK(guira_map_insert_unique(map, 9, 21, &answer, &value));
    CHECK(!answer && value == 20);
    OK(guira_map_insert_unique(map, 9, 21, &answer, NULL));
    CHECK(!answer);
    STATUS(guira_map_insert_unique(map, 10, 1024, &answer, NULL), GUIRA_ERR_VALUE_TOO_LARGE);

    value = 77;
    STATUS(guira_map_values(map, 1, &value, SIZE_MAX, &count), GUIRA_ERR_ARGUMENT);
    CHECK(value == 77 && map_len(map) == 1);
    guira_info info = map_info(map);
    CHECK(info.value_bits == 10 && info.items == 1 && info.window == 0);
    OK(guira_map_destroy(map));
}

static void batches(uint32_t growing, struct way way) {
    guira_map *map = create(growing);
    uint64_t hashes[ITEMS], mask = 0;
    uint16_t values[ITEMS], found[ITEMS];
    bool flags[ITEMS];
    size_t count = 77, stride = way.stride;
    number(hashes, ITEMS, 300);
    const uint64_t *all = laid(hashes, ITEMS, way);
    for (int i = 0; i < ITEMS; i++) values[i] = (uint16_t)(i % 1000);
    values[7] = 5000;
    STATUS(guira_map_insert_batch(map, all, stride, ITEMS, values, NULL, &count),
           GUIRA_ERR_VALUE_TOO_LARGE);
    CHECK(map_len(map) == 0 && count == 77);
    values[7] = 7;
    OK(guira_map_insert_batch(map, all, stride, 600, values, flags, &count));
    EQUAL(count, 600);
    CHECK(memchr(flags, 1, 600) == NULL);
    OK(guira_map_get_batch(map, all, stride, ITEMS, found, flags, &count));
    CHECK(count >= 600 && count < 610);
    int right = 0;
    for (int i = 0; i < ITEMS; i++) {
        count -= flags[i];
        right += flags[i] && found[i] == values[i];
        CHECK(flags[i] || (found[i] == 0 && i >= 600));
    }
    CHECK(count == 0 && right > 590);

    OK(guira_map_get_mask(map, all, stride, 64, found, &mask));
    EQUAL(mask, UINT64_MAX);
    uint64_t mixed[] = {300, 1000000, 305};
    all = laid(mixed, 3, way);
    OK(guira_map_get_mask(map, all, stride, 3, found, &mask));
    CHECK(mask == 5 && found[0] == 0 && found[1] == 0 && found[2] == 5);
    OK(guira_map_get_mask(map, NULL, stride, 0, NULL, &mask));
    EQUAL(mask, 0);
    STATUS(guira_map_get_mask(map, all, stride, 65, found, &mask), GUIRA_ERR_ARGUMENT);

    all = laid(hashes, ITEMS, way);
    OK(guira_map_remove_batch(map, all, stride, 600, values, flags, &count));
    CHECK(count == 600 && memchr(flags, 0, 600) == NULL);
    OK(guira_map_remove_batch(map, all, stride, 600, values, flags, &count));
    CHECK(count == 0 && map_len(map) == 0);
    OK(guira_map_destroy(map));
}

int main(void) {
    for (uint32_t growing = 0; growing < 2; growing++) {
        items(growing);
        for (int i = 0; i < WAYS_N; i++) batches(growing, WAYS[i]);
    }
    return 0;
}
