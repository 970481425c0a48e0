//! Expiry and its protocol: slots have ages, and the table has a clock that counts generations.
//!
//! This extends the protocol of a [`table`](crate::table) with values, and uses its terms. What is
//! particular to a table that grows is in `table/split/expiry.rs`. The value of a slot is its
//! *stamp*: the generation g of its insert or refresh, modulo `M = 2^stamp_bits`. (An insert for a
//! shorter life takes an earlier generation, so that the slot expires sooner.)
//!
//! ```text
//!               in the window                       past                      spared
//!  age    0      1   ...   w   |   w + 1      ...      M - 2   |              M - 1
//!  stamp  n    n - 1     n - w |  n-w-1               n - M + 2 |   n + 1: a slot of the
//!                                                               |   generation that just begins
//! ```
//!
//! In the generation n, the *age* of a slot is `n - stamp` modulo M. A slot is in the *window* up
//! to the age w, at most M - 3. A slot of the last age, M - 1, is *spared*: a thread that still
//! takes n for the current generation may see slots of the generation n + 1.
//!
//! # The two ways of time
//!
//! *Without a time to live*, the caller begins generations. A slot is *visible* if it is in the
//! window, and *expired* if it is past.
//!
//! *With a time to live*, writes begin generations, and a slot is visible until a time: its
//! generation has an *end*, and *expires* one *life* L after it. L is the time to live plus the lag
//! of the clock. Ends are at least an interval I apart, and `w I` is at least L. So in the
//! generation n all generations up to n - 1 - w have expired: whatever is past has expired, and of
//! what is in the window, the younger part is visible. A *reading* of the clock is an earlier time,
//! by at most the lag, and comes before what its thread loads next: an Acquire fence follows it.
//! All readings should be of one clock that never goes back.
//!
//! # State
//!
//! - **`word`**, the word of the clock. Without a time to live: the generation. With one: its
//!   lowest 8 bits, which contain its stamp, and above them the time at which it is *due* to end.
//!   Changed by compare-and-swap only. The due time grows with every change, so no word comes
//!   twice.
//! - **`limit`**, the last generation that may begin: the current one or the next one, a whole
//!   number. Whoever needs the whole number of a generation n loads `limit` after the word: it is
//!   the largest number up to that with the lowest bits of n.
//! - **`expiry`**, for each stamp, when the last generation with it that has ended expires. (Of the
//!   current generation, the word tells.)
//! - **`oldest`**: all generations before it have ended and expired, in a loaded clock before the
//!   save. (Without a time to live, that is n - w.) With a time to live, a new clock begins as if w
//!   generations had come before, an interval each: shorter lives take their stamps. So its
//!   `oldest`, the bound of its first pass and its `clean` are n - w, too.
//! - Under the lock of the sweep alone: the stripes that were *passed* in this generation; the
//!   `floor`, which is `oldest` when this passing began; the present pass over the buckets, and its
//!   `bound`: it clears all slots of generations before that; and `clean`, the bound of the last
//!   complete pass. (`next` is a hint at when more of the pass is due.)
//!
//! # Steps
//!
//! 1. **Start** of a write that adds or refreshes, before it acquires a stripe; in a batch, for
//!    each block of items. (a) Read the time t. (b) Read the word (n, due). If t is before due, n
//!    is the generation of the write. (c) Otherwise, if the limit is n + 1, *begin* it: raise
//!    `expiry` of n to due + L, then replace the word by (n + 1, t + I, rounded up); then go to
//!    (b). (d) Otherwise do a part of the work, if no other thread does; go to (b) if n + 1 may
//!    begin now, or if all stripes are passed and the pass over the buckets is incomplete. (If n
//!    has expired, try this several times, since most locks are held for a moment.) (e) Otherwise
//!    *extend* n: replace the word by (n, t + I / 8), and go to (b). A write that has begun a
//!    generation, or finds `next` in the past, does a part. Without a time to live, the start only
//!    reads the word.
//! 2. **Part of the work**, with the lock of the sweep: read the word, n. Let `oldest` be n - w at
//!    least, and let it advance, up to n, over what has expired by t. Pass the stripes, which means
//!    to acquire and release each of them, from where this generation's passing stopped; stop at
//!    one that another thread holds (`advance` and `sweep` wait for it). If all are passed: begin a
//!    pass over the buckets if the last one is complete and `floor` is above its bound; sweep some
//!    buckets; when the pass is complete, `clean` is its bound. Then set the limit to n + 1 if n +
//!    1 - clean is at most M - 2.
//! 3. **Advance**, without a time to live: do parts until the pass of this generation is complete,
//!    then begin the next one, under the lock of the sweep. If the generation has changed since the
//!    call began, return the current one instead.
//! 4. **Look up**: read the word, the version, both words of the item, the version again, and the
//!    word again. Without a match in the window, the item is absent if neither the version nor the
//!    word has changed; otherwise retry. Without a time to live, a match in the window is a hit.
//!    With one, read the time after the match. If the slot has not expired by then, and the word is
//!    unchanged, it is a hit. Otherwise look up once more in *rounds by a time*: read the time
//!    first, then in each round the word, which ages are visible at this time, the version, and
//!    both words. A visible match is a hit. Without one, the item is absent if neither the version
//!    nor the word has changed. (A batch looks up a block of items in a round by one time, and each
//!    that is left open in rounds of its own.)
//! 5. **Add**, by `insert`: start, find the whole number of the generation, and add to an empty
//!    slot, without a lock.
//! 6. **Sweep, move, split**: under a lock (of any stripe, or that of the sweep), read the word and
//!    `oldest`; then clear, or leave behind, slots that are past, or of a generation before
//!    `oldest`, but no spared ones. No version is bumped. A move of an expired slot clears it, or
//!    replaces it by the incoming fingerprint. Expired slots in the destination of a move are swept
//!    by the change that adds the copy. If the original is swept between the two halves of a move,
//!    the copy remains, and the incoming fingerprint is not stored: the insert searches again.
//! 7. **`insert_unseen`, `refresh`, `insert_or_refresh`**: start; acquire the stripe; read the
//!    word, both words of the item, and the word again, until it is unchanged. If a slot is visible
//!    (by the time of the start), leave it, or give the *oldest* one the stamp of the generation
//!    just read, unless it has it: bump the version, then replace the stamp by one
//!    compare-and-swap. If none is visible, add one with the stamp of the generation just read, or
//!    for a shorter life of one before it, to a slot that is empty or expired. After making room
//!    without the lock, start anew.
//! 8. **Remove** names the generation: under the stripe's lock, if that is in the window, bump the
//!    version and clear a slot with its stamp, the one that knows most.
//!
//! # What a lock tells about the generation
//!
//! *If a thread acquires a lock (a stripe, or that of the sweep) and then reads the generation n,
//! no thread reads n + 2 before the lock is released.* The generation n + 2 begins after a holder
//! of the lock of the sweep, which had read n + 1, has permitted it, and before that, passed all
//! stripes. If it passed this stripe before the thread acquired it, the thread would have read n +
//! 1 at least. So it passes it later, or not before the release. (A holder of the lock of the sweep
//! that has read n keeps n + 2 from being permitted.)
//!
//! So a decision about expiry that is made and acted upon under a lock is at most one generation
//! old. A decision without a lock can be arbitrarily old: a thread may be suspended for M
//! generations, and then sweep what is visible.
//!
//! One generation old is still too old to tell what is there: a holder of another lock may sweep in
//! n + 1 a slot that is visible in n. So step 7 and `count` read the word again after those of the
//! item. (Otherwise a refresh could miss its own copy, which was swept, and find only that of an
//! alias, which has the stamp of n already. It would report that the item was refreshed, but a
//! removal of the alias would take the only copy.) If the oldest copy is swept after this second
//! read, the refresh also starts again. If the item's own copy is swept instead, it has expired,
//! and so has the older copy that the refresh takes: no other item needs that. (With a time to
//! live, `oldest` may advance beside the call without a new word. Then the item that is missed has
//! expired during the call, and the refresh of its alias's copy is that of an item that was not
//! there. A removal need not read the word again: if a sweep took the slot of its item, all slots
//! with that stamp have expired.)
//!
//! # Why nothing is forgotten early
//!
//! *A write has a stamp of a generation that ends after its start.* In step 1 it saw the word (n,
//! due) with due after its reading t. The due time of n only grows while n is current, and whoever
//! ends n replaces this very word, or a later one. So n ends at due or later, even if the write is
//! stopped before it adds, and its item is visible until t + L at least. The reading may be one lag
//! early; L includes that lag, so a full time to live remains. A refresh reads the word anew under
//! its stripe; that is a later word, whose due time is no earlier. A batch has its time anew for
//! each block. A write for a shorter life d takes the stamp of the oldest generation in the window
//! that expires at t + d plus the lag or later, if there is one. (It takes none before `oldest`:
//! what was noted as expired before a save may have some time left in the clock that is loaded, see
//! "Copies".) A split does not read the time. It notes as expired what has expired by a time that
//! has passed: when the last generation ended, or when this one began.
//!
//! *What a lookup hides has expired.* It compares with the time at which an ended generation
//! expires, which is final: one life after the last due time, stored before the word was replaced,
//! and published by that. Or with that of the current generation, by a word that is unchanged in
//! the end. An entry of `expiry` is overwritten only when M generations have begun, and then the
//! word has changed. In the first round, the time is read after the words of the item. So a match
//! may have been refreshed since, and its old stamp expired: the refresh may have bumped before the
//! lookup read the version, so that neither the version nor the word of the clock tells. That is
//! why rounds by a time follow, whose time is older than the words. If a refresh happened before
//! that time was read, the round sees its stamp, or the version or the word has changed. So a slot
//! that it sees as expired at that time holds no item that was refreshed before.
//!
//! *What a lookup finds was visible during the call.* In the first round, the word is unchanged
//! after the time was read. In a round by a time, the entries of `expiry` were read before the
//! words of the item. If an entry had been overwritten by then, all slots with its old generation
//! had been swept, so the slot that is found is of the later one, whose insert or refresh was in
//! time for the call. (Late writes are the exception: see there.)
//!
//! # How long an item is found at most
//!
//! A write that returns at r has read n as the current generation at r or before, so n had begun by
//! then, and is due by r + I and the 256 ns of the unit. If n is not extended, it ends at that
//! time, whenever the next write comes: an end is a time, not an event. So the item is found until
//! r + I + L, by the reading of the lookup, which trails by at most the lag. With I = L / 6, that
//! is at most 1.2 times the time to live and two lags, if the time to live is at least five lags,
//! and 16 µs for what is rounded.
//!
//! A generation is extended only by a write that finds it due while n + 1 is not permitted: a
//! thread holds the lock of the sweep, or a stripe that was not passed yet in n. Where only the
//! sweep is missing, the write sweeps, however much that is. (Another one beside it extends.) So n
//! is extended while a thread is stopped with a lock, while a copy or a clear of the whole table is
//! made, or while the pass takes longer than the slack: see "Why no stamp comes twice". (Also if
//! threads that are not stopped hold some of these locks whenever a write tries: the parts of a
//! generation and the write that finds it due, about ten times in a row. With a time to live of
//! less than 0.3 ms and 2,048 stripes, passing the stripes alone can take an interval.) An
//! extension by t + I / 8 lets the items of n live on, also those that have expired if the write
//! comes after a silence. Parts follow soon after a generation begins, so that the next one is
//! permitted before a silence, unless such a thread stood in the way then, and again at its end.
//!
//! # Why nothing visible is swept
//!
//! Say that a thread reads n and `oldest` = o under a lock, and sweeps a slot of the generation g.
//! As nobody has read n + 2, g is at most n + 1. If the slot is past, `(n - g) mod M` is in `w + 1
//! ..= M - 2`. The difference n - g is not -1, whose residue is M - 1. So it is at least w + 1: g
//! has expired. Otherwise the age is from n + 1 - o to w, and g is before o: it has ended and
//! expired by a time that a thread has read. (If n + 1 has begun since, o may be n + 1 at most.
//! Slots of n + 1 are spared.) In the same way, a slot that a move copies is not of a generation
//! before the `oldest` that the mover read.
//!
//! # Why no stamp comes twice
//!
//! **The generation n + 1 begins only if no slot is of a generation before n + 3 - M**, but for
//! late writes: its stamp is on no slot, and what is spared or past in n + 1 is not mistaken for
//! something else. For n + 1 was permitted with a `clean` of at least n + 3 - M. The pass with that
//! bound began after the stripes had been passed, and `floor` was stored before that. Who acquired
//! a stripe later saw an `oldest` of that value at least, and carried no older slot past the pass;
//! who had acquired it before had released it. So each slot of a generation before the bound was in
//! a bucket that the pass had yet to reach, and it was swept there.
//!
//! The *slack* is what passes may take. One that begins in n has a bound of n - w at least. While
//! it lasts, `clean` is the bound of the one before. If each takes P generations, `clean` trails n
//! by w + 2 P at most, so 2 P may be M - 3 - w: with M = 16 and w = 6, passes that take three
//! generations keep up. Parts are due evenly over half an interval.
//!
//! # Why a miss is correct
//!
//! An item is *in the table* during a lookup if it is so by the definition for a table without
//! expiry, and the lookup returns before the item expires: without a time to live, while the
//! generation of its stamp is in the window. Assume first that nothing is refreshed. The argument
//! of a table applies to fingerprints with their stamps, except that sweeps clear slots without a
//! bump. Say that the last round of a lookup that misses read the generation n twice, and consider
//! an item of the generation g, in the window of n.
//!
//! Consider a sweep of which a load returned the result. It had read some generation m, at most n:
//! by coherence, because the load synchronizes with the sweep's change of the word, and the second
//! read of the generation comes after the load. If m was g - 2 or less, no thread read g before
//! that sweep ended. So the sweep ended before all inserts of the generation g, and took nothing of
//! theirs. Otherwise the age of a slot of g, `(m - g) mod M`, is M - 1, which is spared, or m - g,
//! which is at most w. So the sweep took it because g was before `oldest`: the item had expired. (A
//! move that drops an expired slot is such a sweep.) All other clearings bump. So the miss is
//! correct.
//!
//! The generation must be validated. Say that a lookup reads 20, and is suspended. The item, which
//! is in the table throughout, is refreshed in the generation 22. The stamp of 22 looks M - 2
//! generations old. (Without a time to live, a match that looks visible although it has expired
//! meanwhile is a hit: it was visible when the lookup read the generation.)
//!
//! *Refreshing.* A refresh is a removal of a fingerprint with the old stamp, and an insert of one
//! with the new stamp. It bumps, so a miss is correct in between: compare the argument for
//! `replace`. The table cannot distinguish aliases, so a refresh may take another item's slot. So
//! items may share a slot. Say that each item in the table is assigned a slot that matches it and
//! is no older than the item. An item that was never refreshed is *removable*; others are left to
//! expire, by the contract. **A slot that is assigned to a removable item of its own generation is
//! assigned to no other item.** The steps preserve this:
//!
//! 1. *Inserts.* The new slot is assigned to the new item alone.
//! 2. *Moves and splits.* A slot goes where it matches all of its items. If a split copies it, each
//!    of the two is assigned to the items that are found there.
//! 3. *A refresh of x in the generation n* takes o, the oldest visible slot that matches x. If o
//!    has the stamp of n, all matches have it, that of x among them, and x keeps its slot.
//!    Otherwise all items of o are older than n. They keep o, which only lasts longer, and x is
//!    assigned o, too. (If the refresh settled for another slot that has the stamp of n, x might
//!    rely on the slot of a removable item, and that item's removal would take it.)
//! 4. *A removal of x*, which is removable and of the generation g, takes u: of the matches with
//!    the stamp of g the one that knows most (see `table/split/mod.rs`; in a table of a fixed size
//!    all know the same). Let v be the slot of x. If u is v, no other item had it. Otherwise the
//!    items of u are assigned v, which is no older than u. All that v knows is true of them if v
//!    knows no more than u, because they and x agree in what u knows. If v has the stamp of g, x
//!    was alone on v, and v knows no more than u. If v is younger, no item of u is of its
//!    generation, and no removable item of its generation shared it with x. But then v may know
//!    more.
//! 5. *So a removal takes nothing* if a match younger than g knows more than u, and x is left to
//!    expire. This can be left out if nothing was refreshed within the window, because *a slot that
//!    is younger than one of its items implies a refresh in the generation of the slot or later*: a
//!    refresh makes it so, and a removal of x gives v to the items of u only if v is as young as u,
//!    or younger than x. The last generation of a refresh is noted under the lock of its stripe,
//!    for all stripes together, as a maximum. (Any refresh counts: an alias of y that is not in the
//!    table can be refreshed, too, and takes y's slot.)
//!
//! # Late writes
//!
//! A plain insert may be suspended between its start and adding. A write for a shorter life takes
//! the stamp of an earlier generation, which may expire before it adds; that holds under the lock
//! of a stripe, too, where the pass with a bound above that stamp may have swept the bucket. Both
//! add a slot with an old stamp. If the stamp has expired, the slot is swept in due course, unless
//! its bucket has had the last pass in which the stamp is past. If its residue is visible once
//! more, the item is found for one more window, as a false positive. The slot is one more than the
//! argument counts, and no item is lost by it.
//!
//! # Nobody waits
//!
//! A start takes the lock of the sweep and the stripes by `try_lock`, one at a time, a bounded
//! number of times, and a compare-and-swap of the word that fails means that another write has
//! succeeded. So a write waits for the stripes of its items alone, whoever stands still, and a
//! lookup for nothing. (A write may sweep for others, as above.)
//!
//! # Advances that overlap
//!
//! 1. *The generation that a call returns began after the call did*, unless it is `MAX_GENERATION`,
//!    after which no other begins. If the call begins it, this is so. Otherwise the generation has
//!    changed since the call read it. (The read can return a former generation only if that change
//!    did not happen before the call.)
//! 2. *Each call begins at most one, and only after that which it read first.* So of all calls that
//!    have read the generation n, one begins n + 1, and the others return what they find when they
//!    get the lock.
//! 3. *A call that waits must not begin another one.* Say that two calls read n, and the first one
//!    begins n + 1. An item is inserted in n + 1, and the second call begins n + 2. Then the item
//!    has lost a generation although every advance began before its insert did.
//!
//! # Copies
//!
//! A copy holds the lock of the sweep and all stripes while it copies the words, and then reads the
//! clock, first its word and then the ends: so what is in the words was stamped in that generation
//! or before, and extensions that a late write made before it added are seen. At most one
//! generation begins meanwhile. The copy goes on with the times, `clean`, the last generation of a
//! refresh, and the pass as they are; no stripe of its own has been passed. In a snapshot, the
//! times are those that are left when it is taken. For that, and for the load, the time is read
//! without a lag: in the copy, before the locks, since no code of the caller's runs under one. If
//! the word shows a later time, because a generation has begun or was extended while the copy
//! waited for the locks, that time counts. In the loaded clock, the current generation is due
//! within I and the 256 ns of the unit, even if more was left: all that was written in it was
//! written before the save, and needs no more. So what a split takes for a time that has passed has
//! passed. But what other threads have noted as expired meanwhile may have time left.
//!
//! Nobody holds a stripe while waiting for the lock of the sweep. So no cycle of waiting threads
//! forms.
//!
//! # Counting
//!
//! For each stamp there is a count of the slots that have it. Whoever fills or clears a slot
//! changes it. A move changes it only if the original was swept meanwhile, because then a copy is
//! left that nobody has counted. What has expired is not in the sum that `len` returns, swept or
//! not.

mod clock;
mod stamp_counts;
mod steps;
mod time;
mod work;

pub use clock::{Clock, Start};
pub(crate) use clock::{MAX_GENERATION, stamp_bits};
pub use time::{ClockState, TimeSource, TimeState};
pub(crate) use time::{TIMES_TO_LIVE, WINDOW_OF_TTL};

use super::{
    Seen, ShardedCounter, Space, Table, Words,
    space::{MarkedSlot, marked},
    try_boxed,
};
