//! Captures: where they are, and the packets in them.

use std::{
    fmt,
    fs::{self, File},
    path::PathBuf,
    time::Duration,
};

use cargo_metadata::MetadataCommand;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{
    Block, IDB_MAGIC, InterfaceDescriptionBlock, Linktype, PcapBlockOwned, PcapError, PcapHeader,
    create_reader,
};

use crate::{Failure, SECOND, packet::Frame, unusable};

/// Size of the reading buffer, and the most that it may grow to for one huge block.
const BUFFER: usize = 1 << 20;
const BUFFER_MOST: usize = 1 << 26;
/// The capture that `pcap-parser` ships, in its folder.
const SHIPPED_CAPTURE: &str = "assets/wireshark_samples-test.pcapng";
/// The type of pcapng's obsolete packet block, which `pcap-parser` does not decode.
const OLD_PACKET: u32 = 2;

/// What is wrong with a capture, in words that follow its name.
type Fault = &'static str;

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
pub struct Capture {
    path: PathBuf,
    /// Its length, 0 where that is not known.
    pub bytes: u64,
}

impl Capture {
    /// Makes sure that there is a file.
    pub fn find(path: PathBuf) -> Result<Self, Failure> {
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

    /// Reads block after block, and hands on the packets.
    fn read(&self, bar: &ProgressBar, take: &mut Taker<'_>) -> Result<(), Failure> {
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
                        take(&frame)?;
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

/// Whoever takes the packets.
pub type Taker<'a> = dyn FnMut(&Frame<'_>) -> Result<(), Failure> + 'a;

/// Reads one capture after another, and hands on the packets.
pub fn read_all(captures: &[Capture], take: &mut Taker<'_>) -> Result<(), Failure> {
    let bar = progress_bar(captures.iter().map(|capture| capture.bytes).sum());
    let read = captures.iter().try_for_each(|capture| capture.read(&bar, take));
    bar.finish_and_clear();
    read
}

/// The captures named, or the one that `pcap-parser` ships.
pub fn find_captures(files: &[PathBuf]) -> Result<Vec<Capture>, Failure> {
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
