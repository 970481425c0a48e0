/* Items, slots, words, and locations. split.pml includes this. */

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
#if defined(P_REFRESH) || defined(P_REMOVAL)
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
#include "expiry.pml"
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
