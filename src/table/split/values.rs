//! Values: the steps of a table that grows which read or replace what a slot holds beside the
//! fingerprint.
//!
//! `table/steps/values.rs` has the argument, and this what is particular to slots that know less
//! and less of their items. Cores, and so buckets and stripes, do not depend on values.
//!
//! # Removals and replacements name the value
//!
//! The cover of `table/split/mod.rs` is one of items with their values: a slot covers an item if it
//! matches it and has its value. So `remove` takes the slot that knows most *of those that have the
//! value*. A replacement is a removal of the item with the old value and an insert of the item with
//! the new one, by one compare-and-swap after one bump. Let u be the slot whose value is replaced,
//! and v the one that is assigned to the item x before. If u is assigned to another item y, then y
//! takes v, as for a removal: u and v have the same value, and v knows no more than u. Afterwards u
//! has the new value, still matches x, and is assigned to it.
//!
//! # Lookups by key
//!
//! Consider the last round of a lookup of x by key that misses, with the version e, while x is in
//! the table throughout, with one value after another. Let v be the slot that is assigned to x
//! after the clearing or replacement with the number e. It was in its location before the bump to
//! e, possibly with another value: the holder of the lock had loaded it, or the insert of x had
//! added it before the lookup. No clearing with a number up to e took it, and none above e was
//! seen. So the load of its location shows it, before or after a replacement: a hit.
//!
//! `get` returns the value of the slot that knows most, of those that match in the two words that
//! it has read. A slot that knows more is less often that of an alias.
//!
//! # Splits
//!
//! A slot without a tail goes to both buckets with its value, and one of the two is a ghost.
//! `count` and `values` look at the two locations of an item, where a ghost of this item can only
//! be if both sides of the item begin in one bucket, or after a shrink or a merge: see "Copies" in
//! `table/split/mod.rs`. Such a
//! ghost is to the item what an alias is: if the item's value is replaced, the ghost keeps the old
//! one, and `get` may return it.
