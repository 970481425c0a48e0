//! Expiry and its protocol: slots have ages, and the table has a clock that counts generations.
//!
//! This extends the protocol of a [`table`](crate::table) with values, and uses its terms. What is
//! particular to a table that grows is in `table/split/expiry.rs`. The value of a slot is its
//! *stamp*: the generation g of its insert or refresh, modulo `M = 2^stamp_bits`. (`insert_for`
//! takes an earlier generation, so that the slot expires sooner.)
//!
//! ```text
//!               visible                           expired                     spared
//!  age    0      1   ...   w   |   w + 1      ...      M - 2   |              M - 1
//!  stamp  n    n - 1     n - w |  n-w-1               n - M + 2 |   n + 1: a slot of the
//!                                                               |   generation that just begins
//! ```
//!
//! In the generation n, the *age* of a slot is `n - stamp` modulo M. With a window of w, at most
//! M - 3, a slot is *visible* up to the age w, and *expired* from the age w + 1 to the age M - 2. A
//! slot of the last age, M - 1, is *spared*: a thread that still takes n for the present generation
//! may see slots of the generation n + 1.
//!
//! # Steps
//!
//! 1. **Look up**: read the generation, the version, both words, the version again, and the
//!    generation again. A visible match is a hit. Without one, the item is absent if neither the
//!    version nor the generation has changed; otherwise retry.
//!    (A batch may read the generation before and after all of its items.)
//! 2. **Add**, by `insert`: read the generation, and add to an empty slot, without a lock.
//! 3. **Sweep**: under a lock, read the generation; then clear the expired slots of a word by one
//!    compare-and-swap. The lock is that of any stripe, or `sweeping`, a lock of the clock that is
//!    held while the buckets are swept in order. No version is bumped.
//! 4. **Move**: as in a table, but read the generation under the lock. An expired slot is cleared,
//!    or replaced by the incoming fingerprint, in place of being moved. Expired slots in the
//!    destination are swept by the change that adds the copy. If the original is swept between the
//!    two halves, the copy remains, and the incoming fingerprint is not stored: the insert searches
//!    again.
//! 5. **`insert_unseen`**: under the stripe's lock, read the generation; then add to a slot that is
//!    empty or expired, unless there is a visible match. After making room without the lock, start
//!    again.
//! 6. **Refresh**: under the stripe's lock, read the generation and the words, bump the version,
//!    and replace the stamp of the *oldest* visible match by one compare-and-swap. **Remove** names
//!    the generation: under the lock, if that is visible, bump the version and clear a slot with
//!    its stamp, the one that knows most.
//! 7. **Advance**: read the generation, and acquire a lock. If the generation has changed, return
//!    the new one. Otherwise complete the sweep of all buckets; publish the next generation; then
//!    *pass the locks*, which means to acquire and release every stripe, one after the other. Only
//!    then may the next sweep of all buckets begin. (Inserts and moves, under a stripe's lock, may
//!    sweep single words as soon as the generation is published.)
//!
//! # What a lock tells about the time
//!
//! *If a thread acquires a stripe's lock and then reads the generation n, no thread reads n + 2
//! before the lock is released.* The advance to n + 1 acquires this lock after it has published
//! that generation. If it did so before the thread, the thread would have read n + 1 at least. So
//! it does so later, and waits for the release. The advance to n + 2 begins after that. (A holder
//! of `sweeping` that reads n and has buckets left to sweep holds up the tick to n + 1 until it
//! releases the lock.)
//!
//! So a decision about expiry that is made and acted upon under a lock is at most one generation
//! old. A decision without a lock can be arbitrarily old: a thread may be suspended for M
//! generations, and then sweep what is visible.
//!
//! One generation old is still too old to tell what is there. While a holder of the stripe takes n
//! for the present generation, a holder of another lock may sweep in n + 1 a slot that is visible
//! in n. So `insert_unseen`, `refresh` and `count` read the generation again after the words, and
//! start again if it has changed. (Otherwise a refresh could miss its own copy, which was swept,
//! and find only that of an alias, which has the stamp of n already. It would report that the item
//! was refreshed, but a removal of the alias would take the only copy.) If the oldest copy is swept
//! after this second read, the refresh also starts again. If the item's own copy is swept instead,
//! it expired with n + 1, and so did the older copy that the refresh takes: no other item needs
//! that. (A removal need not read the generation again. If a sweep of n + 1 took the slot of its
//! item, all slots with that stamp have expired.)
//!
//! # Why nothing visible is swept
//!
//! Say that a thread read n under a lock and sweeps a slot. The slot was stamped in a generation g
//! with `(n - g) mod M` in `w + 1 ..= M - 2`, and g is at most n + 1, as nobody has read n + 2. The
//! difference n - g is not -1, whose residue is M - 1. So it is at least w + 1: the slot was not
//! visible in the generation n, and n had been published. In the same way, a slot that a move
//! copies was not expired in the generation that the mover read. So the copy expires at the
//! earliest in the next one, whose sweep begins after the mover's lock was passed, and finds it.
//!
//! No slot leaks (but see "Late inserts", and `keeper.rs` for tables that keep time themselves): in
//! each generation every bucket is swept once after the clock has passed all locks. An expired slot
//! has M - 2 - w generations, at least one, in which it is swept.
//!
//! # Why a miss is correct
//!
//! An item is *in the table* during a lookup if it is so by the definition for a table without
//! expiry, and the lookup returns while the generation of the item's stamp is visible. Assume first
//! that nothing is refreshed. The argument of a table applies to fingerprints with their stamps,
//! except that sweeps clear slots without a bump. Say that the last round of a lookup that misses
//! read the generation n twice, and consider an item of the generation g, visible in n.
//!
//! Consider a sweep of which a load returned the result. It had read some generation m, at most n:
//! by coherence, because the load synchronizes with the sweep's change of the word, and the second
//! read of the generation comes after the load. If the sweep took a slot with the stamp of g, then
//! `(m - g) mod M` was in `w + 1 ..= M - 2`. Since `m - g` is at most w, m is at most `g - 2`, and
//! no thread read g before that sweep ended. So the sweep ended before all inserts of the
//! generation g, and took nothing of theirs. (A move that drops an expired slot is such a sweep.)
//! All other clearings bump. So the miss is correct.
//!
//! The generation must be validated. Say that a lookup reads 20, and is suspended. The item, which
//! is in the table throughout, is refreshed in the generation 22. The stamp of 22 looks M - 2
//! generations old. (A match that looks visible although it has expired meanwhile is a hit: it was
//! visible when the lookup read the generation.)
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
//!    for all stripes together. (Any refresh counts: an alias of y that is not in the table can be
//!    refreshed, too, and takes y's slot.)
//!
//! # Late inserts
//!
//! A plain insert may be suspended between reading the generation and adding. Then it adds a slot
//! with an old stamp. If the stamp has expired, the slot is swept in due course, unless its bucket
//! has had the last sweep in which the stamp is expired. If its residue is visible once more, the
//! item is found for one more window, as a false positive. The slot is one more than the argument
//! counts, and no item is lost by it.
//!
//! # Advances that overlap
//!
//! 1. *The generation that a call returns was published after the call began*, unless it is
//!    `MAX_GENERATION`, after which no other begins. If the call ticks,
//!    this is so. Otherwise the generation has changed since the call read it. (The read can return
//!    a former generation only if the tick did not happen before the call.)
//! 2. *Each call ticks at most once, and only from the generation that it read first.* So of all
//!    calls that have read the generation n, one ticks to n + 1, and the others return what they
//!    find when they get the lock. They get it after that call has passed the stripes, so whoever
//!    returns n + 1 knows that nobody decides by n - 1.
//! 3. *A call that waits must not tick again.* Say that two calls read n, and the first one ticks.
//!    An item is inserted in n + 1, and the second call ticks, too. Then the item has lost a
//!    generation although every advance began before its insert did.
//!
//! # Copies
//!
//! A clone holds `sweeping` and all stripes while it copies the words, and then reads the
//! generation. So at most one tick comes between the first word and that read. Then it releases
//! them, and only then waits for the lock of the schedule (see `schedule.rs`), which `tick_by`
//! holds while it waits for `sweeping`. Nobody holds a stripe while waiting for `sweeping`, and an
//! advance holds at most one stripe at a time. So no cycle of waiting threads forms.
//!
//! # Counting
//!
//! For each stamp there is a count of the slots that have it. Whoever fills or clears a slot
//! changes it. A move changes it only if the original was swept meanwhile, because then a copy is
//! left that nobody has counted. What has expired is not in the sum that `len` returns, swept or
//! not.

mod advance;
mod generations;
mod keeper;
mod schedule;
mod stamp_counts;
mod steps;
mod system_time;

pub use generations::{ClockAndSweep, Generations, SweepState};
pub(crate) use generations::{MAX_GENERATION, stamp_bits};
pub(crate) use schedule::MAX_READING;
pub use schedule::{ClockState, TimeSource};
pub(crate) use system_time::MAX_LAG;

use super::{
    Seen, ShardedCounter, Space, Table, Words,
    space::{MarkedSlot, marked},
    try_boxed,
};
