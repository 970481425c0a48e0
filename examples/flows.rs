//! Follows the network flows of real captures, with one filter shared by many threads.
//!
//! ```text
//! cargo run --release --example flows -- [FILES]
//! ```
//!
//! The files are pcap or pcapng captures of IPv4 and IPv6 traffic; without any, the capture is
//! read that the crate `pcap-parser` ships. The packets are dealt to the threads by the hash of
//! their two-way 5-tuple, so each flow has one owner, which keeps it in an exact set; all owners
//! share one [`CuckooFilter`]:
//!
//! - the first packet of a flow asks the filter, which knows it only by mistake (a *false
//!   positive*, counted against the promised rate), and then inserts it;
//! - every later packet must find its flow, whatever the other threads insert and remove in the
//!   meantime (a *false negative* ends the run with exit status 1);
//! - a flow that ends (a FIN from both sides, an RST, or a minute of silence on the capture's own
//!   clock) is removed by its owner, and its next packet starts it anew;
//! - what is left at the end is looked up again from threads that do not own it, and removed; the
//!   filter must then be empty.
//!
//! Input that cannot be read, one that stops in the middle of a packet included, is reported in
//! one line, with exit status 2.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::fmt;
use std::fs::{self, File};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{self, Write};
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use cargo_metadata::MetadataCommand;
use clap::Parser;
use etherparse::{EtherType, Ipv6ExtensionSlice, LaxNetSlice, LaxSlicedPacket, ip_number};
use guira::CuckooFilter;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{
    Block, IDB_MAGIC, InterfaceDescriptionBlock, Linktype, PcapBlockOwned, PcapError, PcapHeader,
    create_reader,
};

/// A second on the capture clock, which counts microseconds.
const SECOND: u64 = 1_000_000;
/// The silence after which a flow has ended.
const IDLE: u64 = 60 * SECOND;
/// Packets handed to a thread at a time, so that the channel costs little for each.
const BATCH: usize = 512;
/// Batches that may wait for a thread before the reader has to.
const BATCHES_WAITING: usize = 16;
/// Size of the reading buffer, and the most that it may grow to for one huge block.
const BUFFER: usize = 1 << 20;
const BUFFER_MOST: usize = 1 << 26;
/// The fewest bytes of a file that can start a flow: a record header of 16 and an IP header of 20.
const LEAST_RECORD: u64 = 36;
/// The most flows that the filter makes room for unless told otherwise.
const CAPACITY_MOST: usize = 1 << 22;
/// The capture that `pcap-parser` ships, in its folder.
const SHIPPED_CAPTURE: &str = "assets/wireshark_samples-test.pcapng";
/// The type of pcapng's obsolete packet block, which `pcap-parser` does not decode.
const OLD_PACKET: u32 = 2;

/// Follow the flows of captures with one cuckoo filter shared by many threads
#[derive(Parser)]
#[command(name = "flows")]
struct Args {
    /// Captures to read, pcap or pcapng [default: the one that pcap-parser ships]
    files: Vec<PathBuf>,
    /// Threads to deal the packets to [default: as many as there are cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Live flows to make room for [default: as many as the files can hold, at most 4194304]
    #[arg(long)]
    capacity: Option<usize>,
    /// False-positive rate to ask for
    #[arg(long, default_value_t = 0.001)]
    rate: f64,
}

/// What is wrong with a capture, in words that follow its name.
type Fault = &'static str;

/// Why the run ended early: an exit status and one line for standard error.
struct Failure(u8, String);

/// The failure of a filter that broke a promise.
fn broken(line: impl Into<String>) -> Failure {
    Failure(1, line.into())
}

/// The failure of a run whose input, or whose options, cannot be used.
fn unusable(line: impl Into<String>) -> Failure {
    Failure(2, line.into())
}

/// One end of a flow; the port is 0 where the protocol has none.
type Endpoint = (IpAddr, u16);

/// A two-way 5-tuple: both directions have the same, as the smaller endpoint comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct FlowKey {
    low: Endpoint,
    high: Endpoint,
    protocol: u8,
}

impl fmt::Display for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (SocketAddr::from(self.low), SocketAddr::from(self.high));
        write!(f, "{low} <-> {high} (protocol {})", self.protocol)
    }
}

/// A packet as its owner gets it.
struct Packet {
    flow: FlowKey,
    time: u64,
    is_from_low: bool,
    is_fin: bool,
    is_reset: bool,
}

/// A packet as it stands in a capture.
struct Frame<'a> {
    link: Linktype,
    time: Option<u64>,
    data: &'a [u8],
}

impl Frame<'_> {
    /// Decodes as much as is there: the snap length may have cut the packet anywhere.
    fn decode(&self, now: u64) -> Option<Packet> {
        let packet = self.slice()?;
        let (source, destination, is_later_fragment) = match packet.net.as_ref()? {
            LaxNetSlice::Ipv4(ip) => {
                let header = ip.header();
                let ends = (header.source_addr(), header.destination_addr());
                let is_later = header.fragments_offset().value() != 0;
                (ends.0.into(), ends.1.into(), is_later)
            }
            LaxNetSlice::Ipv6(ip) => {
                let header = ip.header();
                let ends = (header.source_addr(), header.destination_addr());
                let is_later = ip.extensions().clone().into_iter().any(|extension| {
                    matches!(extension, Ipv6ExtensionSlice::Fragment(fragment)
                        if fragment.fragment_offset().value() != 0)
                });
                (ends.0.into(), ends.1.into(), is_later)
            }
            LaxNetSlice::Arp(_) => return None,
        };
        let ip = packet.ip_payload()?;
        // Only a first fragment has a transport header, and only these two protocols have ports.
        let transport = match ip.ip_number {
            ip_number::TCP | ip_number::UDP if !is_later_fragment => ip.payload,
            _ => &[],
        };
        let ports = u16_at(transport, 0).zip(u16_at(transport, 2));
        let (source_port, destination_port) = ports.unwrap_or((0, 0));
        let (source, destination) = ((source, source_port), (destination, destination_port));
        let flow = FlowKey {
            low: source.min(destination),
            high: source.max(destination),
            protocol: ip.ip_number.0,
        };
        let is_tcp = ip.ip_number == ip_number::TCP;
        let flags = transport.get(13).filter(|_| is_tcp).unwrap_or(&0);
        Some(Packet {
            flow,
            time: now,
            is_from_low: source == flow.low,
            is_fin: flags & 1 != 0,
            is_reset: flags & 4 != 0,
        })
    }

    /// Takes the link layer off; link types without an entry here are not decoded.
    fn slice(&self) -> Option<LaxSlicedPacket<'_>> {
        let by_type = |type_at, payload_at| {
            let ether_type = EtherType(u16_at(self.data, type_at)?);
            let payload = self.data.get(payload_at..)?;
            Some(LaxSlicedPacket::from_ether_type(ether_type, payload))
        };
        match self.link {
            Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(self.data).ok(),
            Linktype::LINUX_SLL => by_type(14, 16),
            Linktype::LINUX_SLL2 => by_type(0, 20),
            Linktype::NULL | Linktype::LOOP => LaxSlicedPacket::from_ip(self.data.get(4..)?).ok(),
            // 12 and 14 are what some systems wrote for raw IP before it had a number in files.
            Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 | Linktype(12 | 14) => {
                LaxSlicedPacket::from_ip(self.data).ok()
            }
            _ => None,
        }
    }
}

/// The big-endian number that starts at a byte, if it is there.
fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let &[high, low] = bytes.get(at..at + 2)?.first_chunk()?;
    Some(u16::from_be_bytes([high, low]))
}

/// How packets of one interface are framed and stamped.
struct Interface {
    link: Linktype,
    /// Ticks of its clock in a second.
    resolution: u128,
    /// Seconds to add to its clock.
    offset: i64,
}

impl Interface {
    /// The only interface of a pcap file; the upper half of the field does not name the link.
    fn of_pcap(header: &PcapHeader) -> Self {
        let ticks = if header.is_nanosecond_precision() { 9 } else { 6 };
        Self {
            link: Linktype(header.network.0 & 0xffff),
            resolution: 10_u128.pow(ticks),
            offset: 0,
        }
    }

    /// One of the interfaces of a pcapng section. The resolution is computed here, as
    /// `ts_resolution` refuses powers of two, and the offset mended where the section is
    /// big-endian, as `ts_offset` takes it for little-endian.
    fn of_pcapng(block: &InterfaceDescriptionBlock<'_>) -> Self {
        let base: u128 = if block.if_tsresol & 0x80 == 0 { 10 } else { 2 };
        let mut offset = block.ts_offset();
        if block.block_type != IDB_MAGIC {
            offset = offset.swap_bytes();
        }
        Self {
            link: block.linktype,
            resolution: base.saturating_pow(u32::from(block.if_tsresol & 0x7f)),
            offset,
        }
    }

    /// A packet of this interface.
    fn frame<'a>(&self, time: Option<u64>, data: &'a [u8]) -> Frame<'a> {
        let link = self.link;
        Frame { link, time, data }
    }

    /// Turns a time stamp into microseconds, within the range of a pcap file's stamps.
    fn microseconds(&self, ticks: u128) -> u64 {
        let microseconds = ticks * u128::from(SECOND) / self.resolution;
        let since_offset = i128::try_from(microseconds).unwrap_or(i128::MAX);
        let offset = i128::from(self.offset) * i128::from(SECOND);
        let most = i128::from(u32::MAX) * i128::from(SECOND);
        let stamp = since_offset.saturating_add(offset).clamp(0, most);
        u64::try_from(stamp).unwrap_or(0)
    }
}

/// The interfaces described so far: one for a pcap file, any number for a section of pcapng.
#[derive(Default)]
struct Interfaces(Vec<Interface>);

impl Interfaces {
    /// Takes in a block of a capture and returns the packet in it, if it is one.
    fn frame<'a>(&mut self, block: &'a PcapBlockOwned<'_>) -> Result<Option<Frame<'a>>, Fault> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => self.0 = vec![Interface::of_pcap(header)],
            PcapBlockOwned::Legacy(packet) => {
                let interface = self.get(0)?;
                let seconds = u128::from(packet.ts_sec) * interface.resolution;
                let time = interface.microseconds(seconds + u128::from(packet.ts_usec));
                return Ok(Some(interface.frame(Some(time), packet.data)));
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => self.0.clear(),
            PcapBlockOwned::NG(Block::InterfaceDescription(block)) => {
                self.0.push(Interface::of_pcapng(block));
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let interface = self.get(packet.if_id)?;
                let ticks = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
                let time = interface.microseconds(ticks);
                return Ok(Some(interface.frame(Some(time), packet.packet_data())));
            }
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                return Ok(Some(self.get(0)?.frame(None, packet.packet_data())));
            }
            PcapBlockOwned::NG(Block::Unknown(block))
                if [block.block_type, block.block_type.swap_bytes()].contains(&OLD_PACKET) =>
            {
                return Err("holds packet blocks of the obsolete kind, which are not decoded");
            }
            PcapBlockOwned::NG(_) => {}
        }
        Ok(None)
    }

    /// The interface with a number.
    fn get(&self, number: u32) -> Result<&Interface, Fault> {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let undescribed = "holds a packet of an interface that it does not describe";
        self.0.get(index).ok_or(undescribed)
    }
}

/// The clock of the captures, in microseconds, which never runs backwards.
///
/// A small step back, as between packets stamped by different cores, is held. One of more than
/// the idle time is another capture, or a clock that was set: it goes on from the present.
#[derive(Default)]
struct Clock {
    now: u64,
    shift: u64,
}

impl Clock {
    /// Moves on to a time stamp.
    fn advance(&mut self, stamp: u64) {
        if stamp.saturating_add(self.shift).saturating_add(IDLE) < self.now {
            self.shift = self.now - stamp;
        }
        self.now = self.now.max(stamp.saturating_add(self.shift));
    }
}

/// Packets on their way to a thread, and the time when they were sent.
struct Batch {
    packets: Vec<Packet>,
    now: u64,
}

/// Deals the packets to the threads, each flow always to the same one.
struct Dealer {
    threads: Vec<SyncSender<Batch>>,
    waiting: Vec<Vec<Packet>>,
    clock: Clock,
    tally: Tally,
}

impl Dealer {
    /// Counts a packet, and hands it to the owner of its flow if it has one.
    fn deal(&mut self, frame: &Frame<'_>) -> Result<(), Failure> {
        self.tally.packets += 1;
        if let Some(stamp) = frame.time {
            self.clock.advance(stamp);
        }
        let Some(packet) = frame.decode(self.clock.now) else {
            self.tally.others += 1;
            return Ok(());
        };
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(packet.flow);
        let owner = usize::try_from(hash % self.threads.len() as u64).unwrap_or(0);
        self.waiting[owner].push(packet);
        if self.waiting[owner].len() == BATCH {
            self.send(owner)?;
        }
        Ok(())
    }

    /// Sends a thread what waits for it. A thread that does not listen any more has failed, and
    /// says itself why.
    fn send(&mut self, owner: usize) -> Result<(), Failure> {
        let packets = mem::replace(&mut self.waiting[owner], Vec::with_capacity(BATCH));
        let now = self.clock.now;
        self.threads[owner]
            .send(Batch { packets, now })
            .map_err(|_| broken("a thread stopped before the packets did"))
    }

    /// Sends every thread the last of its packets and the last of the clock.
    fn finish(mut self) -> Result<Tally, Failure> {
        (0..self.threads.len()).try_for_each(|owner| self.send(owner))?;
        Ok(self.tally)
    }
}

/// What an owner knows of a live flow.
struct Flow {
    last_seen: u64,
    /// When it was last seen according to its valid entry in the queue.
    queued: u64,
    /// Whether a FIN was seen from either side.
    fins: [bool; 2],
}

impl Flow {
    /// Takes note of a packet; true if it was the last one.
    fn note(&mut self, packet: &Packet) -> bool {
        self.last_seen = packet.time;
        self.fins[usize::from(packet.is_from_low)] |= packet.is_fin;
        packet.is_reset || self.fins == [true; 2]
    }
}

/// What is counted: the packets by the dealer, the rest by the owners of the flows.
#[derive(Default)]
struct Tally {
    packets: u64,
    /// Packets that belong to no flow.
    others: u64,
    distinct: usize,
    /// The most flows alive at once; added up over the owners, a bound.
    most_live: usize,
    asks: u64,
    false_positives: u64,
    lookups: u64,
    closed: u64,
    idled: u64,
    /// Flows still alive at the end.
    left: usize,
    /// Time spent on packets, not on waiting for them.
    busy: Duration,
}

impl Tally {
    /// Adds what another one counted.
    fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.others += other.others;
        self.distinct += other.distinct;
        self.most_live += other.most_live;
        self.asks += other.asks;
        self.false_positives += other.false_positives;
        self.lookups += other.lookups;
        self.closed += other.closed;
        self.idled += other.idled;
        self.left += other.left;
        self.busy += other.busy;
    }
}

/// A thread's own flows, and the filter that it shares with the others.
struct Owner<'a> {
    filter: &'a CuckooFilter,
    live: HashMap<FlowKey, Flow>,
    distinct: HashSet<FlowKey>,
    /// The live flows, and some that are not, by the time when they were last seen, or earlier.
    queue: BinaryHeap<Reverse<(u64, FlowKey)>>,
    tally: Tally,
}

impl<'a> Owner<'a> {
    /// An owner without flows.
    fn new(filter: &'a CuckooFilter) -> Self {
        Self {
            filter,
            live: HashMap::new(),
            distinct: HashSet::new(),
            queue: BinaryHeap::new(),
            tally: Tally::default(),
        }
    }

    /// Follows flows for as long as there are packets.
    fn run(mut self, batches: Receiver<Batch>) -> Result<Self, Failure> {
        for batch in batches {
            let start = Instant::now();
            for packet in &batch.packets {
                self.end_idle(packet.time)?;
                self.take(packet)?;
            }
            self.end_idle(batch.now)?;
            self.tally.busy += start.elapsed();
        }
        self.tally.distinct = self.distinct.len();
        self.tally.left = self.live.len();
        Ok(self)
    }

    /// Takes a packet: its flow must be in the filter if it is alive, and is inserted if not.
    fn take(&mut self, packet: &Packet) -> Result<(), Failure> {
        let flow = match self.live.entry(packet.flow) {
            Entry::Occupied(entry) => {
                self.tally.lookups += 1;
                must_contain(self.filter, &packet.flow)?;
                entry.into_mut()
            }
            Entry::Vacant(entry) => {
                self.tally.asks += 1;
                self.tally.false_positives += u64::from(self.filter.contains(&packet.flow));
                insert(self.filter, &packet.flow)?;
                self.distinct.insert(packet.flow);
                self.queue.push(Reverse((packet.time, packet.flow)));
                entry.insert(Flow { last_seen: packet.time, queued: packet.time, fins: [false; 2] })
            }
        };
        let is_over = flow.note(packet);
        self.tally.most_live = self.tally.most_live.max(self.live.len());
        if is_over {
            self.tally.closed += 1;
            self.end(&packet.flow)?;
        }
        Ok(())
    }

    /// Ends the flows that have been silent for too long. A queue entry says when its flow was
    /// last seen when it was queued: if the flow was seen since, it is queued again, so a packet
    /// costs the queue nothing.
    fn end_idle(&mut self, now: u64) -> Result<(), Failure> {
        while let Some(&Reverse((seen, key))) = self.queue.peek()
            && seen.saturating_add(IDLE) <= now
        {
            self.queue.pop();
            // Without a flow of this time, the entry is of an earlier life of the flow.
            let Some(flow) = self.live.get_mut(&key).filter(|flow| flow.queued == seen) else {
                continue;
            };
            if flow.last_seen > seen {
                flow.queued = flow.last_seen;
                self.queue.push(Reverse((flow.last_seen, key)));
            } else {
                self.tally.idled += 1;
                self.end(&key)?;
            }
        }
        Ok(())
    }

    /// Forgets a flow, here and in the filter.
    fn end(&mut self, key: &FlowKey) -> Result<(), Failure> {
        self.live.remove(key);
        remove(self.filter, key)
    }
}

/// Inserts a flow, for which there must be room.
fn insert(filter: &CuckooFilter, key: &FlowKey) -> Result<(), Failure> {
    filter.insert(key).map_err(|error| {
        let capacity = filter.capacity();
        unusable(format!("{error}: give --capacity more than {capacity} flows"))
    })
}

/// Looks a live flow up, which must be found.
fn must_contain(filter: &CuckooFilter, key: &FlowKey) -> Result<(), Failure> {
    if filter.contains(key) {
        return Ok(());
    }
    Err(broken(format!("false negative: the filter misses the live flow {key}")))
}

/// Removes a live flow, which must be there.
fn remove(filter: &CuckooFilter, key: &FlowKey) -> Result<(), Failure> {
    if filter.remove(key) {
        return Ok(());
    }
    Err(broken(format!("the filter has nothing to remove for the live flow {key}")))
}

/// A bar for the reading of a number of bytes, hidden at first.
fn progress_bar(bytes: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden()).with_style(style)
}

/// Shows the bar after a second; where standard error is no terminal, it stays hidden.
fn show_when_slow(bar: &ProgressBar) {
    if bar.is_hidden() && bar.elapsed() > Duration::from_secs(1) {
        bar.set_draw_target(ProgressDrawTarget::stderr());
    }
}

/// A capture to read.
struct Capture {
    path: PathBuf,
    /// Its length, 0 where that is not known.
    bytes: u64,
}

impl Capture {
    /// Makes sure that there is a file.
    fn find(path: PathBuf) -> Result<Self, Failure> {
        let mut capture = Self { path, bytes: 0 };
        let data = fs::metadata(&capture.path).map_err(|error| capture.unusable(error))?;
        if data.is_dir() {
            return Err(capture.unusable("is a directory"));
        }
        capture.bytes = data.len();
        Ok(capture)
    }

    /// What is wrong with it, as a failure.
    fn unusable(&self, fault: impl fmt::Display) -> Failure {
        unusable(format!("{}: {fault}", self.path.display()))
    }

    /// Reads block after block and deals the packets.
    fn read(&self, dealer: &mut Dealer, bar: &ProgressBar) -> Result<(), Failure> {
        let file = File::open(&self.path).map_err(|error| self.unusable(error))?;
        let mut reader = create_reader(BUFFER, bar.wrap_read(file))
            .map_err(|error| self.unusable(fault(&error)))?;
        let mut interfaces = Interfaces::default();
        loop {
            let at = reader.consumed();
            let damaged = |fault| self.unusable(format!("{fault} (at byte {at})"));
            match reader.next() {
                Ok((length, block)) => {
                    if let Some(frame) = interfaces.frame(&block).map_err(damaged)? {
                        dealer.deal(&frame)?;
                    }
                    reader.consume(length);
                }
                Err(PcapError::Eof) => return Ok(()),
                Err(PcapError::Incomplete(_) | PcapError::BufferTooSmall) => {
                    show_when_slow(bar);
                    read_on(&mut *reader).map_err(damaged)?;
                }
                Err(error) => return Err(damaged(fault(&error))),
            }
        }
    }
}

/// Reads more into the buffer, which grows where it is full.
fn read_on(reader: &mut dyn PcapReaderIterator) -> Result<(), Fault> {
    let had = reader.data().len();
    reader.refill().map_err(|error| fault(&error))?;
    if reader.data().len() > had || reader.reader_exhausted() {
        return Ok(());
    }
    if reader.grow((2 * had).min(BUFFER_MOST)) {
        return Ok(());
    }
    Err("is damaged, or has a block of more than 64 MiB")
}

/// Says what `pcap-parser` found, without the bytes that it found it in.
fn fault<I>(error: &PcapError<I>) -> Fault {
    match error {
        PcapError::Eof => "is empty",
        PcapError::UnexpectedEof | PcapError::Incomplete(_) => "is cut short",
        PcapError::ReadError => "cannot be read",
        PcapError::HeaderNotRecognized => "is neither pcap nor pcapng",
        _ => "is damaged",
    }
}

/// The captures named, or the one that `pcap-parser` ships.
fn find_captures(files: &[PathBuf]) -> Result<Vec<Capture>, Failure> {
    if files.is_empty() {
        return Ok(vec![Capture::find(shipped_capture()?)?]);
    }
    files.iter().cloned().map(Capture::find).collect()
}

/// Asks cargo where the sources of `pcap-parser` are. Of this platform's packages only, if cargo is
/// new enough to know the platform by that name: the others may never have been downloaded.
fn shipped_capture() -> Result<PathBuf, Failure> {
    let no_capture = |why: &dyn fmt::Display| {
        let why = why.to_string().replace('\n', " ");
        unusable(format!("cargo does not find the shipped capture, name one: {why}"))
    };
    let mut command = MetadataCommand::new();
    command.manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    let everything = command.clone();
    let metadata = command
        .other_options(["--filter-platform".into(), "host-tuple".into()])
        .exec()
        .or_else(|_| everything.exec())
        .map_err(|error| no_capture(&error))?;
    metadata
        .packages
        .iter()
        .find(|package| package.name == "pcap-parser")
        .and_then(|package| package.manifest_path.parent())
        .map(|folder| folder.join(SHIPPED_CAPTURE).into_std_path_buf())
        .ok_or_else(|| no_capture(&"pcap-parser is no dependency"))
}

/// Room for as many live flows as the captures can hold, within reason.
fn capacity_for(captures: &[Capture]) -> usize {
    if captures.iter().any(|capture| capture.bytes == 0) {
        return CAPACITY_MOST;
    }
    let bytes: u64 = captures.iter().map(|capture| capture.bytes).sum();
    usize::try_from(bytes / LEAST_RECORD)
        .map_or(CAPACITY_MOST, |flows| flows.clamp(1, CAPACITY_MOST))
}

/// Reads the captures and lets the threads follow the flows.
fn follow<'a>(
    captures: &[Capture],
    filter: &'a CuckooFilter,
    threads: usize,
) -> Result<(Tally, Vec<Owner<'a>>), Failure> {
    thread::scope(|scope| {
        let (senders, owners): (Vec<_>, Vec<_>) = (0..threads)
            .map(|_| {
                let (sender, batches) = sync_channel(BATCHES_WAITING);
                (sender, scope.spawn(|| Owner::new(filter).run(batches)))
            })
            .unzip();
        let dealt = read_all(captures, senders);
        let mut outcomes: Vec<_> = owners
            .into_iter()
            .map(|owner| owner.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect();
        // Broken promises of the filter first, then a lack of room, then unreadable input.
        outcomes.sort_by_key(|outcome| outcome.as_ref().err().map_or(u8::MAX, |failure| failure.0));
        let owners = outcomes.into_iter().collect::<Result<_, _>>()?;
        Ok((dealt?, owners))
    })
}

/// Reads one capture after another and deals the packets.
fn read_all(captures: &[Capture], threads: Vec<SyncSender<Batch>>) -> Result<Tally, Failure> {
    let bar = progress_bar(captures.iter().map(|capture| capture.bytes).sum());
    let mut dealer = Dealer {
        waiting: threads.iter().map(|_| Vec::with_capacity(BATCH)).collect(),
        threads,
        clock: Clock::default(),
        tally: Tally::default(),
    };
    let mut captures = captures.iter();
    let read = captures.try_for_each(|capture| capture.read(&mut dealer, &bar));
    bar.finish_and_clear();
    read.and_then(|()| dealer.finish())
}

/// Does some work in as many new threads as there are items, one item each.
fn in_threads<T: Sync>(
    items: &[T],
    work: impl Fn(&T) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(items.len());
        threads.extend(items.iter().map(|item| scope.spawn(|| work(item))));
        let mut outcomes = threads.into_iter().map(thread::ScopedJoinHandle::join);
        outcomes.try_for_each(|outcome| outcome.unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Looks all the flows left up, in each of as many threads as owned them and none of which did;
/// then removes them, whereupon the filter must be empty.
fn clear(filter: &CuckooFilter, left: &[Vec<FlowKey>]) -> Result<(), Failure> {
    in_threads(left, |_| {
        let mut flows = left.iter().flatten();
        flows.try_for_each(|key| must_contain(filter, key))
    })?;
    in_threads(left, |flows| flows.iter().try_for_each(|key| remove(filter, key)))?;
    match filter.len() {
        0 => Ok(()),
        count => Err(broken(format!("all flows are removed, and the filter still counts {count}"))),
    }
}

/// Puts together what a run has to say.
#[allow(clippy::cast_precision_loss)] // The counts are far below 2^52.
fn report(filter: &CuckooFilter, tally: &Tally, threads: usize, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let in_flows = tally.packets - tally.others;
    let (bytes, capacity) = (filter.size_in_bytes(), filter.capacity());
    format!(
        "\
packets          {packets}
outside flows    {others} (not IP, or not decoded)
flows            {distinct}
live at once     {most_live} at most
threads          {threads}
throughput       {throughput:.3} million packets/s, reading included ({seconds:.3} s)
thread time      {busy:.0} ns/packet, exact set and filter
memory per flow  {bits:.2} bits ({bytes} bytes for {capacity} flows)
false positives  {false_positives} of {asks} asks: {rate:.6}, bound {bound:.6}
false negatives  0 of {lookups} look-ups
flows ended      {closed} closed, {idled} idle, {left} at the end
left in filter   {in_filter}
",
        packets = tally.packets,
        others = tally.others,
        distinct = tally.distinct,
        most_live = tally.most_live,
        throughput = ratio(tally.packets as f64, seconds * 1e6),
        busy = ratio(tally.busy.as_secs_f64() * 1e9, in_flows as f64),
        bits = ratio(bytes as f64 * 8.0, capacity as f64),
        false_positives = tally.false_positives,
        asks = tally.asks,
        rate = ratio(tally.false_positives as f64, tally.asks as f64),
        bound = filter.false_positive_rate(),
        lookups = tally.lookups,
        closed = tally.closed,
        idled = tally.idled,
        left = tally.left,
        in_filter = filter.len(),
    )
}

/// A quotient, 0 where nothing is divided by nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Does everything and prints the report.
fn run(args: &Args) -> Result<(), Failure> {
    let captures = find_captures(&args.files)?;
    let threads = args
        .threads
        .map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from);
    let filter = CuckooFilter::builder()
        .capacity(args.capacity.unwrap_or_else(|| capacity_for(&captures)))
        .false_positive_rate(args.rate)
        .build()
        .map_err(|error| unusable(format!("no such filter: {error}")))?;

    let start = Instant::now();
    let (mut tally, owners) = follow(&captures, &filter, threads)?;
    let elapsed = start.elapsed();

    for owner in &owners {
        tally.add(&owner.tally);
    }
    let left = owners.into_iter().map(|owner| owner.live.into_keys());
    clear(&filter, &left.map(Vec::from_iter).collect::<Vec<_>>())?;

    let report = report(&filter, &tally, threads, elapsed);
    let written = io::stdout().write_all(report.as_bytes());
    written.map_err(|error| unusable(format!("standard output: {error}")))
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(status, line)) => {
            eprintln!("flows: {line}");
            ExitCode::from(status)
        }
    }
}
