//! What another program does to a database on a server.

use tokio_postgres::{Client, Error, NoTls};

/// A connection that ends with its client. Only while the runtime runs, it moves.
pub(crate) async fn connect(url: &str) -> Result<Client, Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    drop(tokio::spawn(connection));
    Ok(client)
}
