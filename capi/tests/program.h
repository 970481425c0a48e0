// The part of `program.c` that is the same for each `TYPE`.

static void PROGRAM(inserts)(OBJECT *object);
static void PROGRAM(calls)(OBJECT *object);

// Checks that everything that was reported as inserted is in an object.
static void PROGRAM(check)(const OBJECT *object) {
    bool found;
    for (int i = 0; i < ALL; i++) {
        DO(CALL(contains)(object, hashes[i], &found));
        CHECK(found || !inserted[i]);
        DO(CALL(count)(object, hashes[i], &n));
        CHECK(n > 0 || !inserted[i]);
    }
    DO(CALL(contains_batch)(object, hashes, 8, ALL, some, &n));
    DO(CALL(contains_mask)(object, MASK(PART), &mask));
    check_bits(PART, mask);
    size_t items = 0;
    for (int i = 0; i < ALL; i++) {
        CHECK(some[i] || !inserted[i]);
        items += inserted[i];
    }
    uint64_t len = 0;
    DO(CALL(len)(object, &len));
    CHECK(len >= items);
    guira_info info = guira_info_init();
    DO(CALL(info)(object, &info));
    EQUAL(info.items, len);
}

// Checks another object with the same items, and destroys it.
static void PROGRAM(check_other)(OBJECT *object) {
    PROGRAM(check)(object);
    DO(CALL(destroy)(object));
}

static void PROGRAM(run)(void) {
    OBJECT *object = NULL, *other = NULL;
    guira_params params = params_of(growing ? CAPACITY : ALL * 2, growing);
    params.no_reserve = no_reserve;
    if (EXPIRES && timed) {
        params.ttl_ns = TTL;
        params.clock = read_clock, params.clock_context = &now;
    } else if (EXPIRES) {
        params.window = 13;
    }
    now = 0;
    memset(inserted, false, sizeof inserted);
    if (!TRY(CALL(create)(&params, &object))) return;
    DO(CALL(hash)(object, "a", 1, &mask));
    DO(CALL(hash_batch)(object, "abcd", 1, 4, 1, own, 8));
    PROGRAM(inserts)(object);
    PROGRAM(check)(object);
    if (TRY(CALL(clone)(object, &other))) PROGRAM(check_other)(other);
    if (TRY(CALL(save)(object, path)) && TRY(LOAD(&other))) PROGRAM(check_other)(other);
    saved.len = saved.at = 0;
    if (TRY(CALL(write_to)(object, write_bytes, &saved))) {
        calls_view(HAS_VALUES, EXPIRES);
        if (TRY(READ(&other))) PROGRAM(check_other)(other);
    }
#ifdef MERGES
    if (TRY(CALL(create)(&params, &other))) {
        // All items, or none.
        uint64_t len = 0;
        if (TRY(CALL(merge)(other, object))) {
            PROGRAM(check)(other);
        } else {
            DO(CALL(len)(other, &len));
            EQUAL(len, 0);
        }
        DO(CALL(destroy)(other));
    }
#endif
    PROGRAM(calls)(object);
    PROGRAM(check)(object);
    // Those whose generations are known, if they have one, and that were not refreshed.
    for (int i = PART; i < 3 * PART; i += 2) {
        if (!inserted[i] || (EXPIRES && generations[i] == 0)) continue;
        bool found = false;
        DO(REMOVE(object, i));
        CHECK(found);
        inserted[i] = false;
    }
    PROGRAM(check)(object);
    if (growing) DO(CALL(shrink_to_fit)(object, NULL));
    PROGRAM(check)(object);
    DO(CALL(clear)(object));
    memset(inserted, false, sizeof inserted);
    PROGRAM(inserts)(object);
    PROGRAM(check_other)(object);
}

#undef TYPE
#undef EXPIRES
#undef HAS_VALUES
#undef REMOVE
#undef LOAD
#undef READ
#undef MERGES
