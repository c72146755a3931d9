//! A forecast in words.

use std::fmt::Write;

use cartograph_jobs::predict::{Forecast, Prediction};
use cartograph_jobs::replay::Link;

use super::show::amount;

/// The number of candidates that are listed.
const MOST_SHOWN: usize = 8;

/// A table of the candidates, the best first.
pub(crate) fn table(forecast: &Forecast) -> String {
    let Link { latency, bandwidth } = forecast.link();
    let what = if forecast.cut { "the recorded steps" } else { "the recorded run" };
    let mut text = format!(
        "\npredicted time of {what} with {:.1} us and {} between nodes ({}):\n{:32}{:>11}{:>12}{:>14}\n",
        latency * 1e6,
        bits(bandwidth),
        forecast.origin,
        "",
        "seconds",
        "gain",
        format!("{}, worst", forecast.unit)
    );
    let now = forecast.all[0].seconds;
    let mut rows: Vec<&Prediction> = forecast.all[1..].iter().collect();
    rows.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    for Prediction { order, seconds, busiest, .. } in
        std::iter::once(&forecast.all[0]).chain(rows.into_iter().take(MOST_SHOWN))
    {
        let gain = now / seconds.max(1e-12);
        let busiest = amount(*busiest, forecast.unit);
        let _ = writeln!(text, "{order:31} {seconds:>11.6}{gain:>12.2}{busiest:>14}");
    }
    text
}

fn bits(bandwidth: f64) -> String {
    match bandwidth * 8.0 {
        bits if bits < 1e9 => format!("{:.0} Mbit/s", bits / 1e6),
        bits => format!("{:.0} Gbit/s", bits / 1e9),
    }
}
