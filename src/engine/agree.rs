//! Agreement on the arguments of a constructor. A fault on one rank becomes the same error on all,
//! and nobody is left waiting in a collective call that others never enter.
//!
//! A constructor needs a split of its communicator in any case, and the split itself can tell
//! whether all agree: the color is a digest of what must be the same everywhere. Where all have one
//! color all find themselves on one new communicator, and nothing more need be said. Where they do
//! not, every new communicator lacks somebody, so every rank knows; only then is it found out, in a
//! reduction of a few words, what is wrong, or that there is nothing wrong after all.
//!
//! Every constructor begins with a split, `MPI_Cart_sub` as well, so that ranks in different ones meet.

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

/// Digests are colors from here on; below are those of functions that split into several parts.
const DIGESTS: i32 = 1 << 30;

/// The color of a rank that has a fault. It must not be that of a rank without: who is not at fault
/// must notice.
pub const AT_FAULT: i32 = DIGESTS - 1;

/// Returns, on every rank alike, what was agreed on, or the fault of the lowest rank that has one.
/// With it comes a new communicator of all processes in the order of their ranks. In 2^30 cases of
/// arguments that differ, one passes.
///
/// # Errors
///
/// [`Error::OnRank`], or what the communicator's own methods return.
pub fn agree<C: Comm>(comm: &C, ballot: Ballot<'_>) -> Result<(C, Agreed), C::Error> {
    let rank = comm.rank()?;
    let all_of = |color| comm.split(Some(color), rank).map(|made| made.expect("a color was given"));
    let all = all_of(ballot.color())?;
    if ballot.fault.is_none() && all.size()? == comm.size()? {
        let course = ballot.wish.unwrap_or_default().course_of_all(comm);
        let (all, course) = keep(all, course)?;
        return Ok((all, Agreed { way: ballot.choice.and_then(|choice| choice.chosen), course }));
    }
    all.free()?;
    let agreed = settle(comm, ballot)?;
    Ok((all_of(0)?, agreed))
}

/// A communicator with what came out on it, or given back if that is an error.
pub fn keep<C: Comm, T>(comm: C, result: Result<T, C::Error>) -> Result<(C, T), C::Error> {
    match result {
        Ok(value) => Ok((comm, value)),
        Err(error) => comm.free().and(Err(error)),
    }
}

/// The agreement by a reduction: finds out who is at fault or differs in what, if anybody.
///
/// # Errors
///
/// As [`agree`].
pub fn settle<C: Comm>(comm: &C, ballot: Ballot<'_>) -> Result<Agreed, C::Error> {
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

impl Ballot<'_> {
    /// The color of this rank: that of another rank only if both bring the same.
    fn color(&self) -> i32 {
        if self.fault.is_some() {
            return AT_FAULT;
        }
        let wish = self.wish.unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        self.shared.digest().hash(&mut hasher);
        self.choice.as_ref().and_then(|choice| choice.chosen).hash(&mut hasher);
        (wish.terms.reorder as i32, wish.terms.reporting).hash(&mut hasher);
        DIGESTS | (hasher.finish() as i32 & (DIGESTS - 1))
    }
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
