// What objects of every type can do: `every FOLDER`. `every.h` has the tests of one type.

#include <errno.h>
#include <unistd.h>

#include "check.h"

enum { ITEMS = 1000, MORE = 3 * ITEMS };

static char path[4096];

static const char *in(const char *folder, const char *file) {
    CHECK(snprintf(path, sizeof path, "%s/%s", folder, file) < (int)sizeof path);
    return path;
}

static uint64_t hashes[MORE], mask, others;
static uint16_t values[MORE];
static bool flags[MORE], refused[MORE];

// In `every.h`: the type, its functions, and the tests of it.
#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define OBJECT JOIN(guira_, TYPE, )
#define CALL(name) JOIN(guira_, TYPE, _##name)
#define LEN JOIN(TYPE, _len, )
#define CONTAINS JOIN(TYPE, _contains, )
#define HASH JOIN(TYPE, _hash, )
#define MASK JOIN(TYPE, _contains_mask, )
#define INFO JOIN(TYPE, _info, )
#define TEST(name) JOIN(name, _, TYPE)

// Of no object.
static guira_filter *other_filter;
static guira_map *other_map;
static guira_expiring *other_expiring;

#define TYPE filter
#define INSERT(object, hash) guira_filter_insert(object, hash)
#define INSERT_BATCH(object, ...) guira_filter_insert_batch(object, __VA_ARGS__, refused, &count)
#define HAS(object, hash) filter_contains(object, hash)
#define MERGES
#define UNIQUE
#define WINDOW 0
#define LOAD_OTHER(path) guira_map_load(path, &other_map)
#include "every.h"

#define TYPE map
#define INSERT(object, hash) guira_map_insert(object, hash, (hash) % 256)
#define INSERT_BATCH(object, ...) \
    guira_map_insert_batch(object, __VA_ARGS__, values, refused, &count)
#define HAS(object, hash) map_contains_value(object, hash, (hash) % 256)
#define MERGES
#define WINDOW 0
#define LOAD_OTHER(path) guira_expiring_load(path, &other_expiring)
#include "every.h"

#define TYPE expiring
#define INSERT(object, hash) guira_expiring_insert(object, hash, NULL)
#define INSERT_BATCH(object, ...) guira_expiring_insert_batch(object, __VA_ARGS__, refused, &count)
#define HAS(object, hash) expiring_contains(object, hash)
#define UNIQUE
#define WINDOW 13
#define LOAD_OTHER(path) guira_filter_load(path, &other_filter)
#include "every.h"

int main(int argc, char **argv) {
    CHECK(argc == 2);
    for (uint32_t growing = 0; growing < 2; growing++) {
        test_filter(argv[1], growing);
        test_map(argv[1], growing);
    }
    test_expiring(argv[1], 0);
    CHECK(other_filter == NULL && other_map == NULL && other_expiring == NULL);
    CHECK(strchr(guira_version(), '.') != NULL);
    return 0;
}
