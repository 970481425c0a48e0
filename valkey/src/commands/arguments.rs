//! The options of the commands that create a filter.

use std::ops::RangeInclusive;

use crate::{config, error::Error, server::Args, stream::Settings};

/// What a command says about the filter that it creates.
pub struct Creation {
    pub settings: Settings,
    pub seed: Option<u64>,
}

impl Creation {
    /// A filter with the configured settings.
    pub fn new() -> Self {
        Self { settings: config::defaults(), seed: None }
    }

    /// Reads the capacity.
    pub fn set_capacity(&mut self, args: Args, number: usize) -> Result<(), Error> {
        self.settings.capacity = integer(args, number, "CAPACITY", 1..=i64::MAX)? as u64;
        Ok(())
    }

    /// Reads an option and its value, which begin with this argument. `false` if it is no option of
    /// a creation.
    pub fn read(&mut self, args: Args, number: usize) -> Result<bool, Error> {
        let (option, value) = (args.get(number)?, number + 1);
        let settings = &mut self.settings;
        if option.is("BUCKETSIZE") {
            settings.bucket_size = integer(args, value, "BUCKETSIZE", 1..=255)? as u8;
        } else if option.is("MAXITERATIONS") {
            settings.max_iterations = integer(args, value, "MAXITERATIONS", 1..=65_535)? as u16;
        } else if option.is("EXPANSION") {
            let requested = integer(args, value, "EXPANSION", 0..=32_768)?;
            settings.expansion = config::expansion(requested as u16);
        } else if option.is("ERROR") {
            let rate = args.get(value).map_err(|_| missing("ERROR"))?;
            settings.error_rate = config::error_rate(rate.bytes())
                .ok_or_else(|| Error::text("ERROR must be a number from 0.00005 up and below 1"))?;
        } else if option.is("SEED") {
            self.seed = Some(integer(args, value, "SEED", i64::MIN..=i64::MAX)? as u64);
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}

/// The integer that an argument is, if it is in the range.
fn integer(
    args: Args,
    number: usize,
    name: &str,
    range: RangeInclusive<i64>,
) -> Result<i64, Error> {
    let value = args.get(number).map_err(|_| missing(name))?.integer();
    value.filter(|value| range.contains(value)).ok_or_else(|| {
        let (low, high) = (range.start(), range.end());
        Error::text(format!("{name} must be an integer from {low} to {high}"))
    })
}

/// The error of an option without a value.
fn missing(option: &str) -> Error {
    Error::text(format!("{option} needs a value"))
}
