/* The calls of a client, its locks, and what it chooses. split.pml includes this. */

#define INSERT 1
#define REMOVE 2
#define MOVE 4
#define PUSH 8        /* a move that stores an item's slot as the incoming one */
#define SPLIT 16
#define HELP 32       /* advances `size` over parents that another thread has split */
#define COUNT 64
#define REPLACE 128   /* of a value */
#define GET_OR_INSERT 256
#define REFRESH 512   /* the replacement of a stamp: it has the locks and switches of REPLACE */
#define SWEEPING 1024 /* an insert that takes the lock and sweeps what has expired */

#ifdef MOVE_NO_LOCK
#define MOVE_MAY_LOCK(c) true
#define MOVE_SET(c, value) skip
#else
#define MOVE_MAY_LOCK(c) (!lock[c])
#define MOVE_SET(c, value) lock[c] = value
#endif
#ifdef REMOVE_NO_LOCK
#define REMOVE_MAY_LOCK(c) true
#define REMOVE_SET(c, value) skip
#else
#define REMOVE_MAY_LOCK(c) (!lock[c])
#define REMOVE_SET(c, value) lock[c] = value
#endif
#ifdef COUNT_NO_LOCK
#define COUNT_MAY_LOCK(c) true
#define COUNT_SET(c, value) skip
#else
#define COUNT_MAY_LOCK(c) (!lock[c])
#define COUNT_SET(c, value) lock[c] = value
#endif
#ifdef REPLACE_NO_LOCK
#define REPLACE_MAY_LOCK true
#define REPLACE_SET(value) skip
#else
#define REPLACE_MAY_LOCK (!lock[0])
#define REPLACE_SET(value) lock[0] = value
#endif
#ifdef GET_OR_INSERT_NO_LOCK
#define UNIQUE_MAY_LOCK true
#define UNIQUE_SET(value) skip
#else
#define UNIQUE_MAY_LOCK (!lock[0])
#define UNIQUE_SET(value) lock[0] = value
#endif
#ifdef SPLIT_NO_LOCK
#define SPLIT_MAY_LOCK(p) true
#define SPLIT_SET(p, value) skip
#else
#define SPLIT_MAY_LOCK(p) (!lock[2 + (p)])
#define SPLIT_SET(p, value) lock[2 + (p)] = value
#endif

/* The payloads that a removal, a replacement or a refresh looks for. */
#if defined(EXPIRY)
#define LOOKED_FOR VISIBLE(n)
#elif defined(VALUES)
#ifdef REMOVE_BY_KEY
#define REMOVED_BY ALL_PAYLOADS
#else
#define REMOVED_BY ONLY_PAYLOAD(v)
#endif
#ifdef REPLACE_BY_KEY
#define REPLACED_BY ALL_PAYLOADS
#else
#define REPLACED_BY ONLY_PAYLOAD(v)
#endif
#ifdef GET_OR_INSERT_BY_VALUE
#define UNIQUE_BY ONLY_PAYLOAD(v)
#else
#define UNIQUE_BY ALL_PAYLOADS
#endif
#define LOOKED_FOR (unique -> UNIQUE_BY : (replaces -> REPLACED_BY : REMOVED_BY))
#else
#define LOOKED_FOR ALL_PAYLOADS
#endif
/* One more than the number of bits that the longest match with one of these payloads knows, on one
 * side or on both; 0 if there is none. */
#define KNOWN(s, payloads) \
    ((longs[s] & (payloads)) != 0 -> levels[s] + 2 : \
        ((shorts[s] & (payloads)) != 0 -> levels[s] + 1 : 0))
#define LONGEST(payloads) \
    (KNOWN(0, payloads) > KNOWN(1, payloads) -> KNOWN(0, payloads) : KNOWN(1, payloads))
/* The same of the shortest match. */
#define KNOWN_AT_LEAST(s, payloads) \
    ((shorts[s] & (payloads)) != 0 -> levels[s] + 1 : \
        ((longs[s] & (payloads)) != 0 -> levels[s] + 2 : 9))
#define SHORTEST(payloads) \
    (KNOWN_AT_LEAST(0, payloads) < KNOWN_AT_LEAST(1, payloads) \
        -> KNOWN_AT_LEAST(0, payloads) : KNOWN_AT_LEAST(1, payloads))
#define FORGET_SEEN \
    longs[0] = 0; longs[1] = 0; shorts[0] = 0; shorts[1] = 0; levels[0] = 0; levels[1] = 0
/* Takes any payload of a group. */
#if defined(EXPIRY)
#define PICK(group) \
    if \
    :: (group) & ONLY_PAYLOAD(0) -> v = 0 \
    :: (group) & ONLY_PAYLOAD(1) -> v = 1 \
    :: (group) & ONLY_PAYLOAD(2) -> v = 2 \
    :: (group) & ONLY_PAYLOAD(3) -> v = 3 \
    :: (group) & ONLY_PAYLOAD(4) -> v = 4 \
    fi
#elif defined(VALUES)
#define PICK(group) \
    if :: (group) & ONLY_PAYLOAD(0) -> v = 0 :: (group) & ONLY_PAYLOAD(1) -> v = 1 fi
#else
#define PICK(group) skip
#endif
/* Chooses the payload of an insert that begins. */
#if defined(EXPIRY)
#define NEW_PAYLOAD(p) g = now; p = STAMP(g)
#elif defined(VALUES)
#define NEW_PAYLOAD(p) if :: p = 0 :: p = 1 fi
#else
#define NEW_PAYLOAD(p) skip
#endif
/* The payload of the match that it takes. */
#if defined(EXPIRY)
#define TAKEN_BY ONLY_PAYLOAD(v)
#define PICK_TAKEN(group) skip
#else
#define TAKEN_BY ALL_PAYLOADS
#define PICK_TAKEN(group) PICK(group)
#endif
#if defined(REMOVE_SHORTEST)
#define SHORTER_IS_TAKEN !replaces
#elif defined(REPLACE_SHORTEST)
#define SHORTER_IS_TAKEN replaces
#else
#define SHORTER_IS_TAKEN false
#endif
/* Before a second look the version was bumped already. Refreshes and removals of slots that expire
 * bump it again. */
#if defined(REMOVE_NO_BUMP)
#define BUMPS replaces
#elif defined(REPLACE_NO_BUMP) || defined(REPLACE_LATE_BUMP)
#define BUMPS !replaces
#else
#define BUMPS !again
#endif
#ifdef EXPIRY
#define BUMPED skip
#else
#define BUMPED again = true
#endif
/* A bucket has, or has not, the slot that is to be cleared, at the level at which it was seen. */
#define CAN_CLEAR (LEVEL(word[from]) == at && NUMBER(word[from], c, tail, v) > 0)
#define HAS_LOST (LEVEL(word[from]) == at && NUMBER(word[from], c, tail, v) == 0)

/* A client between two calls, and one that makes no more. */
#ifdef EXPIRY
#define RESET RESET_ALL; g = 0; n = 0; owns = false
#else
#define RESET RESET_ALL
#endif
#define RESET_ALL \
    f = 0; c = 0; e = 0; known = 0; v = 0; s = 0; b = 0; t = 0; level = 0; at = 0; from = 0; \
    tail = 0; cleared = 0; fresh = 0; best = 0; then = 0; others = 0; seen = 0; expected = 0; \
    walk = false; moves = false; incoming = false; both = false; again = false; retried = false; \
    helps = false; replaces = false; unique = false; FORGET_SEEN
#define STOP RESET; left = 0; goto done
