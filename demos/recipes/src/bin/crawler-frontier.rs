//! A crawler's frontier: URLs are crawled once, from 1,000 to ten million, killed at any time.
//! The frontier is a log of all URLs as they were found, and a filter of them, which grows.
//!
//! **The contract.** Of all calls of `insert_unique` with one URL, one returns `New`, and its
//! thread logs the URL. A file saved beside writers holds what was inserted before, and perhaps
//! more. So it gets its name once all that it may hold is logged: else a URL could be known and
//! never crawled. A start inserts again what was logged later. Readers map the file, which is never
//! written to: a new one takes its name. False positives lose URLs.

use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader, Read, Seek, SeekFrom, Write},
    process::{Command, ExitCode, Stdio},
    sync::{Mutex, RwLock},
    thread,
};

use anyhow::{Context, Result};
use guira::GrowingFilter;
use memmap2::Mmap;
use recipes::Checks;

/// Pages that are crawled first, and URLs that there are.
const SEEDS: usize = 1_000;
const URLS: usize = 10_000_000;
/// Target false-positive rate, after all growth.
const RATE: f64 = 0.000_2;
/// Pages that a thread crawls before it appends their links.
const BATCH: usize = 10_000;

fn url(page: usize) -> String {
    format!("https://example.org/{page}")
}

/// The links of a page: two that no other page has, and now and then one back.
fn links(page: usize) -> impl Iterator<Item = usize> {
    let new = SEEDS + 2 * page..(SEEDS + 2 * page + 2).min(URLS);
    new.chain(page.is_multiple_of(4).then_some(page / 2))
}

/// Pages in the log, at most so many from one on, without a part of one at the end.
fn pages(from: usize, most: usize) -> Result<Vec<usize>> {
    let (mut file, mut bytes) = (File::open("log")?, Vec::new());
    file.seek(SeekFrom::Start(4 * from as u64))?;
    file.take(4 * most as u64).read_to_end(&mut bytes)?;
    Ok(bytes.as_chunks().0.iter().map(|page| u32::from_le_bytes(*page) as usize).collect())
}

struct Frontier {
    seen: GrowingFilter,
    /// All pages found. Writers hold the outer lock from an insert to its append.
    log: RwLock<Mutex<File>>,
}

impl Frontier {
    /// Begins or continues. Returns the number of pages whose links are in the log as well.
    fn open() -> Result<(Self, usize)> {
        let log = File::options().create(true).append(true).open("log")?;
        log.set_len(log.metadata()?.len() & !3)?;
        let crawled = fs::read_to_string("crawled").unwrap_or("0".into()).parse()?;
        let seen = if fs::exists("seen")? {
            GrowingFilter::loader().file("seen")?
        } else {
            GrowingFilter::builder().capacity(SEEDS).false_positive_rate(RATE).build()?
        };
        for page in pages(crawled, URLS)? {
            let _ = seen.insert_unique(&url(page))?;
        }
        Ok((Self { seen, log: RwLock::new(log.into()) }, crawled))
    }

    /// Adds those of some pages that are new.
    fn add(&self, links: impl Iterator<Item = usize>) -> Result<()> {
        let (log, mut found) = (self.log.read().expect("no panic"), Vec::new());
        for link in links {
            if self.seen.insert_unique(&url(link))?.is_new() {
                found.extend((link as u32).to_le_bytes());
            }
        }
        Ok(log.lock().expect("no panic").write_all(&found)?)
    }

    /// Saves the filter, beside writers, and then how many pages had been crawled before.
    fn save(&self, crawled: usize) -> Result<()> {
        self.seen.save("new")?;
        // Waits for the appends of what the file may hold.
        self.log.write().expect("no panic").get_mut().expect("no panic").sync_data()?;
        fs::rename("new", "seen")?;
        fs::write("new", crawled.to_string())?;
        fs::rename("new", "crawled")?;
        println!("{crawled}");
        Ok(())
    }
}

/// Crawls with two threads until nothing is left. Saves beside them when the crawl has doubled.
fn crawl() -> Result<()> {
    let (ref frontier, mut crawled) = Frontier::open()?;
    frontier.add(0..SEEDS)?;
    loop {
        let batch = pages(crawled, 2 * BATCH)?;
        if batch.is_empty() {
            return frontier.save(crawled);
        }
        let has_doubled = crawled.leading_zeros() > (crawled + batch.len()).leading_zeros();
        thread::scope(|scope| {
            let saver = has_doubled.then(|| scope.spawn(move || frontier.save(crawled)));
            let add = |half: &[usize]| frontier.add(half.iter().flat_map(|page| links(*page)));
            let halves = batch.chunks(BATCH).map(|half| scope.spawn(move || add(half)));
            let threads: Vec<_> = halves.chain(saver).collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        })?;
        crawled += batch.len();
    }
}

fn main() -> Result<ExitCode> {
    if env::args().nth(1).is_some() {
        return crawl().map(|()| ExitCode::SUCCESS);
    }
    println!("A crawler's frontier, from {SEEDS} to {URLS} URLs, killed three times");
    let mut checks = Checks::default();
    let folder = env::temp_dir().join(format!("recipe-frontier-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    env::set_current_dir(&folder)?;
    for kill_at in [10_000, 200_000, 2_000_000, usize::MAX] {
        let mut child =
            Command::new(env::current_exe()?).arg("go").stdout(Stdio::piped()).spawn()?;
        for line in BufReader::new(child.stdout.take().context("a pipe")?).lines() {
            // SAFETY: The file is never written to. A newer one replaces it.
            let seen = unsafe { Mmap::map(&File::open("seen")?)? };
            let (view, crawled) = (GrowingFilter::loader().view(&seen)?, line?.parse()?);
            let all = pages(0, crawled)?.iter().step_by(7).all(|page| view.contains(&url(*page)));
            checks.check(all, format!("a view finds {crawled} pages that were crawled before"));
            if crawled >= kill_at {
                child.kill()?;
            }
        }
        child.wait()?;
    }
    let (log, mut crawled) = (pages(0, URLS)?, vec![false; URLS]);
    let twice = log.iter().filter(|page| std::mem::replace(&mut crawled[**page], true)).count();
    checks.check(twice == 0, format!("{} URLs are crawled, none of them twice", log.len()));
    let is_lost = |page: &usize| !crawled[*page] && crawled[(page - SEEDS) / 2];
    let (lost, most) = ((SEEDS..URLS).filter(is_lost).count() as f64, RATE * URLS as f64);
    checks.check(lost < 1.2 * most, format!("{lost} false positives; the target allows {most}"));
    fs::remove_dir_all(&folder)?;
    Ok(checks.end())
}
