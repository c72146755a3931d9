//! The messages of PMI-1, a line each, and of PMI-2, which begin with their length in six digits.

/// A larger message is not read: the relay then passes on bytes as they come.
pub const LONGEST: usize = 1 << 20;

/// The format of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `cmd=get kvsname=a key=b`, and the end of the line.
    Line,
    /// `    23cmd=kvs-get;key=b;`.
    Counted,
}

/// A part of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// A message.
    Message {
        /// Its format.
        format: Format,
        /// Its text, without its end or length.
        bytes: Vec<u8>,
        /// All of its bytes.
        raw: Vec<u8>,
    },
    /// The message is incomplete.
    Incomplete,
    /// Bytes that are not a message.
    Other,
}

/// Takes the first message from the bytes that have arrived.
pub fn take(bytes: &mut Vec<u8>) -> Part {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b' ';
    let Some(first) = bytes.first() else { return Part::Incomplete };
    if is_digit(first) {
        let Some((digits, rest)) = bytes.split_first_chunk::<6>() else { return Part::Incomplete };
        let number = std::str::from_utf8(digits).ok().and_then(|text| text.trim().parse().ok());
        let Some(length) = number.filter(|length: &usize| *length > 0) else { return Part::Other };
        if rest.len() < length {
            return Part::Incomplete;
        }
        let raw: Vec<u8> = bytes.drain(..6 + length).collect();
        return Part::Message { format: Format::Counted, bytes: raw[6..].to_vec(), raw };
    }
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => {
            let raw: Vec<u8> = bytes.drain(..=end).collect();
            Part::Message { format: Format::Line, bytes: raw[..end].to_vec(), raw }
        }
        None if bytes.len() > LONGEST => Part::Other,
        None => Part::Incomplete,
    }
}

/// A message as it is sent.
pub fn sent(format: Format, message: &[u8]) -> Vec<u8> {
    match format {
        Format::Line => [message, b"\n"].concat(),
        Format::Counted => [format!("{:6}", message.len()).as_bytes(), message].concat(),
    }
}

/// The range of a value in a message: from `key=` to the next separator.
fn range(format: Format, message: &str, key: &str) -> Option<std::ops::Range<usize>> {
    let separator = if format == Format::Line { ' ' } else { ';' };
    let mut at = 0;
    for word in message.split(separator) {
        if let Some(value) = word.strip_prefix(key).and_then(|rest| rest.strip_prefix('=')) {
            let start = at + word.len() - value.len();
            return Some(start..at + word.len());
        }
        at += word.len() + separator.len_utf8();
    }
    None
}

/// The value of a key in a message.
pub fn value<'a>(format: Format, message: &'a str, key: &str) -> Option<&'a str> {
    range(format, message, key).map(|range| &message[range])
}

/// A message with another value of a key that it has.
pub fn with(format: Format, message: &str, key: &str, value: &str) -> String {
    let mut message = message.to_owned();
    if let Some(range) = range(format, &message, key) {
        message.replace_range(range, value);
    }
    message
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_are_taken_from_a_stream() {
        let mut bytes = b"cmd=init a=1\n000010cmd=a;b=c;cmd=".to_vec();
        let message = |format, text: &str, raw: &str| Part::Message {
            format,
            bytes: text.as_bytes().to_vec(),
            raw: raw.as_bytes().to_vec(),
        };
        let line = message(Format::Line, "cmd=init a=1", "cmd=init a=1\n");
        assert_eq!(take(&mut bytes), line);
        let counted = message(Format::Counted, "cmd=a;b=c;", "000010cmd=a;b=c;");
        assert_eq!(take(&mut bytes), counted);
        assert_eq!(take(&mut bytes), Part::Incomplete);
        assert_eq!(bytes, b"cmd=");
        assert_eq!(take(&mut b"    ".to_vec()), Part::Incomplete);
        assert_eq!(take(&mut b"     0".to_vec()), Part::Other);
        assert_eq!(take(&mut b"1 2  3abc".to_vec()), Part::Other);
        assert_eq!(take(&mut vec![b'a'; LONGEST + 1]), Part::Other);
        assert_eq!(take(&mut Vec::new()), Part::Incomplete);
    }

    #[test]
    fn values_are_found_and_replaced() {
        let line = "cmd=get kvsname=a key=b";
        assert_eq!(value(Format::Line, line, "key"), Some("b"));
        assert_eq!(value(Format::Line, line, "name"), None);
        assert_eq!(with(Format::Line, line, "kvsname", "other"), "cmd=get kvsname=other key=b");
        let message = "cmd=fullinit;pmirank=2;threaded=FALSE;";
        assert_eq!(value(Format::Counted, message, "pmirank"), Some("2"));
        assert_eq!(
            with(Format::Counted, message, "pmirank", "11"),
            "cmd=fullinit;pmirank=11;threaded=FALSE;"
        );
        assert_eq!(with(Format::Counted, message, "rank", "11"), message);
    }

    proptest! {
        #[test]
        fn sent_messages_are_taken_whole(
            texts in prop::collection::vec(("[a-z=; ]{1,40}", any::<bool>()), 0..8)
        ) {
            let messages: Vec<_> = texts
                .into_iter()
                .map(|(text, is_line)| {
                    let format = if is_line { Format::Line } else { Format::Counted };
                    (format, ["c", &text].concat().into_bytes())
                })
                .collect();
            let mut bytes: Vec<u8> =
                messages.iter().flat_map(|(format, message)| sent(*format, message)).collect();
            for (format, message) in messages {
                let raw = sent(format, &message);
                prop_assert_eq!(take(&mut bytes), Part::Message { format, bytes: message, raw });
            }
            prop_assert!(bytes.is_empty());
        }
    }
}
