//! `calc`: arithmetic that is exact where it can be, and says so where it is not.

use domain::Stop;
use domain::call::Failure;
use domain::limits::CALC_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::Workspace;

pub(crate) mod number;
mod parser;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Like `(12.5 + 3) * 19% - round(10/3, 2)`. There are `+ - * / % ^`, brackets, and the functions abs, round,
    /// floor, ceil, sqrt, min, max, sum, mean. `%` behind a number means hundredths, between two numbers what is
    /// left over after division. Decimals have a point; `1_000` and `1e3` are fine.
    pub(crate) expression: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Calculated {
    /// A decimal number.
    pub(crate) result: String,
    /// Whether `result` is the number itself. If not, it is rounded.
    pub(crate) exact: bool,
}

/// # Errors
/// If the expression cannot be read, or has no result that fits.
pub(crate) fn run(_workspace: &Workspace, args: &Args, _stop: &Stop) -> Result<Calculated, Failure> {
    let bytes = args.expression.len();
    if bytes > CALC_BYTES {
        return Err(Failure::logical(format!("the expression has {bytes} bytes; {CALC_BYTES} are allowed")));
    }
    let value = parser::calculate(&args.expression)?;
    let (result, ends) = value.number.shown();
    Ok(Calculated { result, exact: value.exact && ends })
}

#[cfg(test)]
mod tests;
