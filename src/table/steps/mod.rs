//! The steps of the protocol, written once for both spaces. `table/mod.rs` has the argument.

mod copies;
mod insert;
mod lookup;
mod merge;
mod relocate;
mod remove;
mod values;

pub use merge::{MergeRefusal, Merged};
pub use values::Candidates;

use super::{
    Attempts, Seen, Space, Stripe, StripeGuard, Table, Words, space::marked, stripes::Version,
};
use remove::Gone;
