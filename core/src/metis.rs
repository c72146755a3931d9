//! Graphs in METIS' file format.

use crate::mapping::Csr;

/// Why a text is not a graph in METIS' format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct FormatError {
    /// The number of the line, from 1; comments count.
    pub line: usize,
    /// The fault in it.
    pub what: String,
}

/// Reads a graph: a line `vertices edges [format [weights]]`, then for each vertex a line of its
/// neighbors, counted from 1. Lines that begin with `%` are comments.
///
/// The format is up to three digits, each 0 or 1: sizes of vertices, weights of vertices (`weights` numbers for each
/// vertex, one by default) and weights of edges. Sizes and weights of vertices must be the same for all, since each
/// vertex is one process. Each edge is listed at both of its ends and becomes two edges, whose weights may differ.
///
/// # Errors
///
/// [`FormatError`], with the line.
pub fn read(text: &str) -> Result<Csr, FormatError> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with('%'));
    let (line, header) = lines
        .find(|(_, line)| !line.trim().is_empty())
        .ok_or_else(|| wrong(1, "no header (expected: vertices edges [format])"))?;
    let header = Header::parse(line, header)?;
    let mut edges = Vec::new();
    let mut last = line;
    let mut of_first = None;
    for vertex in 0..header.vertices {
        let missing = || {
            wrong(
                last,
                format!(
                    "the header announces {} vertices, but the file has {vertex}",
                    header.vertices
                ),
            )
        };
        let (line, row) = lines.next().ok_or_else(missing)?;
        last = line;
        let of_vertex = header.row(line, vertex, row, &mut edges)?;
        if *of_first.get_or_insert_with(|| of_vertex.clone()) != of_vertex {
            let what = "vertices differ in weight or size; each vertex is one process, so omit these numbers";
            return Err(wrong(line, what));
        }
    }
    if let Some((line, _)) = lines.find(|(_, line)| !line.trim().is_empty()) {
        return Err(wrong(
            line,
            format!("there are more lines than the {} vertices of the header", header.vertices),
        ));
    }
    if edges.len() as u64 != 2 * header.edges {
        return Err(wrong(
            last,
            format!(
                "the header announces {} edges, each listed twice, but the file has {} ends",
                header.edges,
                edges.len()
            ),
        ));
    }
    let graph = Csr::from_edges(header.vertices as usize, edges.iter().copied());
    Ok(graph)
}

struct Header {
    vertices: u32,
    edges: u64,
    /// The number of entries before the neighbors.
    before: usize,
    weighted: bool,
}

impl Header {
    fn parse(line: usize, text: &str) -> Result<Self, FormatError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if !(2..=4).contains(&words.len()) {
            return Err(wrong(
                line,
                "invalid header (expected: vertices edges [format [weights]])",
            ));
        }
        let vertices = number(line, words[0], i32::MAX as u64)? as u32;
        let edges = number(line, words[1], i64::MAX as u64 / 2)?;
        let format = words.get(2).copied().unwrap_or("0");
        if format.len() > 3 || !format.bytes().all(|digit| matches!(digit, b'0' | b'1')) {
            return Err(wrong(
                line,
                format!("invalid format '{format}' (expected up to three digits 0 or 1)"),
            ));
        }
        let digit = |from_right: usize| format.bytes().rev().nth(from_right) == Some(b'1');
        let count = words.get(3).map_or(Ok(1), |word| number(line, word, 1000))? as usize;
        let before = usize::from(digit(2)) + if digit(1) { count } else { 0 };
        Ok(Self { vertices, edges, before, weighted: digit(0) })
    }

    /// Reads the line of a vertex, counted from 0, with its size and weights.
    fn row(
        &self,
        line: usize,
        vertex: u32,
        text: &str,
        edges: &mut Vec<(u32, u32, i64)>,
    ) -> Result<Vec<u64>, FormatError> {
        let mut words = text.split_whitespace();
        let mut of_vertex = Vec::new();
        for _ in 0..self.before {
            let word =
                words.next().ok_or_else(|| wrong(line, "a weight of the vertex is missing"))?;
            of_vertex.push(number(line, word, i64::MAX as u64)?);
        }
        while let Some(word) = words.next() {
            let to = number(line, word, u64::from(self.vertices))?;
            if to == 0 {
                return Err(wrong(line, "vertices are numbered from 1"));
            }
            let weight = if self.weighted {
                let word =
                    words.next().ok_or_else(|| wrong(line, "the last edge has no weight"))?;
                number(line, word, i32::MAX as u64)?
            } else {
                1
            };
            edges.push((vertex, to as u32 - 1, weight as i64));
        }
        Ok(of_vertex)
    }
}

fn number(line: usize, word: &str, most: u64) -> Result<u64, FormatError> {
    let number = word.parse().map_err(|_| wrong(line, format!("invalid number '{word}'")))?;
    if number > most {
        return Err(wrong(line, format!("{number} is more than {most}")));
    }
    Ok(number)
}

fn wrong(line: usize, what: impl Into<String>) -> FormatError {
    FormatError { line, what: what.into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edges(graph: &Csr, vertex: usize) -> Vec<(usize, i64)> {
        graph.edges(vertex).collect()
    }

    #[test]
    fn all_formats_are_read() {
        let plain = read("% a path\n3 2\n2\n%\n1 3\n2\n").unwrap();
        assert_eq!(edges(&plain, 1), [(0, 1), (2, 1)]);
        assert_eq!(read("3 2 0\n2\n1 3\n2").unwrap(), plain);
        let weighted = read("\n3 2 1\n2 5\n1 5 3 7\n2 7\n\n").unwrap();
        assert_eq!(edges(&weighted, 1), [(0, 5), (2, 7)]);
        assert_eq!(read("3 2 10\n9 2\n9 1 3\n9 2\n").unwrap(), plain);
        assert_eq!(read("3 2 011 2\n9 9 2 5\n9 9 1 5 3 7\n9 9 2 7\n").unwrap(), weighted);
        assert_eq!(read("3 2 111\n1 9 2 5\n1 9 1 5 3 7\n1 9 2 7\n").unwrap(), weighted);
        // A vertex without neighbors has an empty line.
        let apart = read("3 1\n3\n\n1\n").unwrap();
        assert_eq!(edges(&apart, 0), [(2, 1)]);
        assert_eq!(edges(&apart, 1), []);
    }

    #[test]
    fn an_error_names_its_line() {
        for (text, line, what) in [
            ("", 1, "header"),
            ("% x\n\n3\n", 3, "invalid header"),
            ("3 x\n", 1, "invalid number 'x'"),
            ("3 2 2\n", 1, "invalid format '2'"),
            ("3 2\n2\n1 4\n2\n", 3, "4 is more than 3"),
            ("3 2\n2\n% x\n1 0\n2\n", 4, "numbered from 1"),
            ("3 2\n2\n1 3\n", 3, "the header announces 3 vertices, but the file has 2"),
            ("3 2\n2\n1 3\n2\n1\n", 5, "more lines than the 3 vertices"),
            (
                "3 3\n2\n1 3\n2\n",
                4,
                "the header announces 3 edges, each listed twice, but the file has 4",
            ),
            ("3 2 1\n2 1\n1 1 3\n2 1\n", 3, "no weight"),
            ("3 2 1\n2 1\n1 -1 3 1\n2 1\n", 3, "invalid number '-1'"),
            ("3 2 10\n1 2\n\n1 2\n", 3, "a weight of the vertex"),
            ("3 2 10\n9 2\n9 1 3\n8 2\n", 4, "vertices differ in weight or size"),
            ("99999999999 1\n", 1, "more than"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.line == line && error.what.contains(what), "{text:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_causes_a_panic(text in "[0-9% \\n]{0,60}", any in any::<String>()) {
            let _ = read(&text);
            let _ = read(&any);
            let _ = read(&format!("3 2 1\n{text}"));
        }
    }
}
