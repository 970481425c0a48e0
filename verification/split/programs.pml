/* The programs, and what is checked at their end. split.pml includes this. */

#define ALIAS (ONLY(X) | ONLY(T))
#define NOW 1
#define BEFORE 2
#define BEFORE_2 4
#define EXPIRED_BEFORE (1 << (W + 1))
#define KNOWN_TAIL 1
#define ANY_TAIL 3

/* Puts the slot of an item into a parent that has not been split, in every way. Its payload: one of
 * a set of values, or of ages. If it has expired, so has the item. */
inline start(f, tails, payloads) {
    if
    :: HAS_ROOM(word[0]) -> s = 0
    :: HAS_ROOM(word[1]) -> s = 1
    fi;
    if
    :: (tails) & 1 -> t = TAIL(BIT(CORE(f), EXTENSION(f), s, 0))
    :: (tails) & 2 -> t = NO_TAIL
    fi;
    if
    :: (payloads) & 1 -> v = 0
    :: (payloads) & 2 -> v = 1
    :: (payloads) & 4 -> v = 2
    :: (payloads) & 8 -> v = 3
    fi;
    item[f] = PRESENT;
#if defined(EXPIRY)
    payload[f] = now - v; v = STAMP(now - v); counted[v]++;
    LEAVES(f);
#elif defined(VALUES)
    payload[f] = v;
#endif
    word[s] = word[s] + ONE(CORE(f), t, v)
}

/* Whether a slot can be assigned to an item: `v`, `t` of the core `c` in the bucket `b`. */
#if defined(EXPIRY)
#define LASTS(f) (AGE(now, v) <= AGE(now, STAMP(payload[f])))
#elif defined(VALUES)
#define LASTS(f) (v == payload[f])
#else
#define LASTS(f) true
#endif
#define IS_OF(f) \
    (HAS(set, f) && CORE(f) == c && LASTS(f) \
        && (LEVEL(word[b]) == 0 || BIT(c, EXTENSION(f), b & 1, 0) == b >> 1) \
        && (t == NO_TAIL || t == TAIL_HERE(LEVEL(word[b]), c, EXTENSION(f), b & 1)))
#define HERE(f) (IN_TABLE(f) << (f))
#define REACHED(b) ((b) < 2 || LEVEL(word[(b) & 1]) == 1)
#define IF_REACHED(b, number) (REACHED(b) -> number : 0)
#define IN_ALL(c) (OF_CORE(word[0], c) + OF_CORE(word[1], c) \
    + IF_REACHED(2, OF_CORE(word[2], c)) + IF_REACHED(3, OF_CORE(word[3], c)))
#define OF_ALL(v) (OF_STAMP(word[0], v) + OF_STAMP(word[1], v) \
    + IF_REACHED(2, OF_STAMP(word[2], v)) + IF_REACHED(3, OF_STAMP(word[3], v)))
#define IS_FROM(f, v) (IN_TABLE(f) && payload[f] % PAYLOADS == (v))

init {
    byte s, b, c, t, v, set, present, near;
    atomic {
#if defined(VALUES)
#if defined(P_GET) || defined(P_CONTAINS) || defined(P_LIST)
        start(X, KNOWN_TAIL, 1);
#if defined(P_GET)
        run Reader(X, KEY);
#elif defined(P_CONTAINS)
        run Reader(X, VALUE);
#else
        run Reader(X, LIST);
#endif
        run Client(SPLIT, 0, 1);
        run Client(INSERT | REMOVE | MOVE | REPLACE, ALIAS, 2);
#elif defined(P_WRITERS)
        start(X, ANY_TAIL, 1); start(T, KNOWN_TAIL, 2);
        run Client(SPLIT, 0, 1);
        run Client(INSERT | REMOVE | MOVE | REPLACE, ALIAS, 2);
        run Client(MOVE | REPLACE, ALIAS, 1);
#elif defined(P_REPLACE)
        start(X, ANY_TAIL, 1); start(Y, ANY_TAIL, 1);
        run Client(SPLIT, 0, 2);
        run Client(REPLACE | REMOVE, ONLY(X), 1);
        run Client(INSERT, ONLY(V) | ONLY(T), 1);
#elif defined(P_GET_OR_INSERT)
        if :: start(X, ANY_TAIL, 1) :: true fi;
        run Client(SPLIT, 0, 1);
        run Client(GET_OR_INSERT | REMOVE | REPLACE, ALIAS, 1);
        run Client(GET_OR_INSERT | REMOVE, ALIAS, 2);
#elif defined(P_RETRY)
        start(X, ANY_TAIL, 1); start(Y, KNOWN_TAIL, 2);
        run Reader(X, LIST);
        run Client(SPLIT, 0, 1);
        run Client(MOVE | PUSH, ONLY(T) | ONLY(V), 1);
#endif
#elif defined(EXPIRY)
#if defined(P_LOOKUP)
        start(X, KNOWN_TAIL, NOW | BEFORE);
        run Reader(X, KEY);
        run Advancer(2);
        run Client(SPLIT, 0, 1);
        run Client(MOVE | REFRESH, ONLY(X), 1);
#elif defined(P_ALIAS)
        start(X, KNOWN_TAIL, NOW);
        run Reader(X, KEY);
        run Advancer(1);
        run Client(SPLIT, 0, 1);
        run Client(INSERT | REMOVE, ALIAS, 2);
#elif defined(P_SWEEP)
        start(X, ANY_TAIL, NOW | BEFORE | EXPIRED_BEFORE); start(Y, ANY_TAIL, NOW | BEFORE);
        run Advancer(1);
        run Client(SPLIT, 0, 2);
        run Client(MOVE, ONLY(X), 1);
#elif defined(P_INSERT)
        if :: start(X, KNOWN_TAIL, EXPIRED_BEFORE) :: true fi;
        run Advancer(2);
        run Client(SPLIT, 0, 1);
        run Client(INSERT, ONLY(X), 1);
        run Client(INSERT | SWEEPING, ONLY(Y), 1);
#elif defined(P_RELOCATION)
        start(X, ANY_TAIL, BEFORE | EXPIRED_BEFORE);
        run Advancer(1);
        run Client(SPLIT, 0, 1);
        run Client(PUSH, ONLY(V), 1);
        run Client(SWEEPING, ONLY(Y), 1);
#elif defined(P_REFRESH)
        start(X, ANY_TAIL, NOW | BEFORE | BEFORE_2); start(Y, ANY_TAIL, NOW | BEFORE | BEFORE_2);
        run Advancer(1);
        run Client(SPLIT, 0, 1);
        run Client(REFRESH, ONLY(X), 1);
#elif defined(P_REMOVAL)
        start(X, ANY_TAIL, NOW | BEFORE); start(Y, ANY_TAIL, NOW | BEFORE);
        run Advancer(1);
        run Client(SPLIT, 0, 1);
        run Client(REFRESH | REMOVE, ALIAS, 2);
#endif
#elif defined(P_LOOKUP)
        start(X, KNOWN_TAIL, 1);
        run Reader(X, KEY);
        run Client(SPLIT, 0, 2);
        run Client(MOVE, ONLY(X), 2);
#elif defined(P_ALIAS)
        start(X, KNOWN_TAIL, 1);
        run Reader(X, KEY);
        run Client(SPLIT, 0, 1);
        run Client(INSERT | REMOVE | MOVE, ALIAS, 3);
#elif defined(P_WRITERS)
        start(X, KNOWN_TAIL, 1); start(Y, KNOWN_TAIL, 1);
        run Client(SPLIT, 0, 2);
        run Client(INSERT | REMOVE, ALIAS, 1);
        run Client(INSERT | REMOVE, ONLY(Y) | ONLY(V), 2);
#elif defined(P_REMOVAL)
        start(X, ANY_TAIL, 1); start(Y, ANY_TAIL, 1);
        run Reader(Y, KEY);
        run Client(SPLIT, 0, 2);
        run Client(REMOVE | INSERT, ONLY(X) | ONLY(V), 2);
#elif defined(P_UNKNOWN)
        start(X, ANY_TAIL, 1); start(Y, ANY_TAIL, 1);
        run Reader(X, KEY);
        run Client(SPLIT, 0, 2);
        run Client(MOVE, ONLY(X), 2);
#elif defined(P_TAKEN)
        start(X, ANY_TAIL, 1); start(Y, ANY_TAIL, 1);
        run Client(SPLIT, 0, 2);
        run Client(MOVE, ONLY(X), 1);
        run Client(REMOVE, ONLY(X) | ONLY(Y), 1);
#elif defined(P_HELP)
        start(X, ANY_TAIL, 1);
        run Reader(X, KEY);
        run Client(SPLIT, 0, 2);
        run Client(SPLIT, 0, 1);
        run Client(HELP, 0, 1);
#elif defined(P_SPLITTERS)
        start(X, ANY_TAIL, 1);
        run Client(SPLIT, 0, 1);
        run Client(SPLIT, 0, 1);
        run Client(INSERT | REMOVE, ONLY(Y) | ONLY(V), 2);
#elif defined(P_STALE)
        start(X, KNOWN_TAIL, 1);
        run Client(SPLIT, 0, 1);
        run Client(MOVE, ONLY(X), 1);
        run Client(INSERT | REMOVE, ONLY(X) | ONLY(Y), 2);
#elif defined(P_RETRY)
        start(X, ANY_TAIL, 1); start(Z, KNOWN_TAIL, 1);
        run Reader(X, KEY);
        run Client(SPLIT, 0, 2);
        run Client(MOVE | PUSH, ONLY(Y) | ONLY(Z), 1);
#elif defined(P_COUNT)
        start(X, ANY_TAIL, 1); start(Y, ANY_TAIL, 1);
        run Client(COUNT, ONLY(X), 1);
        run Client(SPLIT, 0, 1);
        run Client(INSERT | REMOVE | MOVE, ALIAS, 2);
#endif
        s = 0; t = 0; v = 0
    }
    d_step {
        _nr_pr == 1 -> /* all others have ended */
        assert(size == (LEVEL(word[0]) == 0 -> 0 : (LEVEL(word[1]) == 0 -> 1 : 2)));
        assert(item[X] != BUSY && item[T] != BUSY && item[Y] != BUSY && item[V] != BUSY);
        /* For each set of items, there are as many slots that can be assigned to one of them. By
         * Hall's theorem, then, each item has a slot of its own. (After a refresh, items may share
         * one: each has a slot.) */
        present = HERE(X) | HERE(T) | HERE(Y) | HERE(V) | HERE(Z);
        set = 1;
        do
        :: set > present -> break
        :: set <= present && (set & present) != set -> set++
        :: set <= present && (set & present) == set ->
            near = 0; b = 0; c = 0; t = 0; v = 0;
            do
            :: b == 4 -> break
            :: b < 4 && !REACHED(b) -> b++
            :: b < 4 && REACHED(b) ->
                if
                :: IS_OF(X) || IS_OF(T) || IS_OF(Y) || IS_OF(V) || IS_OF(Z) ->
                    near = near + NUMBER(word[b], c, t, v)
                :: else
                fi;
                v++;
                if :: v == PAYLOADS -> v = 0; t++ :: else fi;
                if :: t == 3 -> t = 0; c++ :: else fi;
                if :: c == CORES -> c = 0; b++ :: else fi
            od;
#ifdef EXPIRY
            assert(near >= HAS(set, X) + HAS(set, T) + HAS(set, Y) + HAS(set, V) + HAS(set, Z)
                || near > 0 && restamped);
#else
            assert(near >= HAS(set, X) + HAS(set, T) + HAS(set, Y) + HAS(set, V) + HAS(set, Z));
#endif
            set++
        od;
#ifdef EXPIRY
        /* The counts are right. Of what is visible, that which is not a ghost is an item, unless a
         * refresh has restamped another slot. Nothing else has ghosts. */
        v = 0;
        do
        :: v == M -> break
        :: else ->
            assert(counted[v] == OF_ALL(v));
            assert(restamped || AGE(now, v) > W || counted[v] - ghosts[v]
                == IS_FROM(X, v) + IS_FROM(T, v) + IS_FROM(Y, v) + IS_FROM(V, v));
            assert(AGE(now, v) <= W || ghosts[v] == 0);
            v++
        od
#else
        /* And nothing else, ghosts apart. */
        assert(IN_ALL(0) == IN_TABLE(X) + IN_TABLE(T) + IN_TABLE(Y) + IN_TABLE(V) + ghosts[0]);
#if CORES == 2
        assert(IN_ALL(1) == IN_TABLE(Z) + ghosts[1])
#endif
#endif
    }
}
