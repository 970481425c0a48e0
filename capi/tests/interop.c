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
        guira_params params = guira_params_init(growing ? 200 : 1000);
        params.growing = growing;
        guira_filter *filter = filter_create(&params);
        guira_map *map = map_create(&params);
        for (int i = 0; i < KEYS; i++) {
            size_t len = key_of(i, key);
            OK(guira_filter_insert(filter, filter_hash(filter, key, len)));
            OK(guira_map_insert(map, map_hash(map, key, len), (uint16_t)(i % 256)));
        }
        OK(guira_filter_save(filter, in(folder, growing ? "growing-set" : "set")));
        OK(guira_map_save(map, in(folder, growing ? "growing-map" : "map")));
        OK(guira_filter_destroy(filter));
        OK(guira_map_destroy(map));
    }
    for (int timed = 0; timed < 2; timed++) {
        guira_params params = guira_params_init(1000);
        if (timed) {
            params.ttl_ns = UINT64_C(3600000000000);
        } else {
            params.window = 1;
        }
        guira_expiring *expiring = expiring_create(&params);
        for (int i = 0; i < KEYS; i++) {
            size_t len = key_of(i, key);
            OK(guira_expiring_insert(expiring, expiring_hash(expiring, key, len), NULL));
        }
        OK(guira_expiring_save(expiring, in(folder, timed ? "timed" : "expiring")));
        OK(guira_expiring_destroy(expiring));
    }
}

static void load(const char *folder) {
    char key[20];
    guira_expiring *expiring = NULL, *timed = NULL;
    OK(guira_expiring_load(in(folder, "expiring"), &expiring));
    OK(guira_expiring_load(in(folder, "timed"), &timed));
    CHECK(expiring_info(expiring).window == 1 && expiring_info(timed).window == 6);
    for (int growing = 0; growing < 2; growing++) {
        guira_filter *filter = NULL;
        guira_map *map = NULL;
        OK(guira_filter_load(in(folder, growing ? "growing-set" : "set"), &filter));
        OK(guira_map_load(in(folder, growing ? "growing-map" : "map"), &map));
        EQUAL(filter_len(filter), KEYS);
        for (int i = 0; i < KEYS; i++) {
            size_t len = key_of(i, key);
            CHECK(filter_contains(filter, filter_hash(filter, key, len)));
            CHECK(map_contains_value(map, map_hash(map, key, len), (uint16_t)(i % 256)));
            CHECK(expiring_contains(expiring, expiring_hash(expiring, key, len)));
            CHECK(expiring_contains(timed, expiring_hash(timed, key, len)));
        }
        OK(guira_filter_destroy(filter));
        OK(guira_map_destroy(map));
    }
    OK(guira_expiring_destroy(expiring));
    OK(guira_expiring_destroy(timed));
    guira_filter *filter = NULL;
    STATUS(guira_filter_load(in(folder, "other-hasher"), &filter), GUIRA_ERR_OTHER_HASHER);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    strcmp(argv[1], "save") == 0 ? save(argv[2]) : load(argv[2]);
    return 0;
}
