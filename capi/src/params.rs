//! Parameters of objects, and the builders that they become.

use core::ffi::c_void;

use guira_rs::{
    Filter, FilterBuilder,
    kind::{Contents, Growing, Growth, Permanent},
};

use crate::{pointer::extensible, status::Status, stream::ClockFn};

extensible! {
    /// Parameters of an object. A field that is 0 has its default.
    pub struct Params: "guira_params" {
        pub capacity: u64,
        pub false_positive_rate: f64,
        pub seed: u64,
        pub max_bytes: u64,
        pub max_capacity: u64,
        pub copies: u64,
        pub ttl_ns: u64,
        pub clock: ClockFn,
        pub clock_context: *mut c_void,
        pub window: u32,
        pub value_bits: u32,
        pub growing: u32,
        pub max_copies: u32,
        pub writers: u32,
        pub fastest: u32,
        pub no_huge_pages: u32,
        pub no_reserve: u32,
    }
}

impl Params {
    /// Returns whether the object grows.
    pub fn is_growing(&self) -> Result<bool, Status> {
        flag(self.growing)
    }

    /// Returns a builder with the parameters that all objects have.
    pub fn builder<C: Contents, G: Growth>(&self) -> Result<FilterBuilder<C, G>, Status> {
        let mut builder = Filter::<C, G>::builder().huge_pages(!flag(self.no_huge_pages)?);
        if self.capacity != 0 {
            let capacity = usize::try_from(self.capacity).map_err(|_| Status::ErrCapacity)?;
            builder = builder.capacity(capacity);
        }
        // Not a comparison with zero: NaN is not a default, but an error.
        if self.false_positive_rate.to_bits() != 0 {
            builder = builder.false_positive_rate(self.false_positive_rate);
        }
        if self.seed != 0 {
            builder = builder.seed(self.seed);
        }
        if self.copies != 0 {
            builder = builder.copies(usize::try_from(self.copies).unwrap_or(usize::MAX));
        }
        if self.writers != 0 {
            builder = builder.writers(self.writers as usize);
        }
        if self.max_bytes != 0 {
            builder = builder.max_bytes(usize::try_from(self.max_bytes).unwrap_or(usize::MAX));
        }
        Ok(builder)
    }

    /// As [`builder`](Self::builder), with a limit on copies, if there is one.
    pub fn permanent<C: Permanent, G: Growth>(&self) -> Result<FilterBuilder<C, G>, Status> {
        let builder = self.builder()?;
        let limit = self.max_copies as usize;
        Ok(if limit == 0 { builder } else { builder.max_copies(limit) })
    }

    /// Adds what only growing objects have.
    pub fn growing<C: Contents>(
        &self,
        builder: FilterBuilder<C, Growing>,
    ) -> Result<FilterBuilder<C, Growing>, Status> {
        let builder = builder.reserve_address_space(!flag(self.no_reserve)?);
        if self.max_capacity == 0 {
            return Ok(builder);
        }
        let items = usize::try_from(self.max_capacity).map_err(|_| Status::ErrCapacity)?;
        Ok(builder.max_capacity(items))
    }

    /// Returns an error if a parameter of growing objects is set.
    pub fn not_growing(&self) -> Result<(), Status> {
        unused([self.max_capacity, self.no_reserve.into()])
    }
}

/// Returns a field that is 0 or 1 as a flag.
pub fn flag(field: u32) -> Result<bool, Status> {
    match field {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Status::ErrSetting),
    }
}

impl Params {
    /// Returns an error if a parameter of expiring sets is set.
    pub fn not_expiring(&self) -> Result<(), Status> {
        let has_clock = self.clock.is_some() || !self.clock_context.is_null();
        unused([self.ttl_ns, has_clock.into(), self.window.into()])
    }
}

/// Returns an error if a field is set that is not for the type.
pub fn unused(fields: impl IntoIterator<Item = u64>) -> Result<(), Status> {
    if fields.into_iter().all(|field| field == 0) { Ok(()) } else { Err(Status::ErrSetting) }
}
