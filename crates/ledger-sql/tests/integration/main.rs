//! Both databases pass the conformance suite. One binary for all of it.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests look at files, break their own network, and fail loudly"
)]

mod postgres;
mod scrub;
mod sqlite;
