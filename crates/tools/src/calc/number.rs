//! Fractions of whole numbers: exact, and bounded by what 127 bits hold.
//!
//! INVARIANT (reduced): the denominator is positive and has no factor in common with the numerator. So two equal
//! numbers are equal field by field.

use std::cmp::Ordering;

/// Digits behind the point that are shown if the number ends there.
const EXACT_PLACES: usize = 60;
/// Digits that are shown of a fraction that has no end.
const ROUNDED_PLACES: usize = 12;
/// Ten to a higher power does not fit.
const LARGEST_POWER_OF_TEN: u32 = 38;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    numerator: i128,
    denominator: i128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    TooLarge,
    ByZero,
    NoRealNumber,
    /// It is not written as a number.
    NoNumber,
}

impl Number {
    pub(crate) const ZERO: Self = Self { numerator: 0, denominator: 1 };
    pub(crate) const ONE: Self = Self { numerator: 1, denominator: 1 };

    pub(crate) fn whole(value: i128) -> Result<Self, Trouble> {
        Self::new(value, 1)
    }

    fn new(numerator: i128, denominator: i128) -> Result<Self, Trouble> {
        if denominator == 0 {
            return Err(Trouble::ByZero);
        }
        // The smallest number has no opposite; without it, negating never fails.
        if numerator == i128::MIN || denominator == i128::MIN {
            return Err(Trouble::TooLarge);
        }
        let common = common_factor(numerator, denominator) * denominator.signum();
        Ok(Self { numerator: numerator / common, denominator: denominator / common })
    }

    /// A decimal as people and files write it: `-12.50`, `.5`, `1e-3`. A comma is no decimal point.
    pub(crate) fn parse(text: &str) -> Result<Self, Trouble> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (text, 0),
        };
        let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (before, after) = match unsigned.split_once('.') {
            Some((_, "")) => return Err(Trouble::NoNumber),
            Some(parts) => parts,
            None => (unsigned, ""),
        };
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if (before.is_empty() && after.is_empty()) || !is_digits(before) || !is_digits(after) {
            return Err(Trouble::NoNumber);
        }
        // Zeros at the end mean nothing here, and would only use up room.
        let after = after.trim_end_matches('0');
        let digits = format!("0{before}{after}");
        let value: i128 = digits.parse().map_err(|_too_long| Trouble::TooLarge)?;
        let places = i32::try_from(after.len()).map_err(|_too_long| Trouble::TooLarge)?;
        let value = Self::whole(if mantissa.starts_with('-') { -value } else { value })?;
        value.scaled(exponent.saturating_sub(places))
    }

    /// Times ten to this power.
    fn scaled(self, power: i32) -> Result<Self, Trouble> {
        if self == Self::ZERO {
            return Ok(self);
        }
        let size = power.unsigned_abs();
        if size > LARGEST_POWER_OF_TEN {
            return Err(Trouble::TooLarge);
        }
        let ten = Self::whole(10_i128.pow(size))?;
        if power < 0 { self.divided_by(ten) } else { self.times(ten) }
    }

    /// The nearest decimal with 15 digits, which is what a double is good for.
    pub(crate) fn near(value: f64) -> Result<Self, Trouble> {
        if value.is_nan() {
            return Err(Trouble::NoRealNumber);
        }
        Self::parse(&format!("{value:.14e}")).map_err(|_infinite| Trouble::TooLarge)
    }

    #[expect(clippy::cast_precision_loss, reason = "who asks for a double knows that it is only near")]
    pub(crate) fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    pub(crate) fn plus(self, other: Self) -> Result<Self, Trouble> {
        let common = common_factor(self.denominator, other.denominator);
        let (left, right) = (other.denominator / common, self.denominator / common);
        let large = Trouble::TooLarge;
        let numerator = self.numerator.checked_mul(left).ok_or(large)?;
        let added = other.numerator.checked_mul(right).ok_or(large)?;
        let numerator = numerator.checked_add(added).ok_or(large)?;
        Self::new(numerator, self.denominator.checked_mul(left).ok_or(large)?)
    }

    pub(crate) fn negated(self) -> Self {
        Self { numerator: -self.numerator, ..self }
    }

    pub(crate) fn minus(self, other: Self) -> Result<Self, Trouble> {
        self.plus(other.negated())
    }

    pub(crate) fn times(self, other: Self) -> Result<Self, Trouble> {
        // Reduced crosswise first, so that only what is too large in the end is too large.
        let one = common_factor(self.numerator, other.denominator);
        let two = common_factor(other.numerator, self.denominator);
        let numerator = (self.numerator / one).checked_mul(other.numerator / two).ok_or(Trouble::TooLarge)?;
        let denominator = (self.denominator / two).checked_mul(other.denominator / one);
        Self::new(numerator, denominator.ok_or(Trouble::TooLarge)?)
    }

    pub(crate) fn divided_by(self, other: Self) -> Result<Self, Trouble> {
        if other.numerator == 0 {
            return Err(Trouble::ByZero);
        }
        let sign = other.numerator.signum();
        self.times(Self { numerator: other.denominator * sign, denominator: other.numerator * sign })
    }

    /// What is left over, with the sign of the divisor: `-7 % 3` is 2.
    pub(crate) fn modulo(self, other: Self) -> Result<Self, Trouble> {
        let whole = self.divided_by(other)?.floor();
        self.minus(whole.times(other)?)
    }

    pub(crate) fn power(self, exponent: i128) -> Result<Self, Trouble> {
        let mut base = if exponent < 0 { Self::ONE.divided_by(self)? } else { self };
        let (mut left, mut result) = (exponent.unsigned_abs(), Self::ONE);
        let unchanging = base == Self::ONE || base == Self::ZERO || base == Self::ONE.negated();
        if unchanging {
            return Ok(if left == 0 || (base != Self::ZERO && left.is_multiple_of(2)) {
                Self::ONE
            } else {
                base
            });
        }
        while left > 0 {
            if !left.is_multiple_of(2) {
                result = result.times(base)?;
            }
            left /= 2;
            if left > 0 {
                base = base.times(base)?;
            }
        }
        Ok(result)
    }

    /// Only if it is a fraction again.
    pub(crate) fn exact_root(self) -> Option<Self> {
        let root = |value: i128| {
            let root = value.unsigned_abs().isqrt();
            (root.checked_mul(root) == Some(value.unsigned_abs()))
                .then(|| i128::try_from(root).ok())
                .flatten()
        };
        if self.numerator < 0 {
            return None;
        }
        Some(Self { numerator: root(self.numerator)?, denominator: root(self.denominator)? })
    }

    pub(crate) fn is_negative(self) -> bool {
        self.numerator < 0
    }

    pub(crate) fn as_whole(self) -> Option<i128> {
        (self.denominator == 1).then_some(self.numerator)
    }

    pub(crate) fn floor(self) -> Self {
        Self { numerator: self.numerator.div_euclid(self.denominator), denominator: 1 }
    }

    pub(crate) fn ceil(self) -> Self {
        self.negated().floor().negated()
    }

    pub(crate) fn abs(self) -> Self {
        if self.is_negative() { self.negated() } else { self }
    }

    /// To so many digits behind the point, a half away from zero. Fewer than none: to tens, hundreds, …
    pub(crate) fn rounded(self, places: i32) -> Result<Self, Trouble> {
        if places.unsigned_abs() > LARGEST_POWER_OF_TEN {
            return Err(Trouble::TooLarge);
        }
        let half = Self { numerator: 1, denominator: 2 };
        let size = self.abs().scaled(places)?.plus(half)?.floor().scaled(-places)?;
        Ok(if self.is_negative() { size.negated() } else { size })
    }

    /// As a decimal, and whether that is all of it.
    pub(crate) fn shown(self) -> (String, bool) {
        let (whole, mut digits, exact) = self.expanded();
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let sign = if self.is_negative() { "-" } else { "" };
        let point = if digits.is_empty() { "" } else { "." };
        let digits: String = digits.into_iter().map(|digit| char::from(b'0' + digit)).collect();
        (format!("{sign}{whole}{point}{digits}"), exact)
    }

    /// The whole part and the digits behind the point, without the sign.
    fn expanded(self) -> (u128, Vec<u8>, bool) {
        let (size, by) = (self.numerator.unsigned_abs(), self.denominator.unsigned_abs());
        let whole = size / by;
        let (mut rest, mut digits) = (size % by, Vec::new());
        while rest != 0 && digits.len() < EXACT_PLACES {
            let (digit, left) = next_digit(rest, by);
            digits.push(digit);
            rest = left;
        }
        if rest == 0 {
            return (whole, digits, true);
        }
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        let places = if whole == 0 { zeros + ROUNDED_PLACES } else { ROUNDED_PLACES };
        let up = digits.get(places).is_some_and(|digit| *digit >= 5);
        digits.truncate(places);
        (whole + u128::from(up && carry(&mut digits)), digits, false)
    }
}

/// Adds one to the last digit, and says whether that went beyond the first.
fn carry(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return false;
        }
        *digit = 0;
    }
    true
}

/// Ten times `rest` divided by `by`, without a product that could be too large: both are below 2^127.
fn next_digit(rest: u128, by: u128) -> (u8, u128) {
    let (mut digit, mut left) = (0, 0);
    for _ in 0..10 {
        left += rest;
        if left >= by {
            left -= by;
            digit += 1;
        }
    }
    (digit, left)
}

fn parse_exponent(text: &str) -> Result<i32, Trouble> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Trouble::NoNumber);
    }
    text.parse().ok().filter(|exponent: &i32| exponent.abs() < 1_000).ok_or(Trouble::TooLarge)
}

/// At least 1, so that it can be divided by.
fn common_factor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1).max(1)
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    /// Whole parts first, then what is left, turned upside down: nothing grows, so nothing overflows.
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut one, mut two) = ((self.numerator, self.denominator), (other.numerator, other.denominator));
        let mut turned = false;
        loop {
            let order = one.0.div_euclid(one.1).cmp(&two.0.div_euclid(two.1));
            let (left, right) = (one.0.rem_euclid(one.1), two.0.rem_euclid(two.1));
            let order = match (order, left, right) {
                (Ordering::Equal, 0, 0) => return Ordering::Equal,
                (Ordering::Equal, 0, _) => Ordering::Less,
                (Ordering::Equal, _, 0) => Ordering::Greater,
                (order, ..) => order,
            };
            if order != Ordering::Equal {
                return if turned { order.reverse() } else { order };
            }
            (one, two, turned) = ((one.1, left), (two.1, right), !turned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, Trouble};

    #[test]
    fn what_is_a_number_and_what_is_none() {
        let table = [
            ("0", "0"),
            ("-0", "0"),
            ("007", "7"),
            ("1.50", "1.5"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("+3", "3"),
            ("1e3", "1000"),
            ("1.5E-2", "0.015"),
            ("1e+2", "100"),
            ("0.00000000000000000000000000000000000001", "0.00000000000000000000000000000000000001"),
            ("170141183460469231731687303715884105727", "170141183460469231731687303715884105727"),
        ];
        for (text, expected) in table {
            let shown = Number::parse(text).map(Number::shown);
            assert_eq!(shown, Ok((expected.into(), true)), "{text}");
        }
        for text in [
            "", "-", ".", "5.", "1,5", "1.234,5", "1_000", "1e", "e3", "1e1.5", "0x10", "NaN", "inf", "--1",
            "1 2", "½", "１",
        ] {
            assert_eq!(Number::parse(text), Err(Trouble::NoNumber), "{text}");
        }
        for text in ["170141183460469231731687303715884105728", "1e39", "1e-39", "1e9999", "1e99999999999999"]
        {
            assert_eq!(Number::parse(text), Err(Trouble::TooLarge), "{text}");
        }
    }

    #[test]
    fn numbers_are_ordered_by_size() {
        let sorted =
            ["-1e30", "-2", "-1.5", "-0.000001", "0", "1e-38", "0.3333333333", "0.3333333334", "1", "1.7e38"];
        let numbers: Vec<_> = sorted.iter().map(|text| Number::parse(text).unwrap()).collect();
        for (one, a) in numbers.iter().enumerate() {
            for (two, b) in numbers.iter().enumerate() {
                assert_eq!(a.cmp(b), one.cmp(&two), "{} {}", sorted[one], sorted[two]);
            }
        }
    }
}
