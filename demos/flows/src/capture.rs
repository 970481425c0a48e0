//! Reads pcap and pcapng captures, and decodes their packets as far as the flow.

use std::{fs::File, net::Ipv6Addr, path::Path};

use anyhow::{Context, Result, anyhow, bail};
use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use pcap_parser::{
    Block, Linktype, PcapBlockOwned, PcapError, create_reader, traits::PcapNGPacketBlock,
};

/// The capture in the folder of this program.
pub const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/example2.pcap");
/// A second on the capture clock, which counts microseconds.
pub const SECOND: u64 = 1_000_000;
/// Size of the read buffer, in bytes. No block of a capture may be larger.
const BUFFER: usize = 1 << 24;

/// A two-way 5-tuple: the addresses of the lower and of the higher endpoint, two words each; then
/// both ports and the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowKey([u64; 5]);

impl FlowKey {
    /// Returns the same flow between other hosts: the first 32 bits of both addresses change. These
    /// bits are 0 in a mapped IPv4 address, so that `network` becomes its prefix.
    pub fn moved_to(mut self, network: u32) -> Self {
        self.0[0] ^= u64::from(network) << 32;
        self.0[2] ^= u64::from(network) << 32;
        self
    }
}

/// A decoded packet of a flow.
#[derive(Clone, Copy)]
pub struct Packet {
    pub flow: FlowKey,
    /// Time on the capture clock, in microseconds.
    pub time: u64,
    /// The directions that the packet closes: a FIN its own, an RST both.
    pub closes: u8,
}

/// Both directions: a flow is closed once its packets have closed these.
pub const CLOSED: u8 = 3;

impl Packet {
    /// Decodes a packet of a flow, of which the capture may hold only the first bytes. Fragments
    /// have no ports: all fragments between two hosts are one flow.
    fn decode(link: Linktype, data: &[u8], time: u64) -> Option<Self> {
        let sliced = match link {
            Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(data).ok()?,
            Linktype::RAW => LaxSlicedPacket::from_ip(data).ok()?,
            Linktype::NULL => LaxSlicedPacket::from_ip(data.get(4..)?).ok()?,
            Linktype::LINUX_SLL => LaxSlicedPacket::from_ip(data.get(16..)?).ok()?,
            Linktype::LINUX_SLL2 => LaxSlicedPacket::from_ip(data.get(20..)?).ok()?,
            _ => return None,
        };
        let addresses = match sliced.net.as_ref()? {
            LaxNetSlice::Ipv4(ip) => [ip.header().source_addr(), ip.header().destination_addr()]
                .map(|address| address.to_ipv6_mapped()),
            LaxNetSlice::Ipv6(ip) => [ip.header().source_addr(), ip.header().destination_addr()],
            LaxNetSlice::Arp(_) => return None,
        };
        let (ports, is_fin, is_reset) = match &sliced.transport {
            Some(TransportSlice::Tcp(tcp)) => {
                ([tcp.source_port(), tcp.destination_port()], tcp.fin(), tcp.rst())
            }
            Some(TransportSlice::Udp(udp)) => {
                ([udp.source_port(), udp.destination_port()], false, false)
            }
            _ => ([0; 2], false, false),
        };
        let [source, destination] = addresses.map(Ipv6Addr::to_bits);
        let mut ends = [(source, ports[0]), (destination, ports[1])];
        let is_from_low = ends.is_sorted();
        ends.sort_unstable();
        let closes = match (is_reset, is_fin) {
            (true, _) => CLOSED,
            (_, true) => 1 + u8::from(is_from_low),
            _ => 0,
        };
        let [(low, low_port), (high, high_port)] = ends;
        let ports = u64::from(low_port) << 16 | u64::from(high_port);
        let rest = ports << 8 | u64::from(sliced.ip_payload()?.ip_number.0);
        let half = |address: u128, shift: u32| (address >> shift) as u64;
        let flow = FlowKey([half(low, 64), half(low, 0), half(high, 64), half(high, 0), rest]);
        Some(Self { flow, time, closes })
    }
}

/// Returns the link type of the packet in a block, its time in microseconds, and its bytes.
/// `interfaces` are those described so far, one in a pcap file, any number in a section of pcapng:
/// the link type, and the ticks of the clock in a second.
fn packet<'a>(
    block: &'a PcapBlockOwned<'_>,
    interfaces: &mut Vec<(Linktype, u64)>,
) -> Result<Option<(Linktype, u64, &'a [u8])>> {
    let (interface, seconds, ticks, data) = match block {
        PcapBlockOwned::LegacyHeader(header) => {
            let ticks = if header.is_nanosecond_precision() { 1000 * SECOND } else { SECOND };
            // The upper half of `network` holds no link type.
            interfaces.push((Linktype(header.network.0 & 0xffff), ticks));
            return Ok(None);
        }
        PcapBlockOwned::Legacy(packet) => (0, packet.ts_sec, packet.ts_usec.into(), packet.data),
        PcapBlockOwned::NG(Block::InterfaceDescription(block)) => {
            let ticks = block.ts_resolution().context("has a clock of no known kind")?;
            interfaces.push((block.linktype, ticks));
            return Ok(None);
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
            let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            (packet.if_id as usize, 0, ticks, packet.packet_data())
        }
        PcapBlockOwned::NG(block) => {
            if matches!(block, Block::SectionHeader(_)) {
                interfaces.clear();
            }
            return Ok(None);
        }
    };
    let &(link, resolution) = interfaces.get(interface).context("misses an interface")?;
    let fraction = u128::from(ticks) * u128::from(SECOND) / u128::from(resolution);
    Ok(Some((link, u64::from(seconds) * SECOND + fraction as u64, data)))
}

/// Describes an error of `pcap-parser` without the bytes that caused it.
fn fault<I>(error: &PcapError<I>) -> anyhow::Error {
    anyhow!(match error {
        PcapError::Eof => "is empty",
        PcapError::UnexpectedEof | PcapError::Incomplete(_) => "is cut short",
        PcapError::ReadError => "cannot be read",
        PcapError::HeaderNotRecognized => "is neither pcap nor pcapng",
        _ => "is damaged",
    })
}

/// Reads a capture, and passes each packet to `take`, or `None` if it belongs to no flow. The clock
/// never goes backwards.
pub fn read(path: &Path, take: &mut dyn FnMut(Option<Packet>) -> Result<()>) -> Result<()> {
    let mut reader = create_reader(BUFFER, File::open(path)?).map_err(|error| fault(&error))?;
    let (mut interfaces, mut now) = (Vec::new(), 0);
    loop {
        match reader.next() {
            Ok((length, block)) => {
                if let Some((link, time, data)) = packet(&block, &mut interfaces)? {
                    now = now.max(time);
                    take(Packet::decode(link, data, now))?;
                }
                reader.consume(length);
            }
            Err(PcapError::Eof) => return Ok(()),
            Err(PcapError::Incomplete(_) | PcapError::BufferTooSmall) => {
                let had = reader.data().len();
                reader.refill().map_err(|error| fault(&error))?;
                if reader.data().len() == had && !reader.reader_exhausted() {
                    bail!("is damaged, or has a block of more than 16 MiB");
                }
            }
            Err(error) => return Err(fault(&error)),
        }
    }
}

/// Returns the packets of flows in the shipped capture.
#[cfg(test)]
pub fn shipped() -> Vec<Packet> {
    let mut packets = Vec::new();
    let mut take = |packet| {
        packets.extend(packet);
        Ok(())
    };
    read(SHIPPED.as_ref(), &mut take).unwrap();
    packets
}
