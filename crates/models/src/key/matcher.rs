//! Finds a key in a text, however it is written there: as it is, split by blanks or by invisible characters, in hexadecimal
//! digits, in Base64 at any offset, and all of that behind escapes of JSON, addresses and HTML, also several of them in layers.
//!
//! A text is taken apart layer by layer. Each layer is looked through, and what is found there is a part of the text itself.

use std::borrow::Cow;
use std::ops::Range;

use domain::unseen::is_unseen;
use serde_json::Value;
use zeroize::Zeroizing;

/// Escapes within escapes that are taken off.
const LAYERS: usize = 6;
/// The longest escape, as often as there may be layers of it: the end of a text that may be the beginning of one.
const ESCAPE_BYTES: usize = 10 * LAYERS;

/// The text that takes the place of a key.
pub(crate) const HIDDEN: &str = "(key)";

/// The forms of one key.
pub(crate) struct KeyMatcher {
    /// In the plain text, as it is and without its own escapes.
    plain: Vec<Form>,
    hex: Form,
    base64: [Form; 3],
}

type Form = Zeroizing<Vec<u8>>;

/// One character of a layer, and where it is in the text. What is not ASCII is in no key.
#[derive(Clone, Copy)]
struct Unit {
    byte: u8,
    start: usize,
    end: usize,
}

const NOT_ASCII: u8 = 0xff;

impl KeyMatcher {
    pub(crate) fn new(key: &str) -> Self {
        let bare = |units: &[Unit]| Zeroizing::new(units.iter().map(|unit| unit.byte).collect::<Vec<u8>>());
        let mut plain: Vec<Form> = layers(key).iter().map(|layer| bare(layer)).collect();
        plain.dedup();
        plain.retain(|form| !form.is_empty());
        let hex = key.bytes().flat_map(|byte| [hex_digit(byte >> 4), hex_digit(byte & 15)]).collect();
        let base64 = [0, 1, 2].map(|offset| Zeroizing::new(base64(key.as_bytes(), offset)));
        Self { plain, hex: Zeroizing::new(hex), base64 }
    }

    /// A text without it.
    pub(crate) fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        super::without(text, &self.find(text))
    }

    /// A value without it: texts and names.
    pub(crate) fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hidden(std::mem::take(text)),
            Value::Array(values) => values.iter_mut().for_each(|value| self.hide_in(value)),
            Value::Object(fields) => {
                let names = std::mem::take(fields);
                fields.extend(names.into_iter().map(|(name, mut value)| {
                    self.hide_in(&mut value);
                    (self.hidden(name), value)
                }));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    pub(crate) fn hidden(&self, text: String) -> String {
        match self.hide(&text) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => text,
        }
    }

    /// Where it is, in order; what overlaps is one.
    pub(crate) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for layer in layers(text) {
            self.each_view(layer, |view, form| found.extend(view.find(form)));
        }
        in_order(found)
    }

    /// The same, and from where on the text may be the beginning of a key that goes on in the next one.
    pub(crate) fn find_so_far(&self, text: &str) -> (Vec<Range<usize>>, usize) {
        let (mut found, mut from) = (Vec::new(), text.len());
        for layer in layers(text) {
            self.each_view(layer, |view, form| {
                found.extend(view.find(form));
                from = from.min(view.may_begin(form).unwrap_or(from));
            });
        }
        let found = in_order(found);
        // What is a key is not the beginning of another one.
        let from = found.iter().find(|range| range.contains(&from)).map_or(from, |whole| whole.end);
        (found, from)
    }

    /// A layer in each way of reading it, with what to look for there.
    fn each_view(&self, layer: Vec<Unit>, mut look: impl FnMut(&View, &Form)) {
        look(&View::of(hex_view(&layer)), &self.hex);
        let mut view = View::of(layer);
        self.plain.iter().for_each(|form| look(&view, form));
        view.bytes.iter_mut().for_each(|byte| *byte = of_url(*byte));
        self.base64.iter().for_each(|form| look(&view, form));
    }
}

/// What overlaps is one.
fn in_order(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|range| range.start);
    found.dedup_by(|later, before| {
        let overlap = later.start < before.end;
        if overlap {
            before.end = before.end.max(later.end);
        }
        overlap
    });
    found
}

/// One way of reading a layer.
struct View {
    units: Vec<Unit>,
    bytes: Vec<u8>,
}

impl View {
    fn of(units: Vec<Unit>) -> Self {
        let bytes = units.iter().map(|unit| unit.byte).collect();
        Self { units, bytes }
    }

    fn find<'a>(&'a self, form: &'a Form) -> impl Iterator<Item = Range<usize>> + 'a {
        // A searcher would keep a copy of the key.
        let begins = form.first().map(|first| memchr::memchr_iter(*first, &self.bytes));
        let here = |at: &usize| self.bytes.get(*at..*at + form.len()).is_some_and(|part| *part == ***form);
        begins.into_iter().flatten().filter(here).filter_map(|at| {
            let (first, last) = (self.units.get(at)?, self.units.get(at + form.len() - 1)?);
            Some(first.start..last.end)
        })
    }

    fn may_begin(&self, form: &Form) -> Option<usize> {
        // An escape that is cut off hides what it means.
        let whole = self.bytes.len() - escape_bytes(&self.bytes);
        let bytes = self.bytes.get(..whole)?;
        let most = bytes.len().min(form.len().saturating_sub(1));
        let begins = |length: &usize| form.get(..*length).is_some_and(|beginning| bytes.ends_with(beginning));
        let length = (1..=most).rev().find(begins).unwrap_or(0);
        self.units.get(whole - length).map(|first| first.start)
    }
}

/// The text as it is, then without one layer of escapes, and so on until there are none.
fn layers(text: &str) -> Vec<Vec<Unit>> {
    let seen = |(start, c): (usize, char)| {
        let byte = u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(NOT_ASCII);
        (!is_blank(c)).then_some(Unit { byte, start, end: start + c.len_utf8() })
    };
    let mut layers: Vec<Vec<Unit>> = vec![text.char_indices().filter_map(seen).collect()];
    while layers.len() < LAYERS
        && let Some(next) = layers.last().and_then(|layer| without_escapes(layer))
    {
        layers.push(next);
    }
    layers
}

fn is_blank(c: char) -> bool {
    is_unseen(c) || c.is_whitespace()
}

/// Nothing if there are none.
fn without_escapes(units: &[Unit]) -> Option<Vec<Unit>> {
    if !units.iter().any(|unit| matches!(unit.byte, b'\\' | b'%' | b'&')) {
        return None;
    }
    let (mut plain, mut at, mut changed) = (Vec::with_capacity(units.len()), 0, false);
    while let Some(unit) = units.get(at) {
        let rest = units.get(at + 1..).unwrap_or_default();
        let escaped = match unit.byte {
            b'\\' => backslash(rest),
            b'%' => number(rest, 16, 2..=2).map(|(code, length)| (Some(code), length)),
            b'&' => entity(rest),
            _ => None,
        };
        let Some((code, length)) = escaped else {
            plain.push(*unit);
            at += 1;
            continue;
        };
        changed = true;
        let end = units.get(at + length).map_or(unit.end, |last| last.end);
        let c = code.map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        if let Some(c) = c.filter(|c| !is_blank(*c)) {
            let byte = u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(NOT_ASCII);
            plain.push(Unit { byte, start: unit.start, end });
        }
        at += 1 + length;
    }
    changed.then_some(plain)
}

/// What follows a backslash: what it means, and how many units it is.
fn backslash(rest: &[Unit]) -> Option<(Option<u32>, usize)> {
    let (first, after) = rest.split_first()?;
    let code =
        |found: Option<(u32, usize)>, more: usize| found.map(|(code, length)| (Some(code), length + more));
    match first.byte {
        b'u' if after.first().is_some_and(|unit| unit.byte == b'{') => {
            let (value, length) = number(after.get(1..)?, 16, 1..=6)?;
            after.get(1 + length).is_some_and(|unit| unit.byte == b'}').then_some((Some(value), length + 3))
        }
        b'u' => code(number(after, 16, 4..=4), 1),
        b'x' => code(number(after, 16, 2..=2), 1),
        b'n' | b'r' | b't' | b'b' | b'f' => Some((None, 1)),
        // What follows is written in another way, and comes first.
        b'%' | b'&' => None,
        other => Some((Some(other.into()), 1)),
    }
}

/// What follows an ampersand.
fn entity(rest: &[Unit]) -> Option<(Option<u32>, usize)> {
    let begins = |text: &[u8]| {
        let end = rest.get(..text.len()).unwrap_or_default();
        end.iter().map(|unit| unit.byte.to_ascii_lowercase()).eq(text.iter().copied())
    };
    if begins(b"amp;") {
        return Some((Some(u32::from(b'&')), 4));
    }
    let (radix, before) = if begins(b"#x") {
        (16, 2)
    } else if begins(b"#") {
        (10, 1)
    } else {
        return None;
    };
    let (value, length) = number(rest.get(before..)?, radix, 1..=7)?;
    // One that is not closed may go on in the next piece, and mean something else.
    let closed = rest.get(before + length).is_some_and(|unit| unit.byte == b';');
    closed.then_some((Some(value), before + length + 1))
}

/// As many digits as there are, within these bounds.
fn number(units: &[Unit], radix: u32, digits: std::ops::RangeInclusive<usize>) -> Option<(u32, usize)> {
    let digit = |unit: &Unit| char::from(unit.byte).to_digit(radix).filter(|_| unit.byte.is_ascii());
    let found: Vec<u32> = units.iter().take(*digits.end()).map_while(digit).collect();
    let value = found.iter().try_fold(0_u32, |value, digit| value.checked_mul(radix)?.checked_add(*digit));
    digits.contains(&found.len()).then_some((value?, found.len()))
}

/// Digits alone, in lower case: without what is put between them.
fn hex_view(units: &[Unit]) -> Vec<Unit> {
    let mut view: Vec<Unit> = Vec::with_capacity(units.len());
    for unit in units {
        match unit.byte.to_ascii_lowercase() {
            b':' | b'-' | b',' | b'_' => {}
            // `0x` before each.
            b'x' if view.last().is_some_and(|last| last.byte == b'0') => drop(view.pop()),
            byte => view.push(Unit { byte, ..*unit }),
        }
    }
    view
}

const fn hex_digit(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

/// Two signs of Base64 are others in addresses.
const fn of_url(byte: u8) -> u8 {
    match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => byte,
    }
}

/// The characters that the key alone decides, where so many bytes of a group stand before it.
fn base64(key: &[u8], offset: usize) -> Vec<u8> {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut signs, mut bits, mut held) = (Vec::with_capacity(key.len() * 4 / 3), 0_usize, 0_u32);
    // Those that share a sign with what stands before it are left out.
    let mut skipped = (6 - offset * 8 % 6) % 6;
    for byte in key {
        held = held << 8 | u32::from(*byte);
        bits += 8 - skipped;
        held &= (1 << bits) - 1;
        skipped = 0;
        while bits >= 6 {
            bits -= 6;
            signs.extend(SIGNS.get((held >> bits) as usize & 63));
        }
        held &= (1 << bits) - 1;
    }
    signs
}

/// How many bytes at the end may be escapes that are cut off.
fn escape_bytes(bytes: &[u8]) -> usize {
    let end = bytes.get(bytes.len().saturating_sub(ESCAPE_BYTES)..).unwrap_or_default();
    let first = end.iter().position(|byte| matches!(byte, b'\\' | b'%' | b'&'));
    first.map_or(0, |first| end.len() - first)
}
