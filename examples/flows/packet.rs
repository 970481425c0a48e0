//! From the bytes of a packet to the flow that it belongs to.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use etherparse::{EtherType, Ipv6ExtensionSlice, LaxNetSlice, LaxSlicedPacket, ip_number};
use pcap_parser::Linktype;

/// One end of a flow; the port is 0 where the protocol has none.
pub type Endpoint = (IpAddr, u16);

/// A two-way 5-tuple: both directions have the same, as the smaller endpoint comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    pub low: Endpoint,
    pub high: Endpoint,
    pub protocol: u8,
}

impl fmt::Display for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (SocketAddr::from(self.low), SocketAddr::from(self.high));
        write!(f, "{low} <-> {high} (protocol {})", self.protocol)
    }
}

/// A packet as its owner gets it.
pub struct Packet {
    pub flow: FlowKey,
    pub time: u64,
    pub is_from_low: bool,
    pub is_fin: bool,
    pub is_reset: bool,
}

/// A packet as it stands in a capture.
pub struct Frame<'a> {
    pub link: Linktype,
    pub time: Option<u64>,
    pub data: &'a [u8],
}

impl Frame<'_> {
    /// Decodes as much as is there: the snap length may have cut the packet anywhere.
    pub fn decode(&self, now: u64) -> Option<Packet> {
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
