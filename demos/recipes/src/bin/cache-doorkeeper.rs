//! `quick_cache`: a cache on disk, a filter that says whether a key is there, and a doorkeeper.
//!
//! Many keys are requested once. The doorkeeper, a filter that forgets, admits a key to the disk at
//! its second request. The other filter answers "is it on disk?" without a lock.
//!
//! **The contract.** Each key is inserted into the filter before its entry becomes visible, and
//! removed once, when the cache calls its listener for the entry, or refuses it. So `false` is
//! certain: there is no such entry. `quick_cache` calls no listener for a value that is replaced,
//! so nothing may be replaced: the guard of a key lets one thread put it, if it is absent. The
//! doorkeeper only gives advice: it may admit a key at its first request, or forget one.

use std::{
    env, fs,
    path::PathBuf,
    process::{self, ExitCode},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use anyhow::Result;
use guira::{CuckooFilter, ExpiringFilter, StableHashBuilder};
use quick_cache::{Lifecycle, UnitWeighter, sync::Cache, sync::GuardResult};
use recipes::{Checks, at_once};

/// Entries that fit on the disk, and the requests of the trace.
const ENTRIES: usize = 1_000;
const REQUESTS: u64 = 100_000;

/// The entries on disk: a folder of files, each with a name of its own, and a filter of their keys.
#[derive(Clone)]
struct Disk {
    folder: PathBuf,
    keys: Arc<CuckooFilter>,
    /// Removals that found nothing. There are none, unless the contract is broken.
    broken: Arc<AtomicU64>,
}

impl Disk {
    fn withdraw(&self, key: u64, file: u64) {
        let _ = fs::remove_file(self.folder.join(file.to_string()));
        self.broken.fetch_add(u64::from(!self.keys.remove(&key)), Relaxed);
    }
}

impl Lifecycle<u64, u64> for Disk {
    type RequestState = ();

    fn on_evict(&self, (): &mut (), key: u64, file: u64) {
        self.withdraw(key, file);
    }
}

/// Admits a key if it was requested in this period or the last. New keys end a period.
struct Doorkeeper(ExpiringFilter, AtomicUsize);

impl Doorkeeper {
    fn admits(&self, key: u64) -> bool {
        if self.0.contains(&key) {
            return true;
        }
        let _ = self.0.insert(&key); // If there is no room, the key is forgotten.
        if (self.1.fetch_add(1, Relaxed) + 1).is_multiple_of(8 * ENTRIES) {
            self.0.advance();
        }
        false
    }
}

struct Cached {
    disk: Disk,
    files: Cache<u64, u64, UnitWeighter, StableHashBuilder, Disk>,
    door: Option<Doorkeeper>,
    written: AtomicU64,
}

impl Cached {
    fn new(name: &str, door: bool) -> Result<Self> {
        let folder = env::temp_dir().join(format!("recipe-{name}-{}", process::id()));
        fs::create_dir_all(&folder)?;
        // More than the entries: some are not admitted, and some are late to leave.
        let keys = CuckooFilter::builder().capacity(2 * ENTRIES).seed(1).build()?;
        let disk = Disk { folder, keys: keys.into(), broken: Arc::default() };
        let (hasher, listener) = (StableHashBuilder::from_seed(1), disk.clone());
        let files = Cache::with(ENTRIES, ENTRIES as u64, UnitWeighter, hasher, listener);
        let seen = ExpiringFilter::builder().capacity(24 * ENTRIES).window(1).seed(1).build()?;
        let door = door.then(|| Doorkeeper(seen, AtomicUsize::new(0)));
        Ok(Self { disk, files, door, written: AtomicU64::new(0) })
    }

    /// Requests a key, and returns whether its file was on disk.
    fn get(&self, key: u64) -> Result<bool> {
        let path = |file: u64| self.disk.folder.join(file.to_string());
        if self.disk.keys.contains(&key)
            && let Some(file) = self.files.get(&key)
            && fs::read(path(file)).is_ok_and(|body| body == key.to_le_bytes())
        {
            return Ok(true);
        }
        // Here the body comes from far away. Is it worth a file?
        if self.door.as_ref().is_none_or(|door| door.admits(key))
            && let GuardResult::Guard(guard) = self.files.get_value_or_guard(&key, None)
        {
            let file = self.written.fetch_add(1, Relaxed);
            fs::write(path(file), key.to_le_bytes())?;
            self.disk.keys.insert(&key)?;
            if guard.insert(file).is_err() {
                self.disk.withdraw(key, file);
            }
        }
        Ok(false)
    }
}

/// The key of a request: four in ten are requested once, the others as Zipf's law says.
fn request(nth: u64) -> u64 {
    let mixed = nth.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let (kind, uniform) = (mixed >> 60, (mixed & 0xffff_ffff) as f64 / 4_294_967_296.0);
    if kind < 6 { 1 << 40 | nth } else { 20_000_f64.powf(uniform) as u64 }
}

fn main() -> Result<ExitCode> {
    println!("quick_cache: a doorkeeper, and a filter of what is on disk");
    let mut checks = Checks::default();
    let [plain, kept] = [("without", false), ("with", true)].map(|(name, door)| {
        let cached = Cached::new(name, door)?;
        let hits = (0..REQUESTS).map(|nth| cached.get(request(nth)).map(u64::from));
        let hits = hits.sum::<Result<u64>>()?;
        let (rate, written) = (100.0 * hits as f64 / REQUESTS as f64, cached.written.load(Relaxed));
        println!("        {rate:.1} % hits and {written} files written {name} a doorkeeper");
        anyhow::Ok((cached, rate, written))
    });
    let ((plain, plain_rate, plain_written), (kept, kept_rate, kept_written)) = (plain?, kept?);
    checks.check(kept_written * 2 < plain_written, "the doorkeeper spares over half the writes");
    checks.check(kept_rate >= plain_rate, "and costs no hits");
    // Eight threads evict and put the same keys at once.
    let again = || (0..REQUESTS / 4).try_for_each(|nth| kept.get(request(nth)).map(drop));
    at_once(again).into_iter().collect::<Result<()>>()?;
    for Cached { disk, files, .. } in [&plain, &kept] {
        let on_disk = fs::read_dir(&disk.folder)?.count();
        let found = files.iter().filter(|(key, _)| disk.keys.contains(key)).count();
        let is_mirror = [found, files.len(), disk.keys.len()] == [on_disk; 3];
        let is_right = is_mirror && disk.broken.load(Relaxed) == 0;
        checks.check(is_right, "the filter holds the keys on disk, once each");
        fs::remove_dir_all(&disk.folder)?;
    }
    Ok(checks.end())
}
