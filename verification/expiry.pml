/* Expiry: slots that hold the generation of their insert, and a shared counter `now`.
 *
 * A slot holds a fingerprint and a stamp: its generation modulo M. Its age is `now` minus the
 * stamp, modulo M. Here M = 4, and the window is W = 1:
 *
 *     age          0        1        2          3
 *     a slot is    visible  visible  sweepable  never touched: it may be a stamp of the generation
 *                                               that is just beginning
 *
 * Two or three buckets of a few slots. All items with the fingerprint X are aliases. Z occurs only
 * in the program that needs a fingerprint of another stripe:
 *
 *     fingerprint   X       Z
 *     buckets       0, 1    0, 2
 *     stripe        0       1
 *
 * `now` and the generations that callers name are whole numbers. A slot shows its stamp alone.
 *
 * What is one step, and how a word is represented, is as in table.pml. What is chosen freely is as
 * there, and also: when `now` advances, which buckets are swept, how long an insert is suspended,
 * and when `insert_unique` pauses to make room.
 *
 * Checked: a lookup finds an item that is in the window throughout, so until the (W + 1)-th advance
 * after its insert or refresh read `now`. What a lookup finds belongs to an item that was in the
 * window since the lookup began. (An insert that is suspended until its own item has expired may
 * leave a slot that is found later, when the stamps come round. From then on only the first half is
 * checked.) `insert_unique` accepts no item while one that it accepted is in the window. No slot
 * that is visible is cleared because it seems expired. At the end each item has a slot whose stamp
 * is at least its own, and the counts by stamp are right. No deadlock.
 *
 * A step is removed or broken by defining its switch. ./run lists the switches, each with the
 * program (see `init`) that it breaks and the schedule that breaks it.
 */

#ifndef SLOTS
#define SLOTS 2
#endif
#define M 4
#define W 1

#define X 0
#define Z 1
#ifdef P_RELOCATION
#define BUCKETS 3
#define STRIPES 2
#else
#define BUCKETS 2
#define STRIPES 1
#endif
#define ALT(f, b) ((f) == X -> 1 - (b) : 2 - (b)) /* the alternate bucket */
#define STRIPE(f) (f)

/* `g` is a generation or a stamp. */
#define STAMP(g) ((g) & (M - 1))
#define AGE(n, g) STAMP((n) - (g))
#ifdef SWEEP_YOUNGEST
#define SWEEPABLE(n, g) (AGE(n, g) > W)
#else
#define SWEEPABLE(n, g) (AGE(n, g) > W && AGE(n, g) <= M - 2)
#endif

/* A word: the number of slots with each fingerprint and stamp, four bits for each. */
#define ONE(f, g) (1 << (16 * (f) + 4 * STAMP(g)))
#define COPIES(w, f, g) (((w) >> (16 * (f) + 4 * STAMP(g))) & 15)
#define VISIBLE(w, f, n) (COPIES(w, f, n) + COPIES(w, f, (n) - 1))
#define HAS_ROOM(w) ((w) % 15 < SLOTS) /* the sum of the digits in base 16 */
/* Takes everything with the stamp of `g` out of a word, or out of a set below. */
#define DROP(w, g) w = w & ~(983055 << (4 * STAMP(g))) /* 0xf000f */

byte now = 5;
int word[BUCKETS];
byte version[STRIPES];
bool lock[STRIPES];
bool sweeping;   /* the lock of sweeps */
bool advancing;  /* the mutex of `advance` */
byte counted[M]; /* slots by stamp. Here it changes together with the word. */

/* What a sweep reads. With the switch: the last generation whose `advance` has passed through the
 * locks. Then no slot that is visible to the holder of a stripe can be swept while it holds it. */
#ifdef SWEEPS_WAIT_FOR_PASS
byte settled = 5;
#define SWEEP_NOW settled
#define SETTLED settled = now
#else
#define SWEEP_NOW now
#define SETTLED skip
#endif

/* ---- GHOST: the contracts, and who is in the window ---- */

/* Items in the window, by fingerprint and generation. A set counts as a word does. */
int paid;        /* items that may be removed */
short kept;      /* items that were refreshed: nobody may remove them. This and the rest: X only. */
short busy;      /* items that are being refreshed */
short accepted;  /* items of `paid` that `insert_unique` added */
short held;      /* items of `paid` that were there when a lookup or a snapshot began */
short held_kept; /* items of `kept` and `busy` that were there then */
byte live;       /* the stamps of the items of the last M - 1 generations, one bit for each */
bool stray;      /* an insert was suspended until its item had expired */
bool restamped;  /* a refresh took a slot, maybe that of an alias */

#define SHRINK(set, g) \
    if :: COPIES(set, X, g) > COPIES(paid, X, g) -> set = set - ONE(X, g) :: else fi
/* A generation begins: items leave the window. */
#define PUBLISH \
    now++; \
    DROP(paid, now - W - 1); DROP(kept, now - W - 1); DROP(busy, now - W - 1); \
    DROP(accepted, now - W - 1); DROP(held, now - W - 1); DROP(held_kept, now - W - 1); \
    live = live & ~(1 << STAMP(now + 1))
#define LIVE(g) live = live | (1 << STAMP(g))
/* An insert succeeds, with the step that adds the slot. */
#define INSERTED(g) \
    counted[STAMP(g)]++; \
    if :: now - (g) <= W -> paid = paid + ONE(X, g); LIVE(g) :: else -> stray = true fi
/* A removal starts. Of several assignments, the one that keeps the most old items in the table. */
#define TAKEN(g) \
    if :: now - (g) <= W -> \
        paid = paid - ONE(X, g); SHRINK(held, g); SHRINK(accepted, g) \
    :: else fi
/* A refresh starts. Of several items, the one that the reader relies on. */
#define REFRESH_STARTS(g) \
    paid = paid - ONE(X, g); busy = busy + ONE(X, g); SHRINK(accepted, g); \
    if :: COPIES(held, X, g) > 0 -> \
        held = held - ONE(X, g); held_kept = held_kept + ONE(X, g) \
    :: else fi
#define REFRESH_STARTS_AGAIN(g) kept = kept - ONE(X, g); busy = busy + ONE(X, g)
/* A refresh returns true. If the caller's item had expired at `n`, it was for an alias alone. */
#define REFRESHED(g, n) \
    if :: (g) != 0 && (n) - (g) <= W -> \
        if :: now - (g) <= W -> \
            busy = busy - ONE(X, g); \
            if :: COPIES(held_kept, X, g) > 0 -> \
                held_kept = held_kept - ONE(X, g) + ONE(X, n) \
            :: else fi \
        :: else fi; \
        if :: now - (n) <= W -> kept = kept + ONE(X, n) :: else fi \
    :: else fi
/* A refresh returns false. The caller's item, if there is one, must have expired. */
#define NOT_REFRESHED(g) assert((g) == 0 || now - (g) > W)
#define WATCH held = paid & 65535; held_kept = kept + busy
#define UNWATCH held = 0; held_kept = 0
/* What a reader takes for visible belongs to an item whose window has not passed. */
#define JUSTIFIED(w, n) \
    assert(stray || COPIES(w, X, n) == 0 || (live >> STAMP(n)) & 1); \
    assert(stray || COPIES(w, X, n - 1) == 0 || (live >> STAMP(n - 1)) & 1)

/* ---- Locks ---- */

#define MAY_LOCK(f) (!lock[STRIPE(f)])
#define LOCK(f) lock[STRIPE(f)] = true
#define UNLOCK(f) lock[STRIPE(f)] = false
#ifdef REFRESH_NO_LOCK
#define REFRESH_MAY_LOCK true
#define REFRESH_SET(value) skip
#else
#define REFRESH_MAY_LOCK (!lock[0])
#define REFRESH_SET(value) lock[0] = value
#endif
#ifdef UNIQUE_NO_LOCK
#define UNIQUE_MAY_LOCK true
#define UNIQUE_SET(value) skip
#else
#define UNIQUE_MAY_LOCK (!lock[0])
#define UNIQUE_SET(value) lock[0] = value
#endif
#ifdef SWEEP_NO_LOCK
#define SWEEP_MAY_LOCK true
#define SWEEP_SET(value) skip
#else
#define SWEEP_MAY_LOCK (!sweeping)
#define SWEEP_SET(value) sweeping = value
#endif
#ifdef COPY_NO_SWEEP_LOCK
#define COPY_MAY_LOCK true
#define COPY_SET(value) skip
#else
#define COPY_MAY_LOCK (!sweeping)
#define COPY_SET(value) sweeping = value
#endif

/* ---- Steps that several calls share ---- */

/* Clears the slots of a bucket with the stamp of `g`. Nobody can take them for visible. */
#define CLEAR_STAMP(b, g) \
    if :: COPIES(word[b], X, g) + COPIES(word[b], Z, g) > 0 -> \
        assert(AGE(now, g) > W); \
        counted[STAMP(g)] = counted[STAMP(g)] - COPIES(word[b], X, g) - COPIES(word[b], Z, g); \
        DROP(word[b], g) \
    :: else fi
/* Clears all sweepable slots of a bucket, by one compare-and-swap. */
#ifdef SWEEP_YOUNGEST
#define SWEEP(b, n) CLEAR_STAMP(b, n - 2); CLEAR_STAMP(b, n - 3)
#else
#define SWEEP(b, n) CLEAR_STAMP(b, n - 2)
#endif

#ifdef MOVE_COPIES_EXPIRED
#define MAY_COPY(n, s) true
#else
#define MAY_COPY(n, s) (!SWEEPABLE(n, s))
#endif

/* A slot that was seen under the lock is gone, because a sweep has cleared it. */
#if defined(REMOVE_PANICS_IF_SWEPT) || defined(PANICS_IF_SWEPT)
#define REMOVE_FINDS_IT_SWEPT assert(false)
#else
#define REMOVE_FINDS_IT_SWEPT skip
#endif
#if defined(MOVE_PANICS_IF_SWEPT) || defined(PANICS_IF_SWEPT)
#define MOVE_FINDS_IT_SWEPT assert(false)
#else
#define MOVE_FINDS_IT_SWEPT skip
#endif
#if defined(REFRESH_PANICS_IF_SWEPT) || defined(PANICS_IF_SWEPT)
#define REFRESH_FINDS_IT_SWEPT assert(false)
#else
#define REFRESH_FINDS_IT_SWEPT skip
#endif

/* ---- Writers ---- */

#define INSERT 1   /* by one compare-and-swap */
#define REMOVE 2
#define MOVE 4
#define PUSH 8     /* an insert that stores X as the incoming fingerprint of a move */
#define REFRESH 16
#define UNIQUE 32
#define CLEAN 64   /* a sweep of a bucket, by a caller or by an insert that finds the bucket full */
#define COPY 128   /* a snapshot */

/* Makes up to `left` calls, each any of `ops`. */
proctype Client(byte ops; byte left) {
    byte f, b;     /* a fingerprint and one of its buckets */
    byte g;        /* the generation that an insert read, or of the item to remove or refresh */
    byte n;        /* `now` as it was read under a lock */
    byte s;        /* the stamp of a slot */
    int seen;      /* a word as it was read */
    byte then;     /* GHOST: items in the window as the first word was read */
    bool incoming, copied;
idle:
    atomic {
        f = X; b = 0; g = 0; n = 0; s = 0; seen = 0; then = 0; incoming = false; copied = false;
        if
        :: left == 0 -> goto done
        :: else -> left--
        fi;
        if :: b = 0 :: b = 1 fi;
        /* The choice of a call and its first step are one step. */
        if
        :: ops & INSERT -> g = now; goto insert
        :: ops & REMOVE && MAY_LOCK(X) ->
            if
            :: COPIES(paid, X, now) > 0 -> g = now
            :: COPIES(paid, X, now - 1) > 0 -> g = now - 1
            :: g = now - M /* an item that expired long ago */
            fi;
            TAKEN(g); n = now;
#ifdef REMOVE_EARLY_NOW
            goto remove_lock
#else
            LOCK(X); goto remove
#endif
        :: ops & PUSH -> incoming = true; g = now; goto move_lock
        :: ops & MOVE && MAY_LOCK(X) ->
            n = now;
#ifdef MOVE_EARLY_NOW
            goto move_lock
#else
            LOCK(X); goto move
#endif
        :: ops & REFRESH && REFRESH_MAY_LOCK ->
            if
            :: COPIES(paid, X, now) > 0 -> g = now; REFRESH_STARTS(g)
            :: COPIES(paid, X, now - 1) > 0 -> g = now - 1; REFRESH_STARTS(g)
            :: COPIES(kept, X, now) > 0 -> g = now; REFRESH_STARTS_AGAIN(g)
            :: COPIES(kept, X, now - 1) > 0 -> g = now - 1; REFRESH_STARTS_AGAIN(g)
            :: true /* a caller without an item */
            fi;
            n = now;
#ifdef REFRESH_EARLY_NOW
            goto refresh_lock
#else
            REFRESH_SET(true); goto refresh
#endif
        :: ops & UNIQUE && UNIQUE_MAY_LOCK ->
            n = now;
#ifdef UNIQUE_EARLY_NOW
            goto unique_lock
#else
            UNIQUE_SET(true); goto unique
#endif
        :: ops & CLEAN && SWEEP_MAY_LOCK ->
            n = SWEEP_NOW;
#ifdef SWEEP_EARLY_NOW
            goto sweep_lock
#else
            SWEEP_SET(true); goto sweep
#endif
        :: ops & COPY && COPY_MAY_LOCK -> COPY_SET(true); WATCH; goto copy
        :: goto done
        fi
    }

insert:
    /* Also what a relocating insert tries next when its plan was stale. */
    atomic {
        if
        :: HAS_ROOM(word[b])
        :: HAS_ROOM(word[1 - b]) -> b = 1 - b
#ifdef INSERT_REPLACES_EXPIRED
        :: COPIES(word[b], X, g - 2) > 0 ->
            word[b] = word[b] - ONE(X, g - 2); counted[STAMP(g - 2)]--
#endif
        :: !HAS_ROOM(word[b]) && !HAS_ROOM(word[1 - b]) -> goto idle /* full */
        fi;
        word[b] = word[b] + ONE(X, g); INSERTED(g); goto idle
    }

#ifdef REMOVE_EARLY_NOW
remove_lock:
    atomic { MAY_LOCK(X) -> LOCK(X) }
#endif
remove:
    atomic {
#ifdef REMOVE_NO_CHECK
        n = g;
#endif
        if
        :: n - g > W -> UNLOCK(X); goto idle
        :: else -> s = STAMP(g); seen = word[b]
        fi
    }
    atomic {
#ifdef REMOVE_ANY_STAMP
        if
        :: COPIES(seen, X, n) + COPIES(word[1 - b], X, n) > 0 -> s = STAMP(n)
        :: COPIES(seen, X, n - 1) + COPIES(word[1 - b], X, n - 1) > 0 -> s = STAMP(n - 1)
        :: VISIBLE(seen, X, n) + VISIBLE(word[1 - b], X, n) == 0
        fi;
#endif
        if
        :: COPIES(seen, X, s) > 0
        :: COPIES(seen, X, s) == 0 && COPIES(word[1 - b], X, s) > 0 -> b = 1 - b
        :: COPIES(seen, X, s) + COPIES(word[1 - b], X, s) == 0 ->
            /* It was swept, or the refresh of an alias took the slot. */
            assert(now - g > W || restamped); UNLOCK(X); goto idle
        fi;
        seen = 0
    }
#ifndef REMOVE_NO_BUMP
    version[0]++;
#endif
    atomic {
        if
        :: COPIES(word[b], X, s) > 0 -> word[b] = word[b] - ONE(X, s); counted[s]--
        :: else -> REMOVE_FINDS_IT_SWEPT
        fi;
        UNLOCK(X); goto idle
    }

move_lock:
    atomic {
#ifdef P_RELOCATION
        if :: incoming && b == 0 -> f = Z :: true fi;
#endif
        MAY_LOCK(f) -> LOCK(f);
#ifndef MOVE_EARLY_NOW
        n = now
#endif
    }
move:
    atomic {
        if
        :: COPIES(word[b], f, 0) > 0 -> s = 0
        :: COPIES(word[b], f, 1) > 0 -> s = 1
        :: COPIES(word[b], f, 2) > 0 -> s = 2
        :: COPIES(word[b], f, 3) > 0 -> s = 3
        :: else -> goto stale
        fi;
        if :: MAY_COPY(n, s) :: else -> goto clear fi
    }
    atomic {
        if
        :: HAS_ROOM(word[ALT(f, b)]) ->
            word[ALT(f, b)] = word[ALT(f, b)] + ONE(f, s); copied = true
        :: else -> goto stale
        fi
    }
#ifndef MOVE_NO_BUMP
    version[STRIPE(f)]++;
#endif
clear:
    /* The expired slot, or the original of the copy. */
    atomic {
        if
        :: COPIES(word[b], f, s) > 0 ->
            word[b] = word[b] - ONE(f, s);
            if :: !copied -> assert(AGE(now, s) > W); counted[s]-- :: else fi;
            if
            :: incoming -> word[b] = word[b] + ONE(X, g); INSERTED(g)
            :: else
            fi;
            UNLOCK(f); goto idle
        :: else ->
            if :: copied -> MOVE_FINDS_IT_SWEPT :: else fi;
#ifndef MOVE_MISCOUNTS_SWEPT
            if :: copied -> counted[s]++ :: else fi;
#endif
#ifdef INCOMING_DROPPED_IF_SWEPT
            if :: incoming -> INSERTED(g); counted[STAMP(g)]--; incoming = false :: else fi;
#endif
            goto stale
        fi
    }
stale:
    atomic {
        UNLOCK(f);
        if :: incoming -> n = 0; s = 0; f = X; copied = false; goto insert :: else -> goto idle fi
    }

#ifdef REFRESH_EARLY_NOW
refresh_lock:
    atomic { REFRESH_MAY_LOCK -> REFRESH_SET(true) }
#endif
refresh:
    seen = word[b];
    atomic {
        if
#ifdef REFRESH_ANY
        :: COPIES(seen, X, n) + COPIES(word[1 - b], X, n) > 0 -> s = STAMP(n)
#endif
        :: COPIES(seen, X, n - 1) > 0 -> s = STAMP(n - 1)
        :: COPIES(seen, X, n - 1) == 0 && COPIES(word[1 - b], X, n - 1) > 0 ->
            s = STAMP(n - 1); b = 1 - b
        :: COPIES(seen, X, n - 1) + COPIES(word[1 - b], X, n - 1) == 0 ->
            if
            :: COPIES(seen, X, n) + COPIES(word[1 - b], X, n) > 0 -> s = STAMP(n)
            :: else -> NOT_REFRESHED(g); REFRESH_SET(false); goto idle
            fi
        fi;
        seen = 0
    }
    atomic {
#ifndef REFRESH_NO_NOW_VALIDATION
        if
        :: now != n -> n = now; goto refresh
        :: else
        fi;
#endif
        if
        :: s == STAMP(n) -> REFRESHED(g, n); REFRESH_SET(false); goto idle /* nothing to change */
        :: else -> s = 0
        fi
    }
#ifndef REFRESH_NO_BUMP
    version[0]++;
#endif
    atomic {
        if
        :: COPIES(word[b], X, n - 1) > 0 ->
            word[b] = word[b] - ONE(X, n - 1) + ONE(X, n);
            counted[STAMP(n - 1)]--; counted[STAMP(n)]++; LIVE(n);
            restamped = true; REFRESHED(g, n); REFRESH_SET(false); goto idle
        :: else -> REFRESH_FINDS_IT_SWEPT; goto refresh
        fi
    }

unique:
    atomic {
        then = VISIBLE(paid, X, n) + VISIBLE(kept, X, n) + VISIBLE(busy, X, n);
        seen = word[b]
    }
    atomic {
        if
        :: VISIBLE(seen, X, n) + VISIBLE(word[1 - b], X, n) > 0 ->
            JUSTIFIED(seen, n); JUSTIFIED(word[1 - b], n); UNIQUE_SET(false); goto idle
        :: else ->
            if
            :: HAS_ROOM(seen)
            :: HAS_ROOM(word[1 - b]) -> b = 1 - b; seen = word[b]
            :: then = 0; seen = 0; UNIQUE_SET(false); goto unique_lock /* makes room */
            fi
        fi
    }
    atomic {
        if
        :: word[b] == seen ->
            /* No item was in the window when the first word was read. None that another call of
             * `insert_unique` added is. */
            assert(then == 0 && VISIBLE(accepted, X, now) == 0);
            word[b] = word[b] + ONE(X, n); INSERTED(n); accepted = accepted + ONE(X, n);
            UNIQUE_SET(false); goto idle
        :: else -> then = 0; goto unique
        fi
    }
unique_lock:
    atomic {
        UNIQUE_MAY_LOCK -> UNIQUE_SET(true);
#if !defined(UNIQUE_EARLY_NOW) && !defined(UNIQUE_NOW_BEFORE_PAUSE)
        n = now;
#endif
        goto unique
    }

#ifdef SWEEP_EARLY_NOW
sweep_lock:
    atomic { SWEEP_MAY_LOCK -> SWEEP_SET(true) }
#endif
sweep:
#ifdef SWEEP_BLIND
    seen = word[b];
    atomic { word[b] = seen; SWEEP(b, n); SWEEP_SET(false); goto idle }
#else
    atomic { SWEEP(b, n); SWEEP_SET(false); goto idle }
#endif

copy:
#ifdef COPY_TAKES_MUTEX
    atomic { MAY_LOCK(X) -> LOCK(X) }
    atomic { !advancing -> advancing = true }
#elif defined(COPY_EARLY_NOW)
    n = now;
    atomic { MAY_LOCK(X) -> LOCK(X) }
#else
    atomic { MAY_LOCK(X) -> LOCK(X) }
#endif
    seen = word[0];
    seen = seen + word[1];
    atomic {
#ifndef COPY_EARLY_NOW
        n = now;
#endif
        /* Whoever loads it finds the items, and adopts no slot that can come to life again. */
        assert(VISIBLE(seen, X, n) > 0 || held + held_kept == 0);
        assert(COPIES(seen, X, n + 1) == 0 || (live >> STAMP(n + 1)) & 1 || stray);
#ifdef COPY_TAKES_MUTEX
        advancing = false;
#endif
        UNLOCK(X); COPY_SET(false); UNWATCH; goto idle
    }

done:
    left = 0
}

/* ---- `advance` ---- */

#ifdef ADVANCE_NO_MUTEX
#define ADVANCE_MAY_LOCK true
#define ADVANCE_SET(value) skip
#else
#define ADVANCE_MAY_LOCK (!advancing)
#define ADVANCE_SET(value) advancing = value
#endif

/* Begins `left` generations. */
proctype Advancer(byte left) {
    byte b;
next:
    atomic {
        if
        :: left == 0 -> goto done
        :: left > 0 && ADVANCE_MAY_LOCK -> ADVANCE_SET(true); left--
        fi
    }
#ifdef ADVANCE_SWEEPS_BEFORE_PASS
#define AFTER_SWEEP pass
    goto publish;
#else
#define AFTER_SWEEP publish
#endif
sweep:
    /* Each bucket is a chunk, and one step: nothing changes `now` while it is swept. */
    atomic {
        SWEEP_MAY_LOCK ->
#ifndef ADVANCE_NO_SWEEP
        SWEEP(b, now);
#endif
        b++;
        if :: b < BUCKETS -> goto sweep :: else -> b = 0; goto AFTER_SWEEP fi
    }
publish:
    atomic {
        PUBLISH;
#ifdef ADVANCE_SWEEPS_BEFORE_PASS
        goto sweep
#endif
    }
pass:
#ifndef ADVANCE_SKIPS_SWEEP_LOCK
    SWEEP_MAY_LOCK;
#endif
#ifdef ADVANCE_SKIPS_STRIPES
    atomic { SETTLED; ADVANCE_SET(false); goto next }
#else
#if STRIPES == 2
    MAY_LOCK(1);
#endif
    atomic { MAY_LOCK(0) -> SETTLED; ADVANCE_SET(false); goto next }
#endif
done:
    skip
}

/* ---- Readers ---- */

#define IF_IN(b) \
    atomic { if :: VISIBLE(word[b], X, m) > 0 -> JUSTIFIED(word[b], m); goto hit :: else fi }

/* Looks X up. */
proctype Reader() {
    byte b, m, v;
    int first;
    atomic { WATCH; m = now; if :: b = 0 :: b = 1 fi }
round:
    v = version[0];
#ifdef LOOKUP_LATE_NOW
    first = word[b];
    atomic {
        m = now;
        if :: VISIBLE(first, X, m) > 0 -> JUSTIFIED(first, m); goto hit :: else fi;
        first = 0
    }
#else
    IF_IN(b);
#endif
    IF_IN(1 - b);
#ifndef LOOKUP_NO_VERSION_VALIDATION
    atomic { if :: version[0] == v :: else -> goto again fi }
#endif
    atomic {
#ifndef LOOKUP_NO_NOW_VALIDATION
        if :: now == m :: else -> goto again fi;
#endif
        assert(held + held_kept == 0); /* no false negative */
        goto hit
    }
again:
    atomic { m = now; goto round }
hit:
    atomic { UNWATCH; m = 0; v = 0; b = 0; first = 0 }
}

/* ---- Programs ---- */

/* Puts a slot with any stamp but the youngest into any bucket with room. */
inline start(f, j) {
#ifdef ADVANCE_SWEEPS_BEFORE_PASS
    if :: g = now :: g = now - 1 fi;
#else
    if :: g = now :: g = now - 1 :: g = now - 2 fi;
#endif
    if
    :: HAS_ROOM(word[0]) -> word[0] = word[0] + ONE(f, g)
    :: HAS_ROOM(word[j]) -> word[j] = word[j] + ONE(f, g)
    fi;
    counted[STAMP(g)]++;
    if :: now - g <= W -> paid = paid + ONE(f, g) :: else fi;
    if :: f == X -> LIVE(g) :: else fi;
    g = 0
}
#define START(f, j) if :: start(f, j) :: true fi

#define TOTAL(f, g) (COPIES(word[0], f, g) + COPIES(word[1], f, g) + IN_LAST(f, g))
#if BUCKETS == 3
#define IN_LAST(f, g) COPIES(word[2], f, g)
#else
#define IN_LAST(f, g) 0
#endif
#define ITEMS(f, g) (COPIES(paid, f, g) + ((f) == X -> COPIES(kept, X, g) : 0))

init {
    byte g;
    atomic {
#if defined(P_LOOKUP)
        START(X, 1); START(X, 1);
        run Reader();
        run Advancer(3);
        run Client(INSERT | REMOVE | MOVE | REFRESH, 2);
#elif defined(P_SWEEP)
        START(X, 1); START(X, 1);
        run Reader();
        run Advancer(2);
        run Client(CLEAN, 1);
        run Client(INSERT | REMOVE | MOVE | REFRESH, 1);
#elif defined(P_REFRESH)
        START(X, 1); START(X, 1);
        run Advancer(1);
        run Client(REFRESH | REMOVE, 2);
        run Client(REFRESH | REMOVE | CLEAN, 1);
#elif defined(P_WINDOW)
        START(X, 1);
        run Reader();
        run Advancer(3);
        run Client(REFRESH | MOVE, 2);
#elif defined(P_UNIQUE)
        START(X, 1);
        run Advancer(2);
        run Client(UNIQUE | REMOVE, 2);
        run Client(UNIQUE, 1);
        run Client(MOVE, 1);
#elif defined(P_ADVANCE)
        START(X, 1); START(X, 1);
        run Reader();
        run Advancer(2);
        run Advancer(1);
        run Client(CLEAN | MOVE | REFRESH, 1);
#elif defined(P_REMOVAL)
        START(X, 1);
        run Reader();
        run Advancer(3);
        run Client(REMOVE, 1);
        run Client(INSERT, 1);
#elif defined(P_RELOCATION)
        START(Z, 2); START(X, 1); START(X, 1);
        run Advancer(2);
        run Client(PUSH, 1);
        run Client(CLEAN | REMOVE, 1);
#elif defined(P_INSERT)
        START(X, 1);
        run Advancer(3);
        run Client(INSERT | CLEAN | REMOVE, 1);
        run Client(INSERT | MOVE, 1);
#elif defined(P_COPY)
        START(X, 1); START(X, 1);
        run Advancer(2);
        run Client(COPY, 1);
        run Client(INSERT | REMOVE | MOVE | REFRESH | CLEAN, 2);
#endif
    }
    atomic {
        _nr_pr == 1 -> /* all others have ended */
        /* There are slots for all items: none was lost. */
        assert(busy == 0);
        assert(ITEMS(X, now) <= TOTAL(X, now));
        assert(ITEMS(X, now) + ITEMS(X, now - 1) <= TOTAL(X, now) + TOTAL(X, now - 1));
        assert(ITEMS(Z, now) <= TOTAL(Z, now) && ITEMS(Z, now - 1) <= TOTAL(Z, now - 1));
        /* The counts are right. So no slot was added twice. */
        assert(counted[0] == TOTAL(X, 0) + TOTAL(Z, 0));
        assert(counted[1] == TOTAL(X, 1) + TOTAL(Z, 1));
        assert(counted[2] == TOTAL(X, 2) + TOTAL(Z, 2));
        assert(counted[3] == TOTAL(X, 3) + TOTAL(Z, 3))
    }
}
