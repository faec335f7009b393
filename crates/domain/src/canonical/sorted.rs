//! Canonical JSON in one buffer. The library that we compare ourselves with keeps a buffer for every key and every value and
//! makes a writer for every fragment, and every decision, entry and step goes through here. How numbers look, other than
//! small whole ones, is left to it.
//!
//! INVARIANT (round-trip): what is written can be read again and means the same. A whole number that a double cannot hold, a
//! number that is not finite, and nesting that no reader follows are refused.

use std::cmp::Ordering;
use std::io::{self, Write};
use std::ops::Range;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

use super::{EXACT, finite};

/// `levels`: how many objects and lists may be within each other.
pub(super) fn bytes<T: Serialize + ?Sized>(value: &T, levels: usize) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(256);
    let mut nulls = false;
    let sorted = Sorted {
        out: &mut out,
        nulls: &mut nulls,
        levels,
        objects: Vec::new(),
        unused: Vec::new(),
        reordered: Vec::new(),
    };
    value.serialize(&mut Serializer::with_formatter(io::sink(), sorted))?;
    // The serializer writes a number that is not finite as `null`, and does not tell.
    if nulls {
        finite::check(value)?;
    }
    Ok(out)
}

/// Everything is written to `out`; the serializer's own writer gets nothing.
struct Sorted<'a> {
    out: &'a mut Vec<u8>,
    /// Whether a `null` was written.
    nulls: &'a mut bool,
    /// How many more objects and lists may be opened within the open ones.
    levels: usize,
    /// Those that are open.
    objects: Vec<Object>,
    /// Lists of properties of objects that are closed, empty, for the next ones.
    unused: Vec<Vec<Property>>,
    /// Where the properties of an object that is being closed are put in order.
    reordered: Vec<u8>,
}

/// Its properties stand one after the other from `start`, as they came, until it is closed.
struct Object {
    start: usize,
    properties: Vec<Property>,
}

struct Property {
    /// With its quotes.
    key: Range<usize>,
    /// Whether the key's bytes sort like its UTF-16 code units.
    plain: bool,
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
        if negative {
            self.out.push(b'-');
        }
        CompactFormatter.write_u64(&mut *self.out, amount)
    }

    /// A whole number, written as the double that it must be equal to.
    fn exact(&mut self, whole: &str, double: f64) -> io::Result<()> {
        let written = serde_json_canonicalizer::to_vec(&double)?;
        if written != whole.as_bytes() {
            let what = format!("{whole} cannot be written exactly: a number here is a double");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        self.out.extend(written);
        Ok(())
    }

    fn open(&mut self) -> io::Result<()> {
        self.levels = self.levels.checked_sub(1).ok_or_else(|| wrong("it is nested too deeply"))?;
        Ok(())
    }

    fn property(&mut self) -> io::Result<&mut Property> {
        let last = self.objects.last_mut().and_then(|object| object.properties.last_mut());
        last.ok_or_else(|| wrong("a property outside an object"))
    }
}

/// By UTF-16 code units, of what stands between the quotes.
fn order(out: &[u8], a: &Property, b: &Property) -> io::Result<Ordering> {
    let (first, second) = (part(out, &a.key)?, part(out, &b.key)?);
    if a.plain && b.plain {
        let bare = |key: &[u8]| key.len().saturating_sub(1);
        return Ok(first.get(1..bare(first)).cmp(&second.get(1..bare(second))));
    }
    let units =
        |key| Ok::<_, io::Error>(serde_json::from_slice::<String>(key)?.encode_utf16().collect::<Vec<_>>());
    Ok(units(first)?.cmp(&units(second)?))
}

fn part<'a>(out: &'a [u8], range: &Range<usize>) -> io::Result<&'a [u8]> {
    out.get(range.clone()).ok_or_else(|| wrong("a property out of place"))
}

impl Object {
    /// Whether the properties came in order, each once.
    fn is_ordered(&self, out: &[u8]) -> io::Result<bool> {
        for pair in self.properties.windows(2) {
            let [before, after] = pair else { continue };
            if order(out, before, after)?.is_ge() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts the properties in order, and writes them so.
    fn reorder(&mut self, out: &[u8], reordered: &mut Vec<u8>) -> io::Result<()> {
        let mut failed = None;
        self.properties.sort_by(|a, b| {
            order(out, a, b).unwrap_or_else(|error| {
                failed = Some(error);
                Ordering::Equal
            })
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if !self.is_ordered(out)? {
            return Err(wrong("duplicate object key"));
        }
        reordered.clear();
        for (place, property) in self.properties.iter().enumerate() {
            if place > 0 {
                reordered.push(b',');
            }
            reordered.extend_from_slice(part(out, &property.key)?);
            reordered.push(b':');
            reordered.extend_from_slice(part(out, &property.value)?);
        }
        Ok(())
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
            self.exact(&value.to_string(), value as f64)
        }
    )+};
}

impl Formatter for Sorted<'_> {
    as_compact! {
        write_bool(value: bool);
        begin_string();
        end_string();
        write_string_fragment(fragment: &str);
        write_char_escape(escape: CharEscape);
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

    fn write_null<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        *self.nulls = true;
        CompactFormatter.write_null(&mut *self.out)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.open()?;
        CompactFormatter.begin_array(&mut *self.out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.levels += 1;
        CompactFormatter.end_array(&mut *self.out)
    }

    fn write_i64<W: ?Sized + Write>(&mut self, _: &mut W, value: i64) -> io::Result<()> {
        match value.unsigned_abs() {
            amount @ ..=EXACT => self.whole(value < 0, amount),
            _ => self.exact(&value.to_string(), value as f64),
        }
    }

    fn write_u64<W: ?Sized + Write>(&mut self, _: &mut W, value: u64) -> io::Result<()> {
        if value <= EXACT { self.whole(false, value) } else { self.exact(&value.to_string(), value as f64) }
    }

    fn write_f32<W: ?Sized + Write>(&mut self, _: &mut W, value: f32) -> io::Result<()> {
        self.number(value.into())
    }

    fn write_f64<W: ?Sized + Write>(&mut self, _: &mut W, value: f64) -> io::Result<()> {
        self.number(value)
    }

    fn write_number_str<W: ?Sized + Write>(&mut self, _: &mut W, value: &str) -> io::Result<()> {
        let double: f64 = value.parse().map_err(|_not_one| wrong("a number that is none"))?;
        if value.bytes().all(|c| c.is_ascii_digit() || c == b'-') {
            return self.exact(value, double);
        }
        self.number(double)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.open()?;
        self.out.push(b'{');
        let properties = self.unused.pop().unwrap_or_default();
        self.objects.push(Object { start: self.out.len(), properties });
        Ok(())
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, _: &mut W, _first: bool) -> io::Result<()> {
        let object = self.objects.last_mut().ok_or_else(|| wrong("a key outside an object"))?;
        if !object.properties.is_empty() {
            self.out.push(b',');
        }
        let here = self.out.len();
        object.properties.push(Property { key: here..here, plain: false, value: here..here });
        Ok(())
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        let here = self.out.len();
        let start = self.property()?.key.start;
        let plain = part(self.out, &(start..here))?.iter().all(|c| c.is_ascii() && *c != b'\\');
        let property = self.property()?;
        (property.key.end, property.plain) = (here, plain);
        Ok(())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.out.push(b':');
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
        if !object.is_ordered(self.out)? {
            object.reorder(self.out, &mut self.reordered)?;
            self.out.truncate(object.start);
            self.out.extend_from_slice(&self.reordered);
        }
        self.out.push(b'}');
        object.properties.clear();
        self.unused.push(object.properties);
        self.levels += 1;
        Ok(())
    }

    /// Nobody can know whether they are canonical.
    fn write_raw_fragment<W: ?Sized + Write>(&mut self, _: &mut W, _: &str) -> io::Result<()> {
        Err(wrong("raw values have no canonical form"))
    }
}

#[cfg(test)]
mod tests {
    use crate::canonical::{LEVELS, bytes};
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
            // Doubles that are whole numbers.
            any::<i64>().prop_map(|number| Value::from(number as f64)),
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

    /// Whether every whole number in it is one that a double can hold and that is written with its own digits.
    fn is_exact(value: &Value) -> bool {
        match value {
            Value::Number(number) if !number.is_f64() => {
                let double = number.as_f64().unwrap();
                serde_json_canonicalizer::to_string(&double).unwrap() == number.to_string()
            }
            Value::Array(values) => values.iter().all(is_exact),
            Value::Object(fields) => fields.values().all(is_exact),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        }
    }

    /// The same with every number as a double.
    fn doubles(value: &Value) -> Value {
        match value {
            Value::Number(number) => Value::from(number.as_f64().unwrap()),
            Value::Array(values) => values.iter().map(doubles).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), doubles(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
        }
    }

    proptest! {
        #[test]
        fn it_is_what_the_library_writes_or_it_would_not_survive(value in values()) {
            let Ok(written) = bytes(&value) else {
                assert!(!is_exact(&value), "{value}");
                return Ok(());
            };
            assert!(is_exact(&value), "{value}");
            assert_eq!(written, serde_json_canonicalizer::to_vec(&value).unwrap());
            let again: Value = serde_json::from_slice(&written).unwrap();
            assert_eq!(doubles(&again), doubles(&value));
            assert_eq!(bytes(&again).unwrap(), written);
        }

        /// Into the type that it came from.
        #[test]
        fn a_number_comes_back_as_it_was_or_is_refused(
            whole in any::<u64>(), signed in any::<i64>(), float in any::<f64>(), large in any::<u128>(),
        ) {
            if let Ok(written) = bytes(&whole) {
                assert_eq!(serde_json::from_slice::<u64>(&written).unwrap(), whole);
            }
            if let Ok(written) = bytes(&signed) {
                assert_eq!(serde_json::from_slice::<i64>(&written).unwrap(), signed);
            }
            if let Ok(written) = bytes(&large) {
                assert_eq!(serde_json::from_slice::<u128>(&written).unwrap(), large);
            }
            match bytes(&Some(float)) {
                Ok(written) => {
                    assert_eq!(serde_json::from_slice::<Option<f64>>(&written).unwrap(), Some(float));
                }
                Err(_) => assert!(!float.is_finite()),
            }
        }
    }

    #[test]
    fn whole_numbers_that_a_double_cannot_hold_are_refused() {
        for refused in [u64::MAX, u64::MAX - 1, (1 << 53) + 1, 1 << 60] {
            let why = bytes(&json!({ "n": refused })).unwrap_err().to_string();
            assert!(why.contains(&refused.to_string()), "{why}");
        }
        for written in [0_u64, 1 << 53, (1 << 53) + 2, 1_000_000_000_000_000_000] {
            assert_eq!(bytes(&written).unwrap(), written.to_string().into_bytes());
        }
        assert!(bytes(&i64::MIN).is_err() && bytes(&i64::MAX).is_err());
    }

    #[test]
    fn what_is_nested_as_deep_as_a_reader_follows_is_written_and_no_deeper() {
        let deep =
            |levels: usize| {
                (0..levels).fold(Value::Null, |value, at| {
                    if at % 2 == 0 { json!([value]) } else { json!({ "a": value }) }
                })
            };
        let written = bytes(&deep(LEVELS)).unwrap();
        assert!(serde_json::from_slice::<Value>(&written).is_ok());
        assert!(bytes(&deep(LEVELS + 1)).is_err());
        let beyond = deep(LEVELS + 1).to_string();
        assert!(serde_json::from_str::<Value>(&beyond).is_err(), "there is no room for more");
        assert!(bytes(&vec![deep(3); 5]).is_ok(), "beside each other is not within each other");
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
            number: f64,
        }
        let kinds =
            || vec![Kind::Unit, Kind::One(7), Kind::Two(-3, 0.1), Kind::Named { b: -1 << 53, a: 1 << 53 }];
        let outer = |rest, number| Outer { z: None, kinds: kinds(), rest, bytes: b"\x00\xff", number };
        let whole = outer(json!({ "y": -0.0, "a": 1e21 }), 0.5);
        assert_eq!(bytes(&whole).unwrap(), serde_json_canonicalizer::to_vec(&whole).unwrap());
        let by_number = std::collections::BTreeMap::from([(10, "x"), (9, "y")]);
        assert_eq!(bytes(&by_number).unwrap(), serde_json_canonicalizer::to_vec(&by_number).unwrap());
        // Both refuse the same.
        let twice = outer(json!({ "z": 1 }), 0.5);
        assert!(bytes(&twice).is_err() && serde_json_canonicalizer::to_vec(&twice).is_err());
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(bytes(&number).is_err() && serde_json_canonicalizer::to_vec(&number).is_err());
            // The library writes these as `null`.
            assert!(bytes(&outer(json!({}), number)).is_err());
            assert!(bytes(&[Some(number)]).is_err());
        }
        assert!(bytes(&Kind::Two(0, f32::NAN)).is_err());
        assert!(bytes(&Kind::Named { b: i128::MIN, a: 0 }).is_err());
        assert_eq!(bytes(&()).unwrap(), b"null");
    }
}
