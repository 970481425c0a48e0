//! Creating a filter: its options, and its replication.

use std::ops::RangeInclusive;

use crate::{
    config,
    error::Error,
    server::{Call, Key, random},
    stream::Settings,
    value::Value,
};

/// What a command says about the filter that it creates.
pub struct Creation {
    pub settings: Settings,
    seed: Option<u64>,
    /// Whether it may create one.
    pub allowed: bool,
}

impl Creation {
    /// A filter with the configured settings.
    pub fn new() -> Self {
        Self { settings: config::defaults(), seed: None, allowed: true }
    }

    /// Reads the capacity, which is this argument.
    pub fn read_capacity(&mut self, call: Call, number: usize) -> Result<(), Error> {
        self.settings.capacity = integer(call, number, "CAPACITY", 1..=i64::MAX)? as u64;
        Ok(())
    }

    /// Reads an option and its value, which begin with this argument.
    pub fn read(&mut self, call: Call, number: usize) -> Result<(), Error> {
        let (option, value) = (call.get(number)?, number + 1);
        let settings = &mut self.settings;
        if option.is("BUCKETSIZE") {
            settings.bucket_size = integer(call, value, "BUCKETSIZE", 1..=255)? as u8;
        } else if option.is("MAXITERATIONS") {
            settings.max_iterations = integer(call, value, "MAXITERATIONS", 1..=65_535)? as u16;
        } else if option.is("EXPANSION") {
            let requested = integer(call, value, "EXPANSION", 0..=32_768)?;
            settings.expansion = config::expansion(requested as u16);
        } else if option.is("ERROR") {
            let rate = call.get(value).map_err(|_| missing("ERROR"))?;
            settings.error_rate = config::error_rate(rate.bytes())
                .ok_or_else(|| Error::text("ERROR must be a number from 0.00005 up and below 1"))?;
        } else if option.is("SEED") {
            self.seed = Some(integer(call, value, "SEED", i64::MIN..=i64::MAX)? as u64);
        } else {
            return Err(Error::text("syntax error"));
        }
        Ok(())
    }

    /// Creates the filter, and replicates its creation with all that decides its content.
    pub fn create(&self, call: Call, key: &mut Key) -> Result<(), Error> {
        let seed = self.seed.unwrap_or_else(random);
        key.set(Value::reserve(self.settings, seed, call.limits(0, usize::MAX))?);
        let Settings { capacity, error_rate, bucket_size, max_iterations, expansion, .. } =
            self.settings;
        let size =
            if bucket_size > 0 { format!(" BUCKETSIZE {bucket_size}") } else { String::new() };
        let seed = seed as i64;
        let options = format!(
            "{capacity} MAXITERATIONS {max_iterations} EXPANSION {expansion} ERROR {error_rate} \
             SEED {seed}{size}"
        );
        call.replicate("CF.RESERVE", &options.split(' ').collect::<Vec<_>>());
        Ok(())
    }
}

/// The integer that an argument is, if it is in the range.
fn integer(
    call: Call,
    number: usize,
    name: &str,
    range: RangeInclusive<i64>,
) -> Result<i64, Error> {
    let value = call.get(number).map_err(|_| missing(name))?.integer();
    value.filter(|value| range.contains(value)).ok_or_else(|| {
        let (low, high) = (range.start(), range.end());
        Error::text(format_args!("{name} must be an integer from {low} to {high}"))
    })
}

/// The error of an option without a value.
fn missing(option: &str) -> Error {
    Error::text(format_args!("{option} needs a value"))
}
