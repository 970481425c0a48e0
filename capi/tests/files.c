// Saving and loading, by path and by callbacks: `files FOLDER`.

#include <errno.h>
#include <unistd.h>

#include "check.h"

static char path[4096];

static void name(const char *folder, const char *file) {
    CHECK(snprintf(path, sizeof path, "%s/%s", folder, file) < (int)sizeof path);
}

static guira_filter *filled(uint32_t growing) {
    guira_filter_params params = GUIRA_FILTER_PARAMS_INIT;
    params.capacity = 20000;
    params.growing = growing;
    guira_filter *filter;
    EQUAL(guira_create(&params, &filter), 0);
    for (uint64_t hash = 0; hash < 10000; hash++) EQUAL(guira_insert(filter, hash), 0);
    EQUAL(guira_insert_key(filter, "key", 3), 0);
    return filter;
}

static void check_filled(const guira_filter *filter) {
    EQUAL(guira_len(filter), 10001);
    for (uint64_t hash = 0; hash < 10000; hash++) EQUAL(guira_contains(filter, hash), 1);
    EQUAL(guira_contains_key(filter, "key", 3), 1);
}

static void sets(const char *folder, uint32_t growing) {
    guira_filter *filter = filled(growing), *loaded = NULL;
    name(folder, "set");
    EQUAL(guira_save(filter, path), 0);
    EQUAL(guira_load(path, &loaded), 0);
    check_filled(loaded);
    guira_info info = GUIRA_INFO_INIT;
    EQUAL(guira_get_info(loaded, &info), 0);
    EQUAL(info.growing, growing);
    guira_destroy(loaded);
    loaded = NULL;

    struct stream stream = {.fails_at = SIZE_MAX};
    EQUAL(guira_save_to(filter, write_stream, &stream), 0);
    size_t len = stream.len;
    stream.bytes = realloc(stream.bytes, len + 5); // bytes that follow are not read
    stream.len = len + 5;
    EQUAL(guira_load_from(read_stream, &stream, &loaded), 0);
    EQUAL(stream.at, len);
    check_filled(loaded);
    guira_destroy(loaded);
    loaded = NULL;

    // The file has the same bytes.
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    uint8_t *bytes = malloc(len + 1);
    CHECK(bytes != NULL && fread(bytes, 1, len + 1, file) == len);
    CHECK(memcmp(bytes, stream.bytes, len) == 0);
    fclose(file);
    free(bytes);

    // Streams that end, fail, or are damaged.
    size_t ends[] = {0, 5, 12, 13, 100, len / 2, len - 1};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        stream = (struct stream){.bytes = stream.bytes, .len = ends[i], .fails_at = SIZE_MAX};
        EQUAL(guira_load_from(read_stream, &stream, &loaded), GUIRA_ERR_TRUNCATED);
        stream = (struct stream){.bytes = stream.bytes, .len = len, .fails_at = ends[i]};
        EQUAL(guira_load_from(read_stream, &stream, &loaded), GUIRA_ERR_CALLBACK);
    }
    stream = (struct stream){.bytes = stream.bytes, .len = len, .fails_at = SIZE_MAX};
    stream.bytes[len / 2] ^= 1;
    EQUAL(guira_load_from(read_stream, &stream, &loaded), GUIRA_ERR_DAMAGED);
    stream.at = 0;
    stream.bytes[0] ^= 1;
    EQUAL(guira_load_from(read_stream, &stream, &loaded), GUIRA_ERR_NOT_A_SNAPSHOT);
    stream.at = 0;
    stream.bytes[0] ^= 1;
    stream.bytes[8] = 99;
    EQUAL(guira_load_from(read_stream, &stream, &loaded), GUIRA_ERR_UNKNOWN_VERSION);
    CHECK(loaded == NULL);
    free(stream.bytes);
    stream = (struct stream){.fails_at = 100};
    EQUAL(guira_save_to(filter, write_stream, &stream), GUIRA_ERR_CALLBACK);
    free(stream.bytes);
    guira_destroy(filter);
}

static void errors(const char *folder) {
    guira_filter *filter = filled(0), *loaded = NULL;
    guira_map *map = NULL;
    name(folder, "no/such/folder");
    errno = 0;
    EQUAL(guira_save(filter, path), GUIRA_ERR_IO);
    EQUAL(errno, ENOENT);
    errno = 0;
    EQUAL(guira_load(path, &loaded), GUIRA_ERR_IO);
    EQUAL(errno, ENOENT);
    EQUAL(guira_save(filter, "/"), GUIRA_ERR_IO); // not a file
    name(folder, "loop");
    CHECK(symlink("loop", path) == 0 || errno == EEXIST);
    errno = 0;
    EQUAL(guira_save(filter, path), GUIRA_ERR_IO); // not an error of a system call
    EQUAL(errno, EINVAL);

    name(folder, "set");
    EQUAL(guira_save(filter, path), 0);
    EQUAL(guira_map_load(path, &map), GUIRA_ERR_OTHER_TYPE);
    FILE *file = fopen(path, "ab");
    CHECK(file != NULL && fputc(0, file) == 0 && fclose(file) == 0);
    EQUAL(guira_load(path, &loaded), GUIRA_ERR_DAMAGED);
    CHECK(loaded == NULL && map == NULL);
    guira_destroy(filter);
}

static void maps(const char *folder, uint32_t growing) {
    guira_map_params params = GUIRA_MAP_PARAMS_INIT;
    params.capacity = 1000;
    params.growing = growing;
    guira_map *map, *loaded = NULL;
    guira_filter *filter = NULL;
    EQUAL(guira_map_create(&params, &map), 0);
    for (uint64_t hash = 0; hash < 900; hash++) {
        EQUAL(guira_map_insert(map, hash, (uint16_t)(hash % 256)), 0);
    }
    name(folder, "map");
    EQUAL(guira_map_save(map, path), 0);
    EQUAL(guira_load(path, &filter), GUIRA_ERR_OTHER_TYPE);
    struct stream stream = {.fails_at = SIZE_MAX};
    EQUAL(guira_map_save_to(map, write_stream, &stream), 0);
    EQUAL(guira_load_from(read_stream, &stream, &filter), GUIRA_ERR_OTHER_TYPE);
    for (int way = 0; way < 2; way++) {
        stream.at = 0;
        EQUAL(way ? guira_map_load(path, &loaded)
                  : guira_map_load_from(read_stream, &stream, &loaded), 0);
        for (uint64_t hash = 0; hash < 900; hash++) {
            EQUAL(guira_contains_value(loaded, hash, (uint16_t)(hash % 256)), 1);
        }
        guira_map_destroy(loaded);
    }
    free(stream.bytes);
    guira_map_destroy(map);
}

static void expiring(const char *folder) {
    guira_expiring_params params = GUIRA_EXPIRING_PARAMS_INIT;
    params.capacity = 1000;
    params.window = 1;
    guira_expiring *filter, *loaded = NULL;
    EQUAL(guira_expiring_create(&params, &filter), 0);
    EQUAL(guira_expiring_insert(filter, 1, NULL), 0);
    guira_advance(filter);
    EQUAL(guira_expiring_insert(filter, 2, NULL), 0);
    name(folder, "expiring");
    EQUAL(guira_expiring_save(filter, path), 0);
    struct stream stream = {.fails_at = SIZE_MAX};
    EQUAL(guira_expiring_save_to(filter, write_stream, &stream), 0);
    for (int way = 0; way < 2; way++) {
        EQUAL(way ? guira_expiring_load(path, &loaded)
                  : guira_expiring_load_from(read_stream, &stream, &loaded), 0);
        EQUAL(guira_generation(loaded), guira_generation(filter));
        EQUAL(guira_expiring_contains(loaded, 1), 1);
        guira_advance(loaded);
        EQUAL(guira_expiring_contains(loaded, 1), 0);
        EQUAL(guira_expiring_contains(loaded, 2), 1);
        guira_expiring_destroy(loaded);
    }
    free(stream.bytes);
    guira_expiring_destroy(filter);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    for (uint32_t growing = 0; growing < 2; growing++) {
        sets(argv[1], growing);
        maps(argv[1], growing);
    }
    errors(argv[1]);
    expiring(argv[1]);
    return 0;
}
