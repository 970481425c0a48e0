    /* The steps of a client that clear and replace slots. client.pml includes this. */

    /* Loads both locations, the one on the side `s` first. */
look:
    atomic {
        if
        :: walk -> walk = false; seen = word[s + 2]
        :: else -> LOAD(c, e, s); b = 0
        fi;
        if
        :: walk -> seen = 0; goto look
        :: else
        fi;
        levels[s] = LEVEL(seen);
        longs[s] = LONG(seen, c, e, s) & (LOOKED_FOR);
        shorts[s] = SHORT(seen, c) & (LOOKED_FOR);
        seen = 0;
        if
        :: !both ->
            both = true; s = 1 - s;
#ifdef VALUES
            if :: unique -> then = ALIKE_TO(f); others = added :: else fi;
#endif
            goto look
        :: else -> both = false
        fi;
        best = LONGEST(ALL_PAYLOADS);
#if defined(EXPIRY)
        if
#ifndef REFRESH_NO_NOW_VALIDATION
        :: replaces && now != n -> n = now; best = 0; FORGET_SEEN; goto look
#endif
        :: replaces && best == 0 -> NOT_REFRESHED(f); REPLACE_SET(false); goto idle
        :: else
        fi;
        if
        :: replaces ->
            /* The generation of the oldest match. */
            g = n - W;
            do
            :: LONGEST(ONLY_PAYLOAD(STAMP(g))) == 0 -> g++
            :: else -> break
            od;
            v = STAMP(g);
#ifdef REFRESH_LONGEST
            do
            :: LONGEST(ONLY_PAYLOAD(v)) != best -> g++; v = STAMP(g)
            :: else -> break
            od;
#endif
            if
            :: g == n -> REFRESHED(f, n); REPLACE_SET(false); goto idle
            :: else
#ifndef REFRESH_UNNOTED
                -> refreshed = n
#endif
            fi;
            g = 0
        :: else ->
#ifdef REMOVE_ANY_STAMP
            if :: best > 0 -> PICK(longs[0] | longs[1] | shorts[0] | shorts[1]) :: else fi;
#endif
            /* It was swept, or the refresh of an alias took the slot; or a newer match may be that
             * of an alias. */
            if
            :: LONGEST(ONLY_PAYLOAD(v)) == 0 ->
                assert(now - g > W || restamped); REMOVE_SET(c, false); goto idle
#ifndef REMOVE_DESPITE_NEWER
            :: (LONGEST(ONLY_PAYLOAD(v)) > 0 && LONGEST(YOUNGER(n, g)) > LONGEST(ONLY_PAYLOAD(v))
                && refreshed > 0 && n - refreshed <= W) -> REMOVE_SET(c, false); goto idle
#endif
            :: else
            fi
        fi;
        best = LONGEST(ONLY_PAYLOAD(v));
#elif defined(VALUES)
        if
        :: unique ->
            if
            :: best > 0 -> goto found
            :: else -> best = 0; goto add_unique
            fi
        :: else
        fi;
#endif
        assert(best > 0); /* it was paid for */
        if
        :: SHORTER_IS_TAKEN ->
            best = SHORTEST(TAKEN_BY);
            if
            :: KNOWN_AT_LEAST(0, TAKEN_BY) == best -> s = 0
            :: KNOWN_AT_LEAST(1, TAKEN_BY) == best -> s = 1
            fi
        :: else ->
            if
            :: KNOWN(0, TAKEN_BY) == best -> s = 0
            :: KNOWN(1, TAKEN_BY) == best -> s = 1
            fi
        fi;
        at = levels[s]; from = PLACE(at, c, e, s);
        tail = (best == at + 2 -> TAIL_HERE(at, c, e, s) : NO_TAIL);
        PICK_TAKEN((tail == NO_TAIL -> shorts[s] : longs[s]));
        best = 0; FORGET_SEEN
    }
    atomic {
        if :: BUMPS -> BUMP :: else fi;
        BUMPED;
#ifdef REPLACE_BLIND
        seen = word[from]
#endif
    }
#ifdef REPLACE_IN_TWO_STEPS
    atomic {
        if
        :: replaces && CAN_CLEAR -> word[from] = word[from] - ONE(c, tail, v)
        :: else
        fi
    }
#endif
take:
    atomic {
        if
#ifdef REPLACE_IN_TWO_STEPS
        :: replaces && HAS_ROOM(word[from]) -> word[from] = word[from] + ONE(c, tail, v)
#endif
        :: else
        fi;
        if
#ifdef CHANGE_IGNORES_LEVEL
        :: NUMBER(word[from], c, tail, v) > 0
#else
        :: CAN_CLEAR
#endif
#ifndef EXPIRY
        /* Another change of the word came between, and it looks again. */
        :: CAN_CLEAR && !retried ->
            retried = true; at = 0; from = 0; tail = 0; goto look
#endif
        :: else ->
            if :: HAS_LOST -> IS_GONE :: else fi;
#ifdef REMOVE_NO_SECOND_LOOK
            at = LEVEL(word[from]); goto take
#endif
            at = 0; from = 0; tail = 0;
            if :: replaces -> READ_NOW :: else fi;
            goto look
        fi;
#ifdef REPLACE_BLIND
        if :: replaces -> word[from] = seen :: else fi;
#endif
        word[from] = word[from] - ONE(c, tail, v);
        COUNT_REMOVED;
        if
        :: replaces ->
            REPLACED;
#ifndef REPLACE_LATE_BUMP
            REPLACE_SET(false);
            goto idle
#endif
        :: else -> REMOVE_SET(c, false); goto idle
        fi
    }
#ifdef REPLACE_LATE_BUMP
    atomic { BUMP; REPLACE_SET(false); goto idle }
#endif

#ifdef VALUES
found:
    atomic { item[f] = ABSENT; UNIQUE_SET(false); goto idle }
add_unique:
#ifdef GET_OR_INSERT_LOCK_GAP
    UNIQUE_SET(false);
    atomic { UNIQUE_MAY_LOCK -> UNIQUE_SET(true) }
#endif
    atomic {
        if :: s = 0 :: s = 1 fi;
        at = levels[s]; b = PLACE(at, c, e, s);
        if
        :: LEVEL(word[b]) == at && HAS_ROOM(word[b]) ->
            /* No item like it was there when the first word was read, and no other call added
             * one. */
            assert(then == 0 && others == added);
            word[b] = word[b] + ONE(c, TAIL(BIT(c, e, s, at)), v);
            INSERTED(f, v); added++
        :: LEVEL(word[b]) == at && !HAS_ROOM(word[b]) -> item[f] = ABSENT
        :: else -> at = 0; b = 0; then = 0; others = 0; FORGET_SEEN; goto look
        fi;
        UNIQUE_SET(false); goto idle
    }
#endif
