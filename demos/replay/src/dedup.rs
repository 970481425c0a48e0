//! A stage that handles each message once, although its source delivers some of them again.

use std::{
    hash::Hash,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use guira::{BuildError, ExpiringFilter, Insertion};

/// Seed of the filters, so that every run gives the same wrong answers. A program that gets its
/// keys from others should keep the random seed that is the default.
pub const SEED: u64 = 1;

/// Handles each message once within a window.
///
/// Each message has an id. The source delivers a message again if it has got no acknowledgement,
/// for at most `window` ticks.
#[derive(Debug)]
pub struct Dedup {
    seen: ExpiringFilter,
    overflows: AtomicU64,
}

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The message was handled.
    Handled,
    /// It had been handled before, or is being handled by another thread; or it is one of the few
    /// that the filter takes for another one.
    Skipped,
}

impl Dedup {
    /// Builds a stage for at most `messages` messages in `window + 1` ticks. It skips at most this
    /// share of the messages that it has not handled.
    ///
    /// # Errors
    /// If the filter cannot be built.
    pub fn new(messages: usize, window: u32, rate: f64) -> Result<Self, BuildError> {
        let builder = ExpiringFilter::builder().capacity(messages).window(window);
        let seen = builder.false_positive_rate(rate).seed(SEED).build()?;
        Ok(Self { seen, overflows: AtomicU64::new(0) })
    }

    /// Handles a message if it was not handled within the window.
    ///
    /// # Errors
    /// That of the handler. Then the message counts as not handled, and is due when it is delivered
    /// again.
    pub fn handle<E>(
        &self,
        id: &(impl Hash + ?Sized),
        handler: impl FnOnce() -> Result<(), E>,
    ) -> Result<Outcome, E> {
        let generation = match self.seen.insert_unique(id) {
            Ok(Insertion::New(generation)) => generation,
            Ok(Insertion::Found(())) => return Ok(Outcome::Skipped),
            Err(_) => {
                // The filter is full. Rather handle a message twice than lose it.
                self.overflows.fetch_add(1, Relaxed);
                return handler().map(|()| Outcome::Handled);
            }
        };
        handler().inspect_err(|_| {
            // Only this call inserted the item, so only this call removes it.
            self.seen.remove(id, generation);
        })?;
        Ok(Outcome::Handled)
    }

    /// Begins the next tick.
    pub fn tick(&self) {
        self.seen.advance();
    }

    /// Frees the memory of the messages that were forgotten. Call it after [`tick`](Self::tick), on
    /// the same thread: others need not wait for it. Without it, the next tick frees the memory.
    pub fn sweep(&self) {
        self.seen.sweep(u64::MAX);
    }

    /// Returns the number of messages for which there was no room.
    #[must_use]
    pub fn overflows(&self) -> u64 {
        self.overflows.load(Relaxed)
    }

    /// The messages that are remembered.
    #[must_use]
    pub fn seen(&self) -> &ExpiringFilter {
        &self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::{Dedup, Outcome};

    fn handle(stage: &Dedup, id: &str) -> Outcome {
        stage.handle(id, || Ok::<_, ()>(())).expect("the handler cannot fail")
    }

    #[test]
    fn a_message_is_handled_once_in_the_window() {
        let stage = Dedup::new(1_000, 2, 0.001).unwrap();
        assert_eq!(handle(&stage, "m1"), Outcome::Handled);
        for _ in 0..2 {
            assert_eq!(handle(&stage, "m1"), Outcome::Skipped);
            stage.tick();
        }
        assert_eq!(handle(&stage, "m1"), Outcome::Skipped);
        stage.tick();
        stage.sweep();
        assert_eq!(handle(&stage, "m1"), Outcome::Handled);
    }

    #[test]
    fn a_message_whose_handler_fails_is_due_again() {
        let stage = Dedup::new(1_000, 2, 0.001).unwrap();
        assert_eq!(stage.handle("m1", || Err("broken")), Err("broken"));
        assert_eq!(handle(&stage, "m1"), Outcome::Handled);
        assert_eq!(stage.handle("m1", || Err("never called")), Ok(Outcome::Skipped));
    }

    #[test]
    fn a_full_stage_loses_no_message() {
        let stage = Dedup::new(10, 1, 0.001).unwrap();
        let messages: Vec<u64> = (0..1_000).collect();
        let handled = |id: &u64| stage.handle(id, || Ok::<_, ()>(())) == Ok(Outcome::Handled);
        // With this seed, no message is taken for another one.
        assert!(messages.iter().all(handled), "a message was skipped");
        assert!(stage.overflows() > 900);
    }
}
