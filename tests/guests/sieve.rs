// Primes by a sieve, in Rust: a module of another toolchain, linked without our runtime.
use std::collections::BTreeMap;

fn main() {
    let limit: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2_000_000);
    let mut composite = vec![false; limit + 1];
    let mut gaps: BTreeMap<usize, u32> = BTreeMap::new();
    let mut last = 2;
    for n in 2..=limit {
        if composite[n] {
            continue;
        }
        *gaps.entry(n - last).or_insert(0) += 1;
        last = n;
        if n <= limit / n {
            for multiple in (n * n..=limit).step_by(n) {
                composite[multiple] = true;
            }
        }
    }
    for (gap, count) in &gaps {
        println!("gap {:3} occurs {:6} times", gap, count);
    }
}
