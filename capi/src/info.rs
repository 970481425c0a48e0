//! What objects tell about themselves.

use guira_rs::{
    Filter,
    kind::{Contents, Growth},
};

use crate::pointer::extensible;

extensible! {
    /// Facts and statistics about an object.
    pub struct Info: "guira_info" {
        pub items: u64,
        pub capacity: u64,
        pub slots: u64,
        pub bytes: u64,
        pub next_growth_bytes: u64,
        pub false_positive_rate: f64,
        pub generation: u64,
        pub window: u32,
        pub slots_per_bucket: u32,
        pub fingerprint_bits: u32,
        pub value_bits: u32,
        pub growing: u32,
    }
}

impl Info {
    /// What every object tells.
    pub fn of<C: Contents, G: Growth>(filter: &Filter<C, G>) -> Self {
        let layout = filter.layout();
        Self {
            size: 0,
            items: filter.len() as u64,
            capacity: filter.capacity() as u64,
            slots: filter.slots() as u64,
            bytes: filter.size_in_bytes() as u64,
            next_growth_bytes: 0,
            false_positive_rate: filter.false_positive_rate(),
            generation: 0,
            window: 0,
            slots_per_bucket: layout.slots_per_bucket(),
            fingerprint_bits: layout.fingerprint_bits(),
            value_bits: 0,
            growing: 0,
        }
    }
}
