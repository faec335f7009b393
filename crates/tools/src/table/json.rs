//! Rows out of a JSON text, one object at a time and with its numbers as they are written.

use std::fmt;
use std::io::Read;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// An object as it stands there, in its order and with what stands there twice.
pub(crate) struct Object(pub(crate) Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object for each row")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Object, M::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Object(pairs))
    }
}

/// Gives the objects of an array to `each`, until it says that it is enough (`false`).
pub(crate) fn each_of_array(
    reader: impl Read,
    each: &mut dyn FnMut(Object) -> bool,
) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_reader(reader);
    deserializer.deserialize_seq(ArrayVisitor(each))?;
    deserializer.end()
}

struct ArrayVisitor<'a>(&'a mut dyn FnMut(Object) -> bool);

impl<'de> Visitor<'de> for ArrayVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut array: S) -> Result<(), S::Error> {
        while let Some(object) = array.next_element()? {
            if !(self.0)(object) {
                return Err(S::Error::custom("enough"));
            }
        }
        Ok(())
    }
}

/// The same for objects one after another, usually one in a line.
pub(crate) fn each_of_lines(
    reader: impl Read,
    each: &mut dyn FnMut(Object) -> bool,
) -> Result<(), serde_json::Error> {
    for object in serde_json::Deserializer::from_reader(reader).into_iter() {
        if !each(object?) {
            break;
        }
    }
    Ok(())
}
