/* One table and its protocol, written from the argument at the head of src/table/mod.rs.
 *
 * Three buckets of a few slots, and three fingerprints that each select a pair of them:
 *
 *     fingerprint   X       Z       Y         X and Y share a stripe. Each fingerprint shares each
 *     buckets       0, 1    0, 2    1, 2      of its buckets with one other fingerprint.
 *     stripe        0       1       0
 *
 * All items with the fingerprint X are aliases. A word is a multiset of fingerprints, because no
 * step depends on the slot that a fingerprint is in.
 *
 * What is one step. Between two statements any other process may run. One `atomic`
 * holds at most one access to shared state, apart from these:
 * - Acquiring a lock, with the access that follows; and an access, with the release that follows.
 *   Between the two, nothing that another process does can depend on which of them was made.
 * - A loop that loads a word and then replaces it by compare-and-swap, where the new word depends
 *   on the loaded one alone: one step, because it succeeds only if the word is as it was loaded.
 *   (`insert_unique` depends on two words, so its load and its swap are two steps.)
 *
 * What is under GHOST below is the bookkeeping of the specification. It changes together with the
 * step that it describes.
 *
 * What is chosen freely, so that more is allowed here than in the code: the order of a pair's
 * buckets, the bucket that an insert takes, whether it relocates, and the moves of its eviction
 * path. A plan is validated by each move, so any move may be planned at any time.
 *
 * A step is removed or broken by defining its switch. ./run lists the switches, each with the
 * program (see `init`) that it breaks and the schedule that breaks it.
 */

#ifndef SLOTS
#define SLOTS 2
#endif
#define BUCKETS 3
#define STRIPES 2

#define X 0
#define Z 1
#define Y 2
#define ALT(f, b) ((4 + (f) - (b)) % BUCKETS) /* the reflection t(f) - b */
#define STRIPE(f) ((f) & (STRIPES - 1))

/* A word: the number of copies of each fingerprint, two bits for each. */
#define ONE(f) (1 << (2 * (f)))
#define COPIES(w, f) (((w) >> (2 * (f))) & 3)
#define HAS_ROOM(w) (COPIES(w, X) + COPIES(w, Z) + COPIES(w, Y) < SLOTS)

byte word[BUCKETS];
byte version[STRIPES];
bool lock[STRIPES];

/* ---- GHOST: the contracts, and who is in the table ---- */

byte paid[3];      /* items that are in the table, by fingerprint: inserts that pay for no removal */
byte loose[3];     /* inserts that overlapped a clear: each may have left a copy, or not */
byte clears;       /* starts and ends of clears: odd while one is in progress */
byte added[3];     /* successful calls of `insert_unique` */
bool watching;     /* a lookup of X or a snapshot is in progress */
byte held, fresh;  /* copies of X that were there when it started and are; that came since and are */
bool touched;      /* X was inserted since the start of the last clear */

/* An insert succeeds, with the step that adds the fingerprint. It pays unless a clear overlaps. */
#define INSERTED(f, since) \
    if :: (since) == clears && !(clears & 1) -> \
        paid[f]++; if :: (f) == X && watching -> fresh++ :: else fi \
    :: else -> loose[f]++ fi; \
    if :: (f) == X -> touched = true :: else fi
/* A removal starts. Of several assignments, the one that keeps the most old items in the table. */
#define TAKEN(f) \
    paid[f]--; \
    if :: (f) != X || !watching \
       :: (f) == X && watching && fresh > 0 -> fresh-- \
       :: (f) == X && watching && fresh == 0 -> if :: held > 0 -> held-- :: else fi fi
#define WATCH watching = true; held = paid[X]; fresh = 0
#define UNWATCH watching = false; held = 0; fresh = 0

#ifdef REMOVAL_UNPAID
#define MAY_REMOVE(f) true
#else
#define MAY_REMOVE(f) (paid[f] > 0)
#endif

/* ---- Locks, for each caller: on the right stripe, on the wrong one, or none ---- */

#ifdef MOVE_WRONG_STRIPE
#define MOVE_STRIPE(f) (1 - STRIPE(f))
#else
#define MOVE_STRIPE(f) STRIPE(f)
#endif
#ifdef MOVE_NO_LOCK
#define MOVE_MAY_LOCK(f) true
#define MOVE_SET(f, value) skip
#else
#define MOVE_MAY_LOCK(f) (!lock[MOVE_STRIPE(f)])
#define MOVE_SET(f, value) lock[MOVE_STRIPE(f)] = value
#endif

#ifdef MOVE_UNLOCKED_CHECK
#define MOVE_MAY_START (COPIES(word[b], f) > 0)
#define MOVE_START skip
#else
#define MOVE_MAY_START (COPIES(word[b], f) > 0 && MOVE_MAY_LOCK(f))
#define MOVE_START MOVE_SET(f, true)
#endif

#ifdef REMOVAL_WRONG_STRIPE
#define REMOVAL_STRIPE(f) (1 - STRIPE(f))
#else
#define REMOVAL_STRIPE(f) STRIPE(f)
#endif
#ifdef REMOVAL_NO_LOCK
#define REMOVAL_MAY_LOCK(f) true
#define REMOVAL_SET(f, value) skip
#else
#define REMOVAL_MAY_LOCK(f) (!lock[REMOVAL_STRIPE(f)])
#define REMOVAL_SET(f, value) lock[REMOVAL_STRIPE(f)] = value
#endif

#ifdef UNIQUE_WRONG_STRIPE
#define UNIQUE_STRIPE(f) (1 - STRIPE(f))
#else
#define UNIQUE_STRIPE(f) STRIPE(f)
#endif
#ifdef UNIQUE_NO_LOCK
#define UNIQUE_MAY_LOCK(f) true
#define UNIQUE_SET(f, value) skip
#else
#define UNIQUE_MAY_LOCK(f) (!lock[UNIQUE_STRIPE(f)])
#define UNIQUE_SET(f, value) lock[UNIQUE_STRIPE(f)] = value
#endif

#ifdef COUNT_WRONG_STRIPE
#define COUNT_STRIPE(f) (1 - STRIPE(f))
#else
#define COUNT_STRIPE(f) STRIPE(f)
#endif
#ifdef COUNT_NO_LOCK
#define COUNT_MAY_LOCK(f) true
#define COUNT_SET(f, value) skip
#else
#define COUNT_MAY_LOCK(f) (!lock[COUNT_STRIPE(f)])
#define COUNT_SET(f, value) lock[COUNT_STRIPE(f)] = value
#endif

/* The locks of all stripes, in the order (s, 1 - s). */
#ifdef CLEAR_NO_LOCKS
#define CLEAR_MAY_LOCK(s) true
#define CLEAR_SET(s, value) skip
#elif defined(CLEAR_ONE_LOCK_FEWER)
#define CLEAR_MAY_LOCK(s) ((s) == 0 || !lock[s])
#define CLEAR_SET(s, value) if :: (s) != 0 -> lock[s] = value :: else fi
#else
#define CLEAR_MAY_LOCK(s) (!lock[s])
#define CLEAR_SET(s, value) lock[s] = value
#endif
#ifdef COPY_NO_LOCKS
#define COPY_MAY_LOCK(s) true
#define COPY_SET(s, value) skip
#elif defined(COPY_ONE_LOCK_FEWER)
#define COPY_MAY_LOCK(s) ((s) == 0 || !lock[s])
#define COPY_SET(s, value) if :: (s) != 0 -> lock[s] = value :: else fi
#else
#define COPY_MAY_LOCK(s) (!lock[s])
#define COPY_SET(s, value) lock[s] = value
#endif
#ifdef COPY_OTHER_ORDER
#define COPY_FIRST 1
#else
#define COPY_FIRST 0
#endif

/* ---- Clearing a slot: the caller holds the lock and has seen the fingerprint in `seen` ---- */

/* The code panics if the fingerprint is gone. */
#ifdef BLIND_CLEARING
#define CLEAR_SLOT(f, b, seen) word[b] = seen - ONE(f)
#else
#define CLEAR_SLOT(f, b, seen) assert(COPIES(word[b], f) > 0); word[b] = word[b] - ONE(f)
#endif
#ifdef INCOMING_DROPPED
#define STORE_INCOMING(b, seen) skip
#elif defined(INCOMING_DROPPED_ON_RETRY)
#define STORE_INCOMING(b, seen) \
    if :: word[b] + ONE(f) == seen -> word[b] = word[b] + ONE(X) :: else fi
#elif defined(BLIND_CLEARING)
#define STORE_INCOMING(b, seen) word[b] = word[b] + ONE(X)
#else
#define STORE_INCOMING(b, seen) assert(HAS_ROOM(word[b])); word[b] = word[b] + ONE(X)
#endif

/* ---- Writers ---- */

#define INSERT 1  /* by one compare-and-swap */
#define REMOVE 2
#define MOVE 4
#define PUSH 8    /* a move that stores X as the incoming fingerprint */
#define UNIQUE 16
#define COUNT 32
#define CLEAR 64
#define COPY 128  /* a snapshot */

/* Makes up to `left` calls, each any of `ops` on any fingerprint of the set `fps`. */
proctype Client(byte ops; byte fps; byte left) {
    byte f, b;         /* a fingerprint and one of its buckets */
    byte seen, seen2;  /* words as they were read */
    byte since;        /* GHOST: `clears` as the call started */
    byte then, others; /* GHOST: `paid` and `added` as the first word was read */
    bool incoming;
idle:
    atomic {
        f = 0; b = 0; seen = 0; seen2 = 0; since = 0; then = 0; others = 0; incoming = false;
        if
        :: left == 0 -> goto done
        :: else -> left--
        fi;
        if
        :: fps & 1 -> f = X; if :: b = 0 :: b = 1 fi
        :: fps & 2 -> f = Z; if :: b = 0 :: b = 2 fi
        :: fps & 4 -> f = Y; if :: b = 1 :: b = 2 fi
        fi;
        since = clears;
        /* The choice of a call and its first step are one step. */
        if
        :: ops & INSERT && HAS_ROOM(word[b]) ->
#ifdef INSERT_BLIND
            seen = word[b]; goto insert
#else
            word[b] = word[b] + ONE(f); INSERTED(f, since); goto idle
#endif
        :: ops & REMOVE && MAY_REMOVE(f) && REMOVAL_MAY_LOCK(f) ->
            REMOVAL_SET(f, true); TAKEN(f); seen = word[b]; goto remove
        :: ops & MOVE && MOVE_MAY_START ->
            MOVE_START; seen = word[b]; goto move
        :: ops & PUSH && b != 2 && MOVE_MAY_START ->
            MOVE_START; seen = word[b]; incoming = true; goto move
        :: ops & UNIQUE && UNIQUE_MAY_LOCK(f) ->
            UNIQUE_SET(f, true);
            then = paid[f]; others = added[f]; seen = word[b]; goto unique
        :: ops & COUNT && COUNT_MAY_LOCK(f) ->
            COUNT_SET(f, true); then = paid[f]; seen = word[b]; goto count
        :: ops & CLEAR && CLEAR_MAY_LOCK(0) ->
            CLEAR_SET(0, true);
            clears++; paid[X] = 0; paid[Z] = 0; paid[Y] = 0; held = 0; fresh = 0;
            touched = false; goto clear
        :: ops & COPY && COPY_MAY_LOCK(COPY_FIRST) ->
            COPY_SET(COPY_FIRST, true); WATCH; goto copy
        :: goto done
        fi
    }

#ifdef INSERT_BLIND
insert:
    atomic { word[b] = seen + ONE(f); INSERTED(f, since); goto idle }
#endif

remove:
    atomic {
        seen2 = word[ALT(f, b)];
        if
        :: COPIES(seen, f) > 0
        :: else -> assert(COPIES(seen2, f) > 0); b = ALT(f, b); seen = seen2 /* it was paid for */
        fi
    }
#if !defined(REMOVAL_NO_BUMP) && !defined(REMOVAL_LATE_BUMP)
    version[STRIPE(f)]++;
#endif
#ifdef REMOVAL_LATE_BUMP
    atomic { CLEAR_SLOT(f, b, seen) }
    atomic { version[STRIPE(f)]++; REMOVAL_SET(f, false); goto idle }
#else
    atomic { CLEAR_SLOT(f, b, seen); REMOVAL_SET(f, false); goto idle }
#endif

move:
#ifdef MOVE_UNLOCKED_CHECK
    atomic { MOVE_MAY_LOCK(f) -> MOVE_SET(f, true) }
#endif
#ifdef MOVE_EARLY_BUMP
    version[STRIPE(f)]++;
#endif
#ifndef MOVE_CLEARS_FIRST
    atomic {
        if
#ifdef MOVE_NO_COPY
        :: HAS_ROOM(word[ALT(f, b)]) -> skip
#else
        :: HAS_ROOM(word[ALT(f, b)]) -> word[ALT(f, b)] = word[ALT(f, b)] + ONE(f)
#endif
        :: else -> MOVE_SET(f, false); goto idle
        fi
    }
#endif
#ifdef MOVE_LOCK_GAP
    MOVE_SET(f, false);
    atomic { MOVE_MAY_LOCK(f) -> MOVE_SET(f, true) }
#endif
#if !defined(MOVE_NO_BUMP) && !defined(MOVE_LATE_BUMP) && !defined(MOVE_EARLY_BUMP)
    version[STRIPE(f)]++;
#endif
    atomic {
        CLEAR_SLOT(f, b, seen);
        if
        :: incoming -> STORE_INCOMING(b, seen); INSERTED(X, since)
        :: else
        fi;
#if !defined(MOVE_LATE_BUMP) && !defined(MOVE_CLEARS_FIRST)
        MOVE_SET(f, false); goto idle
#endif
    }
#ifdef MOVE_LATE_BUMP
    atomic { version[STRIPE(f)]++; MOVE_SET(f, false); goto idle }
#endif
#ifdef MOVE_CLEARS_FIRST
    atomic {
        if
        :: HAS_ROOM(word[ALT(f, b)]) -> word[ALT(f, b)] = word[ALT(f, b)] + ONE(f)
        :: else /* lost */
        fi;
        MOVE_SET(f, false); goto idle
    }
#endif

unique:
    atomic {
        seen2 = word[ALT(f, b)];
        if
        :: COPIES(seen, f) > 0 || COPIES(seen2, f) > 0 ->
            assert(paid[f] + loose[f] > 0);
            UNIQUE_SET(f, false); goto idle
        :: else ->
            if
            :: HAS_ROOM(seen)
            :: HAS_ROOM(seen2) -> b = ALT(f, b); seen = seen2
            :: !HAS_ROOM(seen) && !HAS_ROOM(seen2) -> UNIQUE_SET(f, false); goto idle
            fi
        fi;
        seen2 = 0
    }
#ifdef UNIQUE_LOCK_GAP
    UNIQUE_SET(f, false);
    atomic { UNIQUE_MAY_LOCK(f) -> UNIQUE_SET(f, true) }
#endif
    atomic {
        if
        :: word[b] == seen ->
            /* The item was absent when the first word was read, and no other call added it. */
            assert(then == 0 && others == added[f]);
            word[b] = word[b] + ONE(f); INSERTED(f, since); added[f]++;
            UNIQUE_SET(f, false); goto idle
        :: else -> then = paid[f]; others = added[f]; seen = word[b]; goto unique
        fi
    }

count:
    atomic {
        seen = COPIES(seen, f) + COPIES(word[ALT(f, b)], f);
        /* The number was right at some moment of the call. */
        assert(then <= seen && seen <= paid[f]);
        COUNT_SET(f, false); goto idle
    }

clear:
    atomic { CLEAR_MAY_LOCK(1) -> CLEAR_SET(1, true) }
#if !defined(CLEAR_NO_BUMP) && !defined(CLEAR_LATE_BUMP)
    version[0]++;
    version[1]++;
#endif
    word[0] = 0;
    word[1] = 0;
#ifdef CLEAR_LATE_BUMP
    word[2] = 0;
    version[0]++;
    atomic { version[1]++; CLEAR_SET(0, false); CLEAR_SET(1, false); clears++; goto idle }
#else
    atomic { word[2] = 0; CLEAR_SET(0, false); CLEAR_SET(1, false); clears++; goto idle }
#endif

copy:
    /* With the second lock the first word of X's pair is read. */
    atomic {
        COPY_MAY_LOCK(1 - COPY_FIRST) -> COPY_SET(1 - COPY_FIRST, true);
        seen = COPIES(word[0], X)
    }
    atomic {
        seen = seen + COPIES(word[1], X);
        assert(held <= seen && seen <= paid[X] + loose[X]);
        COPY_SET(0, false); COPY_SET(1, false); UNWATCH; goto idle
    }

done:
    skip
}

/* ---- Readers ---- */

#ifdef LOOKUP_WRONG_STRIPE
#define LOOKUP_STRIPE (1 - STRIPE(X))
#else
#define LOOKUP_STRIPE STRIPE(X)
#endif

#define IF_IN(b) atomic { if :: COPIES(word[b], X) > 0 -> goto hit :: else fi }

/* Looks X up, `left` times. */
proctype Reader(byte left) {
    byte b, v;
    bool missed;
next:
    atomic {
        if
        :: left == 0 -> goto done
        :: else -> left--
        fi;
        if :: b = 0 :: b = 1 fi;
        WATCH;
        v = version[LOOKUP_STRIPE]
    }
round:
    IF_IN(b);
#ifdef LOOKUP_LATE_VERSION
    v = version[LOOKUP_STRIPE];
#endif
    IF_IN(1 - b);
#ifdef LOOKUP_READS_TWICE
    IF_IN(b);
    IF_IN(1 - b);
#elif !defined(LOOKUP_NO_VALIDATION)
    atomic { if :: version[LOOKUP_STRIPE] == v -> goto miss :: else fi }
    atomic { v = version[LOOKUP_STRIPE]; goto round }
#endif
miss:
    atomic {
        assert(held == 0); /* no false negative */
        missed = true; v = 0; b = 0; UNWATCH; goto next
    }
hit:
    atomic {
        assert(!missed || touched); /* a clear is one moment for a pair */
        v = 0; b = 0; UNWATCH; goto next
    }
done:
    skip
}

/* ---- Programs ---- */

#define ONLY(f) (1 << (f))
#define ALL (ONLY(X) | ONLY(Z) | ONLY(Y))

/* Puts `n` copies of a fingerprint into its buckets `i` and `j`, in every way. */
inline start(f, n, i, j) {
    paid[f] = n;
    do
    :: n > COPIES(word[i], f) + COPIES(word[j], f) ->
        if
        :: HAS_ROOM(word[i]) -> word[i] = word[i] + ONE(f)
        :: HAS_ROOM(word[j]) -> word[j] = word[j] + ONE(f)
        fi
    :: else -> break
    od
}
#define START(x, z, y) start(X, x, 0, 1); start(Z, z, 0, 2); start(Y, y, 1, 2)

#define TOTAL(f, i, j) (COPIES(word[i], f) + COPIES(word[j], f))
#define ENDS(f, i, j) \
    assert(paid[f] <= TOTAL(f, i, j) && TOTAL(f, i, j) <= paid[f] + loose[f])

init {
    atomic {
#if defined(P_LOOKUP)
        START(1, 1, 1);
        run Reader(1);
        run Client(INSERT | REMOVE | MOVE | PUSH, ALL, 2);
        run Client(INSERT | REMOVE | MOVE | PUSH, ALL, 1);
#elif defined(P_PAIR)
        START(1, 0, 0);
        run Reader(1);
        run Client(INSERT | REMOVE | MOVE, ONLY(X), 3);
        run Client(INSERT | REMOVE | MOVE, ONLY(X), 2);
#elif defined(P_WRITERS)
        START(1, 1, 1);
        run Client(INSERT | REMOVE | MOVE | PUSH | UNIQUE | COUNT, ALL, 2);
        run Client(INSERT | REMOVE | MOVE | PUSH | UNIQUE | COUNT, ALL, 2);
#elif defined(P_UNIQUE)
        START(0, 1, 1);
        run Client(UNIQUE | REMOVE, ONLY(X), 2);
        run Client(UNIQUE | REMOVE, ONLY(X), 2);
        run Client(INSERT | REMOVE | MOVE, ALL, 2);
#elif defined(P_COUNT)
        START(2, 1, 1);
        run Client(COUNT, ONLY(X), 1);
        run Client(INSERT | REMOVE | MOVE | PUSH, ALL, 2);
        run Client(INSERT | REMOVE | MOVE | PUSH, ALL, 1);
#elif defined(P_CLEAR)
        START(1, 1, 1);
        run Reader(1);
        run Client(CLEAR, ONLY(X), 1);
        run Client(INSERT | REMOVE | MOVE, ONLY(X), 2);
        run Client(INSERT | MOVE | PUSH | UNIQUE, ONLY(X) | ONLY(Y), 1);
#elif defined(P_MOMENT)
        /* Nothing removes X before the clear, so a lookup that misses ends after its start. */
        START(1, 0, 0);
        run Reader(2);
        run Client(CLEAR, ONLY(X), 1);
        run Client(INSERT | MOVE, ONLY(X), 2);
#elif defined(P_COPY)
        START(1, 1, 1);
        run Client(COPY, ONLY(X), 1);
        run Client(INSERT | REMOVE | MOVE | PUSH, ALL, 2);
        run Client(INSERT | REMOVE | MOVE | PUSH, ALL, 1);
#elif defined(P_WHOLE)
        START(1, 1, 0);
        run Client(COPY, ONLY(X), 1);
        run Client(CLEAR, ONLY(X), 1);
        run Client(INSERT | REMOVE | MOVE, ONLY(X), 2);
#endif
    }
    atomic {
        _nr_pr == 1 -> /* all others have ended */
        /* No item was lost, and nothing was taken that was not paid for. */
        ENDS(X, 0, 1); ENDS(Z, 0, 2); ENDS(Y, 1, 2)
    }
}
