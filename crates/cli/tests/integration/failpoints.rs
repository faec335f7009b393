//! Which failpoints of a run are killed at.

/// Where to kill: at every point with `cargo xtask test --full`, every day once at each kind of point.
pub(crate) fn aims(points: &[String]) -> Vec<usize> {
    let all = 0..points.len();
    if services::is_full() {
        all.collect()
    } else {
        all.filter(|&at| is_middle_of_its_kind(points, at)).collect()
    }
}

/// Of the points of one kind the one in the middle: before the first of them there is often nothing to lose.
fn is_middle_of_its_kind(points: &[String], at: usize) -> bool {
    let same = |from: &[String]| from.iter().filter(|point| kind(point) == kind(&points[at])).count();
    same(&points[..at]) == same(points) / 2
}

/// `running read_file c-1f3…` is of the kind `running read_file`. Inside one transaction a point is as good as another: `cargo xtask
/// crash` kills at each of them.
fn kind(point: &str) -> &str {
    if point.starts_with("writing ") {
        return "writing";
    }
    let named = ["running ", "ran "].iter().any(|prefix| point.starts_with(prefix));
    if named { point.rsplit_once(' ').map_or(point, |(kind, _)| kind) } else { point }
}

#[test]
fn every_kind_of_point_is_aimed_at_once() {
    let points = [
        "committing",
        "committed",
        "running calc c-1",
        "ran calc c-1",
        "committing",
        "committed",
        "running calc c-2",
    ];
    let points = points.map(str::to_owned);
    let once: Vec<usize> = (0..points.len()).filter(|&at| is_middle_of_its_kind(&points, at)).collect();
    assert_eq!(once, [3, 4, 5, 6]);
}
