//! The settings of the program and the user for one call of a constructor.

use super::info::of_info;
use super::settings::Settings;
use super::sys::MPI_Info;
use crate::engine::arguments::Function;
use crate::engine::decision::CallSettings;
use crate::mapping::Objective;
use crate::settings::LEVEL_WEIGHTS;

/// The settings for a constructor without an info object.
pub(crate) fn call_settings(function: Function) -> CallSettings {
    let settings = Settings::get();
    settings.complain_in_world();
    settings.call_settings(function)
}

/// The settings for a constructor with an info object, where four keys are ours: `cartograph_reorder` is `true` or
/// `false`, `cartograph_objective` a name in [`Objective::NAMED`], `cartograph_reorder_seconds` a number,
/// `cartograph_level_weights` as in `CARTOGRAPH_LEVEL_WEIGHTS`. Other keys, and other values, are ignored, as the
/// standard requires.
pub(crate) fn call_settings_with_info(function: Function, info: MPI_Info) -> CallSettings {
    let mut settings = call_settings(function);
    settings.info = match of_info(info, c"cartograph_reorder").as_deref() {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    let options = &mut settings.options;
    let objective = of_info(info, c"cartograph_objective");
    if let Some(objective) = objective.and_then(|name| Objective::named(&name)) {
        options.objective = objective;
    }
    let distances = of_info(info, c"cartograph_level_weights");
    if let Some(distances) = distances.and_then(|text| LEVEL_WEIGHTS.parse(&text).ok()) {
        options.distances = distances;
    }
    let seconds = of_info(info, c"cartograph_reorder_seconds");
    let seconds = seconds.and_then(|text| text.trim().parse::<f64>().ok());
    options.seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    settings
}
