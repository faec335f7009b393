//! The bytes that are authenticated, and the MACs over them. Frozen: a row that was sealed years ago must still verify.

use domain::Digest;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::table::AuthorityTable;
use crate::chain::Secret;
use crate::store::key_of;
use crate::value::{Row, Value};

/// The MACs of one vault's authority key.
#[derive(Clone, Debug)]
pub struct AuthorityMac(Secret);

impl AuthorityMac {
    #[must_use]
    pub const fn new(key: Secret) -> Self {
        Self(key)
    }

    /// Names a row by the cells of its key, without telling them: addresses of people are keys, too.
    #[must_use]
    pub fn of_key(&self, table: &AuthorityTable, key: &[Value]) -> Digest {
        self.of_cells(b"regent/authority-key/1", table.kind, key)
    }

    #[must_use]
    pub fn of_row(&self, table: &AuthorityTable, row: &Row) -> Digest {
        self.of_cells(b"regent/authority-row/1", table.kind, &table.frozen_cells(row))
    }

    /// The name of a row and the MAC over it.
    pub(super) fn seal(&self, table: &AuthorityTable, row: &Row) -> (Digest, Digest) {
        (self.of_key(table, &key_of(table.table, row)), self.of_row(table, row))
    }

    /// One MAC over the seals of every table, in order.
    pub(super) fn of_seals<'a>(
        &self,
        seals: impl IntoIterator<Item = (&'a str, &'a Digest, &'a Digest)>,
    ) -> Digest {
        let mut mac = self.begin(b"regent/authority-set/1");
        for (kind, key, row) in seals {
            part(&mut mac, kind.as_bytes());
            mac.update(key.as_bytes());
            mac.update(row.as_bytes());
        }
        finish(mac)
    }

    fn of_cells(&self, purpose: &[u8], kind: &str, cells: &[Value]) -> Digest {
        let mut mac = self.begin(purpose);
        part(&mut mac, kind.as_bytes());
        mac.update(&(cells.len() as u64).to_be_bytes());
        for cell in cells {
            match cell {
                Value::Null => mac.update(&[0]),
                Value::Int(number) => {
                    mac.update(&[1]);
                    mac.update(&number.to_be_bytes());
                }
                Value::Real(number) => {
                    mac.update(&[2]);
                    mac.update(&number.0.to_bits().to_be_bytes());
                }
                Value::Text(text) => {
                    mac.update(&[3]);
                    part(&mut mac, text.as_bytes());
                }
                Value::Bytes(bytes) => {
                    mac.update(&[4]);
                    part(&mut mac, bytes);
                }
                Value::Time(time) => {
                    mac.update(&[5]);
                    mac.update(&time.micros().to_be_bytes());
                }
            }
        }
        finish(mac)
    }

    fn begin(&self, purpose: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.mac();
        part(&mut mac, purpose);
        mac
    }
}

/// With its length before it, so that no two rows look alike.
fn part(mac: &mut Hmac<Sha256>, bytes: &[u8]) {
    mac.update(&(bytes.len() as u64).to_be_bytes());
    mac.update(bytes);
}

fn finish(mac: Hmac<Sha256>) -> Digest {
    Digest::from_bytes(mac.finalize().into_bytes().into())
}
