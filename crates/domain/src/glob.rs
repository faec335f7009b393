//! Globs over names of ours (tools, credentials): `*` stands for any run of characters, everything else for itself.

/// Whether the glob stands for the whole name. Linear in the name for every star: each piece between two stars is taken
/// where it comes first, which leaves the most for what follows.
#[must_use]
pub fn matches(glob: &str, name: &str) -> bool {
    let mut parts = glob.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let Some((_, after)) = rest.split_once(before) else { return false };
            rest = after;
        }
    }
    match last {
        None => rest.is_empty(),
        Some(end) => rest.ends_with(end),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;
    use proptest::prelude::{prop_assert_eq, proptest};

    #[test]
    fn a_star_stands_for_any_run_and_everything_else_for_itself() {
        let table = [
            ("*", "", true),
            ("*", "shell", true),
            ("", "", true),
            ("", "shell", false),
            ("shell", "shell", true),
            ("shell", "shells", false),
            ("shell", "Shell", false),
            ("calendar_*", "calendar_read", true),
            ("calendar_*", "calendar_", true),
            ("calendar_*", "calendar", false),
            ("*_read", "calendar_read", true),
            ("*_read", "calendar_reads", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false), // the two ends do not share a letter
            ("*ab", "aab", true),
            ("*a*ab", "aab", true),
            ("**", "x", true),
            ("a**b", "ab", true),
            ("?", "x", false),
            ("ä*", "äß", true),
        ];
        for (glob, name, expected) in table {
            assert_eq!(matches(glob, name), expected, "{glob} over {name}");
        }
    }

    /// The definition, in exponential time.
    fn plainly(glob: &[char], name: &[char]) -> bool {
        match (glob.split_first(), name.split_first()) {
            (None, None) => true,
            (Some(('*', more)), after) => {
                plainly(more, name) || after.is_some_and(|(_, name)| plainly(glob, name))
            }
            (Some((want, more)), Some((have, rest))) => want == have && plainly(more, rest),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn it_is_what_the_definition_says(glob in "[ab*]{0,7}", name in "[ab]{0,9}") {
            let (wanted, had): (Vec<_>, Vec<_>) = (glob.chars().collect(), name.chars().collect());
            prop_assert_eq!(matches(&glob, &name), plainly(&wanted, &had));
        }
    }
}
