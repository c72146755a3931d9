//! Untrusted names and texts.

/// True if a text may be a host name: letters, digits, dots, underscores and hyphens, and no hyphen in front. Launchers
/// cannot mistake such a name for an option.
pub fn is_host_name(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !text.is_empty() && !text.starts_with('-') && text.bytes().all(known)
}

/// A name with an underscore for each character that is not allowed in a host name.
pub fn host_name(text: &str) -> String {
    let one = |(at, c): (usize, char)| {
        if c.is_ascii_alphanumeric() || "._".contains(c) || (c == '-' && at > 0) { c } else { '_' }
    };
    let name: String = text.chars().enumerate().map(one).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

/// A text for one line of a terminal: control characters and changes of the writing direction are replaced.
pub fn printable(text: &str) -> String {
    let turns = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || turns(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_cannot_be_mistaken_for_options() {
        for name in ["n0", "n0.cluster.example.org", "Node_7", "10.0.0.1", "a-b"] {
            assert!(is_host_name(name) && host_name(name) == name, "{name}");
        }
        for (name, mended) in [
            ("", "_"),
            ("-launcher", "_launcher"),
            ("a b", "a_b"),
            ("a,b", "a_b"),
            ("a\u{1b}[31m", "a__31m"),
            ("kn\u{f6}ten", "kn_ten"),
            ("a:4", "a_4"),
            ("$(x)", "__x_"),
        ] {
            assert!(!is_host_name(name), "{name}");
            assert_eq!(host_name(name), mended);
            assert!(is_host_name(mended));
        }
    }

    #[test]
    fn printed_text_cannot_move_the_cursor() {
        assert_eq!(printable("./app -x \u{e4}"), "./app -x \u{e4}");
        assert_eq!(
            printable("\u{1b}[2J\r\n\t\u{9b}\u{202e}"),
            "\u{fffd}[2J".to_owned() + &"\u{fffd}".repeat(5)
        );
    }
}
