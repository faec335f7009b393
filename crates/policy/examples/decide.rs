//! `cargo run -p policy --example decide -- usual|all-match ROUNDS`: decides every case of the benchmark `acl` so many times,
//! and says how many decisions that were. It asks no clock; `cargo xtask test counts` counts its instructions.

#![expect(clippy::disallowed_methods, reason = "a program is told by its arguments what to do")]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a program that is only counted fails loudly and says how much it did"
)]

#[path = "../benches/workload/mod.rs"]
mod workload;

use std::hint::black_box;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [which, rounds] = args.as_slice() else { panic!("usage: decide usual|all-match ROUNDS") };
    let set = match which.as_str() {
        "usual" => workload::policies(),
        "all-match" => workload::all_match(),
        other => panic!("no such policies: `{other}`"),
    };
    let rounds: usize = rounds.parse().expect("a number of rounds");
    let cases = workload::cases();
    for case in (0..rounds).flat_map(|_| &cases) {
        black_box(set.decide(black_box(case)));
    }
    println!("{}", rounds * cases.len());
}
