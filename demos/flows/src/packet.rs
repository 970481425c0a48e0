//! Decodes packets, and names the flows that they belong to.

use std::{
    fmt,
    hash::{Hash, Hasher},
    net::{IpAddr, Ipv6Addr, SocketAddr},
};

use etherparse::{EtherType, Ipv6ExtensionSlice, LaxNetSlice, LaxSlicedPacket, ip_number};
use pcap_parser::Linktype;

/// One end of a flow: an IPv6 address, or a mapped IPv4 address, and a port. The port is 0 if the
/// protocol has none.
type Endpoint = (u128, u16);

fn endpoint(address: IpAddr, port: u16) -> Endpoint {
    let address = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    (address.to_bits(), port)
}

/// A two-way 5-tuple in 40 bytes: the addresses of the lower and of the higher endpoint, two words
/// each; then both ports and the protocol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowKey([u64; 5]);

impl FlowKey {
    /// A placeholder that fills arrays.
    pub const NONE: Self = Self([0; 5]);

    fn new(low: Endpoint, high: Endpoint, protocol: u8) -> Self {
        let ports = u64::from(low.1) << 16 | u64::from(high.1);
        let words = |address: u128| ((address >> 64) as u64, address as u64);
        let (low, high) = (words(low.0), words(high.0));
        Self([low.0, low.1, high.0, high.1, ports << 8 | u64::from(protocol)])
    }

    /// Returns the same flow between other hosts: the first 32 bits of both addresses change. These
    /// bits are 0 in a mapped IPv4 address, so that `network` becomes its prefix.
    pub fn moved_to(mut self, network: u32) -> Self {
        self.0[0] ^= u64::from(network) << 32;
        self.0[2] ^= u64::from(network) << 32;
        self
    }
}

impl Hash for FlowKey {
    /// Hashes the words. A derived implementation would hash their number, too.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|&word| state.write_u64(word));
    }
}

impl fmt::Display for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, low_end, high, high_end, rest] = self.0;
        let address = |start: u64, end: u64, port: u64| {
            let bits = u128::from(start) << 64 | u128::from(end);
            SocketAddr::from((Ipv6Addr::from_bits(bits).to_canonical(), port as u16))
        };
        let (low, high) = (address(low, low_end, rest >> 24), address(high, high_end, rest >> 8));
        write!(f, "{low} <-> {high} (protocol {})", rest as u8)
    }
}

/// A decoded packet of a flow.
#[derive(Clone, Copy)]
pub struct Packet {
    pub flow: FlowKey,
    /// Time on the capture clock, in microseconds.
    pub time: u64,
    pub is_from_low: bool,
    pub is_fin: bool,
    pub is_reset: bool,
}

/// The FINs seen of a live flow, by direction.
#[derive(Clone, Copy, Default)]
pub struct Closing([bool; 2]);

impl Closing {
    /// Records a packet and returns whether it closes the flow: both sides sent a FIN, or one
    /// side an RST.
    pub fn is_closed_by(&mut self, packet: &Packet) -> bool {
        self.0[usize::from(packet.is_from_low)] |= packet.is_fin;
        packet.is_reset || self.0 == [true; 2]
    }
}

/// A packet as a capture holds it.
pub struct Frame<'a> {
    pub link: Linktype,
    pub time: Option<u64>,
    pub data: &'a [u8],
}

impl Frame<'_> {
    /// Decodes a packet of a flow, of which the capture may hold only the first bytes.
    pub fn decode(&self, now: u64) -> Option<Packet> {
        let packet = self.slice()?;
        let (source, destination, is_later_fragment): (IpAddr, IpAddr, bool) =
            match packet.net.as_ref()? {
                LaxNetSlice::Ipv4(ip) => {
                    let header = ip.header();
                    let is_later = header.fragments_offset().value() != 0;
                    (header.source_addr().into(), header.destination_addr().into(), is_later)
                }
                LaxNetSlice::Ipv6(ip) => {
                    let header = ip.header();
                    let is_later = ip.extensions().clone().into_iter().any(|extension| {
                        matches!(extension, Ipv6ExtensionSlice::Fragment(fragment)
                        if fragment.fragment_offset().value() != 0)
                    });
                    (header.source_addr().into(), header.destination_addr().into(), is_later)
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
        let source = endpoint(source, source_port);
        let destination = endpoint(destination, destination_port);
        let (low, high) = (source.min(destination), source.max(destination));
        let is_tcp = ip.ip_number == ip_number::TCP;
        let flags = transport.get(13).filter(|_| is_tcp).unwrap_or(&0);
        Some(Packet {
            flow: FlowKey::new(low, high, ip.ip_number.0),
            time: now,
            is_from_low: source == low,
            is_fin: flags & 1 != 0,
            is_reset: flags & 4 != 0,
        })
    }

    /// Strips the link layer. Returns `None` for a link type without an arm here.
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
            // Some systems write 12 or 14, their own numbers of raw IP.
            Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 | Linktype(12 | 14) => {
                LaxSlicedPacket::from_ip(self.data).ok()
            }
            _ => None,
        }
    }
}

/// Reads a big-endian number at a byte offset.
fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let &[high, low] = bytes.get(at..at + 2)?.first_chunk()?;
    Some(u16::from_be_bytes([high, low]))
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, net::Ipv4Addr};

    use super::*;
    use crate::capture::{Capture, SHIPPED, read_all};

    #[test]
    fn the_shipped_capture_has_the_known_counts() {
        let (mut packets, mut two_way, mut directed) = (0, HashSet::new(), HashSet::new());
        let captures = [Capture::find(SHIPPED.into()).unwrap()];
        let mut take = |frame: &Frame<'_>| {
            packets += 1;
            if let Some(packet) = frame.decode(0) {
                two_way.insert(packet.flow);
                directed.insert((packet.flow, packet.is_from_low));
            }
            Ok(())
        };
        read_all(&captures, &mut take).unwrap();
        assert_eq!((packets, two_way.len(), directed.len()), (4709, 257, 510));
    }

    #[test]
    fn keys_print_as_addresses_and_move_between_networks() {
        let (low, high) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let key = FlowKey::new(endpoint(low.into(), 80), endpoint(high.into(), 4000), 6);
        assert_eq!(key.to_string(), "10.0.0.1:80 <-> 10.0.0.2:4000 (protocol 6)");
        assert!(key.moved_to(1) != key && key.moved_to(1) != key.moved_to(2));
        assert!(key.moved_to(1).moved_to(1) == key);
        assert!(key.moved_to(1).to_string().starts_with("[0:1::ffff:a00:1]:80 "));
    }
}
