    /* The steps of a client that add and move slots. client.pml includes this. */

    /* Adds a slot on the side `s`: an insert, or the copy that a move makes. */
add:
    atomic {
        if
        :: walk -> walk = false; b = s + 2; seen = word[b]
        :: else -> LOAD(c, e, s)
        fi;
        level = LEVEL(seen);
        /* A slot that does not know the bit which it needs is not moved there. */
        if
#ifndef MOVE_GUESSES
        :: level > known -> goto not_added
#endif
#ifndef INSERT_NO_LEVEL
        :: walk && level <= known -> seen = 0; b = 0; level = 0; goto add
#endif
        :: else
        fi;
        walk = false;
        if
        :: HAS_ROOM(UNEXPIRED(seen)) -> seen = 0
        :: else -> goto not_added
        fi
    }
    /* With what it sweeps, this is one compare-and-swap. */
    atomic {
        if
        :: LEVEL(word[b]) == level && HAS_ROOM(UNEXPIRED(word[b]))
#ifdef SWAP_IGNORES_LEVEL
        :: LEVEL(word[b]) != level && HAS_ROOM(UNEXPIRED(word[b]))
        :: !HAS_ROOM(UNEXPIRED(word[b])) -> goto not_added
#else
        :: else -> b = 0; level = 0; goto add
#endif
        fi;
        SWEEP(b);
        t = (known > level -> TAIL(BIT(c, e, s, level)) : NO_TAIL);
        word[b] = word[b] + ONE(c, t, v);
        t = 0; b = 0; level = 0;
        if
        :: moves -> s = 1 - s
        :: else -> INSERTED(f, v); ADD_UNLOCK; goto idle
        fi
    }
#ifndef MOVE_NO_BUMP
    atomic { BUMP }
#endif
    /* Clears what was moved or has expired, and stores the incoming slot there. */
clear_moved:
    atomic {
        if
        :: CAN_CLEAR ->
#ifdef MOVE_CLEARS_BY_KEY
            PICK(GROUP(word[from], c, tail));
#endif
            word[from] = word[from] - ONE(c, tail, v);
            DROP_EXPIRED;
            if
            :: incoming ->
                word[from] = word[from] + NEW_SLOT(f, s, at, fresh); INSERTED(f, fresh);
                incoming = false
            :: else
            fi;
            goto moved
        :: HAS_LOST ->
            IS_GONE;
            if :: moves -> COUNT_MOVED(0) :: else fi;
            goto moved
        :: else
        fi;
#ifdef MOVE_NO_SECOND_LOOK
        at = LEVEL(word[from]); goto clear_moved
#endif
        /* The bucket was split. A slot that has expired stays. What was moved has lost its tail; if
         * it had none, it is in both buckets. */
        if
        :: !moves -> goto moved
        :: else -> at = 1
        fi;
        if
        :: tail != NO_TAIL -> tail = NO_TAIL; from = PLACE(1, c, e, s)
#ifdef MOVE_CLEARS_PARENT_ONLY
        :: else
#ifndef MOVE_COUNTS_GHOSTS
            -> cleared = 1
#endif
#else
        :: else -> both = true; from = s + 2
#endif
        fi
    }
clear_copies:
    atomic {
        if
        :: CAN_CLEAR -> word[from] = word[from] - ONE(c, tail, v); cleared++
        :: else -> IS_GONE
        fi;
        if
        :: both -> both = false; from = s; goto clear_copies
        :: else
        fi;
        COUNT_MOVED(cleared);
#ifdef INCOMING_TO_EITHER
        if
        :: incoming ->
            word[from] = word[from] + ONE(CORE(f), NO_TAIL, fresh); INSERTED(f, fresh);
            incoming = false
        :: else
        fi;
#endif
#ifdef INCOMING_DROPPED
        if
        :: incoming -> INSERTED(f, fresh); incoming = false
        :: else
        fi;
#endif
        goto moved
    }
moved:
    /* An incoming item that was not stored searches again. Here it gives up. */
    atomic {
        MOVE_SET(c, false);
        if :: incoming -> item[f] = ABSENT :: else fi;
        goto idle
    }
not_added:
    atomic {
        if
        :: moves -> goto moved
        :: else -> ADD_UNLOCK; item[f] = ABSENT; goto idle
        fi
    }
