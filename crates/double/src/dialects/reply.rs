//! A reply on its way into a dialect: what is said, to whom, and which faults it shall have.

use serde_json::Value;

use crate::asked::Asked;
use crate::fault::{Fault, Faults};
use crate::said::{Call, Said};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Reply<'a> {
    pub(crate) asked: &'a Asked,
    pub(crate) said: &'a Said,
    pub(crate) faults: Faults<'a>,
    /// Of the request, from 1: identifiers are made of it.
    pub(crate) number: u64,
}

impl Reply<'_> {
    /// The identifier of a call, where it is to have one.
    pub(crate) fn call_id(&self, prefix: &str, at: usize) -> Option<Value> {
        if self.faults.has(&Fault::CallsWithoutIds) {
            return None;
        }
        let at = if self.faults.has(&Fault::CallsWithSameIds) { 0 } else { at };
        Some(format!("{prefix}{:04}{at:04}", self.number).into())
    }

    /// The index of a call or of what stands for one, where it is to have one.
    pub(crate) fn index(&self, at: usize) -> Option<Value> {
        (!self.faults.has(&Fault::CallsWithoutIndex)).then(|| at.into())
    }

    /// The arguments as JSON in a string: of the last call only half of it, if the reply was cut off.
    pub(crate) fn arguments(&self, at: usize, call: &Call) -> String {
        let written = call.args.to_string();
        if self.said.cut_off && at + 1 == self.said.calls.len() {
            return written.chars().take(written.chars().count() / 2).collect();
        }
        written
    }

    /// The same as a value: the string, or the object where the fault is that.
    pub(crate) fn arguments_value(&self, at: usize, call: &Call) -> Value {
        if self.faults.has(&Fault::ArgumentsAsObject) {
            call.args.clone()
        } else {
            self.arguments(at, call).into()
        }
    }

    /// The arguments as an object, where the dialect has one: or the string where the fault is that.
    pub(crate) fn arguments_object(&self, call: &Call) -> Value {
        if self.faults.has(&Fault::ArgumentsAsString) {
            call.args.to_string().into()
        } else {
            call.args.clone()
        }
    }

    /// The same in pieces, as they are streamed.
    pub(crate) fn argument_pieces(&self, at: usize, call: &Call) -> Vec<Value> {
        if self.faults.has(&Fault::ArgumentsAsObject) {
            return vec![call.args.clone()];
        }
        let written = self.arguments(at, call);
        let size = self.faults.find(|fault| match fault {
            Fault::ArgumentsWhole => Some(usize::MAX),
            Fault::ArgumentsInPieces(size) => Some((*size).max(1)),
            _ => None,
        });
        let size = size.unwrap_or_else(|| (written.chars().count() / 4).max(4));
        in_pieces(&written, size).into_iter().map(Value::from).collect()
    }

    /// The events of calls side by side: one call after the other, or taking turns where the fault is that.
    pub(crate) fn in_turn<T>(&self, calls: Vec<Vec<T>>) -> Vec<T> {
        if !self.faults.has(&Fault::CallsInterleaved) {
            return calls.into_iter().flatten().collect();
        }
        let mut turns: Vec<_> = calls.into_iter().map(Vec::into_iter).collect();
        let mut merged = Vec::new();
        loop {
            let before = merged.len();
            for turn in &mut turns {
                merged.extend(turn.next());
            }
            if merged.len() == before {
                return merged;
            }
        }
    }
}

/// A text as it is streamed: in at most about 32 pieces, none of them tiny.
pub(crate) fn pieces(text: &str) -> Vec<String> {
    in_pieces(text, (text.chars().count() / 32).max(6))
}

fn in_pieces(text: &str, size: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut room = 0;
    for c in text.chars() {
        if room == 0 {
            pieces.push(String::new());
            room = size;
        }
        if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
        room -= 1;
    }
    pieces
}

/// Sets a field of an object, if there is something to set.
pub(crate) fn put(object: &mut Value, name: &str, value: Option<Value>) {
    if let (Value::Object(map), Some(value)) = (object, value) {
        map.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::{in_pieces, pieces};

    #[test]
    fn pieces_together_are_the_text() {
        for text in ["", "a", "grüß dich, welt: ein längerer satz", &"x".repeat(10_000)] {
            assert_eq!(pieces(text).concat(), text);
            assert!(pieces(text).len() <= 40, "{}", pieces(text).len());
        }
        assert_eq!(in_pieces("abcdefg", 3), ["abc", "def", "g"]);
        assert_eq!(in_pieces("abc", usize::MAX), ["abc"]);
    }
}
