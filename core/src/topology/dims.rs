//! The sizes that `MPI_Dims_create` chooses: an exact search over the divisors of nnodes.

use super::Error;

mod by_box;
#[cfg(test)]
mod tests;

pub use by_box::{BoxShape, NoBox};

/// 2^30 has more prime factors than any other `i32`.
const MAX_PRIME_FACTORS: usize = 30;

/// Half of the 1600 divisors of 2095133040, the `i32` with the most divisors.
const MAX_SMALL_DIVISORS: usize = 800;

/// The square root of the largest `i32`, rounded down.
const MAX_ROOT: usize = 46340;

/// The number of primes up to [`MAX_ROOT`].
const PRIME_COUNT: usize = 4792;

static PRIMES: [u16; PRIME_COUNT] = primes();

/// Sets the zero entries of `dims` so that the product of all entries is `nnodes`
/// (MPI 4.1, 8.5.2).
///
/// Entries that are not zero are kept. The others are set to values that are non-increasing in index order, and as
/// close to each other as possible: the largest minus the smallest is minimal; among such choices the smallest is as
/// large as possible, then the next smallest, and so on. The standard leaves "close" open. This interpretation, and the
/// requirement to meet it exactly, are from Träff and Lübbe, "Specification Guideline Violations by `MPI_Dims_create`",
/// EuroMPI 2015.
///
/// # Errors
///
/// On an error `dims` is unchanged.
///
/// - [`Error::NnodesNotPositive`]: `nnodes` is less than 1.
/// - [`Error::NegativeDim`]: an entry is negative.
/// - [`Error::NotAMultiple`]: `nnodes` is not a multiple of the product of the non-zero entries.
/// - [`Error::DimsProduct`]: no entry is zero and their product, 1 for empty `dims`, is not
///   `nnodes`.
pub fn dims_create(nnodes: i32, dims: &mut [i32]) -> Result<(), Error> {
    if nnodes < 1 {
        return Err(Error::NnodesNotPositive { nnodes });
    }
    let mut product = 1_i64;
    let mut free = 0;
    for (dimension, &value) in dims.iter().enumerate() {
        match value {
            0 => free += 1,
            1.. => product = product.saturating_mul(value.into()),
            _ => return Err(Error::NegativeDim { dimension, value }),
        }
    }
    let nodes = i64::from(nnodes);
    if free == 0 && product != nodes {
        return Err(Error::DimsProduct { nnodes, product });
    }
    if nodes % product != 0 {
        return Err(Error::NotAMultiple { nnodes, product });
    }

    // The casts keep the values: all are positive and at most `nnodes`.
    let factors = balance((nodes / product) as u32, free);
    let mut descending = factors.as_slice().iter().rev();
    for dim in dims.iter_mut().filter(|dim| **dim == 0) {
        *dim = descending.next().map_or(1, |&factor| factor as i32);
    }
    Ok(())
}

/// Factors of a number in ascending order, without those that are 1.
struct Factors {
    factors: [u32; MAX_PRIME_FACTORS],
    len: usize,
}

impl Factors {
    fn new() -> Self {
        Self { factors: [1; MAX_PRIME_FACTORS], len: 0 }
    }

    fn as_slice(&self) -> &[u32] {
        &self.factors[..self.len]
    }

    fn push(&mut self, factor: u32) {
        self.factors[self.len] = factor;
        self.len += 1;
    }
}

/// The best `count` factors of `n` by the rule of [`dims_create`].
fn balance(n: u32, count: usize) -> Factors {
    if count == 1 {
        let mut whole = Factors::new();
        whole.push(n);
        return whole;
    }
    if n.is_power_of_two() {
        return powers_of_two(n.trailing_zeros() as usize, count);
    }
    search(n, count)
}

/// Like [`balance`], for any number and at least two factors.
fn search(n: u32, count: usize) -> Factors {
    let primes = prime_factors(n);
    if primes.len <= count {
        // As long as a factor is composite, splitting it to replace a 1 is better: the largest factor does not grow,
        // and there are fewer ones.
        return primes;
    }

    // From here on a best result has no 1, for the same reason.
    let mut best = Factors::new();
    best.len = count;
    let factors = &mut best.factors[..count];
    let (&largest_prime, other_primes) = primes.as_slice().split_last().expect("n is not 1");
    let rest = n / largest_prime;
    if largest_prime > rest {
        // No product of other primes reaches this one. So it is the largest factor by itself, and the others must only
        // be as large as possible, smallest first.
        factors[count - 1] = largest_prime;
        if count == 2 {
            factors[0] = rest;
        } else {
            let divisors = SmallDivisors::new(rest, other_primes);
            split(rest, divisors.as_slice(), rest, &mut factors[..count - 1]);
        }
    } else {
        let divisors = SmallDivisors::new(n, primes.as_slice());
        if count == 2 {
            factors[0] = divisors.largest();
            factors[1] = n / factors[0];
        } else {
            split_closely(n, divisors.as_slice(), largest_prime, factors);
        }
    }
    best
}

/// The best `count` factors of 2^`exponent`.
///
/// Their exponents differ by at most 1. Otherwise the smallest would be at most the mean rounded down and the largest
/// at least one more, with one of the two farther away: then the width would be greater than between those two
/// neighbors. If all differ by at most 1, the sum determines the number of larger ones.
fn powers_of_two(exponent: usize, count: usize) -> Factors {
    let mut factors = Factors::new();
    if count == 0 {
        return factors;
    }
    let (each, larger) = (exponent / count, exponent % count);
    // Factors with exponent 0 are 1, and are omitted.
    let smaller = if each == 0 { 0 } else { count - larger };
    for place in 0..smaller + larger {
        factors.push(if place < smaller { 1 << each } else { 2 << each });
    }
    factors
}

/// The prime factors of `n`.
fn prime_factors(n: u32) -> Factors {
    let mut factors = Factors::new();
    for _ in 0..n.trailing_zeros() {
        factors.push(2);
    }
    let mut rest = n >> n.trailing_zeros();
    for prime in PRIMES[1..].iter().map(|&prime| u32::from(prime)) {
        if prime * prime > rest {
            break;
        }
        while rest.is_multiple_of(prime) {
            factors.push(prime);
            rest /= prime;
        }
    }
    if rest > 1 {
        factors.push(rest);
    }
    factors
}

/// The divisors of a number up to its square root.
struct SmallDivisors {
    divisors: [u16; MAX_SMALL_DIVISORS],
    len: usize,
}

impl SmallDivisors {
    /// The divisors of `n`, whose prime factors are `primes` in ascending order.
    fn new(n: u32, primes: &[u32]) -> Self {
        let root = n.isqrt();
        let mut divisors = [1; MAX_SMALL_DIVISORS];
        let mut len = 1;
        let mut start = 0;
        let mut previous = 1;
        for &prime in primes {
            // A repeated prime multiplies only what its last occurrence has added.
            if prime != previous {
                start = 0;
                previous = prime;
            }
            let end = len;
            for i in start..end {
                let divisor = prime * u32::from(divisors[i]);
                if divisor <= root {
                    divisors[len] = divisor as u16;
                    len += 1;
                }
            }
            start = end;
        }
        divisors[..len].sort_unstable();
        Self { divisors, len }
    }

    /// The factors above 1, ascending.
    fn as_slice(&self) -> &[u16] {
        &self.divisors[1..self.len]
    }

    fn largest(&self) -> u32 {
        self.divisors[self.len - 1].into()
    }
}

/// Splits `n` into three or more factors by the rule of [`dims_create`].
///
/// `divisors` are those from 2 up to the square root, and `largest_prime` is among them. No larger
/// divisor is needed: it would be composite, and moving its smallest prime to the smallest of the
/// other factors would bring these two closer, between their old values.
fn split_closely(n: u32, divisors: &[u16], largest_prime: u32, factors: &mut [u32]) {
    let count = factors.len();
    let mut width = n;
    let mut middle = [1; MAX_PRIME_FACTORS];
    let middle = &mut middle[..count - 2];

    // The smallest factor decreases from the root, and the least possible largest one increases.
    let roots = count_roots(divisors, count, n);
    let mut first = divisors.partition_point(|&divisor| u32::from(divisor) < largest_prime);
    for low in (0..roots).rev() {
        count_step();
        let smallest = u32::from(divisors[low]);
        let rest = n / smallest;
        // An equal width would be no better, as this smallest factor is smaller.
        let limit = smallest + width - 1;
        if limit < largest_prime || !power_reaches(limit, count - 1, rest) {
            break;
        }
        first = first.max(low);
        while first < divisors.len() && !power_reaches(divisors[first].into(), count - 1, rest) {
            first += 1;
        }
        for high in first..divisors.len() {
            let largest = u32::from(divisors[high]);
            if largest > limit {
                break;
            }
            count_step();
            if rest.is_multiple_of(largest)
                && split(rest / largest, &divisors[low..=high], largest, middle)
            {
                factors[0] = smallest;
                factors[1..count - 1].copy_from_slice(middle);
                factors[count - 1] = largest;
                width = largest - smallest;
                break;
            }
        }
    }
}

/// Splits `n` into factors from the first of `divisors` up to `largest`, with the smallest as
/// large as possible, then the next smallest, and so on. False if there is no such split.
///
/// `divisors` holds every candidate for all factors but the largest, ascending.
fn split(n: u32, divisors: &[u16], largest: u32, factors: &mut [u32]) -> bool {
    let (first, others) = factors.split_first_mut().expect("one factor at least");
    if others.is_empty() {
        *first = n;
        return u32::from(divisors[0]) <= n && n <= largest;
    }
    for low in (0..count_roots(divisors, others.len() + 1, n)).rev() {
        count_step();
        let smallest = u32::from(divisors[low]);
        if !n.is_multiple_of(smallest) {
            continue;
        }
        let rest = n / smallest;
        if !power_reaches(largest, others.len(), rest) {
            break;
        }
        if split(rest, &divisors[low..], largest, others) {
            *first = smallest;
            return true;
        }
    }
    false
}

/// The number of `divisors` whose power is at most `bound`.
fn count_roots(divisors: &[u16], exponent: usize, bound: u32) -> usize {
    divisors.partition_point(|&divisor| !power_exceeds(divisor.into(), exponent, bound))
}

/// True if `base` to the power of `exponent` is at least `bound`, which is positive.
fn power_reaches(base: u32, exponent: usize, bound: u32) -> bool {
    power_exceeds(base, exponent, bound - 1)
}

/// True if `base` to the power of `exponent`, which is positive, is greater than `bound`.
fn power_exceeds(base: u32, exponent: usize, bound: u32) -> bool {
    // Each product is of two `u32`, so it fits.
    let mut power = 1;
    for _ in 0..exponent {
        power *= u64::from(base);
        if power > u64::from(bound) {
            return true;
        }
    }
    false
}

/// The sieve of Eratosthenes, run by the compiler.
const fn primes() -> [u16; PRIME_COUNT] {
    let mut composite = [false; MAX_ROOT + 1];
    let mut primes = [0; PRIME_COUNT];
    let mut count = 0;
    let mut number = 2;
    while number <= MAX_ROOT {
        if !composite[number] {
            primes[count] = number as u16;
            count += 1;
            let mut multiple = number * number;
            while multiple <= MAX_ROOT {
                composite[multiple] = true;
                multiple += number;
            }
        }
        number += 1;
    }
    primes
}

#[cfg(test)]
use tests::count_step;

/// Lets the tests bound the work of a search without a clock.
#[cfg(not(test))]
fn count_step() {}
