// A null pointer is an error and changes nothing. A test of the crate writes the calls: for each
// function and each of its pointers that must not be null.

#include "check.h"

static uint64_t space[64];

#define NULLS(call) STATUS(call, GUIRA_ERR_NULL)

int main(void) {
    guira_params params = params_of(100, 0);
    guira_filter *filter = filter_create(&params);
    guira_map *map = map_create(&params);
    params.window = 13;
    guira_expiring *expiring = expiring_create(&params);
    struct stream stream = {.fails_at = SIZE_MAX};
    OK(guira_filter_write_to(filter, write_stream, &stream));
    guira_view *view = NULL;
    OK(guira_view_open(stream.bytes, stream.len, &view));
    OK(guira_filter_insert(filter, 1));
    OK(guira_map_insert(map, 1, 1));
    OK(guira_expiring_insert(expiring, 1, NULL));
    // What all other pointers lead to.
    uint8_t *bytes = memset(space, 77, sizeof space);
    void *room = bytes;
#include "nulls.h"
    // Arrays of answers may be cleared.
    for (size_t i = 0; i < sizeof space; i++) CHECK(bytes[i] == 77 || bytes[i] == 0);
    CHECK(filter_len(filter) == 1 && map_len(map) == 1 && expiring_len(expiring) == 1);
    OK(guira_view_destroy(view));
    free(stream.bytes);
    OK(guira_filter_destroy(filter));
    OK(guira_map_destroy(map));
    OK(guira_expiring_destroy(expiring));
    return 0;
}
