//! Which policies a file is about, also where it has mistakes.

use super::tree::{self, Node, Value};

/// Whether a file has a policy of this name. If it cannot be told, because an entry has no name or the file is no YAML, whether
/// the name occurs in it as a word.
#[must_use]
pub fn may_name(text: &str, name: &str) -> bool {
    match names(text) {
        Some(names) => names.iter().any(|known| known == name),
        None => {
            let in_a_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
            text.split(|c: char| !in_a_name(c)).any(|word| word == name)
        }
    }
}

/// The name of every entry; nothing if one of them cannot be read.
fn names(text: &str) -> Option<Vec<String>> {
    match tree::read(text).ok()?.value {
        Value::Nothing => Some(Vec::new()), // comments alone
        Value::List(entries) => entries.iter().map(name_of).collect(),
        _ => None,
    }
}

fn name_of(entry: &Node) -> Option<String> {
    let Value::Map(fields) = &entry.value else { return None };
    let is_name = |field: &Node| matches!(&field.value, Value::Text(text) if text == "name");
    let mut values = fields.iter().filter(|(field, _)| is_name(field)).map(|(_, value)| &value.value);
    match (values.next()?, values.next()) {
        (Value::Text(name), None) => Some(name.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::may_name;

    #[test]
    fn a_name_is_found_exactly_or_as_a_word_where_the_file_cannot_be_read() {
        let table = [
            ("- name: lea\n  effect: deny\n", true),
            ("- { effect: nonsense, name: 'lea' }", true),
            ("- name: tom\n- name: lea\n  priority: 500\n", true),
            ("- name: lea-at-home\n", false),
            ("- name: tom\n  match: { principal: { id: lea } }\n", false),
            ("# lea\n- name: tom\n", false),
            ("# lea\n", false),
            // Of these nobody knows what they were to say.
            ("- name: lea\n  match: [\n", true),
            ("- nmae: lea\n", true),
            ("- name lea\n", true),
            ("policies:\n  - name: lea\n", true),
            ("- name: tom\n  name: lea\n", true),
            ("- name: lea-at-home\n  match: [\n", false),
            ("- name: [", false),
        ];
        for (text, names) in table {
            assert_eq!(may_name(text, "lea"), names, "{text}");
        }
    }
}
