//! Whether every number in a value is finite. JSON has no form for the others, and the serializer writes them as `null`.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::{Error, Result};

pub(super) fn check<T: Serialize + ?Sized>(value: &T) -> Result<()> {
    value.serialize(Finite)
}

#[derive(Clone, Copy)]
struct Finite;

macro_rules! fine {
    ($($name:ident($($kind:ty),*);)+) => {$(
        fn $name(self $(, _: $kind)*) -> Result<()> {
            Ok(())
        }
    )+};
}

macro_rules! begin {
    ($($name:ident($($kind:ty),*) -> $part:ident;)+) => {$(
        type $part = Self;

        fn $name(self $(, _: $kind)*) -> Result<Self> {
            Ok(self)
        }
    )+};
}

macro_rules! parts {
    ($($part:ident::$name:ident($($kind:ty),*);)+) => {$(
        impl $part for Finite {
            type Ok = ();
            type Error = Error;

            fn $name<T: Serialize + ?Sized>(&mut self $(, _: $kind)*, value: &T) -> Result<()> {
                check(value)
            }

            fn end(self) -> Result<()> {
                Ok(())
            }
        }
    )+};
}

impl Serializer for Finite {
    type Ok = ();
    type Error = Error;

    fine! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    begin! {
        serialize_seq(Option<usize>) -> SerializeSeq;
        serialize_tuple(usize) -> SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant;
        serialize_map(Option<usize>) -> SerializeMap;
        serialize_struct(&'static str, usize) -> SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant;
    }

    fn serialize_f32(self, value: f32) -> Result<()> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<()> {
        if value.is_finite() { Ok(()) } else { Err(Error::custom("a number is not finite")) }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        check(value)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<()> {
        check(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<()> {
        check(value)
    }
}

parts! {
    SerializeSeq::serialize_element();
    SerializeTuple::serialize_element();
    SerializeTupleStruct::serialize_field();
    SerializeTupleVariant::serialize_field();
    SerializeStruct::serialize_field(&'static str);
    SerializeStructVariant::serialize_field(&'static str);
}

impl SerializeMap for Finite {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Result<()> {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        check(value)
    }

    fn end(self) -> Result<()> {
        Ok(())
    }
}
