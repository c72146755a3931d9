use super::*;
use std::cell::Cell;

thread_local! {
    /// The steps that searches on this thread have taken.
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

pub(super) fn count_step() {
    STEPS.set(STEPS.get() + 1);
}

/// `dims` as [`dims_create`] leaves them.
fn created(nnodes: i32, dims: &[i32]) -> Vec<i32> {
    let mut dims = dims.to_vec();
    dims_create(nnodes, &mut dims).expect("the arguments are valid");
    dims
}

#[track_caller]
fn assert_created(nnodes: i32, dims: &[i32], expected: &[i32]) {
    assert_eq!(created(nnodes, dims), expected, "nnodes {nnodes}, dims {dims:?}");
}

/// Checks the error, and that `dims` have not changed.
#[track_caller]
fn assert_refused(nnodes: i32, dims: &[i32], expected: Error) {
    let mut changed = dims.to_vec();
    assert_eq!(dims_create(nnodes, &mut changed), Err(expected), "nnodes {nnodes}, dims {dims:?}");
    assert_eq!(changed, dims, "nnodes {nnodes}");
}

#[test]
fn examples_of_the_standard_hold() {
    assert_created(6, &[0, 0], &[3, 2]);
    assert_created(7, &[0, 0], &[7, 1]);
    assert_created(6, &[0, 3, 0], &[2, 3, 1]);
    assert_refused(7, &[0, 3, 0], Error::NotAMultiple { nnodes: 7, product: 3 });
}

#[test]
fn factors_are_as_close_as_possible() {
    assert_created(16, &[0; 2], &[4, 4]);
    assert_created(72, &[0; 2], &[9, 8]);
    assert_created(360, &[0; 3], &[10, 6, 6]);
    assert_created(4620, &[0; 3], &[22, 15, 14]);
    assert_created(1_017_072, &[0; 4], &[1009, 14, 9, 8]);
    // The largest prime is the largest factor that is left to try, and closer than 39, 37, 32, 27.
    assert_created(1_246_752, &[0; 4], &[37, 36, 36, 26]);
}

#[test]
fn the_largest_numbers_are_factored() {
    assert_created(i32::MAX, &[0], &[i32::MAX]);
    assert_created(i32::MAX, &[0; 3], &[i32::MAX, 1, 1]);
    // The two largest primes whose squares fit an `i32`.
    assert_created(46337 * 46337, &[0; 3], &[46337, 46337, 1]);
    assert_created(46337 * 46327, &[0; 2], &[46337, 46327]);
    assert_created(46340 * 46340, &[0; 2], &[46340, 46340]);
    assert_created(46340 * 46339, &[0; 2], &[46340, 46339]);
    assert_created(1 << 30, &[0; 30], &[2; 30]);
    assert_created(1 << 30, &[0; 4], &[256, 256, 128, 128]);
    assert_created(2_095_133_040, &[0; 3], &[1292, 1287, 1260]);
}

#[test]
fn places_beyond_the_prime_factors_are_one() {
    assert_created(1, &[0; 4], &[1; 4]);
    assert_created(12, &[0; 5], &[3, 2, 2, 1, 1]);
    let mut expected = [1; 100];
    expected[..30].fill(2);
    assert_created(1 << 30, &[0; 100], &expected);
}

#[test]
fn fixed_entries_are_kept() {
    assert_created(24, &[0, 2, 0, 1], &[4, 2, 3, 1]);
    assert_created(24, &[4, 0, 6], &[4, 1, 6]);
    assert_created(24, &[4, 6], &[4, 6]);
    assert_created(30, &[5, 0, 0], &[5, 3, 2]);
    assert_created(i32::MAX, &[0, i32::MAX, 0], &[1, i32::MAX, 1]);
    assert_created(1, &[], &[]);
}

#[test]
fn faults_leave_dims_unchanged() {
    assert_refused(0, &[0, 0], Error::NnodesNotPositive { nnodes: 0 });
    assert_refused(-6, &[0, 3], Error::NnodesNotPositive { nnodes: -6 });
    assert_refused(6, &[0, 3, -2], Error::NegativeDim { dimension: 2, value: -2 });
    assert_refused(6, &[4, i32::MIN], Error::NegativeDim { dimension: 1, value: i32::MIN });
    assert_refused(6, &[0, 4], Error::NotAMultiple { nnodes: 6, product: 4 });
    assert_refused(6, &[0, 12], Error::NotAMultiple { nnodes: 6, product: 12 });
    assert_refused(6, &[2, 2], Error::DimsProduct { nnodes: 6, product: 4 });
    assert_refused(6, &[1, 2], Error::DimsProduct { nnodes: 6, product: 2 });
    assert_refused(2, &[], Error::DimsProduct { nnodes: 2, product: 1 });
}

#[test]
fn product_of_fixed_entries_saturates() {
    let dims = [i32::MAX; 4];
    assert_refused(6, &dims, Error::DimsProduct { nnodes: 6, product: i64::MAX });
    let dims = [i32::MAX, 0, i32::MAX, i32::MAX];
    assert_refused(6, &dims, Error::NotAMultiple { nnodes: 6, product: i64::MAX });
}

#[test]
fn results_equal_those_of_trying_every_factorization() {
    for nnodes in 1..=20_000 {
        let divisors = divisors(nnodes);
        for ndims in 1..=6 {
            let mut best = Vec::new();
            try_all(nnodes, ndims, &divisors, &mut Vec::new(), &mut best);
            best.reverse();
            assert_created(nnodes, &vec![0; ndims], &best);
        }
    }
}

/// The divisors of `n`, ascending.
fn divisors(n: i32) -> Vec<i32> {
    let small: Vec<_> = (1..=n.isqrt()).filter(|divisor| n % divisor == 0).collect();
    let mut all = small.clone();
    all.extend(small.iter().rev().map(|divisor| n / divisor).filter(|&d| d > n.isqrt()));
    all
}

/// Puts into `best` the best ascending tuple that starts with `chosen` and continues with `count`
/// factors of `n`.
fn try_all(n: i32, count: usize, divisors: &[i32], chosen: &mut Vec<i32>, best: &mut Vec<i32>) {
    let low = chosen.last().copied().unwrap_or(1);
    if count == 1 {
        if n >= low {
            chosen.push(n);
            if best.is_empty() || better(chosen, best) {
                best.clone_from(chosen);
            }
            chosen.pop();
        }
        return;
    }
    for &divisor in divisors.iter().filter(|&&divisor| divisor >= low && n % divisor == 0) {
        chosen.push(divisor);
        try_all(n / divisor, count - 1, divisors, chosen, best);
        chosen.pop();
    }
}

/// The rule, word for word, on ascending tuples.
fn better(one: &[i32], other: &[i32]) -> bool {
    let width = |tuple: &[i32]| tuple[tuple.len() - 1] - tuple[0];
    width(one) < width(other) || width(one) == width(other) && one > other
}

#[test]
fn powers_of_two_equal_the_result_of_the_search() {
    for exponent in 0..=30 {
        for count in 2..=32 {
            let found = search(1 << exponent, count);
            let direct = powers_of_two(exponent, count);
            assert_eq!(direct.as_slice(), found.as_slice(), "2^{exponent}, {count} factors");
        }
    }
    assert!(powers_of_two(0, 0).as_slice().is_empty());
}

#[test]
fn results_equal_tables_of_products() {
    let cases: [(i32, &[usize]); 10] = [
        (720_720, &[2, 3, 4, 5, 6, 7, 8, 9]),
        (1 << 30, &[7, 11, 16, 23, 29]),
        // 3^19 and 2^20 3^6.
        (1_162_261_467, &[2, 3, 5, 7, 13, 18]),
        (764_411_904, &[2, 3, 4, 5, 6, 7, 8, 10, 13, 17, 21, 25]),
        // A large prime below the square root, once and squared: 2^4 3^2 5 7 11 * 3001, 2^7 * 4093^2.
        (166_375_440, &[2, 3, 4, 5, 6, 8]),
        (2_144_339_072, &[2, 3, 4, 5, 6, 7, 8]),
        (1_102_701_600, &[2, 3, 4, 5]),
        // The most divisors, and long searches.
        (2_095_133_040, &[3, 4, 13]),
        (1_889_727_840, &[12]),
        (2_083_745_352, &[5]),
    ];
    for (nnodes, counts) in cases {
        for &ndims in counts {
            let mut expected = ProductTables::new(nnodes).best(ndims);
            expected.reverse();
            assert_created(nnodes, &vec![0; ndims], &expected);
        }
    }
}

/// A slow exact solver that shares no idea with the search: it asks which products can be made of
/// the divisors in a window, however many ways there are.
struct ProductTables {
    n: i32,
    divisors: Vec<i32>,
    /// For each divisor, the places of its multiples, ascending, and of these divided by it.
    multiples: Vec<Vec<(usize, usize)>>,
}

impl ProductTables {
    fn new(n: i32) -> Self {
        let divisors = divisors(n);
        let place = |divisor: i32| divisors.binary_search(&divisor).expect("it is a divisor");
        let of = |factor: &i32| {
            let multiples =
                divisors.iter().enumerate().filter(|(_, divisor)| *divisor % factor == 0);
            multiples.map(|(target, divisor)| (target, place(divisor / factor))).collect()
        };
        let multiples = divisors.iter().map(of).collect();
        Self { n, divisors, multiples }
    }

    /// Returns whether `n` is a product of `count` divisors from `low` to `high`.
    fn possible(&self, n: i32, count: usize, low: i32, high: i32) -> bool {
        // Bit c of entry i: the divisor i is a product of c numbers of the window.
        let mut counts = vec![0_u64; self.divisors.len()];
        counts[0] = 1;
        let targets = self.divisors.partition_point(|&divisor| divisor <= n);
        let power = |base: i32| f64::from(base).powi(count as i32);
        if power(low) > 1.000_001 * f64::from(n) || power(high) * 1.000_001 < f64::from(n) {
            return false;
        }
        let of_window = self.divisors.iter().zip(&self.multiples);
        for (factor, multiples) in of_window.filter(|(divisor, _)| (low..=high).contains(*divisor))
        {
            if *factor == 1 {
                // Any number of ones changes no product.
                counts[0] = u64::MAX;
                continue;
            }
            for (target, rest) in multiples.iter().take_while(|(target, _)| *target < targets) {
                counts[*target] |= counts[*rest] << 1;
            }
        }
        let target = self.divisors.binary_search(&n).expect("it is a divisor");
        counts[target] >> count & 1 == 1
    }

    /// The best `count` factors, ascending.
    fn best(&self, count: usize) -> Vec<i32> {
        // The narrowest window; of several, the one with the largest numbers.
        let root = f64::from(self.n).powf((count as f64).recip()) * 1.000_001;
        let (mut smallest, mut width) = (1, self.n);
        for (i, &low) in self.divisors.iter().enumerate().rev() {
            if f64::from(low) > root {
                continue;
            }
            // The more of these upper ends a window includes, the more products are possible.
            let narrower = self.divisors.partition_point(|&divisor| divisor - low < width);
            let highs = &self.divisors[i..narrower];
            let least = highs.partition_point(|&high| !self.possible(self.n, count, low, high));
            if let Some(high) = highs.get(least) {
                (smallest, width) = (low, high - low);
            }
        }

        let mut factors = vec![smallest];
        let mut rest = self.n / smallest;
        let high = smallest + width;
        for left in (1..count).rev() {
            let fits = |&&factor: &&i32| {
                factor <= high
                    && rest % factor == 0
                    && self.possible(rest / factor, left - 1, factor, high)
            };
            let factor = *self.divisors.iter().rev().find(fits).expect("the window is possible");
            factors.push(factor);
            rest /= factor;
        }
        factors
    }
}

#[test]
fn work_is_bounded() {
    let mut numbers = Vec::new();
    push_smooth(1, 30, &[2, 3, 5, 7, 11, 13, 17, 19, 23], &mut numbers);
    assert!(numbers.contains(&(1 << 30)) && numbers.contains(&1_102_701_600));
    // The most divisors, the longest searches that were found among all numbers of 512 or more
    // divisors, and large primes.
    numbers.extend([2_095_133_040, 1_889_727_840, 2_083_745_352, 2_002_684_320, 1_535_798_880]);
    numbers.extend([i32::MAX, 46337 * 46337, 46337 * 46327, 2 * 32749 * 32749]);
    for nnodes in numbers {
        for ndims in 2..=31 {
            STEPS.set(0);
            let product: i64 =
                created(nnodes, &vec![0; ndims]).into_iter().map(i64::from).product();
            assert_eq!(product, i64::from(nnodes));
            // A step is about 20 ns.
            assert!(STEPS.get() < 10_000, "{} steps for {nnodes}, {ndims}-D", STEPS.get());
        }
    }
}

/// Pushes each product of `n` and powers of `primes` whose exponents do not increase: among them
/// is every number with more divisors than all smaller ones.
fn push_smooth(n: i32, max_exponent: usize, primes: &[i32], numbers: &mut Vec<i32>) {
    numbers.push(n);
    let Some((&prime, others)) = primes.split_first() else { return };
    let mut product = n;
    for exponent in 1..=max_exponent {
        let Some(next) = product.checked_mul(prime) else { return };
        product = next;
        push_smooth(product, exponent, others, numbers);
    }
}
