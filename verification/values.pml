/* Values: the slots of one pair, from the steps of src/table/mod.rs with a value in each slot.
 *
 * Two buckets of a few slots. All items have the same fingerprint and the same pair, so they are
 * aliases, and their slots differ in the value alone: A or B. They share one stripe. A word is a
 * multiset of values. What is one step, and what is chosen freely, is as in table.pml.
 *
 * The two kinds of promise:
 * - by value: while an item has a value, `values` lists this value;
 * - by key: while an item is in the table, whatever its value, `get` returns some value.
 *
 * A step is removed or broken by defining its switch. ./run lists the switches, each with the
 * program (see `init`) that it breaks and the schedule that breaks it.
 */

#ifndef SLOTS
#define SLOTS 2
#endif

#define A 0
#define B 1
#define OTHER(b) (1 - (b)) /* the alternate bucket */

/* A word: the number of slots with each value, two bits for each. */
#define ONE(v) (1 << (2 * (v)))
#define COPIES(w, v) (((w) >> (2 * (v))) & 3)
#define TOTAL(w) (COPIES(w, A) + COPIES(w, B))
#define HAS_ROOM(w) (TOTAL(w) < SLOTS)

byte word[2];
byte version;
bool lock;

/* ---- GHOST: the contracts, and who is in the table ---- */

byte paid[2];   /* items by value: inserts and replaces that pay for no removal and no replace */
byte keys;      /* items whatever their value: also those whose value is being replaced */
byte added;     /* calls of `get_or_insert` that inserted */
byte held[2];   /* items by value that were there when a reader's call started, and are */
byte held_keys; /* the same, whatever became of the value */

#define MIN(i, j) ((i) < (j) -> (i) : (j))
/* A replace starts: nobody may rely on the old value. Of several items, it is a new one's. */
#define TAKEN(v) paid[v]--; held[v] = MIN(held[v], paid[v])
/* A removal starts. */
#define REMOVED(v) TAKEN(v); keys--; held_keys = MIN(held_keys, keys)
#define WATCH held_keys = keys; held[A] = paid[A]; held[B] = paid[B]
#define UNWATCH held_keys = 0; held[A] = 0; held[B] = 0

/* ---- Locks ---- */

#ifdef REPLACE_NO_LOCK
#define REPLACE_MAY_LOCK true
#define REPLACE_SET(value) skip
#else
#define REPLACE_MAY_LOCK (!lock)
#define REPLACE_SET(value) lock = value
#endif
#ifdef GET_OR_INSERT_NO_LOCK
#define GET_OR_INSERT_MAY_LOCK true
#define GET_OR_INSERT_SET(value) skip
#else
#define GET_OR_INSERT_MAY_LOCK (!lock)
#define GET_OR_INSERT_SET(value) lock = value
#endif

/* ---- Writers ---- */

/* Which slots a step takes for the one with value `v`. */
#ifdef REMOVE_BY_FINGERPRINT_ONLY
#define REMOVE_MATCHES(w, v) TOTAL(w)
#else
#define REMOVE_MATCHES(w, v) COPIES(w, v)
#endif
#ifdef REPLACE_BY_FINGERPRINT_ONLY
#define REPLACE_MATCHES(w, v) TOTAL(w)
#else
#define REPLACE_MATCHES(w, v) COPIES(w, v)
#endif
#ifdef GET_OR_INSERT_BY_VALUE
#define GET_OR_INSERT_MATCHES(w, v) COPIES(w, v)
#else
#define GET_OR_INSERT_MATCHES(w, v) TOTAL(w)
#endif
/* With the fingerprint alone, any slot of the word may be taken for it. */
#define ANY_SLOT(w, v) \
    if :: COPIES(w, A) > 0 -> v = A :: COPIES(w, B) > 0 -> v = B fi
/* Clears a slot. The code panics if there is none. */
#define CLEAR_SLOT(v, b) assert(COPIES(word[b], v) > 0); word[b] = word[b] - ONE(v)

#define INSERT 1        /* by one compare-and-swap */
#define REMOVE 2
#define MOVE 4
#define REPLACE 8
#define GET_OR_INSERT 16

/* Makes up to `left` calls, each any of `ops` with any values. */
proctype Client(byte ops; byte left) {
    byte b, v;         /* a bucket and a value; `replace` puts the other value in its place */
    byte seen, seen2;  /* words as they were read */
    byte then, others; /* GHOST: `keys` and `added` as the first word was read */
idle:
    atomic {
        b = 0; v = 0; seen = 0; seen2 = 0; then = 0; others = 0;
        if
        :: left == 0 -> goto done
        :: else -> left--
        fi;
        if :: b = 0 :: b = 1 fi;
        if :: v = A :: v = B fi;
        /* The choice of a call and its first step are one step. */
        if
        :: ops & INSERT && HAS_ROOM(word[b]) ->
            word[b] = word[b] + ONE(v); paid[v]++; keys++; goto idle
        :: ops & REMOVE && paid[v] > 0 && !lock ->
            lock = true; REMOVED(v); seen = word[b]; goto remove
        :: ops & REPLACE && paid[v] > 0 && REPLACE_MAY_LOCK ->
            REPLACE_SET(true); TAKEN(v); seen = word[b]; goto replace
        :: ops & MOVE && COPIES(word[b], v) > 0 && !lock -> lock = true; goto move
        :: ops & GET_OR_INSERT && GET_OR_INSERT_MAY_LOCK ->
            GET_OR_INSERT_SET(true); then = keys; others = added; seen = word[b];
            goto get_or_insert
        :: goto done
        fi
    }

remove:
    atomic {
        seen2 = word[OTHER(b)];
        if
        :: REMOVE_MATCHES(seen, v) > 0
        :: else -> assert(REMOVE_MATCHES(seen2, v) > 0); b = OTHER(b) /* it was paid for */
        fi;
        seen = 0; seen2 = 0
    }
#ifndef REMOVE_NO_BUMP
    version++;
#endif
    atomic {
#ifdef REMOVE_BY_FINGERPRINT_ONLY
        ANY_SLOT(word[b], v);
#endif
        CLEAR_SLOT(v, b); lock = false; goto idle
    }

replace:
    atomic {
        seen2 = word[OTHER(b)];
        if
        :: REPLACE_MATCHES(seen, v) > 0
        :: else -> assert(REPLACE_MATCHES(seen2, v) > 0); b = OTHER(b); seen = seen2
        fi;
        seen2 = 0;
#ifndef REPLACE_BLIND
        seen = 0
#endif
    }
#if !defined(REPLACE_NO_BUMP) && !defined(REPLACE_LATE_BUMP)
    version++;
#endif
#ifdef REPLACE_IN_TWO_STEPS
    atomic { CLEAR_SLOT(v, b) }
#endif
    /* One compare-and-swap. */
    atomic {
#ifdef REPLACE_BY_FINGERPRINT_ONLY
        ANY_SLOT(word[b], v);
#endif
#if defined(REPLACE_IN_TWO_STEPS)
        if
        :: HAS_ROOM(word[b]) -> word[b] = word[b] + ONE(1 - v)
        :: else /* lost */
        fi;
#elif defined(REPLACE_BLIND)
        word[b] = seen - ONE(v) + ONE(1 - v);
#else
        CLEAR_SLOT(v, b); word[b] = word[b] + ONE(1 - v);
#endif
        paid[1 - v]++;
#ifndef REPLACE_LATE_BUMP
        REPLACE_SET(false); goto idle
#endif
    }
#ifdef REPLACE_LATE_BUMP
    atomic { version++; REPLACE_SET(false); goto idle }
#endif

move:
    atomic {
        if
        :: HAS_ROOM(word[OTHER(b)]) -> word[OTHER(b)] = word[OTHER(b)] + ONE(v)
        :: else -> lock = false; goto idle
        fi
    }
#ifndef MOVE_NO_BUMP
    version++;
#endif
    atomic {
#ifdef MOVE_CLEARS_BY_FINGERPRINT_ONLY
        ANY_SLOT(word[b], v);
#endif
        CLEAR_SLOT(v, b); lock = false; goto idle
    }

get_or_insert:
    atomic {
        seen2 = word[OTHER(b)];
        if
        :: GET_OR_INSERT_MATCHES(seen, v) + GET_OR_INSERT_MATCHES(seen2, v) > 0 ->
            assert(keys > 0); /* there is an item with the value that it returns, or an alias */
            GET_OR_INSERT_SET(false); goto idle
        :: else ->
            if
            :: HAS_ROOM(seen)
            :: HAS_ROOM(seen2) -> b = OTHER(b); seen = seen2
            :: !HAS_ROOM(seen) && !HAS_ROOM(seen2) -> GET_OR_INSERT_SET(false); goto idle
            fi
        fi;
        seen2 = 0
    }
#ifdef GET_OR_INSERT_LOCK_GAP
    lock = false;
    atomic { !lock -> lock = true }
#endif
    atomic {
        if
        :: word[b] == seen ->
            /* No item was there when the first word was read, and no other call added one. */
            assert(then == 0 && others == added);
            word[b] = word[b] + ONE(v); paid[v]++; keys++; added++;
            GET_OR_INSERT_SET(false); goto idle
        :: else -> then = keys; others = added; seen = word[b]; goto get_or_insert
        fi
    }

done:
    skip
}

/* ---- Readers ---- */

#define LISTED(v) (COPIES(list, v) > 0)

/* Lists the values of all slots. */
proctype Values() {
    byte b, v, list;
    atomic { WATCH; v = version; if :: b = 0 :: b = 1 fi }
round:
    list = word[b];
    list = list | word[OTHER(b)];
#ifdef VALUES_NO_VALIDATION_AFTER_MATCH
    atomic { if :: list != 0 || version == v -> goto end :: else fi }
    atomic { v = version; goto round }
#elif !defined(VALUES_NO_VALIDATION)
    atomic { if :: version == v -> goto end :: else fi }
    atomic { v = version; goto round }
#endif
end:
    /* Each value that an item had throughout is listed. */
    atomic {
        assert(held[A] == 0 || LISTED(A));
        assert(held[B] == 0 || LISTED(B));
        UNWATCH; list = 0; v = 0; b = 0
    }
}

/* Gets the value of some slot. A hit needs no validation. */
proctype Get() {
    byte b, v;
    atomic { WATCH; v = version; if :: b = 0 :: b = 1 fi }
round:
    atomic { if :: word[b] != 0 -> goto end :: else fi }
    atomic { if :: word[OTHER(b)] != 0 -> goto end :: else fi }
#ifndef GET_NO_VALIDATION
    atomic { if :: version == v -> goto miss :: else fi }
    atomic { v = version; goto round }
#endif
miss:
    assert(held_keys == 0);
end:
    atomic { UNWATCH; v = 0; b = 0 }
}

/* ---- Programs ---- */

/* Puts an item with any value into any bucket with room. */
inline start() {
    if :: v = A :: v = B fi;
    if
    :: HAS_ROOM(word[0]) -> word[0] = word[0] + ONE(v)
    :: HAS_ROOM(word[1]) -> word[1] = word[1] + ONE(v)
    fi;
    paid[v]++; keys++; v = 0
}
#define ENDS(v) assert(paid[v] == COPIES(word[0], v) + COPIES(word[1], v))

init {
    byte v;
    atomic {
#if defined(P_VALUES)
        start(); start();
        run Values();
        run Client(INSERT | REMOVE | MOVE | REPLACE, 2);
        run Client(INSERT | REMOVE | MOVE | REPLACE, 1);
#elif defined(P_GET)
        start();
        run Get();
        run Client(INSERT | REMOVE | MOVE | REPLACE, 2);
        run Client(INSERT | REMOVE | MOVE | REPLACE | GET_OR_INSERT, 2);
#elif defined(P_WRITERS)
        start(); start();
        run Client(INSERT | REMOVE | MOVE | REPLACE, 3);
        run Client(INSERT | REMOVE | MOVE | REPLACE, 2);
        run Client(MOVE | REPLACE, 1);
#elif defined(P_GET_OR_INSERT)
        if :: start() :: true fi;
        run Client(GET_OR_INSERT | REMOVE | REPLACE, 2);
        run Client(GET_OR_INSERT | REMOVE | REPLACE, 2);
        run Client(INSERT | MOVE, 1);
#endif
    }
    atomic {
        _nr_pr == 1 -> /* all others have ended */
        /* A slot for each item, with its value, and no other. */
        ENDS(A); ENDS(B)
    }
}
