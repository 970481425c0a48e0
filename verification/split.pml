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
 * still there. (A split compares the whole word. A removal or replacement where nothing expires
 * looks again, without another bump. Here it may do so once.) The hint may be as old as it likes:
 * to read it is to choose a level that `size` has reached. A value that was read earlier is one of
 * these, so the choice and the first load of a location are one step.
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

#include "split/slots.pml"
#include "split/choice.pml"
#include "split/client.pml"
#include "split/reader.pml"
#include "split/programs.pml"
