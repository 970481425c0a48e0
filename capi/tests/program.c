// A program that calls every function of the interface, again and again: each time another one of
// its allocations is refused, first that one alone and then all from it on. What was reported as
// inserted is found, and nothing is left allocated. `program FOLDER`

#define _GNU_SOURCE
#include "allocator.h"

// Items of each of the ways to insert them, and of all of them. An object that grows starts with
// room for a few, so that each way makes it grow.
enum { PART = 512, PARTS = 6, ALL = PART * PARTS, CAPACITY = 100 };

static char path[4096];
static uint8_t bytes[1 << 16];
static struct stream saved = {.bytes = bytes, .fails_at = SIZE_MAX};
static uint32_t growing, no_reserve;
// Whether the items of expiring sets have a time to live, in which all calls are made, by a clock.
static bool timed;
static uint64_t now;
#define TTL UINT64_C(12000000)

// Of one object: which items were reported as inserted, and their generations, or 0 if they are not
// known.
static bool inserted[ALL];
static uint64_t hashes[ALL], generations[ALL];

static bool some[ALL], others[ALL];
static uint64_t own[PART];
static uint16_t values[ALL];
static uint64_t mask, more;
static size_t n;

static const char *running;
static bool failed;

// Unlike `write_stream`, this allocates nothing.
static int write_bytes(void *context, const void *more_bytes, size_t len) {
    struct stream *stream = context;
    CHECK(stream->len + len <= sizeof bytes);
    memcpy(stream->bytes + stream->len, more_bytes, len);
    stream->len += len;
    return 0;
}

// Returns whether a call succeeded. It may fail for lack of memory alone, and only if an allocation
// was refused in it: `before` is the number of allocations before the call.
static bool judge(const char *call, long before, guira_status status) {
    bool refused = count > refused_from && before < refused_until;
    if (status == GUIRA_OK || (status == GUIRA_ERR_NO_MEMORY && refused)) return status == GUIRA_OK;
    printf("%s, growing %u, without allocations %ld to %ld: %s: %s\n", running, growing,
           refused_from, refused_until, call, guira_status_message(status));
    failed = true;
    return false;
}

static long before;
#define TRY(call) (before = count, judge(#call, before, (call)))
// A call that takes no memory.
#define DO(call)                         \
    do {                                 \
        before = count;                  \
        OK(call);                        \
        CHECK(count == before);          \
    } while (0)

// Notes which items of a part were inserted, in which generation.
static void note(int part, const bool *are_in, uint64_t generation) {
    for (int i = 0; i < PART; i++) {
        inserted[part * PART + i] = are_in[i];
        generations[part * PART + i] = generation;
    }
}

static void note_refused(int part, const bool *refused, uint64_t generation) {
    bool are_in[PART];
    for (int i = 0; i < PART; i++) are_in[i] = !refused[i];
    note(part, are_in, generation);
}

// Notes which of 64 items were inserted.
static void note_bits(int first, uint64_t bits) {
    for (int i = 0; i < 64; i++) inserted[first + i] = bits >> i & 1;
}

// Checks that those of 64 items were found that were inserted.
static void check_bits(int first, uint64_t bits) {
    for (int i = 0; i < 64; i++) CHECK((bits >> i & 1) || !inserted[first + i]);
}

// Moves the items of a part that were inserted to `own`. Returns their number.
static size_t take(int part) {
    size_t number = 0;
    for (int i = part * PART; i < (part + 1) * PART; i++) {
        own[number] = hashes[i];
        number += inserted[i];
        inserted[i] = false;
    }
    return number;
}

#define SLICE(part) hashes + (part) * PART, 8, PART
#define MASK(first) hashes + (first), 8, 64

static uint16_t value_of(uint64_t hash) { return (uint16_t)(hash % 7); }

// What a view finds in the bytes that were saved. `is_map`: whether there are values.
static void calls_view(bool is_map, bool expires) {
    guira_view *view = NULL, *later = NULL;
    uint16_t value;
    bool found;
    if (!TRY(guira_view_open(bytes, saved.len, &view))) return;
    TRY(guira_view_verify(view));
    DO(guira_view_hash(view, "a", 1, &mask));
    for (int i = 0; i < ALL; i++) {
        DO(guira_view_contains(view, hashes[i], &found));
        CHECK(found || !inserted[i]);
        DO(guira_view_count(view, hashes[i], &n));
        CHECK(n > 0 || !inserted[i]);
        if (!is_map) continue;
        DO(guira_view_get(view, hashes[i], &value, &found));
        CHECK(found || !inserted[i]);
        DO(guira_view_values(view, hashes[i], values, ALL, &n));
        CHECK(n > 0 || !inserted[i]);
    }
    DO(guira_view_contains_batch(view, hashes, 8, ALL, some, &n));
    for (int i = 0; i < ALL; i++) CHECK(some[i] || !inserted[i]);
    DO(guira_view_contains_mask(view, MASK(PART), &mask));
    more = mask;
    if (is_map) DO(guira_view_get_mask(view, MASK(PART), values, &more));
    check_bits(PART, mask & more);
    if (expires) {
        uint64_t generation;
        DO(guira_view_generation(view, &generation));
        if (TRY(guira_view_in_generation(view, generation + 1, &later))) {
            DO(guira_view_destroy(later));
        }
        if (TRY(guira_view_after_ns(view, TTL / 2, &later))) {
            for (int i = 0; i < PART; i++) {
                DO(guira_view_contains(later, hashes[i], &found));
                CHECK(found || !inserted[i]);
            }
            DO(guira_view_destroy(later));
        }
    }
    DO(guira_view_destroy(view));
}

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define OBJECT JOIN(guira_, TYPE, )
#define CALL(name) JOIN(guira_, TYPE, _##name)
#define PROGRAM(name) JOIN(name, _, TYPE)

#define TYPE filter
#define EXPIRES false
#define HAS_VALUES false
#define REMOVE(object, item) guira_filter_remove(object, hashes[item], &found)
#define LOAD(object) guira_filter_load(path, object)
#define READ(object) guira_filter_read_from(read_stream, &saved, object)
#define MERGES
#include "program.h"

#define TYPE map
#define EXPIRES false
#define HAS_VALUES true
#define REMOVE(object, item) guira_map_remove(object, hashes[item], value_of(hashes[item]), &found)
#define LOAD(object) guira_map_load(path, object)
#define READ(object) guira_map_read_from(read_stream, &saved, object)
#define MERGES
#include "program.h"

#define TYPE expiring
#define EXPIRES true
#define HAS_VALUES false
#define REMOVE(object, item) guira_expiring_remove(object, hashes[item], generations[item], &found)
#define LOAD(object)                                                          \
    (timed ? guira_expiring_load_with_clock(path, read_clock, &now, object)   \
           : guira_expiring_load(path, object))
#define READ(object)                                                                            \
    (timed ? guira_expiring_read_from_with_clock(read_stream, &saved, read_clock, &now, object) \
           : guira_expiring_read_from(read_stream, &saved, object))
#include "program.h"

static void inserts_filter(guira_filter *filter) {
    for (int i = 0; i < PART; i++) inserted[i] = TRY(guira_filter_insert(filter, hashes[i]));
    for (int i = PART; i < 2 * PART; i++) {
        bool is_new = false;
        inserted[i] = TRY(guira_filter_insert_unique(filter, hashes[i], &is_new)) && is_new;
    }
    TRY(guira_filter_insert_batch(filter, SLICE(2), others, NULL));
    note_refused(2, others, 0);
    TRY(guira_filter_insert_unique_batch(filter, SLICE(3), some, others, NULL));
    note(3, some, 0);
    for (int i = 4 * PART; i < ALL; i += 64) {
        mask = more = 0;
        TRY(guira_filter_insert_unique_mask(filter, MASK(i), &mask, &more));
        CHECK((mask & more) == 0);
        note_bits(i, mask);
    }
}

static void calls_filter(guira_filter *filter) {
    size_t number = take(0);
    DO(guira_filter_remove_batch(filter, own, 8, number, some, &n));
    EQUAL(n, number);
}

static void inserts_map(guira_map *map) {
    for (int i = 0; i < ALL; i++) values[i] = value_of(hashes[i]);
    for (int i = 0; i < PART; i++) {
        inserted[i] = TRY(guira_map_insert(map, hashes[i], values[i]));
    }
    for (int i = PART; i < 2 * PART; i++) {
        bool is_new = false;
        uint16_t present = 0;
        inserted[i] =
            TRY(guira_map_insert_unique(map, hashes[i], values[i], &is_new, &present)) && is_new;
    }
    for (int part = 2; part < PARTS; part++) {
        TRY(guira_map_insert_batch(map, SLICE(part), values + part * PART, others, NULL));
        note_refused(part, others, 0);
    }
}

static void calls_map(guira_map *map) {
    uint16_t value;
    bool found;
    for (int i = 0; i < ALL; i++) {
        if (!inserted[i]) continue;
        DO(guira_map_get(map, hashes[i], &value, &found));
        CHECK(found);
        DO(guira_map_contains_value(map, hashes[i], value_of(hashes[i]), &found));
        CHECK(found);
        DO(guira_map_values(map, hashes[i], values, ALL, &n));
        CHECK(n > 0);
        DO(guira_map_replace(map, hashes[i], value_of(hashes[i]), 9, &found));
        CHECK(found);
        DO(guira_map_replace(map, hashes[i], 9, value_of(hashes[i]), &found));
        CHECK(found);
    }
    DO(guira_map_get_mask(map, MASK(PART), values, &mask));
    check_bits(PART, mask);
    DO(guira_map_get_batch(map, SLICE(2), values, some, &n));
    for (int i = 0; i < PART; i++) CHECK(some[i] || !inserted[2 * PART + i]);
    size_t number = take(0);
    for (size_t i = 0; i < number; i++) values[i] = value_of(own[i]);
    DO(guira_map_remove_batch(map, own, 8, number, values, some, &n));
    EQUAL(n, number);
}

static void inserts_expiring(guira_expiring *expiring) {
    bool is_new = false;
    for (int i = 0; i < PART; i++) {
        inserted[i] = TRY(guira_expiring_insert(expiring, hashes[i], &generations[i]));
    }
    for (int i = PART; i < 2 * PART; i += 4) {
        uint64_t *of = &generations[i];
        inserted[i] =
            TRY(guira_expiring_insert_unique(expiring, hashes[i], &is_new, of)) && is_new;
        inserted[i + 1] =
            timed ? TRY(guira_expiring_insert_for_ns(expiring, hashes[i + 1], TTL / 2, of + 1))
                  : TRY(guira_expiring_insert_for_generations(expiring, hashes[i + 1], 9, of + 1));
        for (int j = 2; j < 4; j++) {
            inserted[i + j] =
                TRY(guira_expiring_insert_or_refresh(expiring, hashes[i + j], &is_new)) && is_new;
            of[j] = 0;
        }
    }
    TRY(guira_expiring_insert_batch(expiring, SLICE(2), others, NULL));
    note_refused(2, others, 0);
    TRY(guira_expiring_insert_unique_batch(expiring, SLICE(3), some, others, NULL));
    note(3, some, 0);
    for (int i = 4 * PART; i < 5 * PART; i += 128) {
        mask = more = 0;
        TRY(guira_expiring_insert_unique_mask(expiring, MASK(i), &mask, &more));
        CHECK((mask & more) == 0);
        note_bits(i, mask);
        mask = more = 0;
        TRY(guira_expiring_insert_or_refresh_mask(expiring, MASK(i + 64), &mask, &more));
        CHECK((mask & more) == 0);
        note_bits(i + 64, mask);
    }
    TRY(guira_expiring_insert_or_refresh_batch(expiring, SLICE(5), some, others, NULL));
    note(5, some, 0);
}

static void calls_expiring(guira_expiring *expiring) {
    uint64_t generation, left;
    bool found;
    DO(guira_expiring_generation(expiring, &generation));
    DO(guira_expiring_refresh_mask(expiring, MASK(4 * PART), &mask));
    check_bits(4 * PART, mask);
    for (int i = 3 * PART; i < 4 * PART; i++) {
        DO(guira_expiring_refresh(expiring, hashes[i], &found));
        CHECK(found || !inserted[i]);
    }
    DO(guira_expiring_sweep(expiring, 3, &left));
    for (int i = 0; i < 2; i++) {
        uint64_t last = generation;
        now += TTL / 5; // more than a generation
        DO(guira_expiring_refresh(expiring, hashes[3 * PART], &found));
        CHECK(found || !inserted[3 * PART]);
        DO(guira_expiring_advance(expiring, &generation));
        EQUAL(generation, last + 1);
    }
}

// Runs a program without each of its allocations in turn.
static void refuse_each(const char *name, void (*program)(void)) {
    running = name;
    for (int all = 0; all < 2; all++) {
        for (long number = 0; !failed; number++) {
            watch(number, all ? LONG_MAX : number + 1);
            program();
            watched = false;
            EQUAL(live, 0);
            if (count <= number) {
                CHECK(number > 20);
                break;
            }
        }
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 2 && snprintf(path, sizeof path, "%s/program", argv[1]) < (int)sizeof path);
    CHECK(strchr(guira_version(), '.') != NULL);
    keep_messages();
    number(hashes, ALL, 0);
    for (growing = 0; growing < 2; growing++) {
        for (no_reserve = 0; no_reserve <= growing; no_reserve++) {
            // So that what is allocated once is there.
            watch(LONG_MAX, LONG_MAX);
            run_filter(), run_map();
            timed = false, run_expiring();
            timed = true, run_expiring();
            watched = false;
            refuse_each("filter", run_filter);
            refuse_each("map", run_map);
            for (int i = 0; i < 2; i++) {
                timed = i == 1;
                refuse_each(timed ? "expiring, timed" : "expiring", run_expiring);
            }
        }
    }
    return heard_messages() || failed;
}
