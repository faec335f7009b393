//! JSON that comes from outside. An object that has a name twice says two things, and two readers may each believe another
//! one: it is refused.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// Reads a value from a text in which no object has a name twice.
///
/// # Errors
/// If the text is no JSON, has a name twice, or is not such a value.
pub fn from_str<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str::<UniqueNames>(text)?;
    serde_json::from_str(text)
}

/// Why a line could not be read, without the place: it is counted in lines, and this is one.
#[must_use]
pub fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned()
}

/// Any value, whose objects have each name once.
struct UniqueNames;

impl<'de> serde::Deserialize<'de> for UniqueNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for UniqueNames {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        const SHOWN: usize = 80;
        let mut names = BTreeSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            fields.next_value::<Self>()?;
            if let Some(name) = names.replace(name) {
                let name: String = name.chars().take(SHOWN).flat_map(char::escape_debug).collect();
                return Err(A::Error::custom(format_args!("`{name}` is named twice in one object")));
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{from_str, reason};
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn a_name_that_is_there_twice_is_refused_at_any_depth() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":{"b":1,"c":2,"b":3}}"#,
            r#"[{"x":[{"y":0,"y":0}]}]"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"":1,"":2}"#,
        ] {
            let error = from_str::<Value>(text).expect_err(text);
            assert!(reason(&error).ends_with("is named twice in one object"), "{error}");
        }
        for text in [r#"{"a":{"a":{"a":[]}},"b":{"a":null}}"#, r#"[{"a":1.5},{"a":true}]"#, "7", r#""a""#] {
            assert_eq!(
                from_str::<Value>(text).expect(text),
                serde_json::from_str::<Value>(text).expect(text)
            );
        }
        assert!(from_str::<Value>("{").is_err_and(|error| error.is_eof()));
    }

    proptest! {
        /// What is taken in is what any reader reads, whichever of two equal names it would believe.
        #[test]
        fn whatever_is_read_has_each_name_once(names in proptest::collection::vec("[ab]{0,2}", 0..5)) {
            let fields: Vec<String> = names.iter().enumerate().map(|(n, name)| format!(r#""{name}":{n}"#)).collect();
            let text = format!("{{\"outer\":{{{}}}}}", fields.join(","));
            let unique: std::collections::BTreeSet<&String> = names.iter().collect();
            prop_assert_eq!(from_str::<Value>(&text).is_ok(), unique.len() == names.len(), "{}", text);
        }
    }
}
