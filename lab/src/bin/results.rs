//! `make lab-results`: inserts the tables of `lab/results` into the pages that show them.

use std::{fs, io};

use cartograph_lab::pages;

fn main() -> io::Result<()> {
    pages::all()?.iter().try_for_each(|page| fs::write(page, pages::filled(page)?))
}
