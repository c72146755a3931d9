//! Rules of the standard that every host lets programs violate without harm. Such programs run here too;
//! `CARTOGRAPH_CHECK` names the rules whose violation is an error instead.

/// A rule of the standard that the arguments of all processes together may violate. Which process violates it is
/// determined only if that is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Both ends pass each edge of `MPI_Dist_graph_create_adjacent`, with the same weight.
    Edges,
    /// All ranks or none pass `MPI_UNWEIGHTED` to `MPI_Dist_graph_create_adjacent`.
    Weights,
    /// Arguments are the same on all ranks: `periods`, `index`, `edges`, and `reorder` of
    /// `MPI_Dist_graph_create_adjacent`. Arguments that determine which ranks take part are always checked.
    Arguments,
}

impl Rule {
    const ALL: [Self; 3] = [Self::Edges, Self::Weights, Self::Arguments];

    /// Its name in `CARTOGRAPH_CHECK`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Edges => "edges",
            Self::Weights => "weights",
            Self::Arguments => "arguments",
        }
    }

    /// A sentence about its violation, for reports.
    pub fn broken(self, function: &str) -> String {
        let what = match self {
            Self::Edges => "edges do not match at their two ends",
            Self::Weights => "some ranks pass MPI_UNWEIGHTED and others pass weights",
            Self::Arguments => "arguments that must be the same on all ranks differ",
        };
        format!(
            "{function}: {what}; CARTOGRAPH_CHECK={} makes it an error with details",
            self.word()
        )
    }
}

/// A set of rules: `CARTOGRAPH_CHECK`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Check(u8);

impl Check {
    /// All rules.
    pub const ALL: Self = Self(0).with(Rule::Edges).with(Rule::Weights).with(Rule::Arguments);

    /// Parses names of rules, separated by commas; `all` means all of them.
    ///
    /// # Errors
    ///
    /// The first name that is not a rule.
    pub fn parse(text: &str) -> Result<Self, &str> {
        let mut check = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            check = match Rule::ALL.into_iter().find(|rule| rule.word() == word) {
                Some(rule) => check.with(rule),
                None if word == "all" => Self::ALL,
                None => return Err(word),
            };
        }
        Ok(check)
    }

    /// This set with one more rule.
    #[must_use]
    pub const fn with(self, rule: Rule) -> Self {
        Self(self.0 | 1 << rule as u8)
    }

    /// True if the set contains a rule.
    pub const fn has(self, rule: Rule) -> bool {
        self.0 >> rule as u8 & 1 != 0
    }

    /// The set as a number for messages between ranks.
    pub(super) const fn bits(self) -> i64 {
        self.0 as i64
    }

    /// The set with these bits.
    pub(super) const fn from_bits(bits: i64) -> Self {
        Self(bits as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_rules_are_parsed() {
        let some = Check::default().with(Rule::Edges).with(Rule::Arguments);
        assert_eq!(Check::parse("edges, arguments"), Ok(some));
        assert!(some.has(Rule::Edges) && !some.has(Rule::Weights));
        assert_eq!(Check::parse("all"), Ok(some.with(Rule::Weights)));
        assert_eq!(Check::parse(""), Ok(Check::default()));
        assert_eq!(Check::parse("edges,edge"), Err("edge"));
        assert_eq!(Check::from_bits(some.bits()), some);
    }
}
