    /* The steps of a client that count and that split. client.pml includes this. */

    /* Counts the matches in both locations. */
count:
    atomic {
        if
        :: walk -> walk = false; seen = word[s + 2]
        :: else -> LOAD(c, e, s); b = 0
        fi;
        if
        :: walk -> seen = 0; goto count
        :: else
        fi;
        best = best + MATCHES(seen, c, e, s);
        seen = 0;
        if
        :: !both -> both = true; s = 1 - s; goto count
        :: else
        fi;
        /* The number was right at some moment of the call: under the lock, matches only come. */
        assert(then <= best && best <= MATCHES_NOW(c, e));
        COUNT_SET(c, false); goto idle
    }

#ifdef SPLIT_EARLY_NOW
split_lock:
    atomic { SPLIT_MAY_LOCK(s) -> SPLIT_SET(s, true); seen = word[s] }
#endif
    /* Splits the parent `s`. Its word was read as the lock was taken. */
split:
    atomic {
        if
        :: LEVEL(seen) == 1 -> SPLIT_SET(s, false); seen = 0; goto advance
        :: else
        fi
#ifdef SIZE_EARLY
        ; if :: size == s -> size = s + 1 :: else fi
#elif defined(CHILD_LATE)
        ; skip
#else
        ; word[s + 2] = CHILD_OF(CARRIES(seen))
#endif
    }
#ifdef SIZE_EARLY
    word[s + 2] = CHILD_OF(CARRIES(seen));
#endif
    atomic {
        if
#ifdef SPLIT_BLIND
        :: true ->
#else
        :: word[s] == seen ->
#endif
            SWEEP_SPLIT(s);
            seen = CARRIES(seen);
            word[s] = STAY_OF(seen);
            COUNT_COPIED(seen)
#ifndef SPLIT_BLIND
        :: else -> seen = word[s]; goto split
#endif
        fi;
#ifndef CHILD_LATE
        SPLIT_SET(s, false); seen = 0
#endif
    }
#ifdef CHILD_LATE
    atomic { word[s + 2] = CHILD_OF(CARRIES(seen)); SPLIT_SET(s, false); seen = 0 }
#endif
    /* Advances `size` over all parents that have been split, in order. To read it, to load the next
     * parent's level, and to raise it are one step: neither falls, so an older size or level does
     * nothing that this step does not do. */
advance:
#ifdef SIZE_STORED
    atomic {
        b = size;
        if
        :: size < 2 && LEVEL(word[size]) == 1
        :: else -> goto idle
        fi
    }
    atomic { size = b + 1; b = 0; goto advance }
#else
    atomic {
        if
#ifdef HELPER_NO_LEVEL
        :: size < 2 && helps -> size++; goto advance
#endif
        :: size < 2 && LEVEL(word[size]) == 1 -> size++; goto advance
        :: else -> goto idle
        fi
    }
#endif
