//! Logs, for whoever looks for a fault. Without `--log-file` and `RUST_LOG` there is no subscriber, and nothing is written.

#![expect(clippy::disallowed_methods, reason = "the log file that the owner named")]

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Mutex;

use app::{Code, Problem};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// What is logged into a file if `RUST_LOG` says nothing.
const DEFAULT_FILTER: &str = "info";

/// Starts logging: into the file, or to standard error if only a filter is given. The file is for its owner alone, and
/// what is in it stays.
///
/// # Errors
/// If the file cannot be opened, or the filter is none.
pub fn start_logging(file: Option<&Path>, filter: Option<&str>) -> Result<(), Problem> {
    let filter = match (filter.filter(|filter| !filter.is_empty()), file) {
        (None, None) => return Ok(()),
        (None, Some(_)) => DEFAULT_FILTER,
        (Some(filter), _) => filter,
    };
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        Problem::new(Code::USAGE, format!("RUST_LOG is not a log filter: {error}"))
            .safe("nothing was done")
            .remedy("RUST_LOG=info")
    })?;
    let lines =
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_span_events(FmtSpan::CLOSE);
    let started = match file {
        Some(path) => {
            let open = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
            let file = open.map_err(|error| {
                Problem::new(Code::OUTPUT, format!("cannot open the log file `{}`: {error}", path.display()))
                    .safe("nothing was done")
            })?;
            lines.with_writer(Mutex::new(file)).try_init()
        }
        None => lines.with_writer(std::io::stderr).try_init(),
    };
    started.map_err(Problem::internal)
}
