/* A table that grows by splitting, and its protocol, written from the design: the word's level, the
 * item's two locations, and a split as one compare-and-swap.
 *
 * Two buckets, which are the two sides of every item. Each can be split once:
 *
 *     side              0       1
 *     parent, child     0, 2    1, 3      The child of bucket b is b + 2.
 *
 *     item              X    Y    V    Z
 *     core, stripe      0    0    0    1      The other side of an extension is that extension,
 *     extension         3    2    1    1      xor 1 for the core 0, and xor 2 for the core 1.
 *
 * The lowest bit of the extension chooses between parent and child. X and V go to the same one, and
 * differ in the bit after it; Y goes to the other one. The longest tail is one bit: a new slot
 * knows one bit in a bucket of level 0, and two in one of level 1. A slot may start without a tail,
 * so level 0 stands for any level. Then its split copies it into parent and child.
 *
 * A word is a level and a multiset of slots, because no step depends on the order of the slots. The
 * splitters' locks are stripes that no item here has. So the models allow what a shared stripe
 * would exclude.
 *
 * What is one step: as in table.pml, but here a load and the compare-and-swap that follows are two
 * steps. The hint may be as old as it likes: to read it is to choose a level that `size` has
 * reached. A value that was read earlier is one of these, so the choice and the first load of a
 * location are one step.
 *
 * A lookup asks only whether its stripe's version has changed, and there is one lookup at most. So
 * the model keeps a flag in place of the version: the lookup resets it, and a bump sets it.
 *
 * What is chosen freely: the side that an insert takes, the order of the sides, the bucket that is
 * split (in any order), and the moves. A plan is validated by its move, so any move may be planned
 * at any time. After a removal's failed compare-and-swap: whether it looks at one side or at both.
 */

#ifndef SLOTS
#define SLOTS 2
#endif

#define X 0
#define Y 1
#define V 2
#define Z 3
#define CORE(f) ((f) == Z)
#define EXTENSION(f) ((f) == X -> 3 : ((f) == Y -> 2 : 1))
/* A bit of an extension, as the side `s` sees it. */
#define BIT(c, e, s, bit) ((((e) ^ ((s) * (1 + (c)))) >> (bit)) & 1)

/* A word: the number of slots with each core and tail, two bits for each, and the level. */
#define NO_TAIL 0
#define TAIL(bit) (1 + (bit))
#define ONE(c, t) (1 << (2 * (3 * (c) + (t))))
#define NUMBER(w, c, t) (((w) >> (2 * (3 * (c) + (t)))) & 3)
#define LEVEL_1 4096
#define LEVEL(w) ((w) >> 12)
/* The slot of a new item in a bucket of its side `s`, of the level `l`. */
#define NEW_SLOT(f, s, l) ONE(CORE(f), TAIL(BIT(CORE(f), EXTENSION(f), s, l)))
#define OF_CORE(w, c) (NUMBER(w, c, 0) + NUMBER(w, c, 1) + NUMBER(w, c, 2))
#define HAS_ROOM(w) (OF_CORE(w, 0) + OF_CORE(w, 1) < SLOTS)

/* The slots that match an item, in its location on the side `s`. */
#define TAIL_HERE(w, c, e, s) TAIL(BIT(c, e, s, LEVEL(w)))
#define MATCHES(w, c, e, s) (NUMBER(w, c, NO_TAIL) + NUMBER(w, c, TAIL_HERE(w, c, e, s)))
/* The tail of the longest match, and one more than the number of bits that it knows (0: none). */
#define LONGEST(w, c, e, s) \
    (NUMBER(w, c, TAIL_HERE(w, c, e, s)) > 0 -> TAIL_HERE(w, c, e, s) : NO_TAIL)
#define SHORTEST(w, c, e, s) \
    (NUMBER(w, c, NO_TAIL) > 0 -> NO_TAIL : TAIL_HERE(w, c, e, s))
#ifdef REMOVE_SHORTEST
#define CHOSEN(w, c, e, s) SHORTEST(w, c, e, s)
#define BETTER(a, b) ((a) > 0 && ((b) == 0 || (a) < (b)))
#else
#define CHOSEN(w, c, e, s) LONGEST(w, c, e, s)
#define BETTER(a, b) ((a) > (b))
#endif
#define KNOWN(w, c, e, s) \
    (MATCHES(w, c, e, s) == 0 -> 0 : 1 + LEVEL(w) + (CHOSEN(w, c, e, s) != NO_TAIL))

/* The two words that a split makes of a parent. The tails run out. */
#ifdef SPLIT_FORGETS_TAILLESS
#define CHILD_OF_CORE(w, c) (ONE(c, NO_TAIL) * NUMBER(w, c, TAIL(1)))
#else
#define CHILD_OF_CORE(w, c) (ONE(c, NO_TAIL) * (NUMBER(w, c, NO_TAIL) + NUMBER(w, c, TAIL(1))))
#endif
#define STAY_OF_CORE(w, c) (ONE(c, NO_TAIL) * (NUMBER(w, c, NO_TAIL) + NUMBER(w, c, TAIL(0))))
#define CHILD_OF(w) (LEVEL_1 + CHILD_OF_CORE(w, 0) + CHILD_OF_CORE(w, 1))
#define STAY_OF(w) (LEVEL_1 + STAY_OF_CORE(w, 0) + STAY_OF_CORE(w, 1))

short word[4];
byte size;         /* the parents below it have been split */
bool bumped;       /* the stripe of the item that is looked up, since its version was read */
bool lock[4];      /* stripes of the two cores, then of the splits of the two parents */

/* ---- GHOST: the contracts, and who is in the table ---- */

byte paid[4];      /* items that are in the table: inserts that pay for no removal */
byte ghosts[2];    /* copies that belong to nobody, by core */
byte watched = 9;  /* the item that a lookup in progress looks for */
byte held, fresh;  /* copies of it that were there when the lookup started; that came since */

#define INSERTED(f) paid[f]++; if :: (f) == watched -> fresh++ :: else fi
/* A removal starts. Of several assignments, the one that keeps the most old items in the table. */
#define TAKEN(f) \
    paid[f]--; \
    if :: (f) != watched \
       :: (f) == watched && fresh > 0 -> fresh-- \
       :: (f) == watched && fresh == 0 -> if :: held > 0 -> held-- :: else fi fi
#define BUMP if :: watched < 9 && CORE(watched) == c -> bumped = true :: else fi
#define WATCH(f) watched = f; held = paid[f]; fresh = 0
#define UNWATCH watched = 9; held = 0; fresh = 0; bumped = false
/* Where an item is now, and how many slots match it there. */
#define LOCATION(c, e, s) (LEVEL(word[s]) == 1 && BIT(c, e, s, 0) == 1 -> (s) + 2 : (s))
#define MATCHES_NOW(c, e) \
    (MATCHES(word[LOCATION(c, e, 0)], c, e, 0) + MATCHES(word[LOCATION(c, e, 1)], c, e, 1))

/* ---- Locations ---- */

/* Reads the hint and loads the word to which it leads. The item's location is in the child if
 * `walk` is set. */
#define LOAD(c, e, s) \
    if \
    :: expected = 0 \
    :: size > (s) -> expected = 1 \
    fi; \
    b = (s); \
    if :: expected == 1 && BIT(c, e, s, 0) == 1 -> b = (s) + 2 :: else fi; \
    seen = word[b]; \
    walk = (LEVEL(seen) > expected && BIT(c, e, s, 0) == 1); \
    expected = 0

/* ---- Writers ---- */

#define INSERT 1
#define REMOVE 2
#define MOVE 4
#define PUSH 8     /* a move that stores an item's slot as the incoming one */
#define SPLIT 16
#define HELP 32    /* advances `size` over parents that another thread has split */
#define COUNT 64

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
#ifdef SPLIT_NO_LOCK
#define SPLIT_MAY_LOCK(p) true
#define SPLIT_SET(p, value) skip
#else
#define SPLIT_MAY_LOCK(p) (!lock[2 + (p)])
#define SPLIT_SET(p, value) lock[2 + (p)] = value
#endif

/* Makes up to `left` calls, each any of `ops` on any item of the set `items`, or on any slot with
 * the core of one of them. */
proctype Client(byte ops; byte items; byte left) {
    byte f;             /* an item */
    byte c, e, known;   /* what is added: a core, an extension, and how many bits of it are known */
    byte s, b, t;       /* a side, a bucket, a tail */
    short seen;         /* a word as it was read */
    byte from, tail;    /* a move: the bucket and the tail that it clears */
    short original;     /* a move: the source's word as it was read */
    byte best;          /* a removal: what the match on the first side knows; a count: matches */
    byte then;          /* GHOST: matches as a count started */
    byte expected;
    bool walk, moves, incoming, both, one_side, helps;
idle:
    atomic {
        f = 0; c = 0; e = 0; known = 0; s = 0; b = 0; t = 0; seen = 0; from = 0; tail = 0;
        original = 0; best = 0; then = 0; expected = 0;
        walk = false; moves = false; incoming = false; both = false; one_side = false;
        helps = false;
        if
        :: left == 0 -> goto done
        :: else -> left--
        fi;
        if
        :: ops & (SPLIT | HELP)
        :: items & 1 -> f = X
        :: items & 2 -> f = Y
        :: items & 4 -> f = V
        :: items & 8 -> f = Z
        fi;
        c = CORE(f); e = EXTENSION(f);
        if :: s = 0 :: s = 1 fi;
        /* The choice of a call and its first step are one step. */
        if
        :: ops & INSERT -> known = 2; goto add
        :: ops & REMOVE && paid[f] > 0 && REMOVE_MAY_LOCK(c) ->
            REMOVE_SET(c, true); TAKEN(f); goto look
        :: ops & (MOVE | PUSH) ->
            if
            :: ops & MOVE
            :: ops & PUSH -> incoming = true
            fi;
            from = s;
            if :: LEVEL(word[s]) == 1 -> from = s + 2 :: true fi;
            original = word[from];
            if
            :: incoming && from != LOCATION(c, e, s) -> goto done
            :: incoming && from == LOCATION(c, e, s) -> if :: c = 0 :: c = 1 fi
            :: else
            fi;
            if :: tail = NO_TAIL :: tail = TAIL(0) :: tail = TAIL(1) fi;
            if
            :: NUMBER(original, c, tail) == 0 -> goto done
            :: else
            fi;
            /* What the slot knows, as side 0 sees it. The bits that it does not know are 0. */
            known = LEVEL(original) + (tail != NO_TAIL);
            e = 0;
            if
            :: LEVEL(original) == 1 -> e = (from >> 1)
            :: else
            fi;
            if
            :: tail != NO_TAIL -> e = e | ((tail - 1) << LEVEL(original))
            :: else
            fi;
            e = (e ^ (s * (1 + c))) & ((1 << known) - 1);
#ifdef MOVE_NO_LEVEL
            goto validate
#else
            /* The plan is validated: the level and the slot. */
            if
            :: MOVE_MAY_LOCK(c) -> MOVE_SET(c, true); moves = true; s = 1 - s; goto add
            :: else -> goto done
            fi
#endif
        :: ops & COUNT && COUNT_MAY_LOCK(c) ->
            COUNT_SET(c, true); then = MATCHES_NOW(c, e); goto count
        :: ops & SPLIT && SPLIT_MAY_LOCK(s) ->
            SPLIT_SET(s, true); c = 0; e = 0; f = 0; seen = word[s]; goto split
        :: ops & HELP -> c = 0; e = 0; f = 0; s = 0; helps = true; goto advance
        :: goto done
        fi
    }

#ifdef MOVE_NO_LEVEL
validate:
    atomic {
        MOVE_MAY_LOCK(c) -> MOVE_SET(c, true);
        original = word[from];
        if
        :: NUMBER(original, c, tail) > 0 -> moves = true; s = 1 - s; goto add
        :: else -> MOVE_SET(c, false); goto idle
        fi
    }
#endif

    /* Adds a slot on the side `s`: an insert, or the copy that a move makes. */
add:
    atomic {
        LOAD(c, e, s);
        /* A slot that does not know the bit which it needs is not moved there. */
        if
#ifndef MOVE_GUESSES
        :: LEVEL(seen) > known -> goto not_added
#endif
#ifndef INSERT_NO_LEVEL
        :: walk && LEVEL(seen) <= known -> goto add_to_child
#endif
        :: else
        fi;
        walk = false;
        if
        :: HAS_ROOM(seen) -> goto swap
        :: else -> goto not_added
        fi
    }
add_to_child:
    atomic {
        walk = false; b = s + 2; seen = word[b];
        if
        :: HAS_ROOM(seen)
        :: else -> goto not_added
        fi
    }
swap:
    atomic {
        t = (known > LEVEL(seen) -> TAIL(BIT(c, e, s, LEVEL(seen))) : NO_TAIL);
        if
        :: word[b] == seen -> word[b] = seen + ONE(c, t)
#ifdef SWAP_IGNORES_LEVEL
        :: word[b] != seen && word[b] == seen + LEVEL_1 -> word[b] = word[b] + ONE(c, t)
        :: word[b] != seen && word[b] != seen + LEVEL_1 -> t = 0; goto add
#elif defined(INSERT_NO_SECOND_LOOK)
        /* The slot is added as it was made, where there is room. */
        :: word[b] != seen && HAS_ROOM(word[b]) -> word[b] = word[b] + ONE(c, t)
        :: word[b] != seen && !HAS_ROOM(word[b]) -> goto not_added
#else
        :: else -> t = 0; goto add
#endif
        fi;
        t = 0; b = 0; seen = 0;
        if
        :: moves -> s = 1 - s
        :: else -> INSERTED(f); goto idle
        fi
    }
#ifndef MOVE_NO_BUMP
    atomic { BUMP }
#endif
    /* Clears what was moved, `tail` in the bucket `from`, and stores the incoming slot there. */
clear_moved:
    atomic {
        if
        :: word[from] == original ->
            assert(NUMBER(original, c, tail) > 0);
            word[from] = original - ONE(c, tail);
            if
            :: incoming && from == LOCATION(CORE(f), EXTENSION(f), s) ->
                word[from] = word[from] + NEW_SLOT(f, s, LEVEL(original)); INSERTED(f)
#ifdef INCOMING_TO_EITHER
            :: incoming && LEVEL(original) == 1 && from != LOCATION(CORE(f), EXTENSION(f), s) ->
                word[from] = word[from] + ONE(CORE(f), NO_TAIL); INSERTED(f)
#endif
#ifdef INCOMING_DROPPED
            :: incoming && LEVEL(original) == 1 && from != LOCATION(CORE(f), EXTENSION(f), s) ->
                INSERTED(f)
#endif
            :: else /* if there is an incoming slot, its insert searches again */
            fi;
#ifdef MOVE_CLEARS_PARENT_ONLY
#ifndef MOVE_COUNTS_GHOSTS
            if :: both -> ghosts[c]-- :: else fi;
#endif
            MOVE_SET(c, false); goto idle
#else
            if
            :: both -> both = false; ghosts[c]--; from = from ^ 2; goto load_moved
            :: else -> MOVE_SET(c, false); goto idle
            fi
#endif
        :: else
        fi
    }
#ifdef MOVE_NO_SECOND_LOOK
load_moved:
    atomic { original = word[from]; goto clear_moved }
#else
    /* The word has changed. If the source was split, the slot has lost its tail; if it had none, it
     * is in both buckets. */
    atomic {
        if
        :: LEVEL(original) == 1 -> goto load_moved
        :: else
        fi;
        original = word[s];
        if
        :: LEVEL(original) == 0 -> goto clear_moved
        :: LEVEL(original) == 1 && known == 0 ->
            both = true;
#ifndef MOVE_CLEARS_PARENT_ONLY
            if :: true :: from = s + 2; goto load_moved fi;
#endif
            goto clear_moved
        :: LEVEL(original) == 1 && known > 0 ->
            tail = NO_TAIL;
            if
            :: BIT(c, e, s, 0) == 1 -> from = s + 2; goto load_moved
            :: else -> goto clear_moved
            fi
        fi
    }
load_moved:
    atomic { original = word[from]; goto clear_moved }
#endif

not_added:
    atomic {
        if :: moves -> MOVE_SET(c, false) :: else fi;
        goto idle
    }

    /* Looks for the longest match on the side `s`, then on the other one. */
look:
    atomic {
        LOAD(c, e, s);
        if
        :: walk -> walk = false; b = s + 2; seen = 0
        :: else -> goto looked
        fi
    }
    seen = word[b];
looked:
    atomic {
        if
        :: one_side ->
            assert(MATCHES(seen, c, e, s) > 0); /* it is still there */
            tail = CHOSEN(seen, c, e, s); from = b; original = seen; b = 0; seen = 0;
            goto clear_removed
        :: else
        fi;
        best = KNOWN(seen, c, e, s);
        from = b; original = seen; b = 0; seen = 0; s = 1 - s;
        if
        :: best == 0 -> from = 0; original = 0
        :: else
        fi
    }
    atomic {
        LOAD(c, e, s);
        if
        :: walk -> walk = false; b = s + 2; seen = 0
        :: else -> goto choose
        fi
    }
    seen = word[b];
choose:
    atomic {
        assert(best > 0 || MATCHES(seen, c, e, s) > 0); /* it was paid for */
        if
        :: BETTER(KNOWN(seen, c, e, s), best) -> from = b; original = seen
        :: KNOWN(seen, c, e, s) == best -> if :: from = b; original = seen :: s = 1 - s fi
        :: else -> s = 1 - s
        fi;
        b = 0; seen = 0; best = 0;
        tail = CHOSEN(original, c, e, s);
        /* Before a second look the version was bumped already. */
        if
        :: both -> goto clear_removed
        :: else
        fi
    }
#ifndef REMOVE_NO_BUMP
    atomic { BUMP }
#endif
clear_removed:
    atomic {
        if
        :: word[from] == original ->
            assert(NUMBER(original, c, tail) > 0);
            word[from] = original - ONE(c, tail);
            REMOVE_SET(c, false); goto idle
        :: else
#ifdef REMOVE_NO_SECOND_LOOK
            -> original = word[from]; goto clear_removed
#endif
        fi;
        from = 0; tail = 0; original = 0;
        /* Looks again, at this side or at both. */
        if
        :: one_side = true
        :: one_side = false; both = true
        fi;
        goto look
    }

    /* Counts the matches in both locations. */
count:
    atomic {
        LOAD(c, e, s);
        if
        :: walk -> walk = false; seen = 0; b = s + 2
        :: else -> goto counted
        fi
    }
    seen = word[b];
counted:
    atomic {
        best = best + MATCHES(seen, c, e, s);
        seen = 0; b = 0;
        if
        :: !both -> both = true; s = 1 - s; goto count
        :: else
        fi;
        /* The number was right at some moment of the call: under the lock, matches only come. */
        assert(then <= best && best <= MATCHES_NOW(c, e));
        COUNT_SET(c, false); goto idle
    }

    /* Splits the parent `s`. Its word was read as the lock was taken. */
split:
    atomic {
        if
        :: LEVEL(seen) == 1 -> goto advance
        :: else
        fi
#ifdef SIZE_EARLY
        ; if :: size == s -> size = s + 1 :: else fi
#elif defined(CHILD_LATE)
        ; skip
#else
        ; word[s + 2] = CHILD_OF(seen)
#endif
    }
#ifdef SIZE_EARLY
    word[s + 2] = CHILD_OF(seen);
#endif
    atomic {
        if
#ifdef SPLIT_BLIND
        :: true ->
#else
        :: word[s] == seen ->
#endif
            word[s] = STAY_OF(seen);
            ghosts[0] = ghosts[0] + NUMBER(seen, 0, NO_TAIL);
            ghosts[1] = ghosts[1] + NUMBER(seen, 1, NO_TAIL)
#ifndef SPLIT_BLIND
        :: else -> seen = word[s]; goto split
#endif
        fi
    }
#ifdef CHILD_LATE
    word[s + 2] = CHILD_OF(seen);
#endif
    /* Advances `size` over all parents that have been split, in order. To read it, to load the next
     * parent's level, and to raise it are one step: neither falls, so an older size or level does
     * nothing that this step does not do. */
advance:
#ifdef SIZE_STORED
    atomic {
        seen = 0; b = size;
        if
        :: size < 2 && LEVEL(word[size]) == 1
        :: else -> goto advanced
        fi
    }
    atomic { size = b + 1; b = 0; goto advance }
#endif
advanced:
    atomic {
        seen = 0;
        if
#ifdef HELPER_NO_LEVEL
        :: size < 2 && helps -> size++; goto advance
#endif
        :: size < 2 && LEVEL(word[size]) == 1 -> size++; goto advance
        :: else -> if :: helps :: else -> SPLIT_SET(s, false) fi; goto idle
        fi
    }

done:
    skip
}

/* ---- Readers ---- */

#ifdef LOOKUP_NO_LEVEL
/* The word is decoded as the hint says. */
#define HIT(w, s) \
    (NUMBER(w, c, NO_TAIL) > 0 || NUMBER(w, c, TAIL(BIT(c, e, s, level))) > 0)
#else
#define HIT(w, s) (MATCHES(w, c, e, s) > 0)
#endif

/* Looks an item up. */
proctype Reader(byte f) {
    byte c, e, s, b, expected;
    byte level;   /* the one that the hint says */
    short seen;
    bool walk, later;
    atomic {
        c = CORE(f); e = EXTENSION(f);
        if :: s = 0 :: s = 1 fi;
        WATCH(f)
    }
round:
    atomic {
        LOAD(c, e, s);
#ifdef LOOKUP_NO_LEVEL
        level = b >> 1; walk = false;
#endif
        if
        :: walk ->
            walk = false; b = 0; seen = 0;
            /* The child is loaded at once, or after the other side's word. */
            if :: true :: later = true; goto second fi
        :: else -> if :: HIT(seen, s) -> goto hit :: else -> b = 0; seen = 0; goto second fi
        fi
    }
    atomic { if :: HIT(word[s + 2], s) -> goto hit :: else fi }
second:
    atomic {
        LOAD(c, e, 1 - s);
#ifdef LOOKUP_NO_LEVEL
        level = b >> 1; walk = false;
#endif
        if
        :: walk -> walk = false; b = 0; seen = 0
        :: else -> if :: HIT(seen, 1 - s) -> goto hit :: else -> b = 0; seen = 0; goto third fi
        fi
    }
    atomic { if :: HIT(word[3 - s], 1 - s) -> goto hit :: else fi }
third:
    atomic { if :: later && HIT(word[s + 2], s) -> goto hit :: else -> later = false fi }
#ifndef LOOKUP_NO_VALIDATION
    atomic { if :: !bumped -> goto miss :: else fi }
    atomic { bumped = false; goto round }
#endif
miss:
    assert(held == 0); /* no false negative */
hit:
    atomic { UNWATCH; s = 0; b = 0; seen = 0; later = false }
}

/* ---- Programs ---- */

#define ONLY(f) (1 << (f))

/* Puts `n` slots of an item into parents that have not been split, in every way. `tailless`: the
 * slots may be without a tail. */
inline start(f, n, tailless) {
    paid[f] = n;
    left = n;
    do
    :: left > 0 ->
        if :: s = 0 :: s = 1 fi;
        if
        :: t = TAIL(BIT(CORE(f), EXTENSION(f), s, 0))
        :: tailless -> t = NO_TAIL
        fi;
        if
        :: HAS_ROOM(word[s]) -> word[s] = word[s] + ONE(CORE(f), t); left--
        :: else
        fi
    :: else -> break
    od
}

/* Whether a slot matches an item: `t` of the core `c` in the bucket `b`. */
#define IS_OF(f) \
    (CORE(f) == c && (LEVEL(word[b]) == 0 || BIT(c, EXTENSION(f), b & 1, 0) == b >> 1) \
        && (t == NO_TAIL || t == TAIL_HERE(word[b], c, EXTENSION(f), b & 1)))

#define IS_IN(f) (set & ONLY(f) && IS_OF(f))
#define WANTED(f) (set & ONLY(f) -> paid[f] : 0)

init {
    byte s, b, c, t, left, set, near;
    atomic {
#if defined(P_LOOKUP)
        start(X, 1, 0);
        run Reader(X);
        run Client(SPLIT, 0, 2);
        run Client(MOVE, ONLY(X), 2);
#elif defined(P_ALIAS)
        start(X, 1, 0);
        run Reader(X);
        run Client(SPLIT, 0, 1);
        run Client(INSERT | REMOVE | MOVE, ONLY(X), 3);
#elif defined(P_WRITERS)
        start(X, 1, 0); start(Y, 1, 0);
        run Client(SPLIT, 0, 2);
        run Client(INSERT | REMOVE, ONLY(X), 1);
        run Client(INSERT | REMOVE, ONLY(Y) | ONLY(V), 2);
#elif defined(P_REMOVAL)
        start(X, 1, 1); start(Y, 1, 1);
        run Reader(Y);
        run Client(SPLIT, 0, 2);
        run Client(REMOVE | INSERT, ONLY(X) | ONLY(V), 2);
#elif defined(P_UNKNOWN)
        start(X, 1, 1); start(Y, 1, 1);
        run Reader(X);
        run Client(SPLIT, 0, 2);
        run Client(MOVE, ONLY(X), 2);
#elif defined(P_TAKEN)
        start(X, 1, 1); start(Y, 1, 1);
        run Client(SPLIT, 0, 2);
        run Client(MOVE, ONLY(X), 1);
        run Client(REMOVE, ONLY(X) | ONLY(Y), 1);
#elif defined(P_HELP)
        start(X, 1, 1);
        run Reader(X);
        run Client(SPLIT, 0, 2);
        run Client(SPLIT, 0, 1);
        run Client(HELP, 0, 1);
#elif defined(P_SPLITTERS)
        start(X, 1, 1);
        run Client(SPLIT, 0, 1);
        run Client(SPLIT, 0, 1);
        run Client(INSERT | REMOVE, ONLY(Y) | ONLY(V), 2);
#elif defined(P_STALE)
        start(X, 1, 0);
        run Client(SPLIT, 0, 1);
        run Client(MOVE, ONLY(X), 1);
        run Client(INSERT | REMOVE, ONLY(X) | ONLY(Y), 2);
#elif defined(P_RETRY)
        start(X, 1, 1); start(Z, 1, 0);
        run Reader(X);
        run Client(SPLIT, 0, 2);
        run Client(MOVE | PUSH, ONLY(Y) | ONLY(Z), 1);
#elif defined(P_COUNT)
        start(X, 1, 1); start(Y, 1, 1);
        run Client(COUNT, ONLY(X), 1);
        run Client(SPLIT, 0, 1);
        run Client(INSERT | REMOVE | MOVE, ONLY(X), 2);
#endif
        s = 0; t = 0; left = 0
    }
    d_step {
        _nr_pr == 1 -> /* all others have ended */
        assert(size == (LEVEL(word[0]) == 0 -> 0 : (LEVEL(word[1]) == 0 -> 1 : 2)));
        /* For each set of items, there are as many slots that match one of them. By Hall's theorem,
         * then, each item has a slot of its own. */
        set = 1;
        do
        :: set < 16 ->
            near = 0; b = 0; c = 0; t = 0;
            do
            :: b < 4 && (b < 2 || LEVEL(word[b & 1]) == 1) ->
                if
                :: IS_IN(X) || IS_IN(Y) || IS_IN(V) || IS_IN(Z) ->
                    near = near + NUMBER(word[b], c, t)
                :: else
                fi;
                t++;
                if :: t == 3 -> t = 0; c++ :: else fi;
                if :: c == 2 -> c = 0; b++ :: else fi
            :: b < 4 && !(b < 2 || LEVEL(word[b & 1]) == 1) -> b++
            :: b == 4 -> break
            od;
            assert(near >= WANTED(X) + WANTED(Y) + WANTED(V) + WANTED(Z));
            set++
        :: else -> break
        od;
        /* And nothing else, ghosts apart. */
#define IN_ALL(c) (OF_CORE(word[0], c) + OF_CORE(word[1], c) \
    + (LEVEL(word[0]) * OF_CORE(word[2], c)) + (LEVEL(word[1]) * OF_CORE(word[3], c)))
        assert(IN_ALL(0) == paid[X] + paid[Y] + paid[V] + ghosts[0]);
        assert(IN_ALL(1) == paid[Z] + ghosts[1])
    }
}
