// Files for Rust, and from Rust: `interop save FOLDER`, `interop load FOLDER`. See `interop.rs`.

#include "check.h"

enum { KEYS = 500 };

static char path[4096];

static const char *in(const char *folder, const char *file) {
    CHECK(snprintf(path, sizeof path, "%s/%s", folder, file) < (int)sizeof path);
    return path;
}

// Keys are texts, since Rust hashes their bytes as C does.
static size_t key_of(int i, char *key) { return (size_t)sprintf(key, "key %d", i); }

static void save(const char *folder) {
    char key[20];
    for (uint32_t growing = 0; growing < 2; growing++) {
        guira_filter_params params = GUIRA_FILTER_PARAMS_INIT;
        params.capacity = growing ? 200 : 1000;
        params.growing = growing;
        guira_map_params map_params = GUIRA_MAP_PARAMS_INIT;
        map_params.capacity = params.capacity;
        map_params.growing = growing;
        guira_filter *filter;
        guira_map *map;
        EQUAL(guira_create(&params, &filter), 0);
        EQUAL(guira_map_create(&map_params, &map), 0);
        for (int i = 0; i < KEYS; i++) {
            size_t len = key_of(i, key);
            EQUAL(guira_insert_key(filter, key, len), 0);
            EQUAL(guira_map_insert_key(map, key, len, (uint16_t)(i % 256)), 0);
        }
        EQUAL(guira_save(filter, in(folder, growing ? "growing-set" : "set")), 0);
        EQUAL(guira_map_save(map, in(folder, growing ? "growing-map" : "map")), 0);
        guira_destroy(filter);
        guira_map_destroy(map);
    }
    guira_expiring_params params = GUIRA_EXPIRING_PARAMS_INIT;
    params.capacity = 1000;
    params.window = 1;
    guira_expiring *expiring;
    EQUAL(guira_expiring_create(&params, &expiring), 0);
    for (int i = 0; i < KEYS; i++) {
        size_t len = key_of(i, key);
        EQUAL(guira_expiring_insert_key(expiring, key, len, NULL), 0);
    }
    EQUAL(guira_expiring_save(expiring, in(folder, "expiring")), 0);
    guira_expiring_destroy(expiring);
}

static void load(const char *folder) {
    char key[20];
    guira_expiring *expiring = NULL;
    EQUAL(guira_expiring_load(in(folder, "expiring"), &expiring), 0);
    for (int growing = 0; growing < 2; growing++) {
        guira_filter *filter = NULL;
        guira_map *map = NULL;
        EQUAL(guira_load(in(folder, growing ? "growing-set" : "set"), &filter), 0);
        EQUAL(guira_map_load(in(folder, growing ? "growing-map" : "map"), &map), 0);
        EQUAL(guira_len(filter), KEYS);
        for (int i = 0; i < KEYS; i++) {
            size_t len = key_of(i, key);
            EQUAL(guira_contains_key(filter, key, len), 1);
            uint64_t hash = guira_map_hash(map, key, len);
            EQUAL(guira_contains_value(map, hash, (uint16_t)(i % 256)), 1);
            EQUAL(guira_expiring_contains_key(expiring, key, len), 1);
        }
        guira_destroy(filter);
        guira_map_destroy(map);
    }
    guira_expiring_destroy(expiring);
    // One with Rust's default hasher.
    guira_filter *filter = NULL;
    EQUAL(guira_load(in(folder, "other-hasher"), &filter), GUIRA_ERR_OTHER_HASHER);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    strcmp(argv[1], "save") == 0 ? save(argv[2]) : load(argv[2]);
    return 0;
}
