// What the tests share: checks that name the line that fails, and hashes.

#ifndef CHECK_H
#define CHECK_H

#include <guira.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

// Checks a number, and prints it if it is another one.
#define EQUAL(number, expected)                                                               \
    do {                                                                                      \
        unsigned long long number_ = (unsigned long long)(number), expected_ = (expected);    \
        if (number_ != expected_) {                                                           \
            fprintf(stderr, "%s:%d: %s is %llu, not %llu\n", __FILE__, __LINE__, #number,     \
                    number_, expected_);                                                      \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

// Checks a status, and prints it if it is another one.
#define STATUS(call, expected)                                                       \
    do {                                                                             \
        guira_status status_ = (call);                                               \
        if (status_ != (expected)) {                                                 \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,            \
                    guira_status_message(status_));                                  \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

#define OK(call) STATUS(call, GUIRA_OK)

// Defines a function that checks the status of the call of the same name, and returns its answer.
#define ANSWER(type, name, parameters, ...)     \
    static inline type name parameters {        \
        type answer = (type)-1;                 \
        OK(guira_##name(__VA_ARGS__, &answer)); \
        return answer;                          \
    }

#define ANSWERS(type)                                                                          \
    ANSWER(bool, type##_contains, (const guira_##type *object, uint64_t hash), object, hash)   \
    ANSWER(uint64_t, type##_hash, (const guira_##type *object, const void *key, size_t len),   \
           object, key, len)                                                                   \
    ANSWER(uint64_t, type##_contains_mask,                                                     \
           (const guira_##type *object, const uint64_t *hashes, size_t stride, size_t n), object, \
           hashes, stride, n)                                                                  \
    ANSWER(uint64_t, type##_len, (const guira_##type *object), object)                         \
    ANSWER(size_t, type##_count, (const guira_##type *object, uint64_t hash), object, hash)    \
    static inline guira_info type##_info(const guira_##type *object) {                         \
        guira_info info = guira_info_init();                                                   \
        OK(guira_##type##_info(object, &info));                                                \
        return info;                                                                           \
    }                                                                                          \
    static inline guira_##type *type##_create(const guira_params *params) {                    \
        guira_##type *object = NULL;                                                           \
        OK(guira_##type##_create(params, &object));                                            \
        CHECK(object != NULL);                                                                 \
        return object;                                                                         \
    }
ANSWERS(filter)
ANSWERS(map)
ANSWERS(expiring)
ANSWER(bool, filter_remove, (guira_filter *filter, uint64_t hash), filter, hash)
ANSWER(bool, filter_insert_unique, (guira_filter *filter, uint64_t hash), filter, hash)
ANSWER(bool, map_remove, (guira_map *map, uint64_t hash, uint16_t value), map, hash, value)
ANSWER(bool, map_contains_value, (const guira_map *map, uint64_t hash, uint16_t value), map, hash,
       value)
ANSWER(bool, map_replace, (guira_map *map, uint64_t hash, uint16_t old, uint16_t value), map, hash,
       old, value)
ANSWER(uint64_t, expiring_generation, (const guira_expiring *expiring), expiring)
ANSWER(uint64_t, expiring_advance, (guira_expiring *expiring), expiring)
ANSWER(bool, expiring_refresh, (guira_expiring *expiring, uint64_t hash), expiring, hash)
ANSWER(bool, expiring_remove, (guira_expiring *expiring, uint64_t hash, uint64_t generation),
       expiring, hash, generation)

// Parameters with a seed, so that every run has the same false positives.
static inline guira_params params_of(uint64_t capacity, uint32_t growing) {
    guira_params params = guira_params_init(capacity);
    params.seed = 1;
    params.growing = growing;
    return params;
}

// Writes the hashes first, first + 1, ... Integers are hashes as they are.
static inline void number(uint64_t *hashes, size_t n, uint64_t first) {
    for (size_t i = 0; i < n; i++) hashes[i] = first + i;
}

// Hashes as arguments of functions: side by side, without alignment, and as fields of structs.
static const struct way { size_t stride, offset; } WAYS[] = {{8, 0}, {8, 1}, {24, 8}, {41, 3}};
enum { WAYS_N = sizeof WAYS / sizeof *WAYS };

// Copies at most 3,000 hashes to where a way has them.
static inline const uint64_t *laid(const uint64_t *hashes, size_t n, struct way way) {
    static uint64_t space[3000 * 41 / 8 + 41];
    uint8_t *first = (uint8_t *)space + way.offset;
    for (size_t i = 0; i < n; i++) memcpy(first + i * way.stride, &hashes[i], sizeof *hashes);
    return (const uint64_t *)(const void *)first;
}

// A stream of bytes in memory, which fails after some bytes.
struct stream {
    uint8_t *bytes;
    size_t len, at, fails_at;
};

static inline int write_stream(void *context, const void *bytes, size_t len) {
    struct stream *stream = (struct stream *)context;
    if (stream->len + len > stream->fails_at) return 1;
    stream->bytes = (uint8_t *)realloc(stream->bytes, stream->len + len);
    CHECK(stream->bytes != NULL);
    memcpy(stream->bytes + stream->len, bytes, len);
    stream->len += len;
    return 0;
}

static inline int64_t read_stream(void *context, void *buffer, size_t len) {
    struct stream *stream = (struct stream *)context;
    if (stream->at >= stream->fails_at) return -1;
    size_t left = stream->len - stream->at, n = len < left ? len : left;
    if (n > 1000) n = 1000; // in small pieces
    if (n > stream->fails_at - stream->at) n = stream->fails_at - stream->at;
    memcpy(buffer, stream->bytes + stream->at, n);
    stream->at += n;
    return (int64_t)n;
}

static inline uint64_t read_clock(void *now) { return *(uint64_t *)now; }

#endif
