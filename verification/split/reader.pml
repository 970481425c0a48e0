/* Lookups. split.pml includes this. */

#define KEY 0         /* a lookup by key, or where there are no values */
#define VALUE 1       /* a lookup of an item with its value */
#define LIST 2        /* lists all values */

#if defined(EXPIRY)
#define WANTED VISIBLE(m)
#elif defined(VALUES)
#define WANTED (mode == VALUE -> ONLY_PAYLOAD(wanted) : ALL_PAYLOADS)
#else
#define WANTED ALL_PAYLOADS
#endif
/* An item that a miss, or a list without its value, overlooks. */
#if defined(VALUES)
#define LACKS(f) (mode == LIST -> !(list & ONLY_PAYLOAD(payload[f])) : payload[f] == wanted)
#define OVERLOOKS(f) (HAS(held, f) && (mode == KEY || (HAS(steady, f) && LACKS(f))))
#else
#define OVERLOOKS(f) HAS(held, f)
#endif
#define IS_STEADY(f) (item[f] == PRESENT -> ONLY(f) : 0)
/* Looks at a location's word. */
#ifdef LOOKUP_NO_LEVEL
/* The word is decoded as the hint says. */
#define SEE(w, s) list = list | GROUP(w, c, NO_TAIL) | GROUP(w, c, TAIL(BIT(c, e, s, level)))
#else
#define SEE(w, s) list = list | ((LONG(w, c, e, s) | SHORT(w, c)) & (WANTED))
#endif
#define IF_FOUND if :: list != 0 && mode != LIST -> goto hit :: else fi

/* Looks an item up. */
proctype Reader(byte f; byte mode) {
    byte c, e, s, b, expected;
    byte level;   /* the one that the hint says */
    byte wanted;  /* the value of the item */
    short list;   /* the numbers of payloads that were seen */
    WORD seen;
    bool walk, later;
#ifdef EXPIRY
    byte m;       /* `now` as it was read first */
#endif
    atomic {
        c = CORE(f); e = EXTENSION(f);
        if :: s = 0 :: s = 1 fi;
#ifdef VALUES
        wanted = payload[f];
        steady = IS_STEADY(X) | IS_STEADY(T) | IS_STEADY(Y) | IS_STEADY(V);
#endif
        WATCH(f)
    }
round:
#ifdef EXPIRY
    m = now;
    bumped = false;
#endif
    atomic {
        LOAD(c, e, s);
#ifdef LOOKUP_NO_LEVEL
        level = b >> 1; walk = false;
#endif
        b = 0;
        if
        :: walk ->
            walk = false; seen = 0;
            /* The child is loaded at once, or after the other side's word. */
            if :: true :: later = true; goto second fi
        :: else -> SEE(seen, s); seen = 0; IF_FOUND; goto second
        fi
    }
    atomic { SEE(word[s + 2], s); IF_FOUND }
second:
    atomic {
        LOAD(c, e, 1 - s);
#ifdef LOOKUP_NO_LEVEL
        level = b >> 1; walk = false;
#endif
        b = 0;
        if
        :: walk -> walk = false; seen = 0
        :: else -> SEE(seen, 1 - s); seen = 0; IF_FOUND; goto third
        fi
    }
    atomic { SEE(word[3 - s], 1 - s); IF_FOUND }
third:
    atomic {
        if
        :: later -> later = false; SEE(word[s + 2], s); IF_FOUND
        :: else
        fi
    }
#ifdef LIST_UNVALIDATED_MATCH
    atomic { if :: list != 0 -> goto miss :: else fi }
#endif
#ifndef LOOKUP_NO_VALIDATION
    atomic { if :: !bumped :: else -> goto again fi }
#endif
#if defined(EXPIRY) && !defined(LOOKUP_NO_NOW_VALIDATION)
    atomic { if :: now == m -> goto miss :: else -> goto again fi }
#else
    goto miss;
#endif
again:
    atomic { bumped = false; list = 0; goto round }
miss:
    /* No false negative. */
    assert(!(OVERLOOKS(X) || OVERLOOKS(T) || OVERLOOKS(Y) || OVERLOOKS(V) || OVERLOOKS(Z)));
hit:
    atomic {
        UNWATCH; s = 0; b = 0; seen = 0; list = 0; later = false; wanted = 0;
#ifdef EXPIRY
        m = 0
#endif
    }
}
