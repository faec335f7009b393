use super::{columns, groups, stats};
use crate::testing::Tree;
use crate::workspace::Workspace;
use domain::Stop;
use domain::call::Failure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json, to_value};

const SALES: &str = "region,amount,paid,note\nnorth,0.10,true,\"a, b\"\nsouth,0.20,false,\nnorth,\"1.234,5\",true,x\n\
                     north,,TRUE,\neast,-3,,7\n";

fn ask<A: DeserializeOwned, R: Serialize>(
    run: fn(&Workspace, &A, &Stop) -> Result<R, Failure>,
    (name, content): (&str, &[u8]),
    args: Value,
) -> Result<Value, Failure> {
    let tree = Tree::new(&[(name, content)]);
    let mut args = args;
    args["path"] = name.into();
    run(tree.workspace(), &from_value(args).unwrap(), &Stop::default())
        .map(|record| to_value(record).unwrap())
}

fn sales() -> (&'static str, &'static [u8]) {
    ("s.csv", SALES.as_bytes())
}

fn column(name: &str, kind: &str, non_empty: u64, examples: &[&str]) -> Value {
    json!({ "name": name, "kind": kind, "non_empty": non_empty, "examples": examples })
}

#[test]
fn columns_of_a_csv_file() {
    let expected = json!({
        "path": "s.csv",
        "format": "csv",
        "separator": ",",
        "rows": 5,
        "columns": [
            column("region", "text", 5, &["north", "south", "east"]),
            column("amount", "mixed", 4, &["0.10", "0.20", "1.234,5"]),
            column("paid", "boolean", 4, &["true", "false", "TRUE"]),
            column("note", "mixed", 3, &["a, b", "x", "7"]),
        ],
    });
    assert_eq!(ask(columns::run, sales(), json!({})), Ok(expected));
}

#[test]
fn forms_of_one_table() {
    let long = format!("a\n{}\n", "x".repeat(70));
    let table: Vec<(&str, &[u8], &str, Value)> = vec![
        ("a.csv", b"a;b\n1;2\n", "csv", json!([";", 1, "a", "b"])),
        ("a.csv", b"a\tb\r\n1\t2\r\n", "csv", json!(["\t", 1, "a", "b"])),
        ("a.txt", b"a|b,c\n1|2\n", "csv", json!([",", 0, "a|b", "c"])),
        ("a.csv", b"\xef\xbb\xbf\"a;;;\",b\n1,2", "csv", json!([",", 1, "a;;;", "b"])),
        ("a.csv", b"a\n", "csv", json!([",", 0, "a"])),
        ("a.csv", long.as_bytes(), "csv", json!([",", 1, "a"])),
        ("a.json", b" [{\"a\":1},{\"b\":2}]", "json", json!([null, 2, "a", "b"])),
        ("a.json", b"[]", "json", json!([null, 0])),
        ("a.json", b"{\"a\":1}\n{\"a\":2}\n", "json_lines", json!([null, 2, "a"])),
        ("data", b"{\"a\":1} {\"b\":{\"c\":[1]}}", "json_lines", json!([null, 2, "a", "b"])),
        ("data", b"\xef\xbb\xbf[{\"a\":1}]", "json", json!([null, 1, "a"])),
    ];
    for (name, content, format, expected) in table {
        let shown = String::from_utf8_lossy(content);
        if name == "a.txt" {
            // `,` and `|` are equally frequent, so it is `,`; then the row does not fit.
            let message = "`a.txt` has 1 cells in line 2, and 2 columns";
            assert_eq!(ask(columns::run, (name, content), json!({})), Err(Failure::logical(message)));
            continue;
        }
        let record = ask(columns::run, (name, content), json!({})).unwrap();
        let mut seen = vec![record["separator"].clone(), record["rows"].clone()];
        seen.extend(record["columns"].as_array().unwrap().iter().map(|column| column["name"].clone()));
        assert_eq!((Value::from(seen), &record["format"]), (expected, &json!(format)), "{shown}");
    }
    let record = ask(columns::run, ("a.csv", long.as_bytes()), json!({})).unwrap();
    assert_eq!(record["columns"][0]["examples"], json!([format!("{}…", "x".repeat(60))]));
}

#[test]
fn figures_are_exact_and_name_what_is_no_number() {
    let expected = json!({
        "path": "s.csv",
        "column": "amount",
        "rows": 5,
        "matching_rows": 5,
        "count": 3,
        "sum": "-2.7",
        "mean": "-0.9",
        "mean_exact": true,
        "min": "-3",
        "max": "0.2",
        "empty": 1,
        "not_numbers": 1,
        "not_number_examples": [{ "row": 3, "text": "1.234,5" }],
    });
    assert_eq!(ask(stats::run, sales(), json!({ "column": "amount" })), Ok(expected));

    let args = json!({ "column": "amount", "where": { "column": "region", "equals": "north" } });
    let record = ask(stats::run, sales(), args).unwrap();
    let seen = ["rows", "matching_rows", "count", "sum", "mean", "empty", "not_numbers"]
        .map(|name| record[name].clone());
    assert_eq!(Value::from(seen.to_vec()), json!([5, 3, 1, "0.1", "0.1", 1, 1]));

    let none = ask(stats::run, sales(), json!({ "column": "region" })).unwrap();
    let seen = ["count", "sum", "mean", "mean_exact", "min", "not_numbers"].map(|name| none[name].clone());
    assert_eq!(Value::from(seen.to_vec()), json!([0, "0", null, false, null, 5]));
}

#[test]
fn numbers_of_json_are_taken_as_they_are_written() {
    let content = br#"[{"n":0.1},{"n":0.20},{"n":12345678901234567890.000000001},{"n":"7"},{"n":null},{"m":1},{"n":[1]}]"#;
    let record = ask(stats::run, ("a.json", content), json!({ "column": "n" })).unwrap();
    let seen = ["rows", "count", "sum", "mean", "mean_exact", "empty", "not_numbers"]
        .map(|name| record[name].clone());
    let expected =
        json!([7, 3, "12345678901234567890.300000001", "4115226300411522630.100000000333", false, 2, 2]);
    assert_eq!(Value::from(seen.to_vec()), expected);
    assert_eq!(
        record["not_number_examples"],
        json!([{ "row": 4, "text": "7" }, { "row": 7, "text": "[1]" }])
    );
}

#[test]
fn groups_are_all_counted_and_the_most_frequent_listed() {
    let record = ask(groups::run, sales(), json!({ "column": "region", "limit": 2 }));
    let expected = json!({
        "path": "s.csv",
        "column": "region",
        "rows": 5,
        "matching_rows": 5,
        "empty": 0,
        "groups": 3,
        "listed": [{ "value": "north", "count": 3 }, { "value": "east", "count": 1 }],
    });
    assert_eq!(record, Ok(expected));
    let note = ask(groups::run, sales(), json!({ "column": "note" })).unwrap();
    assert_eq!((&note["empty"], &note["groups"]), (&json!(2), &json!(3)));
    // Two long values with the same beginning are two.
    let long = format!("a\n{0}1\n{0}2\n", "x".repeat(300));
    let record = ask(groups::run, ("a.csv", long.as_bytes()), json!({ "column": "a" })).unwrap();
    let cut = format!("{}…", "x".repeat(200));
    assert_eq!(record["listed"], json!([{ "value": cut, "count": 1 }, { "value": cut, "count": 1 }]));
}

#[test]
fn groups_of_some_rows() {
    let args = json!({ "column": "paid", "where": { "column": "region", "equals": "north" } });
    let record = ask(groups::run, sales(), args).unwrap();
    let seen = ["rows", "matching_rows", "empty", "groups"].map(|name| record[name].clone());
    assert_eq!(Value::from(seen.to_vec()), json!([5, 3, 0, 2]));
    assert_eq!(record["listed"], json!([{ "value": "true", "count": 2 }, { "value": "TRUE", "count": 1 }]));
}

#[test]
fn a_column_is_found_in_other_letters_if_it_can_be_no_other() {
    let csv = ("t.csv", &b" Net Amount ,Region,REGION,id\n1,a,b,x\n2,c,b,y\n"[..]);
    let json_lines = ("t.jsonl", &b"{\"a\":1}\n{\"Late\":2}\n"[..]);
    let table = [
        (csv, json!({ "column": "net amount" }), Ok((" Net Amount ", "3"))),
        (csv, json!({ "column": "Region" }), Ok(("Region", "0"))),
        (csv, json!({ "column": "ID", "where": { "column": "NET AMOUNT", "equals": "2" } }), Ok(("id", "0"))),
        (
            csv,
            json!({ "column": "region" }),
            Err("`region` is no column of `t.csv`; it could be `Region`, `REGION`"),
        ),
        (json_lines, json!({ "column": " late" }), Ok(("Late", "2"))),
    ];
    for (file, args, expected) in table {
        let stats = ask(stats::run, file, args.clone());
        let seen = stats.map(|record| (record["column"].clone(), record["sum"].clone()));
        let expected = expected.map(|(column, sum)| (json!(column), json!(sum))).map_err(Failure::logical);
        assert_eq!(seen, expected, "{args}");
        let groups = ask(groups::run, file, args.clone()).map(|record| record["column"].clone());
        assert_eq!(groups, expected.map(|(column, _)| column), "{args}");
    }
    let args = json!({ "column": "id", "where": { "column": "net amount", "equals": "2" } });
    assert_eq!(ask(stats::run, csv, args).unwrap()["matching_rows"], 1);
}

#[test]
fn what_is_no_table_is_refused_with_the_place() {
    let wide: String = (0..1_001).map(|n| format!("c{n},")).collect::<String>() + "z\n";
    let many: String = "a\n".to_string() + &(0..100_001).map(|n| format!("{n}\n")).collect::<String>();
    let table: Vec<(&str, &[u8], &str)> = vec![
        ("a.csv", b"", "`a.csv` is empty; a table has at least a line of names"),
        ("a.csv", b"\xef\xbb\xbf \n", "`a.csv` is empty; a table has at least a line of names"),
        ("a.csv", b"a,b\n1,2\n1,2,3\n", "`a.csv` has 3 cells in line 3, and 2 columns"),
        ("a.csv", b"a,b\n\"x\ny\",2\n1\n", "`a.csv` has 1 cells in line 4, and 2 columns"),
        ("a.csv", b"a,b,a\n", "`a.csv` has two columns called `a`; give each a name of its own"),
        ("a.csv", b"a\n\xff\n", "`a.csv` is no UTF-8 text in line 2"),
        ("a.csv", b"a,b\n1,\"2\n3,4\n", "`a.csv` has a quote in line 2 that may never be closed"),
        ("a.csv", b"a,b\n\"1,2\n3,4\n", "`a.csv` has a quote in line 2 that may never be closed"),
        ("a.csv", b"a,\"b\n1,2\n", "`a.csv` has a quote in line 1 that may never be closed"),
        ("a.csv", b"a,b\n1,\"x\n2,y\n3,\"z\n", "`a.csv` has a quote in line 2 that may never be closed"),
        ("a.csv", wide.as_bytes(), "`a.csv` has more than 1000 columns"),
        ("a.csv", b"b\n1\n", "`a` is no column of `a.csv`; there are `b`"),
        ("a.csv", many.as_bytes(), "`a` has more than 100000 different values, too many to count"),
        ("a.json", b"[{\"a\":1,\"a\":2}]", "`a.json` has `a` twice in row 1; give each a name of its own"),
        (
            "a.json",
            b"[{\"a\":1}, 7]",
            "`a.json` cannot be read as a table: invalid type: integer `7`, expected an object for each row at line 1 column 12",
        ),
        (
            "a.json",
            b"[{\"a\":1}",
            "`a.json` cannot be read as a table: EOF while parsing a list at line 1 column 8",
        ),
        (
            "a.jsonl",
            b"{\"a\":1}\nx",
            "`a.jsonl` cannot be read as a table: expected value at line 2 column 1",
        ),
        (
            "a.json",
            b"[{\"a\":1}] x",
            "`a.json` cannot be read as a table: trailing characters at line 1 column 11",
        ),
    ];
    for (name, content, message) in table {
        let result = ask(groups::run, (name, content), json!({ "column": "a" }));
        assert_eq!(result, Err(Failure::logical(message)), "{message}");
    }
    let limit = ask(groups::run, sales(), json!({ "column": "region", "limit": 1_001 }));
    assert_eq!(limit, Err(Failure::logical("`limit` is 1001, but at most 1000 groups are listed")));
    let other =
        ask(stats::run, sales(), json!({ "column": "amount", "where": { "column": "x", "equals": "" } }));
    let message = "`x` is no column of `s.csv`; there are `region`, `amount`, `paid`, `note`";
    assert_eq!(other, Err(Failure::logical(message)));
    let large = "a\n1e38\n1e38\n";
    let sum = ask(stats::run, ("a.csv", large.as_bytes()), json!({ "column": "a" }));
    assert!(sum.unwrap_err().message.starts_with("the sum has more than about 38 digits"));
}

#[test]
fn a_stop_ends_it() {
    let tree = Tree::new(&[("s.csv", SALES)]);
    let stop = Stop::default();
    stop.now();
    let args = from_value(json!({ "path": "s.csv" })).unwrap();
    assert_eq!(columns::run(tree.workspace(), &args, &stop), Err(Failure::interrupted("stopped")));
}
