//! axum and jsonwebtoken: each web token is accepted once, also after a restart.
//!
//! Each token has an id, its `jti`. The service remembers the ids for as long as the tokens live.
//!
//! **The contract.** Of all calls of `accepts` with one id within the time to live, at most one
//! returns `true`. So no token may be valid for longer than that, and its expiry is checked *after*
//! the id was accepted. A filter that was saved after its last use, and is loaded once, goes on as
//! if nothing had happened. After a crash there is no such file: then the service refuses all
//! tokens that were issued before it started. A false positive, or a full filter, refuses others.

use std::{
    env, fs,
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{self, ExitCode},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result};
use axum::{Router, extract::State, http::HeaderMap, http::StatusCode, routing::post};
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, TokenData, Validation, decode, encode,
};
use recipes::{Checks, Clock, Once, at_once};
use serde::{Deserialize, Serialize};
use tokio::{net::TcpListener, runtime::Runtime, sync::oneshot, task::JoinHandle};

/// The longest life of a token, and how long the filter remembers its id.
const LIFETIME: Duration = Duration::from_secs(300);
const SECRET: &[u8] = b"known to this service and to the issuer";

#[derive(Serialize, Deserialize)]
struct Claims {
    jti: String,
    iat: u64,
    exp: u64,
}

struct Service {
    used: Once,
    clock: Clock,
    /// What was issued before this time may have been used before a crash.
    crashed: u64,
}

async fn pay(State(service): State<Arc<Service>>, headers: HeaderMap) -> StatusCode {
    let mut validation = Validation::new(Algorithm::HS256);
    validation.validate_exp = false; // See below.
    let bearer = headers.get("authorization").and_then(|value| value.to_str().ok());
    let token = bearer.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    let token = decode(token, &DecodingKey::from_secret(SECRET), &validation);
    let Ok(TokenData { claims: Claims { jti, iat, exp }, .. }) = token else {
        return StatusCode::UNAUTHORIZED;
    };
    if iat < service.crashed || exp > (service.clock.now() + LIFETIME).as_secs() {
        return StatusCode::UNAUTHORIZED;
    }
    if !service.used.accepts(jti.as_bytes()) {
        return StatusCode::CONFLICT;
    }
    // Not earlier: the call above may take longer than the token lives.
    if service.clock.now().as_secs() > exp { StatusCode::UNAUTHORIZED } else { StatusCode::OK }
}

/// A service that runs.
struct Running {
    address: SocketAddr,
    service: Arc<Service>,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<io::Result<()>>,
}

/// Starts the service, from the file of the last clean stop if there is one.
async fn start(file: &Path, clock: Clock) -> Result<Running> {
    let (used, crashed) = if file.exists() {
        let used = Once::load(file, clock.clone())?;
        fs::remove_file(file)?; // It is right only until the first request.
        (used, 0)
    } else {
        (Once::new(LIFETIME, 100_000, clock.clone())?, clock.now().as_secs() + 1)
    };
    let service = Arc::new(Service { used, clock, crashed });
    let app = Router::new().route("/pay", post(pay)).with_state(service.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let (address, (stop, stopped)) = (listener.local_addr()?, oneshot::channel());
    let server = axum::serve(listener, app).with_graceful_shutdown(async { _ = stopped.await });
    Ok(Running { address, service, stop, ended: tokio::spawn(server.into_future()) })
}

impl Running {
    /// Stops the service, and saves the filter when the last request has ended.
    async fn stop(self, file: &Path) -> Result<()> {
        self.stop.send(()).ok().context("the service has ended")?;
        self.ended.await??;
        let Service { used, clock, crashed } = &*self.service;
        // Soon after a crash, the next start must refuse the same tokens, as that one did.
        let saves = clock.now().as_secs() > crashed + LIFETIME.as_secs();
        if saves { Ok(used.filter().save(file)?) } else { Ok(()) }
    }

    /// Sends a request, and returns the status of the response.
    fn pay(&self, token: &str) -> Result<u16> {
        let mut stream = TcpStream::connect(self.address)?;
        write!(stream, "POST /pay HTTP/1.0\r\nAuthorization: Bearer {token}\r\n\r\n")?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        Ok(response.split(' ').nth(1).context("no response")?.parse()?)
    }
}

fn main() -> Result<ExitCode> {
    println!("axum and jsonwebtoken: a token pays once");
    let (mut checks, clock, runtime) = (Checks::default(), Clock::default(), Runtime::new()?);
    let file = env::temp_dir().join(format!("recipe-jti-{}", process::id()));
    let token = |jti: &str, life: Duration| {
        let (iat, exp) = (clock.now().as_secs(), (clock.now() + life).as_secs());
        let (header, jti) = (Header::default(), jti.into());
        encode(&header, &Claims { jti, iat, exp }, &EncodingKey::from_secret(SECRET))
    };
    let start = || runtime.block_on(start(&file, clock.clone()));
    let running = start()?;
    clock.pass(LIFETIME * 2);
    let [first, late] = [token("a", LIFETIME)?, token("b", LIFETIME)?];
    let [long, forged] = [token("c", LIFETIME * 2)?, format!("{first}x")];
    checks.check(running.pay(&first)? == 200, "a token is accepted");
    checks.check(running.pay(&first)? == 409, "its replay is refused");
    checks.check(running.pay(&long)? == 401, "so is a token that outlives the filter's memory");
    checks.check(running.pay(&forged)? == 401, "and one with a wrong signature");

    let shared = token("e", LIFETIME)?;
    let statuses = at_once(|| running.pay(&shared).unwrap_or_default());
    let accepted = statuses.into_iter().filter(|status| *status == 200).count();
    checks.check(accepted == 1, "of 8 requests with one token at once, one is accepted");

    runtime.block_on(running.stop(&file))?;
    let running = start()?;
    checks.check(running.pay(&first)? == 409, "after a restart, the replay is still refused");
    drop(running); // A crash: nothing is saved, and the file is gone.
    let running = start()?;
    checks.check(running.pay(&late)? == 401, "after a crash, tokens from before it are refused");
    runtime.block_on(running.stop(&file))?;
    let running = start()?;
    checks.check(running.pay(&late)? == 401, "and if the service restarts, they still are");
    clock.pass(Duration::from_secs(1));
    checks.check(running.pay(&token("f", LIFETIME)?)? == 200, "new ones are accepted");
    Ok(checks.end())
}
