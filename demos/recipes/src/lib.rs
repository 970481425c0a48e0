//! What the recipes share: printed checks, a clock that is set by hand, and a filter that accepts
//! each key once.

use std::{
    fmt::Display,
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, SystemTime},
};

use anyhow::Result;
use guira::{BuildError, ExpiringFilter, Insertion, LoadError};
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime},
};

/// Prints what has been checked, and counts what does not hold.
#[derive(Default)]
pub struct Checks(u32);

impl Checks {
    /// Prints a statement, and whether it holds.
    pub fn check(&mut self, holds: bool, statement: impl Display) {
        println!("{}  {statement}", if holds { "ok    " } else { "FAILED" });
        self.0 += u32::from(!holds);
    }

    /// Returns a failure if any statement did not hold.
    #[must_use]
    pub fn end(&self) -> ExitCode {
        if self.0 == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Calls a function from eight threads at once.
///
/// # Panics
/// If the function does.
pub fn at_once<T: Send>(call: impl Fn() -> T + Sync) -> [T; 8] {
    thread::scope(|scope| {
        let threads = [(); 8].map(|()| scope.spawn(&call));
        threads.map(|thread| thread.join().expect("no panic"))
    })
}

/// The time of day, in whole seconds since 1970. Checks set it by hand, so that they do not depend
/// on time. A program uses `SystemTime::UNIX_EPOCH.elapsed()` instead.
#[derive(Clone, Debug)]
pub struct Clock(Arc<AtomicU64>);

impl Default for Clock {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(1_800_000_000)))
    }
}

impl Clock {
    /// Returns the time since 1970.
    #[must_use]
    pub fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(SeqCst))
    }

    /// The same in nanoseconds.
    #[must_use]
    pub fn nanos(&self) -> u64 {
        self.0.load(SeqCst) * 1_000_000_000
    }

    /// Lets some time pass.
    pub fn pass(&self, time: Duration) {
        self.0.fetch_add(time.as_secs(), SeqCst);
    }
}

impl quinn::TimeSource for Clock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Self::now(self)
    }
}

impl rustls::time_provider::TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(self.now()))
    }
}

/// Who a server on this machine is: its certificate and its key. Its clients trust the roots.
pub struct Identity {
    /// The certificate, for `localhost`.
    pub certificate: CertificateDer<'static>,
    /// Its private key.
    pub key: PrivateKeyDer<'static>,
    /// Nothing but the certificate.
    pub roots: RootCertStore,
}

impl Identity {
    /// Creates a certificate that signs itself.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn new() -> Result<Self> {
        let made = rcgen::generate_simple_self_signed(["localhost".to_string()])?;
        let (certificate, mut roots) = (made.cert.der().clone(), RootCertStore::empty());
        roots.add(certificate.clone())?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into();
        Ok(Self { certificate, key, roots })
    }
}

/// Accepts each key once within a time to live. All calls of a filter that expires are here.
#[derive(Debug)]
pub struct Once(ExpiringFilter);

impl Once {
    /// Creates a filter with room for so many keys within the time to live.
    ///
    /// # Errors
    /// If the system refuses the memory.
    pub fn new(time_to_live: Duration, keys: usize, clock: Clock) -> Result<Self, BuildError> {
        let seen = ExpiringFilter::builder().capacity(keys).ttl(time_to_live);
        // A service leaves the clock out, and gets one of the system.
        Ok(Self(seen.clock(move || clock.nanos()).build()?))
    }

    /// Loads a filter that was saved. No time has passed in it since.
    ///
    /// # Errors
    /// If the file cannot be loaded.
    pub fn load(file: &Path, clock: Clock) -> Result<Self, LoadError> {
        Ok(Self(ExpiringFilter::loader().clock(move || clock.nanos()).file(file)?))
    }

    /// Returns whether the key is new, and remembers it. Of several calls with one key within the
    /// time to live, at most one returns `true`. If the filter is full, none does.
    pub fn accepts(&self, key: &[u8]) -> bool {
        matches!(self.0.insert_unique(key), Ok(Insertion::New(_)))
    }

    /// The filter, to be saved.
    #[must_use]
    pub fn filter(&self) -> &ExpiringFilter {
        &self.0
    }
}
