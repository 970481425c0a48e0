//! How long an item is to be remembered.

use core::time::Duration;

use crate::{InsertError, table::Generations};

/// How long [`insert_for`](crate::ExpiringFilter#method.insert_for) and
/// [`insert_unique_for`](crate::ExpiringFilter#method.insert_unique_for) remember an item.
///
/// ```
/// # #[cfg(feature = "std")] {
/// use std::time::Duration;
///
/// let second = Duration::from_secs(1);
/// let seen = guira::ExpiringFilter::builder().ttl(60 * second).capacity(100).build().unwrap();
/// seen.insert_for("for a second", second).unwrap();
/// seen.insert_for("for two generations", 2).unwrap();
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Life {
    /// This many generations after the present one, from 1 up to the window.
    Generations(u32),
    /// At least this time, in a filter with a time to live. The longest is as many
    /// [intervals](crate::Filter::interval) as the window has, less the lag of the clock.
    Time(Duration),
}

impl From<u32> for Life {
    fn from(generations: u32) -> Self {
        Self::Generations(generations)
    }
}

impl From<Duration> for Life {
    fn from(time: Duration) -> Self {
        Self::Time(time)
    }
}

impl Life {
    /// The life in generations, at least 1 and at most the window.
    pub(super) fn generations(self, clock: &Generations) -> Result<u32, InsertError> {
        let generations = match self {
            Self::Generations(generations) => Some(generations),
            Self::Time(time) => clock.generations_in(time.as_nanos()),
        };
        let fits = generations.filter(|life| (1..=clock.window()).contains(life));
        fits.ok_or(InsertError::InvalidLife)
    }
}
