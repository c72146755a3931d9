#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cartograph_jobs::fuzz::hosts(data));
