//! The values of `CARTOGRAPH_REPORT` that are not file names.

/// True if the value turns reports off.
#[must_use]
pub fn is_off(value: &[u8]) -> bool {
    [&b"0"[..], b"off", b"no", b"false"].contains(&value)
}

/// True if the value requests a report on stderr.
#[must_use]
pub fn is_on(value: &[u8]) -> bool {
    [&b"1"[..], b"on", b"yes", b"true"].contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_requests_a_report_turns_it_off_or_is_a_file_name() {
        for off in ["0", "off", "no", "false"] {
            assert!(is_off(off.as_bytes()) && !is_on(off.as_bytes()), "{off}");
        }
        for on in ["1", "on", "yes", "true"] {
            assert!(is_on(on.as_bytes()) && !is_off(on.as_bytes()), "{on}");
        }
        for name in ["", "2", "offline", "no.json", "/off"] {
            assert!(!is_on(name.as_bytes()) && !is_off(name.as_bytes()), "{name}");
        }
    }
}
