//! rustls: early data (0-RTT) is accepted once, also by servers that cannot delete a ticket.
//!
//! Whoever records a client's first flight can send it again. RFC 8446, section 8, asks for tickets
//! that are used once, or for a record of what was accepted within the window in which the age of a
//! ticket is taken for fresh. `rustls` relies on its store to delete a session. A store that is
//! shared by servers deletes late. The filter answers at once.
//!
//! **The contract.** Within the time to live, at most one call of `accepts` with one ticket returns
//! `true`. `rustls` refuses early data if the age of the ticket, as the recorded flight states it,
//! differs by more than 60 seconds from its own, so two accepted copies are at most 120 seconds
//! apart. The filter remembers for longer, and after that, freshness refuses. A false positive
//! costs a client a full handshake. All servers that accept a ticket must ask one filter.

use std::{
    collections::HashMap,
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    process::ExitCode,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use anyhow::{Context, Result};
use recipes::{Checks, Clock, Identity, Once, at_once};
use rustls::{
    ClientConfig, ClientConnection, ServerConfig, ServerConnection, crypto::ring::default_provider,
    server::StoresServerSessions, version::TLS13,
};

/// Twice the tolerance of `rustls`, and the two seconds by which its rounding can extend it.
const WINDOW: Duration = Duration::from_secs(2 * 60 + 2);

/// A store that never deletes, and the filter that makes up for that, if there is one.
#[derive(Debug)]
struct Sessions(Mutex<HashMap<Vec<u8>, Vec<u8>>>, Option<Once>);

impl StoresServerSessions for Sessions {
    fn put(&self, ticket: Vec<u8>, session: Vec<u8>) -> bool {
        self.0.lock().expect("no panic").insert(ticket, session);
        true
    }

    fn get(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        self.0.lock().expect("no panic").get(ticket).cloned()
    }

    fn take(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        let may_resume = self.1.as_ref().is_none_or(|spent| spent.accepts(ticket));
        if may_resume { self.get(ticket) } else { None }
    }

    fn can_cache(&self) -> bool {
        true
    }
}

/// Serves one connection, and returns the early data that the server would act on.
fn serve(config: Arc<ServerConfig>, stream: &mut TcpStream) -> Result<Vec<u8>> {
    let (mut server, mut early) = (ServerConnection::new(config)?, Vec::new());
    while server.is_handshaking() {
        if server.wants_write() {
            server.write_tls(stream)?;
        } else if server.read_tls(stream)? == 0 {
            break; // An attacker, who cannot go on.
        }
        server.process_new_packets()?;
        if let Some(mut data) = server.early_data() {
            data.read_to_end(&mut early)?;
        }
    }
    server.send_close_notify();
    while server.wants_write() {
        server.write_tls(stream)?; // Tickets, before the end.
    }
    Ok(early)
}

/// Sends a recorded flight to a server, and returns the early data that the server accepts.
fn replay(config: &Arc<ServerConfig>, flight: &[u8]) -> Result<Vec<u8>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut attacker = TcpStream::connect(listener.local_addr()?)?;
    attacker.write_all(flight)?;
    attacker.shutdown(Shutdown::Write)?;
    serve(config.clone(), &mut listener.accept()?.0)
}

/// Completes a handshake, so that the client has tickets.
fn handshake(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut stream = TcpStream::connect(listener.local_addr()?)?;
    let server = server.clone();
    let serving = thread::spawn(move || serve(server, &mut listener.accept()?.0));
    let mut client = ClientConnection::new(client.clone(), "localhost".try_into()?)?;
    // Until the server closes the connection, after it has sent its tickets.
    rustls::Stream::new(&mut client, &mut stream).read_to_end(&mut Vec::new())?;
    serving.join().expect("no panic").map(drop)
}

fn main() -> Result<ExitCode> {
    println!("rustls: early data is accepted once");
    let (mut checks, clock) = (Checks::default(), Clock::default());
    let Identity { certificate, key, roots } = Identity::new()?;
    let (provider, time) = (Arc::new(default_provider()), Arc::new(clock.clone()));

    let server = |spent| {
        let builder = ServerConfig::builder_with_details(provider.clone(), time.clone());
        let builder = builder.with_protocol_versions(&[&TLS13])?.with_no_client_auth();
        let mut config = builder.with_single_cert(vec![certificate.clone()], key.clone_key())?;
        config.max_early_data_size = 1_000;
        config.session_storage = Arc::new(Sessions(Mutex::default(), spent));
        anyhow::Ok(Arc::new(config))
    };
    let record = |server: &Arc<ServerConfig>| {
        let builder = ClientConfig::builder_with_details(provider.clone(), time.clone());
        let builder = builder.with_protocol_versions(&[&TLS13])?;
        let mut config = builder.with_root_certificates(roots.clone()).with_no_client_auth();
        config.enable_early_data = true;
        let client = Arc::new(config);
        handshake(&client, server)?;
        let mut connection = ClientConnection::new(client, "localhost".try_into()?)?;
        let mut flight = Vec::new();
        connection.early_data().context("no ticket")?.write_all(b"pay 5")?;
        while connection.wants_write() {
            connection.write_tls(&mut flight)?;
        }
        anyhow::Ok(flight)
    };

    let trusting = server(None)?;
    let flight = record(&trusting)?;
    let twice = [replay(&trusting, &flight)?, replay(&trusting, &flight)?];
    checks.check(twice == [b"pay 5", b"pay 5"], "without a filter, a replayed payment is made");

    let careful = server(Some(Once::new(WINDOW, 100_000, clock.clone())?))?;
    let flight = record(&careful)?;
    checks.check(replay(&careful, &flight)? == b"pay 5", "with one, the first copy is accepted");
    checks.check(replay(&careful, &flight)?.is_empty(), "and the second one is not");

    let flight = record(&careful)?;
    let outcomes = at_once(|| replay(&careful, &flight)).into_iter().collect::<Result<Vec<_>>>()?;
    let accepted = outcomes.iter().filter(|early| !early.is_empty()).count();
    checks.check(accepted == 1, "of 8 copies at once, one is accepted");

    let flight = record(&careful)?;
    clock.pass(WINDOW);
    checks.check(replay(&careful, &flight)?.is_empty(), "a copy that is late is not fresh");
    Ok(checks.end())
}
