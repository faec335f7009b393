//! A connection to a server. It is closed when it is dropped, whatever is under way on it.
//!
//! The driver has two halves: a client that takes statements, and a future that moves bytes. Here the same task polls
//! both, so that no task of ours outlives a connection, and an answer needs no second task to be woken.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use ledger::store::StoreError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{Client, Config, Error, NoTls, Row};

use super::address::{ServerAddress, ServerHost, TlsMode, TlsSettings, escape_option, socket_name};
use super::cells::Parameter;
use super::errors::{failure, io_failure};
use super::pipeline::Pipeline;
use super::prepared::PreparedStatements;
use super::{LOCK, SCHEMA, SILENCE, tls};

pub(super) struct Connection {
    client: Client,
    wire: Wire,
    prepared: PreparedStatements,
}

impl Connection {
    /// Not limited in time: the caller is.
    pub(super) async fn open(address: &ServerAddress) -> Result<Self, StoreError> {
        // A server that forgets what it acknowledged is no ledger; whoever runs it may ask for more, not for less.
        const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false) \
                               WHERE current_setting('synchronous_commit') = 'off'";
        let mut connection = match (&address.host, address.tls.mode) {
            (ServerHost::Name(_), TlsMode::Allow) => match log_in(address, TlsMode::Disable).await {
                Err(StoreError::Denied(why)) => {
                    let encrypted = log_in(address, TlsMode::Require).await;
                    encrypted.map_err(|_also_denied| StoreError::Denied(why))?
                }
                connection => connection?,
            },
            (_, mode) => log_in(address, mode).await?,
        };
        connection.query(DURABLE, &[]).await?;
        Ok(connection)
    }

    /// Statements that are sent before the answers to earlier ones are there.
    pub(super) fn pipeline(&mut self) -> Pipeline<'_> {
        Pipeline::new(&self.client, &mut self.wire, &mut self.prepared)
    }

    pub(super) async fn query(
        &mut self,
        sql: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, StoreError> {
        let mut pipeline = self.pipeline();
        pipeline.query(sql, parameters.to_vec()).await;
        Ok(pipeline.settle().await?.pop().unwrap_or_default())
    }

    /// The only row of the answer.
    pub(super) async fn query_row(&mut self, sql: &str, parameters: &[Parameter]) -> Result<Row, StoreError> {
        let rows = self.query(sql, parameters).await?;
        rows.into_iter().next().ok_or_else(|| StoreError::Other("an answer without a row".into()))
    }

    /// Runs statements that have no parameters.
    pub(super) async fn run(&mut self, sql: &str) -> Result<(), StoreError> {
        self.wire.drive(self.client.batch_execute(sql)).await.map_err(failure)
    }
}

async fn log_in(address: &ServerAddress, mode: TlsMode) -> Result<Connection, StoreError> {
    let stream = connect(address, mode).await?;
    let (client, wire) = config(address).connect_raw(stream, NoTls).await.map_err(|error| {
        match failure(error) {
            // Neither an answer nor a broken line: it wants to know us by a way that we do not speak.
            StoreError::Other(why) => StoreError::Lost(why),
            error => error,
        }
    })?;
    let wire = Wire { inner: Some(wire), broken: None };
    Ok(Connection { client, wire, prepared: PreparedStatements::default() })
}

fn config(address: &ServerAddress) -> Config {
    let search_path = format!("search_path={SCHEMA},public");
    let settings = [
        search_path.as_str(),
        &format!("lock_timeout={LOCK}"),
        &format!("idle_in_transaction_session_timeout={SILENCE}"),
        // A prepared statement keeps the plan that it got while its table was small: reading all of it. Ours
        // ask by key or by sequence number, and what has an index is asked through it.
        "enable_seqscan=off",
    ]
    .map(|setting| format!("-c {}", escape_option(setting)));
    let mut config = Config::new();
    config
        .user(&address.user)
        // A server that wants none does not look at it.
        .password(address.password.as_deref().unwrap_or_default())
        .dbname(&address.database)
        .application_name("regent")
        .options([address.options.as_str(), &settings.join(" ")].join(" ").trim_start())
        // What is encrypted is the stream that the driver is given.
        .ssl_mode(SslMode::Disable);
    config
}

trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

#[expect(clippy::disallowed_methods, reason = "the connection to the database that the settings name")]
async fn connect(address: &ServerAddress, mode: TlsMode) -> Result<Box<dyn ByteStream>, StoreError> {
    let failed = |error| io_failure(&error);
    let name = match &address.host {
        // It does not leave the machine: as libpq, whatever the mode is.
        ServerHost::Socket(folder) => {
            let path = std::path::Path::new(folder).join(socket_name(address.port));
            return Ok(Box::new(UnixStream::connect(path).await.map_err(failed)?));
        }
        ServerHost::Name(name) => name,
    };
    let mut stream = TcpStream::connect((name.as_str(), address.port)).await.map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    if mode == TlsMode::Disable {
        return Ok(Box::new(stream));
    }
    if tls::is_offered(&mut stream).await? {
        let settings = TlsSettings { mode, ..address.tls.clone() };
        return Ok(Box::new(tls::encrypt(stream, name, &settings).await?));
    }
    match mode {
        TlsMode::Prefer => Ok(Box::new(stream)),
        _ => Err(StoreError::Unreachable("the server does not support TLS".into())),
    }
}

/// The half of the driver that moves bytes, and why it stopped.
pub(super) struct Wire {
    inner: Option<tokio_postgres::Connection<Box<dyn ByteStream>, NoTlsStream>>,
    broken: Option<Error>,
}

impl Wire {
    /// Sends what waits and takes in what has come.
    pub(super) fn advance(&mut self, context: &mut Context<'_>) {
        if let Some(inner) = &mut self.inner
            && let Poll::Ready(ended) = Pin::new(inner).poll(context)
        {
            self.broken = ended.err();
            // Those who wait for an answer learn that none comes.
            self.inner = None;
        }
    }

    /// Waits for an answer.
    async fn drive<T>(&mut self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let mut answer = pin!(answer);
        let answered = std::future::poll_fn(|context| {
            if let Poll::Ready(answered) = answer.as_mut().poll(context) {
                return Poll::Ready(answered);
            }
            self.advance(context);
            answer.as_mut().poll(context)
        });
        answered.await.map_err(|error| self.explain(error))
    }

    /// Why the connection was closed, if that is why there is no answer.
    pub(super) fn explain(&mut self, error: Error) -> Error {
        match error.is_closed() {
            true => self.broken.take().unwrap_or(error),
            false => error,
        }
    }
}
