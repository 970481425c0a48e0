/* A client. split.pml includes this. */

/* Makes up to `left` calls, each any of `ops` on any item of the set `items`, or on any slot with
 * the core of one of them. */
proctype Client(short ops; byte items; byte left) {
    byte f;              /* an item */
    byte c, e, known, v; /* what is added or taken: a core, an extension, how many bits of it are
                          * known, and a payload */
    byte s, b, t, level; /* a side, a bucket, a tail, the level of a word that was loaded */
    byte at;             /* the level of the bucket at which it was seen */
    byte from, tail;     /* the bucket and the tail of the slot that is cleared */
    byte cleared;        /* a move: copies that it has cleared */
    byte fresh;          /* a move: the payload of the incoming slot */
    byte best;           /* what the slot that is taken knows; a count: matches */
    byte then, others;   /* GHOST: matches as a count started; items and additions before */
    WORD seen;           /* a word as it was read */
    byte levels[2];      /* of the locations as they were read, and the matches in them */
    short longs[2], shorts[2];
    byte expected;
    bool walk, moves, incoming, both, again, retried, helps, replaces, unique;
#ifdef EXPIRY
    byte g;              /* the generation that an insert read, or of the item, or of a slot */
    byte n;              /* `now` as it was read under a lock */
    bool owns;
#endif
idle:
    atomic {
        RESET;
        if
        :: left == 0 -> goto done
        :: else -> left--
        fi;
        if
        :: ops & (SPLIT | HELP)
        :: HAS(items, X) -> f = X
        :: HAS(items, T) -> f = T
        :: HAS(items, Y) -> f = Y
        :: HAS(items, V) -> f = V
        :: HAS(items, Z) -> f = Z
        fi;
        c = CORE(f); e = EXTENSION(f);
        if :: s = 0 :: s = 1 fi;
        /* The choice of a call and its first step are one step. */
        if
        :: ops & INSERT && item[f] == ABSENT ->
            item[f] = COMING; known = 2; NEW_PAYLOAD(v); goto add
        :: ops & REMOVE && item[f] == PRESENT && REMOVE_MAY_LOCK(c) ->
            REMOVE_SET(c, true);
#if defined(EXPIRY)
            g = payload[f]; v = STAMP(g); n = now; payload[f] = 0;
#elif defined(VALUES)
            v = payload[f]; payload[f] = 0;
#endif
            TAKEN(f); goto look
        :: ops & (MOVE | PUSH) ->
            if
            :: ops & MOVE
            :: ops & PUSH && item[f] == ABSENT -> incoming = true
            :: ops & PUSH && item[f] != ABSENT -> STOP
            fi;
            from = s;
            if :: LEVEL(word[s]) == 1 -> from = s + 2 :: true fi;
            at = LEVEL(word[from]);
            if
            :: incoming && from != LOCATION(c, e, s) -> STOP
            :: incoming && from == LOCATION(c, e, s) -> if :: c = 0 :: c = CORES - 1 fi
            :: else
            fi;
            if :: tail = NO_TAIL :: tail = TAIL(0) :: tail = TAIL(1) fi;
            if
            :: GROUP(word[from], c, tail) == 0 -> STOP
            :: else -> PICK(GROUP(word[from], c, tail))
            fi;
            /* What the slot knows, as side 0 sees it. The bits that it does not know are 0. */
            known = at + (tail != NO_TAIL);
            e = at * (from >> 1);
            if
            :: tail != NO_TAIL -> e = e | ((tail - 1) << at)
            :: else
            fi;
            e = (e ^ (s * (1 + c))) & ((1 << known) - 1);
#if !defined(MOVE_NO_LEVEL) && !defined(MOVE_EARLY_NOW)
            /* The plan is validated: the level and the slot. */
            if
            :: MOVE_MAY_LOCK(c) -> MOVE_SET(c, true)
            :: else -> STOP
            fi;
#endif
            if
            :: incoming -> item[f] = COMING; NEW_PAYLOAD(fresh)
            :: else
            fi;
            READ_NOW;
#if defined(MOVE_NO_LEVEL) || defined(MOVE_EARLY_NOW)
            goto validate
#else
            if
            :: HAS_EXPIRED(v) -> goto clear_moved
            :: else -> moves = true; s = 1 - s; goto add
            fi
#endif
        :: ops & COUNT && COUNT_MAY_LOCK(c) ->
            COUNT_SET(c, true); then = MATCHES_NOW(c, e); goto count
        :: ops & SPLIT && SPLIT_MAY_LOCK(s) ->
            c = 0; e = 0; f = 0; READ_NOW;
#ifdef SPLIT_EARLY_NOW
            goto split_lock
#else
            SPLIT_SET(s, true); seen = word[s]; goto split
#endif
        :: ops & HELP -> c = 0; e = 0; f = 0; s = 0; helps = true; goto advance
#ifdef VALUES
        :: ops & REPLACE && item[f] == PRESENT && REPLACE_MAY_LOCK ->
            REPLACE_SET(true); v = payload[f]; item[f] = BUSY; steady = steady & ~ONLY(f);
            replaces = true; goto look
        :: ops & GET_OR_INSERT && item[f] == ABSENT && UNIQUE_MAY_LOCK ->
            UNIQUE_SET(true); item[f] = COMING; NEW_PAYLOAD(v); known = 2; unique = true; goto look
#endif
#ifdef EXPIRY
        :: ops & SWEEPING && item[f] == ABSENT ->
            item[f] = COMING; known = 2; NEW_PAYLOAD(v); goto lock_insert
        :: ops & REFRESH && REPLACE_MAY_LOCK ->
            REPLACE_SET(true); n = now; replaces = true;
            if
            :: item[f] == PRESENT || item[f] == KEPT -> item[f] = BUSY; owns = true
            :: true /* a caller without an item */
            fi;
            goto look
#endif
        :: STOP
        fi
    }

#if defined(MOVE_NO_LEVEL) || defined(MOVE_EARLY_NOW)
validate:
    atomic {
        MOVE_MAY_LOCK(c) -> MOVE_SET(c, true);
#ifdef MOVE_NO_LEVEL
        at = LEVEL(word[from]);
#endif
        if
        :: CAN_CLEAR -> moves = true; s = 1 - s; goto add
        :: else -> moves = true; goto not_added
        fi
    }
#endif

#ifdef EXPIRY
lock_insert:
#if defined(INSERT_SWEEPS_NO_LOCK)
    n = now;
#elif defined(INSERT_SWEEPS_EARLY_NOW)
    n = now;
    atomic { !lock[0] -> lock[0] = true }
#else
    atomic { !lock[0] -> lock[0] = true; n = now }
#endif
#endif

#include "additions.pml"
#include "changes.pml"
#include "splits.pml"

done:
    skip
}
