//! Canonical JSON (RFC 8785): one value, one byte string. What is hashed or signed goes through here.
//!
//! What is written can be read again: a value that would come back as another one is refused.

mod finite;
mod sorted;

use serde::Serialize;
use serde::de::DeserializeOwned;

#[derive(Debug, thiserror::Error)]
#[error("a value has no canonical JSON form: {0}")]
pub struct NotCanonical(String);

impl NotCanonical {
    /// What is wrong with it, alone.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.0
    }
}

/// The largest whole number up to which every one is a double, which is what a number is here. Counts are clamped to it where
/// they come in.
pub const EXACT: u64 = 1 << 53;

/// How many objects and lists may be within each other: what the reader follows.
pub const LEVELS: usize = 127;

/// # Errors
/// If the value has no JSON form (a map with keys that are no strings, a number that is not finite), or none that could be read
/// again as the same value (a whole number that no double is equal to, more than [`LEVELS`] levels).
pub fn bytes<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, NotCanonical> {
    bytes_within(value, LEVELS)
}

/// The same for a value that will become a part of a larger one.
///
/// # Errors
/// As [`bytes`], with this number of levels.
pub fn bytes_within<T: Serialize + ?Sized>(value: &T, levels: usize) -> Result<Vec<u8>, NotCanonical> {
    sorted::bytes(value, levels).map_err(|error| NotCanonical(error.to_string()))
}

/// What [`bytes`] has written, as it is read again.
///
/// # Errors
/// If it is no value of this kind.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, NotCanonical> {
    serde_json::from_slice(bytes).map_err(|error| NotCanonical(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::bytes;
    use serde_json::Value;

    fn canonical(json: &str) -> String {
        let value: Value = serde_json::from_str(json).unwrap();
        String::from_utf8(bytes(&value).unwrap()).unwrap()
    }

    /// RFC 8785, section 3.2.2 and its result in 3.2.4.
    #[test]
    fn the_example_of_the_rfc() {
        let input = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let output = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
                      \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
        assert_eq!(canonical(input), output);
    }

    /// RFC 8785, section 3.2.3: keys sort by UTF-16 code units.
    #[test]
    fn keys_sort_by_utf16() {
        let input = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#;
        let value: Value = serde_json::from_str(&canonical(input)).unwrap();
        let order: Vec<_> = value.as_object().unwrap().values().map(|v| v.as_u64().unwrap()).collect();
        assert_eq!(order, [2, 4, 6, 7, 1, 5, 3]);
    }

    #[test]
    fn what_is_canonical_stays_as_it_is() {
        let once = canonical(r#"{"b":[1,2.0,-0.0],"a":{"z":null,"y":"\t"}}"#);
        assert_eq!(once, r#"{"a":{"y":"\t","z":null},"b":[1,2,0]}"#);
        assert_eq!(canonical(&once), once);
    }
}
