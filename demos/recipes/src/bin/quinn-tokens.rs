//! quinn: an address-validation token validates one connection.
//!
//! A server sends its clients tokens (`NEW_TOKEN`). Whoever comes back with one may receive data
//! before its address has been validated anew. RFC 9000, section 8.1.4, wants each token to be used
//! once, or an attacker could make the server flood a victim. `quinn` asks a `TokenLog`.
//!
//! **The contract.** Of all calls of `accepts` with one nonce within the time to live, at most one
//! returns `true`, from any number of threads. The filter forgets a nonce after the lifetime of its
//! token, and not before. So a token that is in its lifetime *after* the nonce was accepted is
//! used for the first time. A false positive makes the server validate the address itself.

use std::{
    net::{Ipv4Addr, SocketAddr},
    process::ExitCode,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result};
use bytes::Bytes;
use quinn::{
    ClientConfig, Endpoint, ServerConfig, TokenLog, TokenReuseError, TokenStore,
    ValidationTokenConfig,
};
use recipes::{Checks, Clock, Identity, Once, at_once};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Lifetime of a token.
const LIFETIME: Duration = Duration::from_secs(3_600);

/// Tokens that were used.
struct UsedTokens(Once, Clock);

impl TokenLog for UsedTokens {
    fn check_and_insert(
        &self,
        nonce: u128,
        issued: SystemTime,
        lifetime: Duration,
    ) -> Result<(), TokenReuseError> {
        let is_new = self.0.accepts(&nonce.to_le_bytes());
        // Not earlier: the call above may take longer than the token lives.
        let is_valid = SystemTime::UNIX_EPOCH + self.1.now() <= issued + lifetime;
        if is_new && is_valid { Ok(()) } else { Err(TokenReuseError) }
    }
}

/// A client that shows one token again and again.
struct Attacker {
    token: Mutex<Option<Bytes>>,
    received: UnboundedSender<()>,
}

impl TokenStore for Attacker {
    fn insert(&self, _server: &str, token: Bytes) {
        self.token.lock().expect("no panic").get_or_insert(token);
        let _ = self.received.send(());
    }

    fn take(&self, _server: &str) -> Option<Bytes> {
        self.token.lock().expect("no panic").clone()
    }
}

/// Connects, and returns whether the server took the client's address for validated from the first
/// packet on. `stay` runs before the connection ends.
async fn connect(
    client: &Endpoint,
    server: &Endpoint,
    stay: impl Future<Output = ()>,
) -> Result<bool> {
    let address = server.local_addr()?;
    let connecting = client.connect(address, "localhost")?;
    let accepting = async {
        let incoming = server.accept().await.context("the server has ended")?;
        let validated = incoming.remote_address_validated();
        anyhow::Ok((incoming.await?, validated))
    };
    let (client, server) = tokio::join!(connecting, accepting);
    let (_client, (_server, validated)) = (client?, server?);
    stay.await;
    Ok(validated)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode> {
    println!("quinn: a token validates the address of one connection");
    let (mut checks, clock) = (Checks::default(), Clock::default());
    let log = Arc::new(UsedTokens(Once::new(LIFETIME, 100_000, clock.clone())?, clock.clone()));

    let Identity { certificate, key, roots } = Identity::new()?;
    let mut config = ServerConfig::with_single_cert(vec![certificate], key)?;
    let mut tokens = ValidationTokenConfig::default();
    tokens.lifetime(LIFETIME).sent(1).log(log.clone());
    config.validation_token_config(tokens).time_source(Arc::new(clock.clone()));
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Endpoint::server(config, local)?;

    let (received, mut tokens) = unbounded_channel();
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.token_store(Arc::new(Attacker { token: Mutex::default(), received }));
    let mut client = Endpoint::client(local)?;
    client.set_default_client_config(config);

    let first = connect(&client, &server, async { _ = tokens.recv().await }).await?;
    checks.check(!first, "the first connection has no token, and receives one");
    let second = connect(&client, &server, async {}).await?;
    checks.check(second, "the token validates the address of the second connection");
    let third = connect(&client, &server, async {}).await?;
    checks.check(!third, "the same token does not validate the third one");
    clock.pass(LIFETIME * 2);
    let late = connect(&client, &server, async {}).await?;
    checks.check(!late, "nor does it after its lifetime");
    let issued = SystemTime::UNIX_EPOCH + clock.now();
    let stale = log.check_and_insert(u128::MAX, issued - LIFETIME * 2, LIFETIME).is_ok();
    checks.check(!stale, "an unused token is refused after its lifetime, by the log too");

    // Many threads show the same tokens at once.
    let accepted: Vec<_> = (0..20_000).map(|_| AtomicU32::new(0)).collect();
    let show = |(nonce, count): (usize, &AtomicU32)| {
        let used = log.check_and_insert(nonce as u128, issued, LIFETIME);
        count.fetch_add(used.is_ok().into(), SeqCst);
    };
    at_once(|| accepted.iter().enumerate().for_each(show));
    let times = |times| accepted.iter().filter(|count| count.load(SeqCst) == times).count();
    let (never, once) = (times(0), times(1));
    checks.check(
        never + once == accepted.len() && never < 200,
        format!("of 20000 tokens, shown by 8 threads at once, {once} are accepted once, no more"),
    );
    Ok(checks.end())
}
