// What calls from C cost beside the same calls from Rust: `calls [ROUNDS [small]]`. With `small`,
// it leaves out the large table.
//
// For each kind of call and each size of table, it alternates between C, which calls the shared
// library, and Rust, which calls the library directly (`direct.rs`). Each round takes the same
// hashes. It prints the lower quartile of each side over the rounds, in nanoseconds per lookup, and
// the ratio of both. (Other programs disturb the upper quartiles.)

#include <guira.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct tables tables;
tables *direct_create(size_t capacity, uint64_t seed);
void direct_destroy(tables *tables);
uint64_t direct_masks(const tables *t, const uint64_t *hashes, size_t n, size_t burst);
uint64_t direct_batches(const tables *t, const uint64_t *hashes, size_t n, size_t batch,
                        bool *found);
uint64_t direct_value_masks(const tables *t, const uint64_t *hashes, size_t n, size_t burst,
                            uint16_t *values);
// Each value is an `Option<u16>` of Rust.
uint64_t direct_values(const tables *t, const uint64_t *hashes, size_t n, size_t batch,
                       uint32_t *values);

enum { LOOKUPS = 1 << 20, BURST = 32, BATCH = 4096, MAX_ROUNDS = 101 };

static guira_filter *filter;
static guira_map *map;
static tables *direct;
static uint64_t hashes[LOOKUPS];
static struct { uint64_t flow, hash; } packets[LOOKUPS];
static bool found[BATCH];
static uint16_t values[BATCH];

static void expect(guira_status status) {
    if (status == GUIRA_OK) return;
    fprintf(stderr, "calls: %s\n", guira_status_message(status));
    exit(1);
}

// Creates the tables of both sides, with the hashes 0, 1, ... up to the capacity.
static void create(size_t capacity) {
    guira_params params = guira_params_init(capacity);
    params.seed = 7;
    expect(guira_filter_create(&params, &filter));
    expect(guira_map_create(&params, &map));
    for (size_t first = 0; first < capacity; first += BATCH) {
        uint64_t batch[BATCH];
        size_t n = capacity - first < BATCH ? capacity - first : BATCH;
        for (size_t i = 0; i < n; i++) {
            batch[i] = first + i;
            values[i] = (uint16_t)(batch[i] % 256);
        }
        expect(guira_filter_insert_batch(filter, batch, 8, n, NULL, NULL));
        expect(guira_map_insert_batch(map, batch, 8, n, values, NULL, NULL));
    }
    direct = direct_create(capacity, 7);
}

static void destroy(void) {
    guira_filter_destroy(filter);
    guira_map_destroy(map);
    direct_destroy(direct);
}

// Defines a loop of calls, each with this many of the hashes from `i` on. `answer` is the number of
// hashes that a call found.
#define LOOP(name, few, answer, call)                 \
    static uint64_t name(void) {                      \
        uint64_t sum = 0, mask = 0;                   \
        size_t count = 0;                             \
        for (size_t i = 0; i < LOOKUPS; i += (few)) { \
            guira_##call;                             \
            sum += (answer);                          \
        }                                             \
        (void)mask, (void)count;                      \
        return sum;                                   \
    }
#define BITS (uint64_t)__builtin_popcountll(mask)
LOOP(masks_c, BURST, BITS, filter_contains_mask(filter, hashes + i, 8, BURST, &mask))
LOOP(batches_c, BATCH, count,
     filter_contains_batch(filter, hashes + i, 8, BATCH, found, &count))
LOOP(value_masks_c, BURST, BITS, map_get_mask(map, hashes + i, 8, BURST, values, &mask))
LOOP(values_c, BATCH, count, map_get_batch(map, hashes + i, 8, BATCH, values, found, &count))
// The same lookups, in fields of structs.
LOOP(field_masks_c, BURST, BITS,
     filter_contains_mask(filter, &packets[i].hash, sizeof packets[0], BURST, &mask))
LOOP(field_batches_c, BATCH, count,
     filter_contains_batch(filter, &packets[i].hash, sizeof packets[0], BATCH, found, &count))

static uint64_t masks_rust(void) { return direct_masks(direct, hashes, LOOKUPS, BURST); }
static uint64_t batches_rust(void) { return direct_batches(direct, hashes, LOOKUPS, BATCH, found); }
static uint64_t value_masks_rust(void) {
    return direct_value_masks(direct, hashes, LOOKUPS, BURST, values);
}
static uint64_t values_rust(void) {
    static uint32_t values[BATCH];
    return direct_values(direct, hashes, LOOKUPS, BATCH, values);
}

// Returns the nanoseconds per lookup.
static double time_of(uint64_t (*run)(void), uint64_t *sum) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    *sum = run();
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
    return ns / LOOKUPS;
}

static int ascending(const void *a, const void *b) {
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double quartile(double *numbers, size_t n) {
    qsort(numbers, n, sizeof *numbers, ascending);
    return numbers[n / 4];
}

// A kind of call, and what each round took.
typedef struct {
    const char *name;
    uint64_t (*c)(void), (*rust)(void);
    double of_c[MAX_ROUNDS], of_rust[MAX_ROUNDS];
} kind;

static kind kinds[] = {
    {.name = "`guira_filter_contains_mask`, 32", .c = masks_c, .rust = masks_rust},
    {.name = "`guira_filter_contains_batch`, 4096", .c = batches_c, .rust = batches_rust},
    {.name = "`guira_map_get_mask`, 32", .c = value_masks_c, .rust = value_masks_rust},
    {.name = "`guira_map_get_batch`, 4096", .c = values_c, .rust = values_rust},
    {.name = "the first, stride 16", .c = field_masks_c, .rust = masks_rust},
    {.name = "the second, stride 16", .c = field_batches_c, .rust = batches_rust},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

// Calls each side once, and checks that both find the same.
static void warm_up(const kind *k) {
    uint64_t sum, other;
    time_of(k->c, &sum), time_of(k->rust, &other);
    if (sum != other) expect(GUIRA_ERR_MISMATCH);
}

static void compare(kind *k, size_t round) {
    uint64_t sum;
    // Each side comes first in every other round.
    if (round % 2) k->of_rust[round] = time_of(k->rust, &sum);
    k->of_c[round] = time_of(k->c, &sum);
    if (round % 2 == 0) k->of_rust[round] = time_of(k->rust, &sum);
}

// Measures all kinds of calls on tables of this capacity. If `renew` is set, each round has new
// tables: within the caches, the same code takes a tenth longer on some tables than on others,
// depending on the pages that the system gave them.
static void measure(const char *table, size_t capacity, size_t rounds, bool renew) {
    uint64_t state = 1;
    for (size_t i = 0; i < LOOKUPS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        hashes[i] = packets[i].hash = (state >> 20) % (2 * capacity); // half of them are present
    }
    for (size_t round = 0; round < rounds; round++) {
        if (round == 0 || renew) {
            if (round > 0) destroy();
            create(capacity);
            for (size_t i = 0; i < KINDS; i++) warm_up(&kinds[i]);
        }
        for (size_t i = 0; i < KINDS; i++) compare(&kinds[i], round);
    }
    destroy();
    for (size_t i = 0; i < KINDS; i++) {
        kind *k = &kinds[i];
        double c = quartile(k->of_c, rounds), rust = quartile(k->of_rust, rounds);
        printf("| %s | %s | %.2f | %.2f | %.3f |\n", table, k->name, c, rust, c / rust);
    }
}

int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : 31;
    if (rounds < 1 || rounds > MAX_ROUNDS) return 2;
    printf("| table | call | C | Rust | ratio |\n|---|---|---|---|---|\n");
    // 4-slot buckets of 16-bit slots, filled to 95 %: these are the bytes of one table.
    measure("2 MiB", 990000, (size_t)rounds, true);
    if (argc < 3) measure("512 MiB", 253000000, (size_t)rounds, false);
    return 0;
}
