// What the tests share: checks that name the line that fails, and hashes.

#ifndef CHECK_H
#define CHECK_H

#include <guira.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

// Checks a code or a number, and prints it if it is another one.
#define EQUAL(call, expected)                                                                \
    do {                                                                                     \
        long long result_ = (long long)(call), expected_ = (long long)(expected);            \
        if (result_ != expected_) {                                                          \
            fprintf(stderr, "%s:%d: %s is %lld (%s), not %lld\n", __FILE__, __LINE__, #call, \
                    result_, guira_strerror((int)result_), expected_);                       \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

// Writes the hashes first, first + 1, ... Integers are hashes as they are.
static inline void number(uint64_t *hashes, size_t n, uint64_t first) {
    for (size_t i = 0; i < n; i++) hashes[i] = first + i;
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

#endif
