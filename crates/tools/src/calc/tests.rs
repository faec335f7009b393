use super::parser::calculate;
use super::{Args, run};
use crate::testing::Tree;
use domain::Stop;
use domain::call::Failure;
use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};
use serde_json::{from_value, json, to_value};

fn shown(expression: &str) -> Result<(String, bool), Failure> {
    calculate(expression).map(|value| {
        let (text, ends) = value.number.shown();
        (text, ends && value.exact)
    })
}

#[test]
fn expressions_and_their_results() {
    let table = [
        ("1", "1", true),
        ("0.1 + 0.2", "0.3", true),
        ("0.1+0.2-0.3", "0", true),
        ("1.10 * 3", "3.3", true),
        ("10 / 4", "2.5", true),
        ("1/3", "0.333333333333", false),
        ("2/3", "0.666666666667", false),
        ("-2/3", "-0.666666666667", false),
        ("1/3 * 3", "1", true),
        ("1/3000000", "0.000000333333333333", false),
        ("100/3", "33.333333333333", false),
        ("2.9999999999999/3", "1", false),
        ("7 % 3", "1", true),
        ("-7 % 3", "2", true),
        ("7.5 % 2", "1.5", true),
        ("7 %(3)", "1", true),
        ("15%", "0.15", true),
        ("200 * 15%", "30", true),
        ("200 + 10%", "200.1", true),
        ("15% - 3", "-2.85", true),
        ("50%%", "0.005", true),
        ("(5%) + 1", "1.05", true),
        ("2 + 3 * 4", "14", true),
        ("(2 + 3) * 4", "20", true),
        ("2 - 3 - 4", "-5", true),
        ("8 / 4 / 2", "1", true),
        ("2^10", "1024", true),
        ("2^3^2", "512", true),
        ("-2^2", "-4", true),
        ("(-2)^2", "4", true),
        ("2^-2", "0.25", true),
        ("0^0", "1", true),
        ("(-1)^999999999999", "-1", true),
        ("2^0.5", "1.4142135623731", false),
        ("4^0.5", "2", false),
        ("sqrt(16)", "4", true),
        ("sqrt(2.25)", "1.5", true),
        ("sqrt(2)", "1.4142135623731", false),
        ("abs(-3) + abs(2)", "5", true),
        ("round(2.5)", "3", true),
        ("round(-2.5)", "-3", true),
        ("round(2.345, 2)", "2.35", true),
        ("round(1234, -2)", "1200", true),
        ("round(10/3, 2)", "3.33", true),
        ("floor(-1.5)", "-2", true),
        ("ceil(-1.5)", "-1", true),
        ("min(3, 1/3, 2)", "0.333333333333", false),
        ("max(1, 2; 3)", "3", true),
        ("sum(0.1, 0.2, 0.3)", "0.6", true),
        ("sum()", "0", true),
        ("mean(1, 2, 4)", "2.333333333333", false),
        ("mean(1, 2)", "1.5", true),
        ("1_000_000 * 1e-3", "1000", true),
        ("1.5e3", "1500", true),
        ("--3", "3", true),
        ("-+3", "-3", true),
        ("3 × 4 ÷ 2 − 1", "5", true),
        ("  1\t+\n1 ", "2", true),
        ("170141183460469231731687303715884105727", "170141183460469231731687303715884105727", true),
    ];
    for (expression, result, exact) in table {
        assert_eq!(shown(expression), Ok((result.into(), exact)), "{expression}");
    }
}

#[test]
fn the_record_as_a_model_sees_it() {
    let tree = Tree::new::<&str>(&[]);
    let calc = |args| run(tree.workspace(), &from_value(args).unwrap(), &Stop::default());
    let record = calc(json!({ "expression": "1/8" })).unwrap();
    assert_eq!(to_value(record).unwrap(), json!({ "result": "0.125", "exact": true }));
    let long = calc(json!({ "expression": "1".repeat(4_097) }));
    assert_eq!(long, Err(Failure::logical("the expression has 4097 bytes; 4096 are allowed")));
    assert!(from_value::<Args>(json!({ "expression": "1", "digits": 3 })).is_err());
}

#[test]
fn mistakes_are_named_with_their_column() {
    let functions = "abs, round, floor, ceil, sqrt, min, max, sum, mean";
    let large = "the number becomes too large or too fine; about 38 digits can be held";
    let no_number = "this is no number; write it like `1234.5`, `1_000` or `1e-3`";
    let table = [
        ("", "column 1: a number is expected, and there is nothing more".into()),
        ("1 +", "column 4: a number is expected, and there is nothing more".into()),
        ("1 + * 2", "column 5: a number is expected, not `*`".into()),
        ("(1 + 2", "column 7: `)` is missing".into()),
        ("1 + 2)", "column 6: `)` is not expected here".into()),
        ("1 2", "column 3: `2` is not expected here".into()),
        ("1,5", "column 2: `,` is only for the arguments of a function; write decimals with a point".into()),
        ("1 / (2 - 2)", "column 3: division by zero".into()),
        ("1 % 0", "column 3: division by zero".into()),
        ("0^-1", "column 2: division by zero".into()),
        ("sqrt(-1)", "column 1: there is no real number for this".into()),
        ("(-8)^0.5", "column 5: there is no real number for this".into()),
        ("2^1000", format!("column 2: {large}")),
        ("1e20 * 1e20", format!("column 6: {large}")),
        ("1e50", format!("column 1: {large}")),
        ("1e", format!("column 1: {no_number}")),
        ("1__0", format!("column 1: {no_number}")),
        ("1.2.3", format!("column 1: {no_number}")),
        ("0x10", format!("column 1: {no_number}")),
        ("ä(1)", format!("column 1: `ä` is no function; there are {functions}")),
        ("1 + sin(1)", format!("column 5: `sin` is no function; there are {functions}")),
        ("abs 1", "column 5: `(` is missing behind `abs`".into()),
        ("abs(1, 2)", "column 1: `abs` takes 1, not 2 arguments".into()),
        ("round()", "column 1: `round` takes 1 to 2, not 0 arguments".into()),
        ("mean()", "column 1: `mean` takes 1 or more, not 0 arguments".into()),
        ("round(0, -2147483648)", format!("column 1: {large}")),
        ("round(1, 1e30)", format!("column 1: {large}")),
        ("round(1, 0.5)", format!("column 1: {no_number}")),
        ("1 = 1", "column 3: `=` is not expected here".into()),
    ];
    for (expression, message) in table {
        assert_eq!(shown(expression), Err(Failure::logical(message)), "{expression}");
    }
    for deep in ["(".repeat(2_000), "-".repeat(4_000), "2^".repeat(2_000), "abs(".repeat(1_000)] {
        let message = calculate(&deep).unwrap_err().message;
        assert!(message.ends_with("more than 64 levels; calculate it in parts"), "{message}");
    }
}

proptest! {
    #[test]
    fn small_integers_are_as_the_machine_has_them(a in -10_000..10_000_i64, b in -10_000..10_000_i64, c in -10_000..10_000_i64) {
        for (sign, expected) in [("+", a + b), ("-", a - b), ("*", a * b)] {
            prop_assert_eq!(shown(&format!("{a} {sign} {b}")), Ok((expected.to_string(), true)));
        }
        prop_assert_eq!(shown(&format!("{a} + {b} * {c}")), Ok(((a + b * c).to_string(), true)));
        prop_assert_eq!(shown(&format!("({a} - {b}) * {c}")), Ok((((a - b) * c).to_string(), true)));
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), like in expression()) {
        drop((calculate(&text), calculate(&like)));
    }
}

/// Texts that come close to expressions.
fn expression() -> impl Strategy<Value = String> {
    "[-0-9.e+*/%^(), _a-z]{0,60}"
}
