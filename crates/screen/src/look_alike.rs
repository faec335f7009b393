//! What looks like something else: letters of several scripts in one word, characters that nobody sees, a value that
//! differs from a known one only in how it is drawn, addresses that do not lead where they begin.

use domain::is_unseen;

/// Blanks in a row from which on a value could draw a line of its own where a terminal breaks it.
const MANY_BLANKS: usize = 3;
/// Shorter pieces are alike by chance.
const SHORTEST: usize = 3;

/// Does the same as [`find_look_alikes`] for a passage of a text, which may have several lines and be indented.
pub fn find_look_alikes_in_text(text: &str, known: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.trim_start_matches([' ', '\t']);
        found.extend(find_look_alikes(&line.split([' ', '\t']).collect::<Vec<_>>().join(" "), known));
    }
    found.retain(|line| !line.contains("blanks in a row") && !line.starts_with(ENDS));
    found.dedup();
    found
}

/// Finds everything in a value that makes it look like something else. `known` are values that the owner has named. Each
/// finding is one sentence, and the caller escapes it.
pub fn find_look_alikes(value: &str, known: &[&str]) -> Vec<String> {
    let checks = [
        find_unseen(value),
        find_blanks(value),
        find_mixed_scripts(value),
        find_disguised_word(value),
        find_disguised_sign(value),
        find_right_to_left(value),
        find_userinfo(value),
        find_punycode(value),
    ];
    checks.into_iter().flatten().chain(known.iter().filter_map(|known| find_twin(value, known))).collect()
}

fn find_unseen(value: &str) -> Option<String> {
    let mut found: Vec<char> = value.chars().filter(|&c| is_unseen(c)).collect();
    found.sort_unstable();
    found.dedup();
    let names: Vec<String> = found.into_iter().map(name_of).collect();
    (!names.is_empty()).then(|| format!("it has characters that nobody sees: {}", names.join(", ")))
}

fn name_of(c: char) -> String {
    match c {
        '\n' => "the end of a line".into(),
        '\t' => "a tab".into(),
        c => c.escape_unicode().to_string(),
    }
}

/// Whether a character looks like the usual blank and is another one.
pub fn is_unusual_blank(c: char) -> bool {
    c != ' ' && ((c.is_whitespace() && !is_unseen(c)) || c == '\u{2800}')
}

fn is_blank(c: char) -> bool {
    c == ' ' || is_unusual_blank(c)
}

const ENDS: &str = "it begins or ends with a blank";

fn find_blanks(value: &str) -> Option<String> {
    let longest = value.split(|c| !is_blank(c)).map(|run| run.chars().count()).max().unwrap_or(0);
    if longest >= MANY_BLANKS {
        return Some(format!(
            "it has {longest} blanks in a row: what looks like a line of its own is part of it"
        ));
    }
    if let Some(other) = value.chars().find(|&c| is_unusual_blank(c)) {
        return Some(format!("it has blanks that are not the usual one: {}", other.escape_unicode()));
    }
    (value.starts_with(' ') || value.ends_with(' ')).then(|| ENDS.to_owned())
}

/// The scripts whose letters pass for those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Georgian,
    Cherokee,
    FullWidth,
    Mathematical,
    Phonetic,
    Numeral,
    Rare,
    Coptic,
    Lisu,
}

impl Script {
    const fn of(c: char) -> Option<Self> {
        Some(match c {
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Self::Latin,
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Self::Greek,
            '\u{400}'..='\u{52f}'
            | '\u{1c80}'..='\u{1c8f}'
            | '\u{2de0}'..='\u{2dff}'
            | '\u{a640}'..='\u{a69f}' => Self::Cyrillic,
            '\u{530}'..='\u{58f}' => Self::Armenian,
            '\u{10a0}'..='\u{10ff}' | '\u{1c90}'..='\u{1cbf}' | '\u{2d00}'..='\u{2d2f}' => Self::Georgian,
            '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' => Self::Cherokee,
            '\u{ff01}'..='\u{ff5e}' => Self::FullWidth,
            '\u{2100}'..='\u{214f}' | '\u{1d400}'..='\u{1d7ff}' => Self::Mathematical,
            '\u{250}'..='\u{2af}' | '\u{1d00}'..='\u{1dbf}' => Self::Phonetic,
            '\u{2150}'..='\u{218f}' => Self::Numeral,
            '\u{2c60}'..='\u{2c7f}' | '\u{a720}'..='\u{a7ff}' => Self::Rare,
            '\u{2c80}'..='\u{2cff}' => Self::Coptic,
            '\u{a4d0}'..='\u{a4ff}' => Self::Lisu,
            _ => return None,
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Latin => "Latin",
            Self::Greek => "Greek",
            Self::Cyrillic => "Cyrillic",
            Self::Armenian => "Armenian",
            Self::Georgian => "Georgian",
            Self::Cherokee => "Cherokee",
            Self::FullWidth => "full-width",
            Self::Mathematical => "mathematical",
            Self::Phonetic => "phonetic",
            Self::Numeral => "numeral",
            Self::Rare => "rare Latin",
            Self::Coptic => "Coptic",
            Self::Lisu => "Lisu",
        }
    }
}

fn words(value: &str) -> impl Iterator<Item = &str> {
    value.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn find_mixed_scripts(value: &str) -> Option<String> {
    words(value).find_map(|word| {
        let mut found: Vec<(Script, char)> = Vec::new();
        for c in word.chars() {
            if let Some(script) =
                Script::of(c).filter(|script| found.iter().all(|(known, _)| known != script))
            {
                found.push((script, c));
            }
        }
        let names: Vec<&str> = found.iter().map(|(script, _)| script.name()).collect();
        let strange = found.iter().find(|(script, _)| *script != Script::Latin)?.1;
        (names.len() > 1)
            .then(|| format!("`{word}` mixes {} letters: {}", names.join(" and "), strange.escape_unicode()))
    })
}

/// A word of other letters that reads like one of ours. A short one in a text of its own script is only a word of it.
fn find_disguised_word(value: &str) -> Option<String> {
    let at_home = |script: Option<Script>| {
        script.is_some() && value.chars().any(|c| Script::of(c) == script && !to_ascii(c).is_ascii())
    };
    words(value).find_map(|word| {
        let read: String = word.chars().map(to_ascii).collect();
        let other = word.chars().find(|c| !c.is_ascii())?;
        let long = word.chars().count() >= SHORTEST || !at_home(Script::of(other));
        let fooled = long && read.is_ascii() && find_mixed_scripts(word).is_none();
        fooled.then(|| {
            format!("`{word}` reads like `{read}`, but has other letters: {}", other.escape_unicode())
        })
    })
}

/// A sign that reads like one of ours.
fn find_disguised_sign(value: &str) -> Option<String> {
    let other = value.chars().find(|c| !c.is_ascii() && !c.is_alphanumeric() && to_ascii(*c).is_ascii())?;
    Some(format!(
        "`{other}` reads like `{}`, but is another sign: {}",
        to_ascii(other),
        other.escape_unicode()
    ))
}

fn find_right_to_left(value: &str) -> Option<String> {
    let letter = |c: char| {
        matches!(c,
            '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
            | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
    };
    let found = value.chars().any(|c| letter(c) && !is_unseen(c));
    found.then(|| "it has letters written from right to left: the terminal may reorder it".to_owned())
}

fn find_userinfo(value: &str) -> Option<String> {
    let (_, rest) = value.split_once("://")?;
    let end = rest.find(['/', '?', '#', ' ']).unwrap_or(rest.len());
    let (seems, host) = rest.get(..end)?.rsplit_once('@')?;
    Some(format!("it leads to `{host}`; what stands before the @, `{seems}`, is only a name"))
}

fn find_punycode(value: &str) -> Option<String> {
    let label = value
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .find(|label| label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--")))?;
    Some(format!("`{label}` stands for a name with letters beyond a to z"))
}

/// Pieces that are drawn alike and are not the same.
fn find_twin(value: &str, known: &str) -> Option<String> {
    let pieces = |text: &str| -> Vec<String> {
        let parts = text.split(['@', '/', ':', ' ', ',', ';']).map(str::to_owned);
        std::iter::once(text.to_owned())
            .chain(parts)
            .filter(|part| part.chars().count() >= SHORTEST)
            .collect()
    };
    let known = pieces(known);
    pieces(value).into_iter().rev().find_map(|piece| {
        let drawn = skeleton(&piece);
        let twin = known.iter().find(|known| **known != piece && skeleton(known) == drawn)?;
        (!known.contains(&piece)).then(|| format!("`{piece}` is not `{twin}`, it only looks like it"))
    })
}

/// How a text is drawn: two texts that can be taken for each other have the same.
fn skeleton(text: &str) -> String {
    let plain: String = text.chars().filter(|&c| !is_unseen(c)).map(to_ascii).map(to_skeleton_char).collect();
    plain.replace("rn", "m").replace("vv", "w").replace("cl", "d")
}

/// Those of ASCII that are taken for each other.
const fn to_skeleton_char(c: char) -> char {
    match c {
        '0' | 'O' => 'o',
        '1' | 'I' | '|' | '!' => 'l',
        '5' => 'S',
        '8' => 'B',
        '2' => 'Z',
        '_' => '-',
        c => c,
    }
}

/// The character of ASCII that this one is taken for; itself if none.
fn to_ascii(c: char) -> char {
    if let full @ 0xff01..=0xff5e = c as u32 {
        return char::from_u32(full - 0xfee0).unwrap_or(c);
    }
    // The alphabet, over and over in other shapes; then the ten digits.
    if let shaped @ 0x1d400..=0x1d6a3 = c as u32 {
        let letter = (shaped - 0x1d400) % 52;
        let base = if letter < 26 { 'A' as u32 } else { 'a' as u32 - 26 };
        return char::from_u32(base + letter).unwrap_or(c);
    }
    if let shaped @ 0x1d7ce..=0x1d7ff = c as u32 {
        return char::from_u32('0' as u32 + (shaped - 0x1d7ce) % 10).unwrap_or(c);
    }
    CONFUSABLE.iter().find(|(other, _)| *other == c).map_or(c, |(_, plain)| *plain)
}

/// Written as escapes: whoever reads this file should see what is meant.
const CONFUSABLE: &[(char, char)] = &[
    // Cyrillic
    ('\u{430}', 'a'),
    ('\u{435}', 'e'),
    ('\u{43e}', 'o'),
    ('\u{440}', 'p'),
    ('\u{441}', 'c'),
    ('\u{443}', 'y'),
    ('\u{445}', 'x'),
    ('\u{455}', 's'),
    ('\u{456}', 'i'),
    ('\u{457}', 'i'),
    ('\u{458}', 'j'),
    ('\u{4bb}', 'h'),
    ('\u{4cf}', 'l'),
    ('\u{501}', 'd'),
    ('\u{51b}', 'q'),
    ('\u{51d}', 'w'),
    ('\u{475}', 'v'),
    ('\u{433}', 'r'),
    ('\u{43a}', 'k'),
    ('\u{410}', 'A'),
    ('\u{412}', 'B'),
    ('\u{415}', 'E'),
    ('\u{41a}', 'K'),
    ('\u{41c}', 'M'),
    ('\u{41d}', 'H'),
    ('\u{41e}', 'O'),
    ('\u{420}', 'P'),
    ('\u{421}', 'C'),
    ('\u{422}', 'T'),
    ('\u{425}', 'X'),
    ('\u{405}', 'S'),
    ('\u{406}', 'I'),
    ('\u{408}', 'J'),
    ('\u{4ae}', 'Y'),
    // Greek
    ('\u{3b1}', 'a'),
    ('\u{3b3}', 'y'),
    ('\u{3b9}', 'i'),
    ('\u{3ba}', 'k'),
    ('\u{3bd}', 'v'),
    ('\u{3bf}', 'o'),
    ('\u{3c1}', 'p'),
    ('\u{3c5}', 'u'),
    ('\u{3c7}', 'x'),
    ('\u{3f2}', 'c'),
    ('\u{391}', 'A'),
    ('\u{392}', 'B'),
    ('\u{395}', 'E'),
    ('\u{396}', 'Z'),
    ('\u{397}', 'H'),
    ('\u{399}', 'I'),
    ('\u{39a}', 'K'),
    ('\u{39c}', 'M'),
    ('\u{39d}', 'N'),
    ('\u{39f}', 'O'),
    ('\u{3a1}', 'P'),
    ('\u{3a4}', 'T'),
    ('\u{3a5}', 'Y'),
    ('\u{3a7}', 'X'),
    // Armenian
    ('\u{570}', 'h'),
    ('\u{578}', 'n'),
    ('\u{57d}', 'u'),
    ('\u{581}', 'g'),
    ('\u{585}', 'o'),
    ('\u{566}', 'q'),
    // Cherokee
    ('\u{13aa}', 'A'),
    ('\u{13a2}', 'R'),
    ('\u{13ac}', 'E'),
    ('\u{13b3}', 'W'),
    ('\u{13da}', 'S'),
    ('\u{13df}', 'C'),
    ('\u{13e2}', 'P'),
    // Lisu
    ('\u{a4d0}', 'B'),
    ('\u{a4d1}', 'P'),
    ('\u{a4d2}', 'd'),
    ('\u{a4d3}', 'D'),
    ('\u{a4d4}', 'T'),
    ('\u{a4d6}', 'G'),
    ('\u{a4d7}', 'K'),
    ('\u{a4d9}', 'J'),
    ('\u{a4da}', 'C'),
    ('\u{a4dc}', 'Z'),
    ('\u{a4dd}', 'F'),
    ('\u{a4df}', 'M'),
    ('\u{a4e0}', 'N'),
    ('\u{a4e1}', 'L'),
    ('\u{a4e2}', 'S'),
    ('\u{a4e3}', 'R'),
    ('\u{a4e6}', 'V'),
    ('\u{a4e7}', 'H'),
    ('\u{a4ea}', 'W'),
    ('\u{a4eb}', 'X'),
    ('\u{a4ec}', 'Y'),
    ('\u{a4ee}', 'A'),
    ('\u{a4f0}', 'E'),
    ('\u{a4f2}', 'I'),
    ('\u{a4f3}', 'O'),
    ('\u{a4f4}', 'U'),
    // small capitals and other letters of phonetics
    ('\u{262}', 'g'),
    ('\u{274}', 'n'),
    ('\u{280}', 'r'),
    ('\u{28f}', 'y'),
    ('\u{299}', 'b'),
    ('\u{29c}', 'h'),
    ('\u{29f}', 'l'),
    ('\u{28b}', 'u'),
    ('\u{269}', 'i'),
    ('\u{1d00}', 'a'),
    ('\u{1d04}', 'c'),
    ('\u{1d05}', 'd'),
    ('\u{1d07}', 'e'),
    ('\u{1d0a}', 'j'),
    ('\u{1d0b}', 'k'),
    ('\u{1d0d}', 'm'),
    ('\u{1d18}', 'p'),
    ('\u{1d1b}', 't'),
    ('\u{1d1c}', 'u'),
    ('\u{1d20}', 'v'),
    ('\u{1d21}', 'w'),
    ('\u{1d22}', 'z'),
    ('\u{1d29}', 'p'),
    ('\u{a730}', 'f'),
    ('\u{a731}', 's'),
    ('\u{a7b3}', 'X'),
    ('\u{2c60}', 'L'),
    ('\u{2c67}', 'H'),
    // Roman numerals
    ('\u{2160}', 'I'),
    ('\u{2164}', 'V'),
    ('\u{2169}', 'X'),
    ('\u{216c}', 'L'),
    ('\u{216d}', 'C'),
    ('\u{216e}', 'D'),
    ('\u{216f}', 'M'),
    ('\u{2170}', 'i'),
    ('\u{2174}', 'v'),
    ('\u{2179}', 'x'),
    ('\u{217c}', 'l'),
    ('\u{217d}', 'c'),
    ('\u{217e}', 'd'),
    ('\u{217f}', 'm'),
    // Coptic
    ('\u{2c82}', 'B'),
    ('\u{2c8e}', 'H'),
    ('\u{2c92}', 'I'),
    ('\u{2c94}', 'K'),
    ('\u{2c98}', 'M'),
    ('\u{2c9a}', 'N'),
    ('\u{2c9e}', 'O'),
    ('\u{2c9f}', 'o'),
    ('\u{2ca2}', 'P'),
    ('\u{2ca3}', 'p'),
    ('\u{2ca4}', 'C'),
    ('\u{2ca5}', 'c'),
    ('\u{2ca6}', 'T'),
    ('\u{2ca8}', 'Y'),
    ('\u{2cac}', 'X'),
    ('\u{2cad}', 'x'),
    // Latin beyond a to z, and signs
    ('\u{131}', 'i'),
    ('\u{237}', 'j'),
    ('\u{251}', 'a'),
    ('\u{261}', 'g'),
    ('\u{26a}', 'i'),
    ('\u{1d0f}', 'o'),
    ('\u{2010}', '-'),
    ('\u{2011}', '-'),
    ('\u{2012}', '-'),
    ('\u{2013}', '-'),
    ('\u{2212}', '-'),
    ('\u{2024}', '.'),
    ('\u{3002}', '.'),
    ('\u{2044}', '/'),
    ('\u{2215}', '/'),
    ('\u{2236}', ':'),
    ('\u{a789}', ':'),
    ('\u{fe55}', ':'),
    ('\u{fe6b}', '@'),
    ('\u{2014}', '-'),
    ('\u{2015}', '-'),
    ('\u{fe58}', '-'),
    ('\u{fe63}', '-'),
    ('\u{2043}', '-'),
    ('\u{2d7}', '-'),
    ('\u{29f8}', '/'),
    ('\u{2571}', '/'),
    ('\u{338}', '/'),
    ('\u{29f5}', '\\'),
    ('\u{2216}', '\\'),
    ('\u{fe68}', '\\'),
    ('\u{2a74}', ':'),
    ('\u{fe52}', '.'),
    ('\u{ff61}', '.'),
    ('\u{2e33}', '.'),
    ('\u{201a}', ','),
    ('\u{2032}', '\''),
    ('\u{1c3}', '!'),
    ('\u{2223}', '|'),
    ('\u{2758}', '|'),
    ('\u{223c}', '~'),
];

#[cfg(test)]
mod tests {
    use super::{find_look_alikes, find_look_alikes_in_text};

    #[test]
    fn what_is_as_it_looks_is_not_odd() {
        let table = [
            "invoices/Aurora-2026-09 (1).pdf",
            "billing@aurora.example",
            "https://aurora.example/contact?a=b@c",
            "C:\\Users\\lea",
            "größe/übung.txt",
            "日本語のファイル.txt",
            "отчёт за июнь.docx",
            "Ελληνικά.txt",
            "ls -la /tmp",
            "🦀.rs",
            "отчёт о работе с людьми.txt",
        ];
        for value in table {
            assert_eq!(find_look_alikes(value, &[]), [""; 0], "{value}");
        }
    }

    #[test]
    fn what_is_not_as_it_looks_is_told() {
        let table = [
            ("p\u{430}ypal.com", "mixes Latin and Cyrillic letters: \\u{430}"),
            ("\u{3bf}range", "mixes Greek and Latin letters: \\u{3bf}"),
            ("goo\u{581}le", "mixes Latin and Armenian letters: \\u{581}"),
            ("\u{13aa}pple", "mixes Cherokee and Latin letters: \\u{13aa}"),
            ("\u{ff41}pple", "mixes full-width and Latin letters: \\u{ff41}"),
            ("\u{1d41a}pple", "mixes mathematical and Latin letters: \\u{1d41a}"),
            ("\u{441}\u{43e}\u{441}\u{43e}.example", "reads like `coco`, but has other letters: \\u{441}"),
            ("notes\u{200b}.txt", "nobody sees: \\u{200b}"),
            ("evil\u{202e}gpj.exe", "nobody sees: \\u{202e}"),
            ("a\nb", "nobody sees: the end of a line"),
            ("a   b", "3 blanks in a row"),
            ("a\u{a0}b", "not the usual one: \\u{a0}"),
            ("x\u{2800}\u{2800}\u{2800}y", "3 blanks in a row"),
            ("https://good.example@evil.example/x", "it leads to `evil.example`"),
            ("https://a:b@c@evil.example", "it leads to `evil.example`"),
            ("https://good.example\\@evil.example", "it leads to `evil.example`"),
            ("\u{430}.txt", "reads like `a`, but has other letters: \\u{430}"),
            ("reports\u{2215}a.txt", "reads like `/`, but is another sign: \\u{2215}"),
            ("a \u{2013} b", "reads like `-`, but is another sign: \\u{2013}"),
            ("goog\u{217c}e.com", "mixes Latin and numeral letters: \\u{217c}"),
            ("o\u{1d04}tober", "mixes Latin and phonetic letters: \\u{1d04}"),
            ("\u{a4d1}ay", "mixes Lisu and Latin letters: \\u{a4d1}"),
            ("\u{2c9f}pen", "mixes Coptic and Latin letters: \\u{2c9f}"),
            ("\u{a731}ay", "mixes rare Latin and Latin letters: \\u{a731}"),
            ("\u{1d429}\u{1d41a}\u{1d432}", "reads like `pay`, but has other letters: \\u{1d429}"),
            ("\u{5d0}\u{5d1}.txt", "letters written from right to left"),
            ("a\u{627}b", "letters written from right to left"),
            ("notes.txt ", "it begins or ends with a blank"),
            ("sun\u{2600}\u{fe0f}", "nobody sees: \\u{fe0f}"),
            ("mail@xn--pypal-4ve.com", "`xn--pypal-4ve` stands for a name"),
            ("https://XN--pypal-4ve.com", "`XN--pypal-4ve` stands for a name"),
        ];
        for (value, expected) in table {
            let found = find_look_alikes(value, &[]);
            assert!(found.iter().any(|line| line.contains(expected)), "{}: {found:?}", value.escape_debug());
        }
    }

    #[test]
    fn a_value_that_only_looks_like_a_known_one_is_told() {
        let table = [
            ("billing@aurora.examp1e", "billing@aurora.example", "`aurora.examp1e` is not `aurora.example`"),
            ("b@arnazon.example", "b@amazon.example", "`arnazon.example` is not `amazon.example`"),
            ("O0PS.txt", "OOPS.txt", "`O0PS.txt` is not `OOPS.txt`"),
            ("lnbox", "Inbox", "`lnbox` is not `Inbox`"),
            ("reports\u{2215}a.txt", "reports/a.txt", "is not `reports/a.txt`"),
            ("no\u{200b}tes", "notes", "is not `notes`"),
            ("https://aur\u{43e}ra.example/pay", "lea@aurora.example", "is not `aurora.example`"),
        ];
        for (value, known, expected) in table {
            let found = find_look_alikes(value, &["something else", known]);
            assert!(found.iter().any(|line| line.contains(expected)), "{value}: {found:?}");
        }
        for (value, known) in [("notes.txt", "notes.txt"), ("a.txt", "b.txt"), ("x/notes", "y/notes")] {
            assert_eq!(find_look_alikes(value, &[known]), [""; 0], "{value}");
        }
    }

    #[test]
    fn a_passage_may_have_lines_and_be_indented() {
        assert_eq!(
            find_look_alikes_in_text("fn main() {\n\tlet a = 1;\n        go();   \n}\n", &[]),
            [""; 0]
        );
        let found = find_look_alikes_in_text("fine\n  p\u{430}y()", &[]);
        assert_eq!(found, ["`p\u{430}y` mixes Latin and Cyrillic letters: \\u{430}"]);
    }
}
