//! Replay protection for the address validation tokens of QUIC, in the form in which the crate
//! `quinn` takes it.

use std::time::{Duration, SystemTime};

use guira::{BuildError, ExpiringFilter, Insertion};

use crate::dedup::SEED;

/// Why a token is refused: it may have been used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenReuseError;

/// Remembers used tokens. It has the shape of `quinn::TokenLog`; with `quinn` as a dependency, only
/// the names of the trait and the error have to be imported from there.
pub trait TokenLog: Send + Sync {
    /// Records that a token was used.
    ///
    /// A token is valid for `lifetime` after it was issued. The caller has checked that it still
    /// is.
    ///
    /// # Errors
    /// If the token may have been used before.
    fn check_and_insert(
        &self,
        nonce: u128,
        issued: SystemTime,
        lifetime: Duration,
    ) -> Result<(), TokenReuseError>;
}

/// A log in an [`ExpiringFilter`]: about two bytes for each token that was used within its
/// lifetime.
///
/// A token is never accepted twice. The share of the filter's false-positive rate is refused at its
/// first use. `quinn` then validates the client's address by a round trip, as it does without a
/// token.
///
/// The filter reads no clock. One thread calls `log.filter().tick(clock)` several times in each
/// interval.
#[derive(Debug)]
pub struct FilterTokenLog {
    used: ExpiringFilter,
    since: SystemTime,
    lifetime: Duration,
}

impl FilterTokenLog {
    /// Builds a log that is used from `since` on, for tokens that are valid for at most `lifetime`,
    /// and for at most `tokens` used tokens in `window + 1` ticks, where `window` ticks take the
    /// lifetime.
    ///
    /// # Errors
    /// If the filter cannot be built.
    pub fn new(
        since: SystemTime,
        lifetime: Duration,
        (tokens, window, rate): (usize, u32, f64),
    ) -> Result<Self, BuildError> {
        let builder = ExpiringFilter::builder().capacity(tokens).window(window);
        let builder = builder.time_to_live(lifetime);
        let used = builder.false_positive_rate(rate).seed(SEED).build()?;
        Ok(Self { used, since, lifetime })
    }

    /// The used tokens. Call `tick` on this filter, or advance it `window` times in a lifetime.
    #[must_use]
    pub fn filter(&self) -> &ExpiringFilter {
        &self.used
    }
}

impl TokenLog for FilterTokenLog {
    fn check_and_insert(
        &self,
        nonce: u128,
        issued: SystemTime,
        lifetime: Duration,
    ) -> Result<(), TokenReuseError> {
        // A token from before a restart may be one whose use the last process saw. A token that
        // lives for longer than the log remembers it could be used again later.
        if issued < self.since || lifetime > self.lifetime {
            return Err(TokenReuseError);
        }
        match self.used.insert_unique(&nonce) {
            Ok(Insertion::New(_)) => Ok(()),
            // Used before, or the filter is full: a token that cannot be remembered is refused.
            Ok(Insertion::Found(())) | Err(_) => Err(TokenReuseError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FilterTokenLog, TokenLog, TokenReuseError};
    use std::time::{Duration, SystemTime};

    const LIFETIME: Duration = Duration::from_secs(90);
    const START: SystemTime = SystemTime::UNIX_EPOCH;

    fn log(tokens: usize) -> FilterTokenLog {
        FilterTokenLog::new(START, LIFETIME, (tokens, 2, 0.001)).unwrap()
    }

    #[test]
    fn a_token_is_accepted_once_in_its_lifetime() {
        let log = log(1_000);
        assert_eq!(log.check_and_insert(7, START, LIFETIME), Ok(()));
        for _ in 0..2 {
            assert_eq!(log.check_and_insert(7, START, LIFETIME), Err(TokenReuseError));
            log.filter().advance();
        }
        assert_eq!(log.check_and_insert(7, START, LIFETIME), Err(TokenReuseError));
        assert_eq!(log.check_and_insert(8, START, LIFETIME), Ok(()));
    }

    #[test]
    fn a_token_that_could_not_be_remembered_for_its_lifetime_is_refused() {
        let (log, second) = (log(1_000), Duration::from_secs(1));
        assert_eq!(log.check_and_insert(7, START - second, LIFETIME), Err(TokenReuseError));
        assert_eq!(log.check_and_insert(7, START, LIFETIME + second), Err(TokenReuseError));
        assert!(log.filter().is_empty());
    }

    #[test]
    fn a_full_log_refuses_tokens_and_accepts_none_twice() {
        let log = log(10);
        let accept = || {
            let accepts = |&nonce: &u128| log.check_and_insert(nonce, START, LIFETIME).is_ok();
            (0..1_000).filter(accepts).count()
        };
        let accepted = accept();
        assert!((10..100).contains(&accepted), "{accepted} tokens were accepted");
        assert_eq!(accept(), 0);
    }
}
