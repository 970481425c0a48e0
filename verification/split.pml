/* A table that grows by splitting, and its protocol, written from the design: the word's level, the
 * item's two locations, and a split as one compare-and-swap. Slots have a fingerprint alone, or
 * also a value (VALUES), or the generation of their insert (EXPIRY): ./run defines at most one.
 *
 * Two buckets, which are the two sides of every item. Each can be split once:
 *
 *     side              0       1
 *     parent, child     0, 2    1, 3      The child of bucket b is b + 2.
 *
 *     item              X    T    Y    V    Z
 *     core, stripe      0    0    0    0    1    The other side of an extension is that extension,
 *     extension         3    3    2    1    1    xor 1 for the core 0, and xor 2 for the core 1.
 *
 * The lowest bit of the extension chooses between parent and child. X and V go to the same one, and
 * differ in the bit after it; Y goes to the other one. T cannot be told from X. The longest tail is
 * one bit: a new slot knows one bit in a bucket of level 0, and two in one of level 1. A slot may
 * start without a tail, so level 0 stands for any level. Then its split copies it into parent and
 * child. Z occurs without a payload only.
 *
 * A word is a level and a multiset of slots, because no step depends on the order of the slots. The
 * splitters' locks are stripes that no item here has. So the models allow what a shared stripe
 * would exclude.
 *
 * What is one step: as in table.pml. A load and the compare-and-swap that follows are two steps,
 * and what counts between them is the level: if another change makes the compare-and-swap fail at
 * the same level, the code does the same again, so here it succeeds if the slot, or the room, is
 * still there. (A split compares the whole word.) The hint may be as old as it likes: to read it is
 * to choose a level that `size` has reached. A value that was read earlier is one of these, so the
 * choice and the first load of a location are one step.
 *
 * A lookup asks only whether its stripe's version has changed, and there is one lookup at most. So
 * the model keeps a flag in place of the version: the lookup resets it, and a bump sets it.
 *
 * What is chosen freely: the side that an insert takes, the order of the sides, the bucket that is
 * split (in any order), the moves, which of several equally good slots is taken, and when `now`
 * advances. A plan is validated by its move, so any move may be planned at any time.
 *
 * Expiry: as in expiry.pml, but with the window W of the program. To its generation, a slot shows
 * its stamp alone. Of all sweepers that hold `sweeping` one stands for all: whoever holds it and
 * finds buckets to sweep keeps `now` from advancing, and sweeps what the others would.
 *
 * Checked are the lookups, and at the end the cover: each item can be assigned a slot of its own
 * that matches it and has its value, or a stamp that lasts as long. Other slots are counted as
 * ghosts. And of expiry: when a generation ends, all that expired in it has been swept.
 *
 * A step is removed or broken by defining its switch. ./run lists the switches, each with the
 * program (see `init`) that it breaks and the schedule that breaks it.
 */

#define SLOTS 2

/* ---- Items and slots ---- */

#define X 0
#define T 1
#define Y 2
#define V 3
#define Z 4
#define CORE(f) ((f) == Z)
#define EXTENSION(f) ((f) <= T -> 3 : ((f) == Y -> 2 : 1))
#define ALIKE(f, i) (CORE(f) == CORE(i) && EXTENSION(f) == EXTENSION(i))
/* A bit of an extension, as the side `s` sees it. */
#define BIT(c, e, s, bit) ((((e) ^ ((s) * (1 + (c)))) >> (bit)) & 1)

#if defined(EXPIRY)
#ifdef WIDE
#define W 2
#else
#define W 1
#endif
#define M (W + 3)
#define CORES 1
#define PAYLOADS M
#define WORD int
#elif defined(VALUES)
#define CORES 1
#define PAYLOADS 2
#define WORD short
#else
#define CORES 2
#define PAYLOADS 1
#define WORD short
#endif

/* A word: the number of slots with each core, tail and payload, two bits for each, and the level.
 * The numbers of all payloads are a group. */
#define NO_TAIL 0
#define TAIL(bit) (1 + (bit))
#define AT(c, t, v) (2 * (PAYLOADS * (3 * (c) + (t)) + (v)))
#define ONE(c, t, v) (1 << AT(c, t, v))
#define NUMBER(w, c, t, v) (((w) >> AT(c, t, v)) & 3)
#define ALL_PAYLOADS ((1 << (2 * PAYLOADS)) - 1)
#define GROUP(w, c, t) (((w) >> AT(c, t, 0)) & ALL_PAYLOADS)
#define LEVEL_1 (1 << AT(CORES, 0, 0))
#define LEVEL(w) ((w) >> AT(CORES, 0, 0))
/* The sum of digits in base 4, if it is two at most. */
#define SUM(digits) ((digits) % 3)
#define HAS_ROOM(w) (SUM((w) & (LEVEL_1 - 1)) < SLOTS)
#define OF_CORE(w, c) SUM(((w) >> AT(c, 0, 0)) & ((1 << AT(1, 0, 0)) - 1))
/* The numbers of these payloads, in a group. */
#define ONLY_PAYLOAD(v) (3 << (2 * (v)))

/* The slot of a new item in a bucket of its side `s`, of the level `l`. */
#define NEW_SLOT(f, s, l, v) ONE(CORE(f), TAIL(BIT(CORE(f), EXTENSION(f), s, l)), v)

/* The slots that match an item, in its location on the side `s`: those that know one bit more than
 * the bucket's number tells, and those without a tail. */
#define TAIL_HERE(l, c, e, s) TAIL(BIT(c, e, s, l))
#define LONG(w, c, e, s) GROUP(w, c, TAIL_HERE(LEVEL(w), c, e, s))
#define SHORT(w, c) GROUP(w, c, NO_TAIL)
#define MATCHES(w, c, e, s) (SUM(LONG(w, c, e, s)) + SUM(SHORT(w, c)))

/* The two words that a split makes of a parent. The tails run out. */
#ifdef SPLIT_FORGETS_VALUES
#define CARRIED(group) SUM(group)
#else
#define CARRIED(group) (group)
#endif
#ifdef SPLIT_FORGETS_TAILLESS
#define CHILD_OF_CORE(w, c) (CARRIED(GROUP(w, c, TAIL(1))) << AT(c, NO_TAIL, 0))
#else
#define CHILD_OF_CORE(w, c) (CARRIED(SHORT(w, c) + GROUP(w, c, TAIL(1))) << AT(c, NO_TAIL, 0))
#endif
#define STAY_OF_CORE(w, c) (CARRIED(SHORT(w, c) + GROUP(w, c, TAIL(0))) << AT(c, NO_TAIL, 0))
#if CORES == 2
#define CHILD_OF(w) (LEVEL_1 + CHILD_OF_CORE(w, 0) + CHILD_OF_CORE(w, 1))
#define STAY_OF(w) (LEVEL_1 + STAY_OF_CORE(w, 0) + STAY_OF_CORE(w, 1))
#else
#define CHILD_OF(w) (LEVEL_1 + CHILD_OF_CORE(w, 0))
#define STAY_OF(w) (LEVEL_1 + STAY_OF_CORE(w, 0))
#endif

WORD word[4];
byte size;         /* the parents below it have been split */
bool bumped;       /* the stripe of the item that is looked up, since its version was read */
bool lock[4];      /* stripes of the two cores, then of the splits of the two parents */

/* ---- GHOST: the contracts, and who is in the table ---- */

#define ABSENT 0
#define COMING 1   /* its insert is in progress */
#define PRESENT 2  /* its insert pays for a removal */
#define BUSY 3     /* it is being refreshed, or its value is being replaced */
#define KEPT 4     /* it was refreshed: nobody may remove it */
byte item[5];
#if PAYLOADS > 1
byte payload[5];   /* the items' values, or their generations */
#endif
byte watched = 9;  /* the item that a lookup in progress looks for */
byte held;         /* the items like it that were there when the lookup started, and are */

#define ONLY(f) (1 << (f))
#define HAS(set, f) (((set) >> (f)) & 1)
#define IN_TABLE(f) (item[f] >= PRESENT)
#define RELEASE(f) held = held & ~ONLY(f)
/* A removal starts. */
#define TAKEN(f) item[f] = ABSENT; RELEASE(f)
#define BUMP if :: watched < 9 && CORE(watched) == c -> bumped = true :: else fi
#define HOLD(f, i) (IN_TABLE(i) && STILL_LASTS(i) && ALIKE(f, i) -> ONLY(i) : 0)
#define ALIKE_TO(f) (HOLD(f, X) | HOLD(f, T) | HOLD(f, Y) | HOLD(f, V) | HOLD(f, Z))
#define WATCH(f) watched = f; held = ALIKE_TO(f)
#define UNWATCH watched = 9; held = 0; bumped = false
/* Where an item of a side is in a bucket's family, if the parent has the level `l`. */
#define PLACE(l, c, e, s) ((s) + 2 * ((l) == 1 && BIT(c, e, s, 0) == 1))
#define LOCATION(c, e, s) PLACE(LEVEL(word[s]), c, e, s)
#define MATCHES_NOW(c, e) \
    (MATCHES(word[LOCATION(c, e, 0)], c, e, 0) + MATCHES(word[LOCATION(c, e, 1)], c, e, 1))

#if defined(EXPIRY)
#include "split_expiry.pml"
#else
#if defined(VALUES)
byte steady;       /* the items whose value has not been replaced since the lookup started */
byte added;        /* calls of `get_or_insert` that inserted */
#define INSERTED(f, v) item[f] = PRESENT; payload[f] = v
#define REPLACED \
    word[from] = word[from] + ONE(c, tail, 1 - v); item[f] = PRESENT; payload[f] = 1 - v
#else
#define INSERTED(f, v) item[f] = PRESENT
#define REPLACED skip
#endif
short ghosts[CORES]; /* copies that belong to nobody, by core */
/* A move has cleared copies that splits had made; a split copies slots without a tail. */
#define COUNT_MOVED(cleared) ghosts[c] = ghosts[c] + 1 - (cleared)
#if CORES == 2
#define COUNT_COPIED(w) \
    ghosts[0] = ghosts[0] + SUM(SHORT(w, 0)); ghosts[1] = ghosts[1] + SUM(SHORT(w, 1))
#else
#define COUNT_COPIED(w) ghosts[0] = ghosts[0] + SUM(SHORT(w, 0))
#endif
/* Only the holder of its stripe clears a slot. */
#define IS_GONE assert(false)
/* What expiry adds to the steps. */
#define STILL_LASTS(f) true
#define READ_NOW skip
#define HAS_EXPIRED(v) false
#define UNEXPIRED(w) (w)
#define SWEEP(b) skip
#define CARRIES(w) (w)
#define SWEEP_SPLIT(p) skip
#define DROP_EXPIRED skip
#define COUNT_REMOVED skip
#define ADD_UNLOCK skip
#endif

/* ---- Locations ---- */

/* Reads the hint and loads the word to which it leads. The item's location is in the child if
 * `walk` is set. */
#define LOAD(c, e, s) \
    if \
    :: expected = 0 \
    :: size > (s) -> expected = 1 \
    fi; \
    b = PLACE(expected, c, e, s); \
    seen = word[b]; \
    walk = (LEVEL(seen) > expected && BIT(c, e, s, 0) == 1); \
    expected = 0

/* ---- Writers ---- */

#define INSERT 1
#define REMOVE 2
#define MOVE 4
#define PUSH 8        /* a move that stores an item's slot as the incoming one */
#define SPLIT 16
#define HELP 32       /* advances `size` over parents that another thread has split */
#define COUNT 64
#define REPLACE 128   /* of a value; of a stamp: see REFRESH */
#define GET_OR_INSERT 256
#define REFRESH 512
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

/* What a removal, a replacement or a refresh looks for, and what it takes. */
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
/* The payload of an insert that begins, for the slot, and for the item. */
#if defined(EXPIRY)
#define NEW_PAYLOAD(p) g = now; p = STAMP(g)
#elif defined(VALUES)
#define NEW_PAYLOAD(p) if :: p = 0 :: p = 1 fi
#else
#define NEW_PAYLOAD(p) skip
#endif
/* Which of the matches it takes. */
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
/* The bucket has no such slot at the level at which it was seen. */
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
    walk = false; moves = false; incoming = false; both = false; again = false; helps = false; \
    replaces = false; unique = false; FORGET_SEEN
#define STOP RESET; left = 0; goto done

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
    bool walk, moves, incoming, both, again, helps, replaces, unique;
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
            :: LONGEST(ONLY_PAYLOAD(v)) != best -> v = (v + 1) % M; g++
            :: else -> break
            od;
#endif
            again = (LONGEST(ONLY_PAYLOAD(v)) != best);
#ifdef REFRESH_OLDEST
            again = false;
#endif
            if
            :: !again && g == n -> REFRESHED(f, n); REPLACE_SET(false); goto idle
            :: else
#ifndef REFRESH_UNNOTED
                -> refreshed = n
#endif
            fi;
            g = 0;
            if
            :: again -> again = false; best = 0; goto restamp_all
            :: else
            fi
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

#ifdef EXPIRY
    /* A refresh where the oldest match is not the one that knows most: restamps all of them. */
restamp_all:
#ifndef REFRESH_ALL_NO_BUMP
    atomic { BUMP }
#endif
restamp:
    atomic {
        if
        :: longs[0] + shorts[0] > 0 -> s = 0
        :: else -> s = 1
        fi;
        if
        :: longs[s] > 0 -> tail = TAIL_HERE(levels[s], c, e, s); PICK(longs[s])
        :: shorts[s] > 0 -> tail = NO_TAIL; PICK(shorts[s])
        fi;
        at = levels[s]; from = PLACE(at, c, e, s);
        if
        :: CAN_CLEAR ->
            word[from] = word[from] - ONE(c, tail, v) + ONE(c, tail, STAMP(n));
            counted[v]--; counted[STAMP(n)]++; restamped = true
        :: else ->
#ifndef REFRESH_ALL_IGNORES_CHANGE
            s = 0; at = 0; from = 0; tail = 0; v = 0; FORGET_SEEN; n = now; goto look
#endif
        fi;
        if
        :: tail != NO_TAIL -> longs[s] = longs[s] - (1 << (2 * v))
        :: else -> shorts[s] = shorts[s] - (1 << (2 * v))
        fi;
        at = 0; from = 0; tail = 0; v = 0;
        if
        :: longs[0] + shorts[0] + longs[1] + shorts[1] > 0 -> goto restamp
        :: else -> REFRESHED(f, n); REPLACE_SET(false); goto idle
        fi
    }
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

done:
    skip
}

/* ---- Readers ---- */

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
#define OVERLOOKS(f) (HAS(held, f) && (mode == KEY || (HAS(steady, f) \
    && (mode == LIST && !(list & ONLY_PAYLOAD(payload[f])) || mode == VALUE && payload[f] == wanted))))
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

/* ---- Programs ---- */

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

#define IS_IN(f) (item[f] >= PRESENT)
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
#define REACHED(b) ((b) < 2 || LEVEL(word[(b) & 1]) == 1)
#define IF_REACHED(b, number) (REACHED(b) -> number : 0)
#define IN_ALL(c) (OF_CORE(word[0], c) + OF_CORE(word[1], c) \
    + IF_REACHED(2, OF_CORE(word[2], c)) + IF_REACHED(3, OF_CORE(word[3], c)))
#define OF_ALL(v) (OF_STAMP(word[0], v) + OF_STAMP(word[1], v) \
    + IF_REACHED(2, OF_STAMP(word[2], v)) + IF_REACHED(3, OF_STAMP(word[3], v)))
#define IS_FROM(f, v) (IS_IN(f) && payload[f] % PAYLOADS == (v))

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
#if defined(P_CONTAINS)
        run Client(INSERT | REMOVE | MOVE | REPLACE, ALIAS, 3);
#else
        run Client(INSERT | REMOVE | MOVE | REPLACE, ALIAS, 2);
#endif
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
         * Hall's theorem, then, each item has a slot of its own. */
        present = IS_IN(X) | (IS_IN(T) << T) | (IS_IN(Y) << Y) | (IS_IN(V) << V) | (IS_IN(Z) << Z);
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
            assert(near >= HAS(set, X) + HAS(set, T) + HAS(set, Y) + HAS(set, V) + HAS(set, Z));
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
        assert(IN_ALL(0) == IS_IN(X) + IS_IN(T) + IS_IN(Y) + IS_IN(V) + ghosts[0]);
#if CORES == 2
        assert(IN_ALL(1) == IS_IN(Z) + ghosts[1])
#endif
#endif
    }
}
