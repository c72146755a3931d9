//! The kinds of histories.

use super::program::{Chance, Digests, Other, Program, Shape, Turns};

/// The measured gain and noise of a program: its speed as tuned relative to the default order, and the standard
/// deviation of the logarithm of a run's time.
pub type Measured = (f64, f64);

/// A kind of histories: its name, and how its programs are derived from measured ones.
pub type Kind = (&'static str, fn(&mut Chance, Measured) -> Program);

/// All kinds.
pub const KINDS: [Kind; 31] = [
    ("as measured", |chance, measured| program(chance, measured)),
    ("no effect", |chance, (_, noise)| no_effect(chance, noise)),
    ("no effect, drift", |chance, (_, noise)| {
        let program = no_effect(chance, noise);
        let drift = chance.between(-0.02, 0.02);
        let step = Some(((chance.part() * 40.0) as usize, chance.between(0.7, 1.4)));
        Program { drift, step, ..program }
    }),
    ("no effect, bimodal nodes", |chance, (_, noise)| {
        let program = no_effect(chance, noise);
        let slow = Some((chance.between(0.05, 0.3), chance.between(1.1, 1.5)));
        Program { slow, ..program }
    }),
    ("wrong prediction", |chance, (_, noise)| slower(chance, noise)),
    ("the second is right", |chance, measured| {
        let mut program = program(chance, measured);
        program.speeds[2] = program.speeds[1];
        program.speeds[1] = chance.between(0.8, 1.0);
        program
    }),
    ("drift", |chance, measured| Program {
        drift: chance.between(-0.02, 0.02),
        step: Some(((chance.part() * 40.0) as usize, chance.between(0.7, 1.4))),
        ..program(chance, measured)
    }),
    ("bimodal nodes", |chance, measured| Program {
        slow: Some((chance.between(0.05, 0.3), chance.between(1.1, 1.5))),
        ..program(chance, measured)
    }),
    ("inputs that change", |chance, measured| Program {
        inputs: vec![1.0, 2.0, 5.0],
        ..program(chance, measured)
    }),
    ("nodes that change", |chance, measured| Program {
        shapes: alike(chance, 0.2, 1.2),
        ..program(chance, measured)
    }),
    ("proven elsewhere, slow here", |chance, measured| {
        let mut shapes = alike(chance, 0.5, 1.1);
        shapes[0].speed = Some(chance.between(0.75, 0.97));
        Program { shapes, ..program(chance, measured) }
    }),
    ("another user's entry", |chance, measured| Program {
        others: 20,
        ..program(chance, measured)
    }),
    ("another user's entry, slow here", |chance, measured| Program {
        others: 20,
        change: Some((20, chance.between(0.75, 0.97))),
        ..program(chance, measured)
    }),
    ("nodes that never repeat", |chance, measured| Program {
        shapes: different(chance),
        is_renewed: true,
        ..program(chance, measured)
    }),
    ("no effect, nodes that never repeat", |chance, (_, noise)| {
        let program = no_effect(chance, noise);
        Program { shapes: different(chance), is_renewed: true, ..program }
    }),
    ("wrong prediction, nodes that never repeat", |chance, (_, noise)| {
        let program = slower(chance, noise);
        Program { shapes: different(chance), is_renewed: true, ..program }
    }),
    ("two inputs", |chance, measured| two_inputs(chance, measured, Digests::Known)),
    ("two inputs, unknown", |chance, measured| two_inputs(chance, measured, Digests::Unknown)),
    ("two inputs, not told apart", |chance, measured| {
        two_inputs(chance, measured, Digests::Ambiguous)
    }),
    ("slow first job", |chance, measured| {
        let first = Some(chance.one_of(&[1.5, 2.0, 3.0]));
        Program { first, ..program(chance, measured) }
    }),
    ("slow first job, wrong prediction", |chance, (_, noise)| {
        let first = Some(chance.one_of(&[1.5, 2.0, 3.0]));
        Program { first, ..slower(chance, noise) }
    }),
    ("gain becomes loss", |chance, (_, noise)| Program {
        change: Some((10, 0.7)),
        step: Some((10, chance.between(0.7, 1.4))),
        ..program(chance, (2.0, noise))
    }),
    ("slow nodes in 30 % of jobs", |chance, measured| Program {
        slow: Some((0.3, chance.between(1.1, 2.0))),
        ..any(chance, measured)
    }),
    ("one job in 20 takes ten times", |chance, measured| Program {
        slow: Some((0.05, 10.0)),
        ..any(chance, measured)
    }),
    ("noise of 20 %", |chance, (speed, _)| any(chance, (speed, 0.2))),
    ("times of 1 and 3 in turn", |chance, measured| Program {
        rhythm: vec![1.0, 3.0],
        ..any(chance, measured)
    }),
    ("a new build every third job", |chance, measured| Program {
        builds: 3,
        ..program(chance, measured)
    }),
    ("numbers of processes that change", |chance, measured| Program {
        shapes: alike(chance, 0.2, 1.2),
        is_sized: true,
        ..program(chance, measured)
    }),
    ("numbers of processes, slow with one", |chance, measured| {
        let mut shapes = alike(chance, 0.5, 1.1);
        shapes[0].speed = Some(chance.between(0.65, 0.97));
        Program { shapes, is_sized: true, ..program(chance, measured) }
    }),
    ("numbers of processes, wrong prediction", |chance, (_, noise)| Program {
        shapes: alike(chance, 0.5, 1.1),
        is_sized: true,
        ..slower(chance, noise)
    }),
    ("two programs of one name", |chance, measured| {
        two_inputs(chance, measured, Digests::OfPrograms)
    }),
];

/// A program as measured, or one that all placements make slower.
fn any(chance: &mut Chance, measured: Measured) -> Program {
    match chance.part() < 0.5 {
        true => program(chance, measured),
        false => slower(chance, measured.1),
    }
}

/// A program with two inputs, one of which runs slower in all placements.
fn two_inputs(chance: &mut Chance, (_, noise): Measured, digests: Digests) -> Program {
    let (speed, slower) = chance.one_of(&[(1.5, 0.8), (1.2, 0.85), (17.0, 0.8)]);
    let other = Other {
        speed: chance.one_of(&[slower, 1.3]),
        across: slower,
        bytes: chance.one_of(&[1.0, 1.5]),
        turns: chance.one_of(&[Turns::Second, Turns::Ten, Turns::Tenth]),
        digests,
    };
    let mut found = program(chance, (speed, noise));
    found.speeds = vec![1.0, speed, speed];
    Program { other: Some(other), ..found }
}

/// A program that no placement affects.
fn no_effect(chance: &mut Chance, noise: f64) -> Program {
    let predicted = vec![1.0, chance.between(1.03, 1.6), chance.between(1.03, 1.6)];
    Program { speeds: vec![1.0; 3], predicted, noise, ..Program::default() }
}

/// A program that all placements make slower.
fn slower(chance: &mut Chance, noise: f64) -> Program {
    let speeds = vec![1.0, chance.between(0.65, 0.97), chance.between(0.65, 0.97)];
    Program { speeds, ..no_effect(chance, noise) }
}

/// Four shapes, each of which realizes a fraction of the gain.
fn alike(chance: &mut Chance, least: f64, most: f64) -> Vec<Shape> {
    let shape = |part| Shape { part, speed: None, predicted: 1.0, factor: 1.0 };
    (0..4).map(|_| shape(chance.between(least, most))).collect()
}

/// Shapes with different times. Some are predicted to gain more: the slower ones, or the faster ones.
fn different(chance: &mut Chance) -> Vec<Shape> {
    /// The most jobs.
    const COUNT: usize = 60;
    let (spread, slant) = (chance.between(0.0, 0.2), chance.between(-1.0, 1.0));
    let shape = |_| {
        let slower = chance.normal();
        Shape {
            part: chance.between(0.2, 1.2),
            speed: None,
            predicted: (chance.between(0.5, 1.2) + 0.3 * slant * slower).max(0.1),
            factor: (spread * slower).exp(),
        }
    };
    (0..COUNT).map(shape).collect()
}

/// A program as measured, with a prediction that is too high and a second arm that realizes a fraction of the gain.
fn program(chance: &mut Chance, (speed, noise): Measured) -> Program {
    let gain = speed.ln();
    let predicted = |chance: &mut Chance, gain: f64| {
        (gain / chance.between(0.4, 1.0) + 0.08 * chance.normal()).max(0.03).exp()
    };
    let second = gain * chance.between(0.2, 1.0) - 0.02;
    let mut arms = [(predicted(chance, gain), speed), (predicted(chance, second), second.exp())];
    arms.sort_by(|one, other| other.0.total_cmp(&one.0));
    Program {
        speeds: vec![1.0, arms[0].1, arms[1].1],
        predicted: vec![1.0, arms[0].0, arms[1].0],
        noise,
        ..Program::default()
    }
}
