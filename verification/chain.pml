/* A segment chain and its protocol, written from the argument at the head of src/chain/mod.rs.
 *
 * Two items and up to two segments. The items are aliases in the first segment and not in the
 * second one, which keeps longer fingerprints of them:
 *
 *                    words     fingerprints
 *     segment 0      0, 1      X and Y have the same one
 *     segment 1      2, 3      X and Y have different ones
 *
 * All of this belongs to one stripe. What is one step, what is chosen freely, and how a word is
 * represented is as in table.pml.
 */

#ifndef SLOTS
#define SLOTS 2
#endif

#define X 0
#define Y 1
#define OTHER(b) ((b) ^ 1) /* the alternate bucket, by the number of its word */
#define SEGMENT(b) ((b) >> 1)
/* What the segment of word `b` keeps of an item. */
#define PRINT(b, item) ((b) < 2 -> X : (item))
#define ONE(b, item) (1 << (2 * PRINT(b, item)))
#define COPIES(b, w, item) (((w) >> (2 * PRINT(b, item))) & 3)
#define IN(b, item) COPIES(b, word[b], item)
#define HAS_ROOM(w) (((w) & 3) + ((w) >> 2) < SLOTS)

byte word[4];
byte segments = 1;
/* Stripe 1 is used only if a switch below says so. */
byte version[2];
bool lock[2];

/* ---- GHOST, as in table.pml; here an insert pays for a removal of an equal item ---- */

byte paid[2];
bool clearing;
byte loose;
bool watching;
byte held, fresh;

#define INSERTED(item) \
    if :: clearing -> loose++ \
       :: else -> paid[item]++; if :: (item) == X && watching -> fresh++ :: else fi fi
#define TAKEN(item) \
    paid[item]--; \
    if :: (item) != X || !watching \
       :: (item) == X && watching && fresh > 0 -> fresh-- \
       :: (item) == X && watching && fresh == 0 -> if :: held > 0 -> held-- :: else fi fi

/* ---- Locks ---- */

#ifdef SEGMENT_OWN_STRIPES
#define MOVE_STRIPE(b) SEGMENT(b)
#else
#define MOVE_STRIPE(b) 0
#endif
#ifdef REMOVAL_NO_LOCK
#define REMOVAL_MAY_LOCK true
#define REMOVAL_SET(value) skip
#elif defined(REMOVAL_WRONG_STRIPE)
#define REMOVAL_MAY_LOCK (!lock[1])
#define REMOVAL_SET(value) lock[1] = value
#else
#define REMOVAL_MAY_LOCK (!lock[0])
#define REMOVAL_SET(value) lock[0] = value
#endif
#ifdef UNIQUE_NO_LOCK
#define UNIQUE_MAY_LOCK true
#define UNIQUE_SET(value) skip
#elif defined(UNIQUE_WRONG_STRIPE)
#define UNIQUE_MAY_LOCK (!lock[1])
#define UNIQUE_SET(value) lock[1] = value
#else
#define UNIQUE_MAY_LOCK (!lock[0])
#define UNIQUE_SET(value) lock[0] = value
#endif
#ifdef COUNT_NO_LOCK
#define COUNT_MAY_LOCK true
#define COUNT_SET(value) skip
#elif defined(COUNT_WRONG_STRIPE)
#define COUNT_MAY_LOCK (!lock[1])
#define COUNT_SET(value) lock[1] = value
#else
#define COUNT_MAY_LOCK (!lock[0])
#define COUNT_SET(value) lock[0] = value
#endif

/* ---- Writers ---- */

#define INSERT 1
#define REMOVE 2
#define MOVE 4
#define APPEND 8
#define UNIQUE 16
#define COUNT 32
#define CLEAR 64

proctype Client(byte ops; byte items; byte left) {
    byte f, b;            /* an item and one of its words */
    byte first, second;   /* words as they were read */
    byte then;            /* GHOST: `paid` as the call started */
    byte known;           /* the number of segments as it was read */
idle:
    atomic {
        f = 0; b = 0; first = 0; second = 0; then = 0; known = 0;
        if
        :: left == 0 -> goto done
        :: else -> left--
        fi;
        if
        :: items & 1 -> f = X
        :: items & 2 -> f = Y
        fi;
        /* Either bucket, in the last segment. */
        known = segments;
        if :: b = 2 * known - 2 :: b = 2 * known - 1 fi;
        if
        :: ops & INSERT ->
            if :: true :: b > 1 -> b = b - 2 fi; /* any segment */
            if
            :: HAS_ROOM(word[b]) -> word[b] = word[b] + ONE(b, f); INSERTED(f); goto idle
            :: else -> goto done
            fi
        :: ops & APPEND -> segments = 2; goto idle
        :: ops & REMOVE && paid[f] > 0 && REMOVAL_MAY_LOCK ->
            REMOVAL_SET(true); TAKEN(f);
#ifdef REMOVAL_FIRST_TO_FINEST
            b = b & 1;
#endif
            goto remove
        :: ops & MOVE ->
            if :: true :: b > 1 -> b = b - 2 fi;
            if
            :: IN(b, f) > 0 && !lock[MOVE_STRIPE(b)] -> lock[MOVE_STRIPE(b)] = true; goto move
            :: else -> goto done
            fi
#ifdef UNIQUE_EARLY_SEGMENTS
        :: ops & UNIQUE -> goto early
#endif
        :: ops & UNIQUE && UNIQUE_MAY_LOCK -> UNIQUE_SET(true); goto unique
        :: ops & COUNT && COUNT_MAY_LOCK -> COUNT_SET(true); then = paid[f]; b = b & 1; goto count
        :: ops & CLEAR && !lock[0] ->
            lock[0] = true; clearing = true; paid[X] = 0; paid[Y] = 0; held = 0; fresh = 0;
            goto clear
        :: goto done
        fi
    }

remove:
    first = word[b];
    atomic {
        second = word[OTHER(b)];
        if
        :: COPIES(b, first, f) > 0
        :: else ->
            if
            :: COPIES(b, second, f) > 0 -> b = OTHER(b)
#ifdef REMOVAL_FIRST_TO_FINEST
            :: COPIES(b, second, f) == 0 && b < 2 && known == 2 -> b = b + 2; goto remove
#else
            :: COPIES(b, second, f) == 0 && b > 1 -> b = b - 2; goto remove
#endif
            :: else -> assert(false) /* it was paid for */
            fi
        fi;
        first = 0; second = 0
    }
#if !defined(REMOVAL_NO_BUMP) && !defined(REMOVAL_LATE_BUMP)
    version[0]++;
#endif
    atomic {
        assert(IN(b, f) > 0);
        word[b] = word[b] - ONE(b, f);
#ifndef REMOVAL_LATE_BUMP
        REMOVAL_SET(false); goto idle
#endif
    }
#ifdef REMOVAL_LATE_BUMP
    atomic { version[0]++; REMOVAL_SET(false); goto idle }
#endif

move:
    atomic {
        if
        :: HAS_ROOM(word[OTHER(b)]) -> word[OTHER(b)] = word[OTHER(b)] + ONE(b, f)
        :: else -> lock[MOVE_STRIPE(b)] = false; goto idle
        fi
    }
#ifndef MOVE_NO_BUMP
    version[MOVE_STRIPE(b)]++;
#endif
    atomic {
        assert(IN(b, f) > 0);
        word[b] = word[b] - ONE(b, f);
        lock[MOVE_STRIPE(b)] = false; goto idle
    }

#ifdef UNIQUE_EARLY_SEGMENTS
early:
    atomic { UNIQUE_MAY_LOCK -> UNIQUE_SET(true) }
#endif
unique:
    /* The segment before the last one, if there is one. */
    then = paid[f];
#ifndef UNIQUE_LAST_ONLY
    atomic {
        if
        :: known == 1 -> goto last
        :: else -> if :: word[b & 1] & 3 -> goto present :: else fi
        fi
    }
    atomic { if :: word[OTHER(b & 1)] & 3 -> goto present :: else fi }
#endif
last:
    first = word[b];
    atomic {
        second = word[OTHER(b)];
        if
        :: COPIES(b, first, f) > 0 || COPIES(b, second, f) > 0 -> goto present
        :: else ->
            if
            :: HAS_ROOM(first)
            :: HAS_ROOM(second) -> b = OTHER(b); first = second
            :: !HAS_ROOM(first) && !HAS_ROOM(second) && b > 1 -> b = b - 2; goto last
            /* Making room and appending are calls of their own here. */
            :: !HAS_ROOM(first) && !HAS_ROOM(second) && b < 2 -> UNIQUE_SET(false); goto idle
            fi
        fi;
        second = 0
    }
    atomic {
        if
        :: word[b] == first ->
            assert(then == 0); /* the item was absent when the call began */
            word[b] = word[b] + ONE(b, f); INSERTED(f); UNIQUE_SET(false); goto idle
        :: else -> first = 0; goto last
        fi
    }
present:
    atomic { UNIQUE_SET(false); goto idle }

count:
    first = first + IN(b, f);
    atomic {
        first = first + IN(OTHER(b), f);
        if
        :: b < 2 && known == 2 -> b = b + 2; goto count
        :: else
        fi;
        /* Copies of the alias count too, in the first segment. */
        assert(then <= first && first <= paid[X] + paid[Y]);
        COUNT_SET(false); goto idle
    }

clear:
#if !defined(CLEAR_NO_BUMP) && !defined(CLEAR_LATE_BUMP)
    version[0]++;
#endif
#ifndef CLEAR_LAST_ONLY
    word[0] = 0;
    word[1] = 0;
#endif
    atomic { known = segments; word[2] = 0 }
    word[3] = 0;
#ifdef CLEAR_LATE_BUMP
    version[0]++;
#endif
    atomic { lock[0] = false; clearing = false; goto idle }
done:
    skip
}

/* ---- Readers ---- */

#define IF_IN(b) atomic { if :: IN(b, X) > 0 -> goto hit :: else fi }

/* Looks X up once. */
proctype Reader() {
    byte b, v;
    atomic {
        watching = true; held = paid[X]; fresh = 0;
        v = version[0];
        if :: b = 0 :: b = 1 fi
    }
#ifdef LOOKUP_FIRST_TO_FINEST
#define EARLIER_SEGMENT 2
round:
    /* The list of segments is read as the lookup proceeds. */
#else
#define EARLIER_SEGMENT 0
round:
    atomic { if :: segments == 2 -> b = b + 2 :: else fi }
#endif
segment:
    IF_IN(b);
    IF_IN(OTHER(b));
#ifdef LOOKUP_VERSION_PER_SEGMENT
    atomic { if :: version[0] == v :: else -> goto again fi }
#endif
    atomic {
        if
#ifdef LOOKUP_FIRST_TO_FINEST
        :: b < 2 && segments == 2 -> b = b + 2
#elif defined(LOOKUP_LAST_ONLY)
        :: false
#else
        :: b > 1 -> b = b - 2
#endif
        :: else -> goto end_of_round
        fi;
#ifdef LOOKUP_VERSION_PER_SEGMENT
    }
again:
    atomic { v = version[0];
#endif
        goto segment
    }
end_of_round:
#if !defined(LOOKUP_NO_VALIDATION) && !defined(LOOKUP_VERSION_PER_SEGMENT)
    atomic { if :: version[0] != v :: else -> goto miss fi }
    atomic { v = version[0]; b = b & 1; goto round }
#endif
miss:
    assert(held == 0); /* no false negative */
hit:
    atomic { watching = false; held = 0; fresh = 0; v = 0; b = 0 }
}

/* ---- Programs ---- */

#define BOTH 3
#define ONLY_X 1

init {
    byte b;
    atomic {
        /* X and Y, in any segments that exist. */
        if :: segments = 1 :: segments = 2 fi;
        if :: b = 0 :: b = 1 :: segments == 2 -> b = 2 :: segments == 2 -> b = 3 fi;
#ifndef P_UNIQUE
        word[b] = word[b] + ONE(b, X);
        paid[X] = 1;
#endif
        if :: b = 0 :: b = 1 :: segments == 2 -> b = 2 :: segments == 2 -> b = 3 fi;
#ifndef P_UNIQUE
        word[b] = word[b] + ONE(b, Y);
        paid[Y] = 1;
#endif
        b = 0;
#if defined(P_LOOKUP)
        run Reader();
        run Client(INSERT | REMOVE | MOVE | APPEND, BOTH, 1);
        run Client(INSERT | REMOVE | MOVE | APPEND, BOTH, 1);
#elif defined(P_ALIAS)
        run Reader();
        run Client(INSERT | REMOVE | MOVE | APPEND, BOTH, 3);
#elif defined(P_UNIQUE)
        run Client(UNIQUE | REMOVE | APPEND, ONLY_X, 2);
        run Client(UNIQUE | REMOVE | APPEND, ONLY_X, 2);
        run Client(MOVE | APPEND, ONLY_X, 2);
#elif defined(P_COUNT)
        run Client(COUNT, ONLY_X, 1);
        run Client(INSERT | REMOVE | MOVE | APPEND, BOTH, 1);
        run Client(INSERT | REMOVE | MOVE | APPEND, BOTH, 1);
#elif defined(P_CLEAR)
        run Reader();
        run Client(CLEAR, ONLY_X, 1);
        run Client(INSERT | REMOVE | MOVE | APPEND, BOTH, 2);
#endif
    }
    atomic {
        _nr_pr == 1; /* all others have ended */
        /* As many copies as items, and a copy of its own for each item. */
#define IN_FIRST (IN(0, X) + IN(1, X))
#define IN_SECOND(item) (IN(2, item) + IN(3, item))
        assert(paid[X] + paid[Y] <= IN_FIRST + IN_SECOND(X) + IN_SECOND(Y));
        assert(IN_FIRST + IN_SECOND(X) + IN_SECOND(Y) <= paid[X] + paid[Y] + loose);
        assert(paid[X] <= IN_FIRST + IN_SECOND(X));
        assert(paid[Y] <= IN_FIRST + IN_SECOND(Y))
    }
}
