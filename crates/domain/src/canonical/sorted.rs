//! Canonical JSON in one buffer. The library that we compare ourselves with keeps a buffer for every key and every value and
//! makes a writer for every fragment, and every decision, entry and step goes through here. How numbers look, other than
//! small whole ones, is left to it.

use std::cmp::Ordering;
use std::io::{self, Write};
use std::ops::Range;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

/// The largest whole number up to which every one of them is a double, which is what a number is here.
const WHOLE: u64 = 1 << 53;

pub(super) fn bytes<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(256);
    let sorted = Sorted { out: &mut out, objects: Vec::new() };
    value.serialize(&mut Serializer::with_formatter(io::sink(), sorted))?;
    // A number that is not finite looks like nothing here; alone it has no form.
    if out == b"null" { serde_json_canonicalizer::to_vec(&value) } else { Ok(out) }
}

/// Everything is written to `out`; the serializer's own writer gets nothing.
struct Sorted<'a> {
    out: &'a mut Vec<u8>,
    /// Those that are open.
    objects: Vec<Object>,
}

/// Its properties stand one after the other from `start`, as they came, until it is closed.
struct Object {
    start: usize,
    properties: Vec<Property>,
}

struct Property {
    /// With its quotes.
    key: Range<usize>,
    value: Range<usize>,
}

fn wrong(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl Sorted<'_> {
    /// As a double.
    fn number(&mut self, number: f64) -> io::Result<()> {
        self.out.extend(serde_json_canonicalizer::to_vec(&number)?);
        Ok(())
    }

    fn whole(&mut self, negative: bool, amount: u64) -> io::Result<()> {
        write!(self.out, "{}{amount}", if negative { "-" } else { "" })
    }

    fn property(&mut self) -> io::Result<&mut Property> {
        let last = self.objects.last_mut().and_then(|object| object.properties.last_mut());
        last.ok_or_else(|| wrong("a property outside an object"))
    }
}

/// By UTF-16 code units, of what stands between the quotes.
fn order(a: &[u8], b: &[u8]) -> io::Result<Ordering> {
    let plain = |key: &[u8]| key.is_ascii() && !key.contains(&b'\\');
    if plain(a) && plain(b) {
        let bare = |key: &[u8]| key.len().saturating_sub(1);
        return Ok(a.get(1..bare(a)).cmp(&b.get(1..bare(b))));
    }
    let units =
        |key| Ok::<_, io::Error>(serde_json::from_slice::<String>(key)?.encode_utf16().collect::<Vec<_>>());
    Ok(units(a)?.cmp(&units(b)?))
}

impl Object {
    /// What stands from its start, in order.
    fn written(&mut self, properties: &[u8]) -> io::Result<Vec<u8>> {
        let (start, mut failed) = (self.start, None);
        let part = |range: &Range<usize>| {
            properties
                .get(range.start - start..range.end - start)
                .ok_or_else(|| wrong("a property out of place"))
        };
        self.properties.sort_by(|a, b| {
            let ordered = part(&a.key).and_then(|a| order(a, part(&b.key)?));
            ordered.unwrap_or_else(|error| {
                failed = Some(error);
                Ordering::Equal
            })
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let mut out = Vec::with_capacity(properties.len() + 2 * self.properties.len());
        let mut before = None;
        for property in &self.properties {
            let key = part(&property.key)?;
            if let Some(before) = before.replace(key) {
                if order(before, key)?.is_eq() {
                    return Err(wrong("duplicate object key"));
                }
                out.push(b',');
            }
            out.extend_from_slice(key);
            out.push(b':');
            out.extend_from_slice(part(&property.value)?);
        }
        Ok(out)
    }
}

/// What needs no care is as in compact JSON.
macro_rules! as_compact {
    ($($name:ident($($argument:ident: $kind:ty),*);)+) => {$(
        fn $name<W: ?Sized + Write>(&mut self, _: &mut W $(, $argument: $kind)*) -> io::Result<()> {
            CompactFormatter.$name(&mut *self.out $(, $argument)*)
        }
    )+};
}

macro_rules! whole {
    ($($name:ident($kind:ty);)+) => {$(
        fn $name<W: ?Sized + Write>(&mut self, writer: &mut W, value: $kind) -> io::Result<()> {
            self.write_i64(writer, value.into())
        }
    )+};
}

macro_rules! huge {
    ($($name:ident($kind:ty);)+) => {$(
        fn $name<W: ?Sized + Write>(&mut self, _: &mut W, value: $kind) -> io::Result<()> {
            self.out.extend(serde_json_canonicalizer::to_vec(&value)?);
            Ok(())
        }
    )+};
}

impl Formatter for Sorted<'_> {
    as_compact! {
        write_null();
        write_bool(value: bool);
        begin_string();
        end_string();
        write_string_fragment(fragment: &str);
        write_char_escape(escape: CharEscape);
        begin_array();
        end_array();
        begin_array_value(first: bool);
    }

    whole! {
        write_i8(i8);
        write_i16(i16);
        write_i32(i32);
        write_u8(u8);
        write_u16(u16);
        write_u32(u32);
    }

    huge! {
        write_i128(i128);
        write_u128(u128);
    }

    fn write_i64<W: ?Sized + Write>(&mut self, _: &mut W, value: i64) -> io::Result<()> {
        match value.unsigned_abs() {
            amount @ ..=WHOLE => self.whole(value < 0, amount),
            _ => self.number(value as f64),
        }
    }

    fn write_u64<W: ?Sized + Write>(&mut self, _: &mut W, value: u64) -> io::Result<()> {
        if value <= WHOLE { self.whole(false, value) } else { self.number(value as f64) }
    }

    fn write_f32<W: ?Sized + Write>(&mut self, _: &mut W, value: f32) -> io::Result<()> {
        self.number(value.into())
    }

    fn write_f64<W: ?Sized + Write>(&mut self, _: &mut W, value: f64) -> io::Result<()> {
        self.number(value)
    }

    fn write_number_str<W: ?Sized + Write>(&mut self, _: &mut W, value: &str) -> io::Result<()> {
        self.number(value.parse().map_err(|_not_one| wrong("a number that is none"))?)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.out.push(b'{');
        self.objects.push(Object { start: self.out.len(), properties: Vec::new() });
        Ok(())
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, _: &mut W, _first: bool) -> io::Result<()> {
        let here = self.out.len();
        let object = self.objects.last_mut().ok_or_else(|| wrong("a key outside an object"))?;
        object.properties.push(Property { key: here..here, value: here..here });
        Ok(())
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        let here = self.out.len();
        self.property()?.key.end = here;
        Ok(())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        let here = self.out.len();
        self.property()?.value.start = here;
        Ok(())
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        let here = self.out.len();
        self.property()?.value.end = here;
        Ok(())
    }

    fn end_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        let mut object = self.objects.pop().ok_or_else(|| wrong("an end outside an object"))?;
        let written = object.written(self.out.get(object.start..).unwrap_or_default())?;
        self.out.truncate(object.start);
        self.out.extend(written);
        self.out.push(b'}');
        Ok(())
    }

    /// Nobody can know whether they are canonical.
    fn write_raw_fragment<W: ?Sized + Write>(&mut self, _: &mut W, _: &str) -> io::Result<()> {
        Err(wrong("raw values have no canonical form"))
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;
    use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
    use serde::Serialize;
    use serde_json::{Map, Value, json};

    fn keys() -> impl Strategy<Value = String> {
        prop_oneof!["[a-c !#\"]{0,3}", "[a\\\\\"\n\u{7f}é\u{e000}😀\u{ffff}]{0,3}", any::<String>()]
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-(1_i64 << 53) - 3..=-(1_i64 << 53) + 3).prop_map(Value::from),
            ((1_u64 << 53) - 3..=(1_u64 << 53) + 3).prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            keys().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((keys(), inner), 0..6)
                    .prop_map(|fields| Value::from(fields.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_what_the_library_writes(value in values()) {
            assert_eq!(bytes(&value).unwrap(), serde_json_canonicalizer::to_vec(&value).unwrap());
        }
    }

    /// What only types have, and no `Value`.
    #[test]
    fn types_are_as_the_library_writes_them_too() {
        #[derive(Serialize)]
        #[serde(rename_all = "snake_case")]
        enum Kind {
            Unit,
            One(u8),
            Two(i8, f32),
            Named { b: i128, a: u128 },
        }
        #[derive(Serialize)]
        struct Outer<'a> {
            z: Option<&'a str>,
            kinds: Vec<Kind>,
            #[serde(flatten)]
            rest: Value,
            bytes: &'a [u8],
            nan: f64,
        }
        let kinds =
            || vec![Kind::Unit, Kind::One(7), Kind::Two(-3, 0.1), Kind::Named { b: i128::MIN, a: u128::MAX }];
        let outer = |rest| Outer { z: None, kinds: kinds(), rest, bytes: b"\x00\xff", nan: f64::NAN };
        let whole = outer(json!({ "y": -0.0, "a": 1e21 }));
        assert_eq!(bytes(&whole).unwrap(), serde_json_canonicalizer::to_vec(&whole).unwrap());
        let by_number = std::collections::BTreeMap::from([(10, "x"), (9, "y")]);
        assert_eq!(bytes(&by_number).unwrap(), serde_json_canonicalizer::to_vec(&by_number).unwrap());
        // Both refuse the same.
        let twice = outer(json!({ "z": 1 }));
        assert!(bytes(&twice).is_err() && serde_json_canonicalizer::to_vec(&twice).is_err());
        for alone in [f64::NAN, f64::INFINITY] {
            assert!(bytes(&alone).is_err() && serde_json_canonicalizer::to_vec(&alone).is_err());
        }
        assert_eq!(bytes(&()).unwrap(), b"null");
    }
}
