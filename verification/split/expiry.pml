/* Expiry in a table that grows: the clock, sweeps, and `advance`. slots.pml includes this. */

#define STAMP(g) ((g) % M)
/* The age of a slot with the stamp `v`, and the only stamp that has expired, since M is W + 3. */
#define AGE(n, v) (((n) + M - (v)) % M)
#define EXPIRED(n) STAMP((n) - W - 1)
#define OF_STAMP(w, v) (NUMBER(w, 0, 0, v) + NUMBER(w, 0, 1, v) + NUMBER(w, 0, 2, v))
#define WITHOUT_STAMP(w, v) ((w) & ~((3 << AT(0, 0, v)) | (3 << AT(0, 1, v)) | (3 << AT(0, 2, v))))
/* The visible payloads of a group, and those of them that are younger than the generation `g`. */
#if W == 2
#define VISIBLE(n) (ONLY_PAYLOAD(STAMP(n)) | ONLY_PAYLOAD(STAMP((n) - 1)) \
    | ONLY_PAYLOAD(STAMP((n) - 2)))
#else
#define VISIBLE(n) (ONLY_PAYLOAD(STAMP(n)) | ONLY_PAYLOAD(STAMP((n) - 1)))
#endif
#define YOUNGER(n, g) (((n) - (g) >= 1 -> ONLY_PAYLOAD(STAMP(n)) : 0) \
    | ((n) - (g) >= 2 -> ONLY_PAYLOAD(STAMP((n) - 1)) : 0))

byte now = 6;
byte end = 2;      /* the number of buckets of the sweep of this generation */
byte swept;        /* those of them that have been swept */
byte refreshed;    /* the last generation in which a refresh restamped a slot, or zero */
byte counted[M];   /* slots by stamp. Here it changes together with the word. */

/* GHOST */
bool stray;        /* an insert was suspended until its item had expired */
bool restamped;    /* a refresh took a slot, maybe that of an alias */

/* An insert succeeds, with the step that adds the slot. */
#define LANDED(f, g) \
    counted[STAMP(g)]++; \
    if \
    :: now - (g) <= W -> item[f] = PRESENT; payload[f] = g \
    :: else -> item[f] = ABSENT; stray = true \
    fi
#define STILL_LASTS(f) (now - payload[f] <= W)
/* A refresh returns true. If the caller's item had expired at `n`, it was for an alias alone. */
#define REFRESHED(f, n) \
    if \
    :: owns && (n) - payload[f] <= W -> item[f] = KEPT; payload[f] = n \
    :: owns && (n) - payload[f] > W -> item[f] = ABSENT; payload[f] = 0 \
    :: !owns \
    fi
/* A refresh returns false. The caller's item, if there is one, must have expired. */
#define NOT_REFRESHED(f) \
    if \
    :: owns -> assert(now - payload[f] > W); item[f] = ABSENT; payload[f] = 0 \
    :: else \
    fi
/* An item leaves the window as a generation begins. */
#define LEAVES(f) \
    if \
    :: IN_TABLE(f) && now - payload[f] > W -> \
        RELEASE(f); \
        if :: item[f] != BUSY -> item[f] = ABSENT; payload[f] = 0 :: else fi \
    :: else \
    fi

/* What has expired, for a holder of a lock that has read `n` since. */
#define UNEXPIRED(w) (n > 0 -> WITHOUT_STAMP(w, EXPIRED(n)) : (w))
#define SWEEP_STAMP(b, v) \
    if \
    :: OF_STAMP(word[b], v) > 0 -> \
        assert(AGE(now, v) > W); \
        counted[v] = counted[v] - OF_STAMP(word[b], v); \
        word[b] = WITHOUT_STAMP(word[b], v) \
    :: else \
    fi
#define READ_NOW n = now
#ifdef MOVE_COPIES_EXPIRED
#define HAS_EXPIRED(v) false
#else
#define HAS_EXPIRED(v) (v == EXPIRED(n))
#endif
#ifdef SPLIT_CARRIES_EXPIRED
#define CARRIES(w) (w)
#define SWEEP_SPLIT(p) skip
#else
#define CARRIES(w) UNEXPIRED(w)
#define SWEEP_SPLIT(p) SWEEP(p)
#endif
#ifdef INSERT_SWEEPS_NO_LOCK
#define ADD_UNLOCK skip
#else
#define ADD_UNLOCK if :: n > 0 -> lock[0] = false :: else fi
#endif
#ifdef MOVE_PANICS_IF_SWEPT
#define IS_GONE assert(false)
#else
#define IS_GONE skip
#endif

/* The counts by stamp. */
short ghosts[M];   /* those of them that belong to nobody */
#define INSERTED(f, v) LANDED(f, g)
#define COUNT_REMOVED counted[v]--
#define DROP_EXPIRED if :: !moves -> assert(AGE(now, v) > W); COUNT_REMOVED :: else fi
#define REPLACED \
    word[from] = word[from] + ONE(c, tail, STAMP(n)); counted[STAMP(n)]++; restamped = true; \
    REFRESHED(f, n)
/* A move has cleared copies that splits had made, those that no sweep had. If there is none, the
 * copy on the other side is one slot more. */
#ifdef MOVE_MISCOUNTS_SWEPT
#define COUNT_SWEPT_ORIGINAL skip
#else
#define COUNT_SWEPT_ORIGINAL counted[v]++
#endif
#define COUNT_MOVED(cleared) \
    if \
    :: (cleared) == 0 -> COUNT_SWEPT_ORIGINAL \
    :: (cleared) > 0 -> \
        counted[v] = counted[v] + 1 - (cleared); ghosts[v] = ghosts[v] + 1 - (cleared) \
    fi
#define COPY_OF(w, v) \
    counted[v] = counted[v] + NUMBER(w, 0, NO_TAIL, v); \
    ghosts[v] = ghosts[v] + NUMBER(w, 0, NO_TAIL, v)
#if M == 5
#define COUNT_COPIED(w) COPY_OF(w, 0); COPY_OF(w, 1); COPY_OF(w, 2); COPY_OF(w, 3); COPY_OF(w, 4)
#else
#define COUNT_COPIED(w) COPY_OF(w, 0); COPY_OF(w, 1); COPY_OF(w, 2); COPY_OF(w, 3)
#endif
#define SWEEP(b) if :: n > 0 -> SWEEP_STAMP(b, EXPIRED(n)) :: else fi

#define HAS_CHILD(b) (LEVEL(word[b]) == 1)
#define LEAKED(b) (((b) < 2 || HAS_CHILD((b) & 1)) && OF_STAMP(word[b], EXPIRED(now)) > 0)

/* Begins up to `left` generations, and stops at any point of a sweep. */
proctype Advancer(byte left) {
sweep:
    /* Each word is one step: nothing changes `now` while it is swept. */
    atomic {
        if
        :: swept == end -> goto publish
        :: else
        fi;
#ifndef ADVANCE_NO_SWEEP
        SWEEP_STAMP(swept, EXPIRED(now));
#endif
        if
#ifndef SWEEP_NO_CHILDREN
        :: swept < 2 && HAS_CHILD(swept) && swept + 2 >= end
#endif
        :: else -> swept++; goto sweep
        fi
    }
    atomic { SWEEP_STAMP(swept + 2, EXPIRED(now)); swept++; goto sweep }
publish:
    atomic {
        assert(stray || !(LEAKED(0) || LEAKED(1) || LEAKED(2) || LEAKED(3)));
        if
        :: left == 0 -> goto done
        :: else -> left--
        fi;
        now++;
        LEAVES(X); LEAVES(T); LEAVES(Y); LEAVES(V)
#ifdef ADVANCE_RETIRES_EARLY
        ; ghosts[EXPIRED(now)] = 0
#endif
    }
#ifndef ADVANCE_SKIPS_STRIPES
    !lock[0];
#endif
#ifndef ADVANCE_SKIPS_SPLITS
    !lock[2];
    !lock[3];
#endif
    atomic {
#if !defined(ADVANCE_RETIRES_EARLY) && !defined(ADVANCE_GHOSTS_STAY)
        ghosts[EXPIRED(now)] = 0;
#endif
        end = 2 + size; swept = 0; goto sweep
    }
done:
    skip
}
