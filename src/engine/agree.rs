//! Agreement on the arguments of a constructor, before anything is built.
//!
//! One small reduction carries "my arguments are valid" and a digest of those that must be the
//! same everywhere. A fault on one rank so becomes the same error on all, and nobody is left
//! waiting in a collective call that others never enter. Only when something is wrong is more said.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::place::{Course, Wish};
use super::{Comm, Error};
use crate::topology::{self, Class};

/// "No rank", in a minimum over ranks.
const NOBODY: i64 = i64::MAX;

/// The arguments of a call that every rank must pass alike, by name, in the order of the call.
pub struct Shared<'a> {
    /// The function: two ranks in different constructors do not agree either.
    pub function: &'static str,
    /// Name and values of each argument; a scalar is a slice of one.
    pub arguments: &'a [(&'static str, &'a [i32])],
}

/// What one rank brings to the agreement.
pub struct Ballot<'a> {
    /// The first fault in this rank's own arguments.
    pub fault: Option<topology::Error>,
    /// What all ranks must pass alike; not looked at where there is a fault.
    pub shared: Shared<'a>,
    /// What this rank wants of a placement; `None` in functions that place nobody.
    pub wish: Option<Wish>,
    /// Two ways to call of which all ranks must choose one, if the call has such.
    pub choice: Option<Choice>,
}

/// A choice between two ways to call, which all ranks must make alike.
pub struct Choice {
    /// The argument that makes the choice.
    pub argument: &'static str,
    /// The two ways, in words.
    pub ways: [&'static str; 2],
    /// Which of them this rank chose; `None` if what it passed fits both.
    pub chosen: Option<usize>,
}

/// What all ranks know once they agree.
pub struct Agreed {
    /// Which of the choice's ways was taken; `None` if every rank's arguments fit both, or there was
    /// no choice.
    pub way: Option<usize>,
    /// How processes will be placed.
    pub course: Course,
}

/// Returns, on every rank alike, what was agreed on, or the fault of the lowest rank that has one.
///
/// # Errors
///
/// [`Error::OnRank`], or what the communicator's own methods return.
pub fn agree<C: Comm>(comm: &C, ballot: Ballot<'_>) -> Result<Agreed, C::Error> {
    let rank = i64::from(comm.rank()?);
    let digest = ballot.shared.digest();
    let chose = |way| match &ballot.choice {
        Some(choice) if choice.chosen == Some(way) => rank,
        _ => NOBODY,
    };
    let at_fault = if ballot.fault.is_some() { rank } else { NOBODY };
    // The minimum of a number's complement is the complement of its maximum.
    let wish = ballot.wish.unwrap_or_default();
    let cautious = wish.terms.reorder as i64;
    let root = if rank == 0 { wish.of_root(comm) } else { NOBODY };
    let mut words = [at_fault, digest, !digest, chose(0), chose(1), cautious, root];
    comm.min(&mut words)?;
    let [at_fault, least, complement_of_most, first, second, cautious, root] = words;

    if at_fault != NOBODY {
        let own = ballot.fault.map(|fault| (fault.class(), fault.to_string()));
        return Err(tell(comm, at_fault as i32, own)?.into());
    }
    if least != !complement_of_most {
        return Err(name_difference(comm, &ballot.shared)?.into());
    }
    if first != NOBODY && second != NOBODY {
        let choice =
            ballot.choice.as_ref().expect("somebody chose, and all call the same function");
        let other = if first < second { first } else { second };
        let (late, [way, other_way]) = if first < second {
            (second, [choice.ways[1], choice.ways[0]])
        } else {
            (first, choice.ways)
        };
        let text = format!(
            "{} is {way}, but {other_way} on rank {other}; it must be one or the other on all ranks",
            choice.argument
        );
        return Err(Error::OnRank { rank: late as i32, class: Class::Arg, text }.into());
    }
    let way = [first, second].iter().position(|who| *who != NOBODY);
    Ok(Agreed { way, course: Course::agreed(wish.reorder, cautious, root) })
}

/// Gives every rank the words that `root` has for the fault that it found.
pub fn tell<C: Comm>(comm: &C, root: i32, own: Option<(Class, String)>) -> Result<Error, C::Error> {
    let is_root = comm.rank()? == root;
    let (class, text) = own.filter(|_| is_root).unwrap_or((Class::Arg, String::new()));
    let mut bytes = text.into_bytes();
    bytes.push(class.index() as u8);
    let mut bytes = broadcast_vec(comm, root, bytes)?;
    let class = bytes.pop().map_or(Class::Arg, |index| Class::ALL[usize::from(index)]);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Error::OnRank { rank: root, class, text })
}

/// The lowest rank whose `fault` is something says what it is; `None` if no rank has one.
pub fn first_fault<C: Comm>(comm: &C, fault: Option<String>) -> Result<Option<Error>, C::Error> {
    let mut lowest = [if fault.is_some() { i64::from(comm.rank()?) } else { NOBODY }];
    comm.min(&mut lowest)?;
    if lowest[0] == NOBODY {
        return Ok(None);
    }
    tell(comm, lowest[0] as i32, fault.map(|text| (Class::Arg, text))).map(Some)
}

fn broadcast_vec<C: Comm>(comm: &C, root: i32, bytes: Vec<u8>) -> Result<Vec<u8>, C::Error> {
    let mut length = (bytes.len() as u64).to_le_bytes();
    comm.broadcast(root, &mut length)?;
    let mut bytes = bytes;
    bytes.resize(u64::from_le_bytes(length) as usize, 0);
    comm.broadcast(root, &mut bytes)?;
    Ok(bytes)
}

/// All ranks compare with rank 0, and the lowest that differs says in what.
fn name_difference<C: Comm>(comm: &C, shared: &Shared<'_>) -> Result<Error, C::Error> {
    let own = if comm.rank()? == 0 { shared.encode() } else { Vec::new() };
    let theirs = broadcast_vec(comm, 0, own)?;
    let difference = shared.difference(&theirs);
    Ok(first_fault(comm, difference)?.unwrap_or(Error::OnRank {
        rank: 0,
        class: Class::Arg,
        text: format!("the arguments of {} differ from other ranks'", shared.function),
    }))
}

impl Shared<'_> {
    fn digest(&self) -> i64 {
        let mut hasher = DefaultHasher::new();
        self.function.hash(&mut hasher);
        for (_, values) in self.arguments {
            values.hash(&mut hasher);
        }
        hasher.finish() as i64
    }

    /// Function name, a zero byte, then each argument's length and values, four bytes each.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = [self.function.as_bytes(), &[0]].concat();
        for (_, values) in self.arguments {
            bytes.extend((values.len() as u32).to_le_bytes());
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        bytes
    }

    /// The first difference of these arguments from rank 0's, which come encoded.
    fn difference(&self, encoded: &[u8]) -> Option<String> {
        let mut halves = encoded.splitn(2, |byte| *byte == 0);
        let function = String::from_utf8_lossy(halves.next()?);
        if function != self.function {
            return Some(format!("calls {} while rank 0 calls {function}", self.function));
        }
        let mut words = halves
            .next()?
            .chunks_exact(4)
            .map(|word| i32::from_le_bytes(word.try_into().expect("a chunk of four")));
        for (name, own) in self.arguments {
            let length = words.next()? as usize;
            let theirs: Vec<i32> = words.by_ref().take(length).collect();
            if own.len() != length {
                return Some(format!(
                    "{name} has {} entries, but {length} on rank 0; it must be the same on all ranks",
                    own.len()
                ));
            }
            if let Some(i) = (0..length).find(|i| own[*i] != theirs[*i]) {
                let place = if length == 1 { String::new() } else { format!("[{i}]") };
                return Some(format!(
                    "{name}{place} is {}, but {} on rank 0; it must be the same on all ranks",
                    own[i], theirs[i]
                ));
            }
        }
        None
    }
}
