// The tests of one type: `TYPE`. `INSERT(object, hash)` inserts an item, `INSERT_BATCH(object,
// hashes, stride, n)` inserts many of them, `HAS(object, hash)` looks up what `INSERT` inserted,
// and `LOAD_OTHER(path)` loads an object of another type. `MERGES` says that the type has `merge`.
// `UNIQUE` says that the type has `insert_unique_mask` and `insert_unique_batch`. `WINDOW` is that
// of an expiring set, otherwise 0.

static OBJECT *TEST(create)(uint32_t growing) {
    guira_params params = params_of(ITEMS, growing);
    params.window = WINDOW;
    return JOIN(TYPE, _create, )(&params);
}

// Creates an object with the hashes 0, 1, ... and with a key.
static OBJECT *TEST(fill)(uint32_t growing) {
    OBJECT *object = TEST(create)(growing);
    for (uint64_t hash = 0; hash < ITEMS - 1; hash++) OK(INSERT(object, hash));
    OK(INSERT(object, HASH(object, "tyto alba", 9)));
    return object;
}

static void TEST(check)(const OBJECT *object) {
    EQUAL(LEN(object), ITEMS);
    for (uint64_t hash = 0; hash < ITEMS - 1; hash++) CHECK(HAS(object, hash));
    CHECK(HAS(object, HASH(object, "tyto alba", 9)));
}

static void TEST(hashes)(uint32_t growing) {
    OBJECT *object = TEST(create)(growing);
    struct { char key[8]; uint64_t hash; } keys[3] = {{"cuckoo", 1}, {"ani", 2}, {"guira", 3}};
    size_t stride = sizeof keys[0];
    OK(CALL(hash_batch)(object, keys[0].key, stride, 3, 8, hashes, 8));
    OK(CALL(hash_batch)(object, keys[0].key, stride, 3, 8, &keys[0].hash, stride));
    for (int i = 0; i < 3; i++) {
        CHECK(HASH(object, keys[i].key, 8) == hashes[i] && keys[i].hash == hashes[i]);
    }
    CHECK(hashes[0] != hashes[1] && hashes[1] != hashes[2]);
    CHECK(HASH(object, "cuckoo", 6) != hashes[0]);
    uint64_t empty = HASH(object, NULL, 0); // the empty key
    OK(CALL(hash_batch)(object, NULL, 0, 2, 0, hashes, 8));
    CHECK(hashes[0] == empty && hashes[1] == empty);
    OK(CALL(hash_batch)(object, NULL, 8, 0, 8, NULL, 8));
    OK(CALL(destroy)(object));
}

static void TEST(lookups)(uint32_t growing) {
    OBJECT *object = TEST(fill)(growing);
    size_t count = 0;
    number(hashes, 2 * ITEMS, 0);
    for (int i = 0; i < WAYS_N; i++) {
        size_t stride = WAYS[i].stride;
        const uint64_t *all = laid(hashes, 2 * ITEMS, WAYS[i]);
        EQUAL(MASK(object, all, stride, 64), UINT64_MAX);
        EQUAL(MASK(object, all, stride, 33), UINT64_C(0x1ffffffff));
        OK(CALL(contains_batch)(object, all, stride, 2 * ITEMS, flags, &count));
        CHECK(count >= ITEMS - 1 && count < ITEMS + 30);
        for (int j = 0; j < 2 * ITEMS; j++) {
            EQUAL(flags[j], CONTAINS(object, hashes[j]));
            count -= flags[j];
        }
        EQUAL(count, 0);
        uint64_t mixed[] = {5, 1000000, 6, 7};
        EQUAL(MASK(object, laid(mixed, 4, WAYS[i]), stride, 4), 13);
        OK(CALL(contains_batch)(object, laid(mixed, 2, WAYS[i]), stride, 2, flags, NULL));
        CHECK(flags[0] && !flags[1]);
    }
    OK(INSERT(object, UINT64_C(5)));
    EQUAL(JOIN(TYPE, _count, )(object, 5), 2);
    EQUAL(JOIN(TYPE, _count, )(object, 1000000), 0);
    // Arrays of nothing.
    OK(CALL(contains_batch)(object, NULL, 8, 0, NULL, NULL));
    EQUAL(MASK(object, NULL, 8, 0), 0);
    OK(CALL(destroy)(object));
}

static void TEST(inserts)(uint32_t growing, struct way way) {
    OBJECT *object = TEST(create)(growing);
    size_t count = 77, stride = way.stride, half = ITEMS / 2;
    number(hashes, ITEMS, 0);
    const uint64_t *all = laid(hashes, ITEMS, way);
    memset(refused, 1, sizeof refused);
    OK(INSERT_BATCH(object, all, stride, half));
    EQUAL(count, half);
    CHECK(memchr(refused, 1, half) == NULL && refused[half]);
    for (size_t i = 0; i < half; i++) CHECK(CONTAINS(object, hashes[i]));
    STATUS(INSERT_BATCH(object, all, 7, 1), GUIRA_ERR_ARGUMENT);
    EQUAL(LEN(object), half);
    EQUAL(count, half);
    OK(INSERT_BATCH(object, NULL, 8, 0));
    EQUAL(count, 0);
#ifdef UNIQUE
    bool *new = flags;
    OK(CALL(insert_unique_batch)(object, all, stride, ITEMS, new, refused, &count));
    CHECK(count > half - 10 && count <= half && LEN(object) == half + count);
    CHECK(memchr(new, 1, half) == NULL && memchr(refused, 1, ITEMS) == NULL);
    for (size_t i = 0; i < ITEMS; i++) count -= new[i];
    EQUAL(count, 0);
    OK(CALL(insert_unique_batch)(object, all, stride, ITEMS, new, NULL, NULL));
    CHECK(memchr(new, 1, ITEMS) == NULL);
    OK(CALL(insert_unique_batch)(object, NULL, stride, 0, NULL, NULL, NULL));

    // Masks. An item that occurs twice is inserted once.
    OK(CALL(clear)(object));
    OK(CALL(insert_unique_mask)(object, all, stride, 4, &mask, &others));
    CHECK(mask == 0xf && others == 0);
    OK(CALL(insert_unique_mask)(object, all, stride, 64, &mask, NULL));
    EQUAL(mask, UINT64_MAX << 4);
    uint64_t twice[] = {3, 100, 101, 100};
    OK(CALL(insert_unique_mask)(object, laid(twice, 4, way), stride, 4, &mask, &others));
    CHECK(mask == 6 && others == 0 && LEN(object) == 66);
    mask = others = 77;
    STATUS(CALL(insert_unique_mask)(object, all, stride, 65, &mask, &others), GUIRA_ERR_ARGUMENT);
    CHECK(mask == 77 && others == 77 && LEN(object) == 66);
#endif
    OK(CALL(destroy)(object));
}

// What a full object refuses is refused in every form, and changes nothing.
static void TEST(full)(struct way way) {
    OBJECT *object = TEST(create)(0);
    size_t count = 0, counted = 0, stride = way.stride;
    number(hashes, MORE, 0);
    STATUS(INSERT_BATCH(object, laid(hashes, MORE, way), stride, MORE), GUIRA_ERR_FULL);
    CHECK(count >= ITEMS && count < MORE);
    for (size_t i = 0; i < MORE; i++) {
        counted += !refused[i];
        CHECK(refused[i] || CONTAINS(object, hashes[i]));
    }
    EQUAL(counted, count);
    EQUAL(LEN(object), count);
    guira_status status = GUIRA_OK;
    for (uint64_t hash = MORE; status == GUIRA_OK; hash++) status = INSERT(object, hash);
    EQUAL(status, GUIRA_ERR_FULL);
#ifdef UNIQUE
    OK(CALL(clear)(object));
    STATUS(CALL(insert_unique_batch)(object, laid(hashes, MORE, way), stride, MORE, flags, refused,
                                     &count), GUIRA_ERR_FULL);
    CHECK(count >= ITEMS && count < MORE && LEN(object) == count);
    uint64_t out[64];
    size_t outs = 0;
    for (size_t i = 0; i < MORE; i++) {
        CHECK(!(flags[i] && refused[i]));
        count -= flags[i];
        if (refused[i] && outs < 64) out[outs++] = hashes[i];
    }
    CHECK(count == 0 && outs == 64);
    uint64_t found = MASK(object, out, 8, 64);
    STATUS(CALL(insert_unique_mask)(object, laid(out, 64, way), stride, 64, &mask, &others),
           GUIRA_ERR_FULL);
    CHECK(mask == 0 && others != 0 && (others | found) == UINT64_MAX);
#endif
    OK(CALL(destroy)(object));
}

static void TEST(copies)(uint32_t growing) {
    OBJECT *object = TEST(fill)(growing), *copy = NULL;
    OK(CALL(clone)(object, &copy));
    OK(CALL(clear)(object));
    EQUAL(LEN(object), 0);
    CHECK(!CONTAINS(object, 5));
    TEST(check)(copy);
    guira_info info = INFO(copy);
    CHECK(info.size == sizeof info && info.items == ITEMS);
    CHECK(info.capacity >= ITEMS && info.capacity < ITEMS + 10); // a whole number of buckets
    CHECK(info.slots >= ITEMS && info.growing == growing);
    CHECK(info.bytes * 8 > 13 * ITEMS && (info.next_growth_bytes > 0) == (growing == 1));
    CHECK(info.false_positive_rate > 0 && info.false_positive_rate <= 0.003);
    // A later header has a larger struct.
    struct {
        guira_info info;
        uint64_t more[2];
    } larger = {guira_info_init(), {5, 6}};
    larger.info.size = sizeof larger;
    OK(CALL(info)(copy, &larger.info));
    CHECK(larger.info.size == sizeof larger && larger.info.items == ITEMS);
    CHECK(larger.more[0] == 0 && larger.more[1] == 0);
    OK(CALL(destroy)(object));
    OK(CALL(destroy)(copy));
}

static void TEST(snapshots)(const char *folder, uint32_t growing) {
    OBJECT *object = TEST(fill)(growing), *loaded = NULL;
    OK(CALL(save)(object, in(folder, "saved")));
    OK(CALL(load)(path, &loaded));
    TEST(check)(loaded);
    EQUAL(INFO(loaded).growing, growing);
    OK(CALL(destroy)(loaded));

    struct stream stream = {.fails_at = SIZE_MAX};
    OK(CALL(write_to)(object, write_stream, &stream));
    size_t len = stream.len;
    stream.bytes = realloc(stream.bytes, len + 5); // bytes that follow are not read
    stream.len = len + 5;
    OK(CALL(read_from)(read_stream, &stream, &loaded));
    EQUAL(stream.at, len);
    TEST(check)(loaded);
    OK(CALL(destroy)(loaded));
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
        STATUS(CALL(read_from)(read_stream, &stream, &loaded), GUIRA_ERR_TRUNCATED);
        stream = (struct stream){.bytes = stream.bytes, .len = len, .fails_at = ends[i]};
        STATUS(CALL(read_from)(read_stream, &stream, &loaded), GUIRA_ERR_CALLBACK);
    }
    size_t places[] = {len / 2, 0, 8};
    guira_status damages[] = {
        GUIRA_ERR_DAMAGED, GUIRA_ERR_NOT_A_SNAPSHOT, GUIRA_ERR_UNKNOWN_VERSION
    };
    for (int i = 0; i < 3; i++) {
        stream = (struct stream){.bytes = stream.bytes, .len = len, .fails_at = SIZE_MAX};
        stream.bytes[places[i]] ^= 99;
        STATUS(CALL(read_from)(read_stream, &stream, &loaded), damages[i]);
        stream.bytes[places[i]] ^= 99;
    }
    free(stream.bytes);
    stream = (struct stream){.fails_at = 100};
    STATUS(CALL(write_to)(object, write_stream, &stream), GUIRA_ERR_CALLBACK);
    free(stream.bytes);

    STATUS(LOAD_OTHER(path), GUIRA_ERR_OTHER_TYPE);
    file = fopen(path, "ab");
    CHECK(file != NULL && fputc(0, file) == 0 && fclose(file) == 0);
    STATUS(CALL(load)(path, &loaded), GUIRA_ERR_DAMAGED);
    errno = 0;
    STATUS(CALL(save)(object, in(folder, "no/such/folder")), GUIRA_ERR_IO);
    EQUAL(errno, ENOENT);
    errno = 0;
    STATUS(CALL(load)(path, &loaded), GUIRA_ERR_IO);
    EQUAL(errno, ENOENT);
    STATUS(CALL(save)(object, "/"), GUIRA_ERR_IO); // not a file
    CHECK(symlink("loop", in(folder, "loop")) == 0 || errno == EEXIST);
    errno = 0;
    STATUS(CALL(save)(object, path), GUIRA_ERR_IO); // a circle of links
    EQUAL(errno, ELOOP);
    CHECK(loaded == NULL);
    OK(CALL(destroy)(object));
}

static void TEST(shrinks)(void) {
    OBJECT *object = TEST(create)(1);
    uint64_t released = 0;
    for (uint64_t hash = 0; hash < 20 * ITEMS; hash++) OK(INSERT(object, hash));
    OK(CALL(clear)(object));
    for (uint64_t hash = 0; hash < 100; hash++) OK(INSERT(object, hash));
    uint64_t bytes = INFO(object).bytes;
    OK(CALL(shrink_to_fit)(object, &released));
    CHECK(released > 10000);
    EQUAL(INFO(object).bytes, bytes - released);
    for (uint64_t hash = 0; hash < 100; hash++) CHECK(HAS(object, hash));
    OK(CALL(shrink_to_fit)(object, NULL));
    OK(CALL(destroy)(object));
}

#ifdef MERGES
static void TEST(merges)(uint32_t growing) {
    guira_params params = params_of(ITEMS, growing);
    params.seed = 0;
    OBJECT *a = TEST(create)(growing), *b = TEST(create)(growing);
    OBJECT *unlike[] = {TEST(create)(!growing), JOIN(TYPE, _create, )(&params)};
    for (uint64_t hash = 0; hash < 400; hash++) OK(INSERT(a, hash));
    for (uint64_t hash = 300; hash < 600; hash++) OK(INSERT(b, hash));
    OK(CALL(merge)(a, b));
    for (uint64_t hash = 0; hash < 600; hash++) CHECK(HAS(a, hash));
    for (int i = 0; i < 2; i++) {
        STATUS(CALL(merge)(a, unlike[i]), GUIRA_ERR_MISMATCH);
        OK(CALL(destroy)(unlike[i]));
    }
    EQUAL(LEN(a), 700);
    OK(CALL(destroy)(a));
    OK(CALL(destroy)(b));
}
#endif

// Misuse is an error and changes nothing.
static void TEST(misuse)(void) {
    OBJECT *object = TEST(create)(0), *none = NULL;
    size_t count = 77;
    mask = 77;
    number(hashes, 65, 0);
    bool flag = true;
    guira_info info = guira_info_init();
    guira_params params = params_of(100, 0);
    OK(CALL(destroy)(NULL));
    STATUS(CALL(shrink_to_fit)(object, &mask), GUIRA_ERR_NOT_GROWING);

    // Bursts that are too long, strides that are too short, lengths that no memory has.
    OK(INSERT(object, UINT64_C(0)));
    STATUS(CALL(contains_mask)(object, hashes, 8, 65, &mask), GUIRA_ERR_ARGUMENT);
    STATUS(CALL(contains_mask)(object, hashes, 7, 2, &mask), GUIRA_ERR_ARGUMENT);
    STATUS(CALL(contains_mask)(object, hashes, SIZE_MAX / 2, 3, &mask), GUIRA_ERR_ARGUMENT);
    STATUS(CALL(contains_batch)(object, hashes, 0, 2, &flag, &count), GUIRA_ERR_ARGUMENT);
    STATUS(CALL(contains_batch)(object, hashes, 8, SIZE_MAX / 2, &flag, &count),
           GUIRA_ERR_ARGUMENT);
    STATUS(CALL(hash_batch)(object, "x", SIZE_MAX / 2 + 1, 2, 1, &mask, 8), GUIRA_ERR_ARGUMENT);
    STATUS(CALL(hash_batch)(object, "x", 1, 2, SIZE_MAX / 2 + 1, &mask, 8), GUIRA_ERR_ARGUMENT);
    STATUS(CALL(hash_batch)(object, "x", 1, 1, 1, &mask, 7), GUIRA_ERR_ARGUMENT);
    uint64_t *odd = (uint64_t *)(void *)((char *)hashes + 1);
    STATUS(CALL(contains_mask)(object, hashes, 8, 4, odd), GUIRA_ERR_ARGUMENT);
    CHECK(mask == 77 && count == 77 && flag && none == NULL);

    // Structs whose sizes are not those of any release.
    size_t sizes[][2] = {
        {0, 0}, {8, 8}, {sizeof params - 1, sizeof info - 1}, {SIZE_MAX, SIZE_MAX}
    };
    for (int i = 0; i < 4; i++) {
        params.size = sizes[i][0];
        info.size = sizes[i][1];
        info.items = 77;
        STATUS(CALL(create)(&params, &none), GUIRA_ERR_STRUCT_SIZE);
        STATUS(CALL(info)(object, &info), GUIRA_ERR_STRUCT_SIZE);
        CHECK(info.items == 77 && none == NULL);
    }
    EQUAL(LEN(object), 1);
    OK(CALL(destroy)(object));
}

static void JOIN(test_, TYPE, )(const char *folder, uint32_t growing) {
    TEST(hashes)(growing);
    TEST(lookups)(growing);
    TEST(copies)(growing);
    TEST(snapshots)(folder, growing);
    TEST(misuse)();
    TEST(shrinks)();
#ifdef MERGES
    TEST(merges)(growing);
#endif
    for (int i = 0; i < WAYS_N; i++) {
        TEST(inserts)(growing, WAYS[i]);
        TEST(full)(WAYS[i]);
    }
}

#undef TYPE
#undef INSERT
#undef INSERT_BATCH
#undef HAS
#undef MERGES
#undef UNIQUE
#undef LOAD_OTHER
#undef WINDOW
