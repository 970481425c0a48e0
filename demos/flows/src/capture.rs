//! Reads pcap and pcapng captures, packet by packet.

use std::{
    fmt,
    fs::{self, File},
    path::PathBuf,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{
    Block, IDB_MAGIC, InterfaceDescriptionBlock, Linktype, PcapBlockOwned, PcapError, PcapHeader,
    create_reader,
};

use crate::{failure::Failure, packet::Frame};

/// The capture in the folder of this program.
pub const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/example2.pcap");
/// A second on the capture clock, which counts microseconds.
pub const SECOND: u64 = 1_000_000;

/// Initial size of the read buffer, in bytes.
const BUFFER: usize = 1 << 20;
/// Size up to which the read buffer grows for one huge block, in bytes.
const MAX_BUFFER: usize = 1 << 26;
/// Type of pcapng's obsolete packet block, which `pcap-parser` does not decode.
const OBSOLETE_PACKET: u32 = 2;

/// What is wrong with a capture, in words that follow its name.
type Fault = &'static str;

/// Link type and clock of a network interface.
struct Interface {
    link: Linktype,
    /// Ticks of its clock in a second.
    resolution: u128,
    /// Seconds to add to its clock.
    offset: i64,
}

impl Interface {
    /// Returns the only interface of a pcap file. The upper half of `network` holds no link type.
    fn of_pcap(header: &PcapHeader) -> Self {
        let ticks = if header.is_nanosecond_precision() { 9 } else { 6 };
        Self {
            link: Linktype(header.network.0 & 0xffff),
            resolution: 10_u128.pow(ticks),
            offset: 0,
        }
    }

    /// Returns an interface of a pcapng section. This computes the resolution itself, because
    /// `ts_resolution` rejects powers of two, and swaps the offset of a big-endian section,
    /// because `ts_offset` always reads little-endian.
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

    /// Returns a packet of this interface.
    fn frame<'a>(&self, time: Option<u64>, data: &'a [u8]) -> Frame<'a> {
        let link = self.link;
        Frame { link, time, data }
    }

    /// Converts a timestamp to microseconds, clamped to the range of pcap timestamps.
    fn microseconds(&self, ticks: u128) -> u64 {
        let microseconds = ticks * u128::from(SECOND) / self.resolution;
        let since_offset = i128::try_from(microseconds).unwrap_or(i128::MAX);
        let offset = i128::from(self.offset) * i128::from(SECOND);
        let max = i128::from(u32::MAX) * i128::from(SECOND);
        let stamp = since_offset.saturating_add(offset).clamp(0, max);
        u64::try_from(stamp).unwrap_or(0)
    }
}

/// The interfaces described so far: one in a pcap file, any number in a section of pcapng.
#[derive(Default)]
struct Interfaces(Vec<Interface>);

impl Interfaces {
    /// Processes a block of a capture, and returns the packet if the block holds one.
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
                if [block.block_type, block.block_type.swap_bytes()].contains(&OBSOLETE_PACKET) =>
            {
                return Err("holds obsolete packet blocks, which this program does not decode");
            }
            PcapBlockOwned::NG(_) => {}
        }
        Ok(None)
    }

    /// Returns the interface with the given number.
    fn get(&self, number: u32) -> Result<&Interface, Fault> {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let undescribed = "holds a packet of an interface that it does not describe";
        self.0.get(index).ok_or(undescribed)
    }
}

/// Returns a progress bar for reading this many bytes, hidden at first.
fn progress_bar(bytes: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden()).with_style(style)
}

/// Shows the bar after a second. It stays hidden if standard error is no terminal.
fn show_when_slow(bar: &ProgressBar) {
    if bar.is_hidden() && bar.elapsed() > Duration::from_secs(1) {
        bar.set_draw_target(ProgressDrawTarget::stderr());
    }
}

/// A capture to read.
pub struct Capture {
    path: PathBuf,
    /// Length of the file, or 0 if it is unknown.
    pub bytes: u64,
}

impl Capture {
    /// Checks that the file exists.
    pub fn find(path: PathBuf) -> Result<Self, Failure> {
        let mut capture = Self { path, bytes: 0 };
        let data = fs::metadata(&capture.path).map_err(|error| capture.unusable(error))?;
        if data.is_dir() {
            return Err(capture.unusable("is a directory"));
        }
        capture.bytes = data.len();
        Ok(capture)
    }

    fn unusable(&self, fault: impl fmt::Display) -> Failure {
        Failure::unusable(format!("{}: {fault}", self.path.display()))
    }

    /// Reads all blocks, and passes the packets to `take`.
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

/// Reads more into the buffer, and grows it first if it is full.
fn read_on(reader: &mut dyn PcapReaderIterator) -> Result<(), Fault> {
    let had = reader.data().len();
    reader.refill().map_err(|error| fault(&error))?;
    if reader.data().len() > had || reader.reader_exhausted() {
        return Ok(());
    }
    if reader.grow((2 * had).min(MAX_BUFFER)) {
        return Ok(());
    }
    Err("is damaged, or has a block of more than 64 MiB")
}

/// Describes an error of `pcap-parser` without the bytes that caused it.
fn fault<I>(error: &PcapError<I>) -> Fault {
    match error {
        PcapError::Eof => "is empty",
        PcapError::UnexpectedEof | PcapError::Incomplete(_) => "is cut short",
        PcapError::ReadError => "cannot be read",
        PcapError::HeaderNotRecognized => "is neither pcap nor pcapng",
        _ => "is damaged",
    }
}

/// A consumer of packets.
pub type Taker<'a> = dyn FnMut(&Frame<'_>) -> Result<(), Failure> + 'a;

/// Reads the captures one after another, and passes the packets to `take`.
pub fn read_all(captures: &[Capture], take: &mut Taker<'_>) -> Result<(), Failure> {
    let bar = progress_bar(captures.iter().map(|capture| capture.bytes).sum());
    let read = captures.iter().try_for_each(|capture| capture.read(&bar, take));
    bar.finish_and_clear();
    read
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

    /// Writes a file with these bytes, and reads it as a capture.
    fn read(name: &str, bytes: &[u8]) -> Result<usize, String> {
        let path = env::temp_dir().join(format!("flows-{}-{name}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        let mut packets = 0;
        let mut take = |_: &Frame<'_>| {
            packets += 1;
            Ok(())
        };
        let read = Capture::find(path.clone()).and_then(|capture| read_all(&[capture], &mut take));
        fs::remove_file(path).unwrap();
        read.map(|()| packets).map_err(|failure| failure.to_string())
    }

    #[test]
    fn damaged_captures_are_errors() {
        let shipped = fs::read(SHIPPED).unwrap();
        assert_eq!(read("whole", &shipped), Ok(4709));
        for (name, bytes, fault) in [
            ("empty", &[][..], "is empty"),
            ("text", &[b'a'; 100][..], "is neither pcap nor pcapng"),
            ("cut-header", &shipped[..30], "is cut short"),
            ("cut-packet", &shipped[..shipped.len() - 1], "is cut short"),
        ] {
            let error = read(name, bytes).unwrap_err();
            assert!(error.contains(fault) && !error.contains('\n'), "{name}: {error}");
        }
        assert!(Capture::find("no/such/file".into()).is_err());
    }
}
