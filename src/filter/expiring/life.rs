//! How long an item is to be remembered.

use core::time::Duration;

use crate::{
    InsertError,
    table::{Clock, Start},
};

/// How long [`insert_for`](crate::ExpiringFilter#method.insert_for) and
/// [`insert_unique_for`](crate::ExpiringFilter#method.insert_unique_for) remember an item.
///
/// ```
/// # #[cfg(feature = "std")] {
/// use std::time::Duration;
///
/// let second = Duration::from_secs(1);
/// let builder = guira::ExpiringFilter::builder().capacity(100);
/// let seen = builder.clone().ttl(60 * second).build().unwrap();
/// seen.insert_for("for a second", second).unwrap();
/// let counted = builder.window(5).build().unwrap();
/// counted.insert_for("for two generations", 2).unwrap();
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Life {
    /// This many generations after the current one, from 1 up to the window, in a filter without a
    /// time to live.
    Generations(u32),
    /// At least this time, up to the time to live, in a filter with one.
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
    /// The age of a copy that is inserted at a start and is to live this long.
    pub(crate) fn age(self, clock: &Clock, start: Start) -> Result<u32, InsertError> {
        let age = match self {
            Self::Generations(life) if clock.time_to_live().is_none() && life > 0 => {
                clock.window().checked_sub(life)
            }
            Self::Generations(_) => None,
            Self::Time(time) => clock.age_for(start, time.as_nanos()),
        };
        age.ok_or(InsertError::InvalidLife)
    }
}
