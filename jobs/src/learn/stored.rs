//! The file of an entry.

use serde::Deserialize;

use super::entry::{Entry, Past, SCHEMA, Unusable};

impl Entry {
    /// The entry as the text of its file.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("all keys are strings") + "\n"
    }

    /// Parses an entry's file.
    ///
    /// # Errors
    ///
    /// Why the file is not used.
    pub fn parse(text: &str) -> Result<Self, Unusable> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let wrong = |error: serde_json::Error| {
            let reason = cartograph_traffic::printable(&error.to_string());
            Unusable::Wrong(format!("is not an entry: {reason}"))
        };
        let Version { schema } = serde_json::from_str(text).map_err(wrong)?;
        if schema != SCHEMA {
            return Err(Unusable::Version(schema));
        }
        let entry: Self = serde_json::from_str(text).map_err(wrong)?;
        let orders = entry.runs.iter().map(|run| &run.order);
        let texts = orders.chain(entry.failed.iter().map(|(order, _)| order)).chain([
            &entry.program,
            &entry.build,
            &entry.mpi,
        ]);
        if { texts }.any(|text| text.contains(char::is_control)) {
            return Err(Unusable::Wrong("has control characters".to_owned()));
        }
        let is_time = |seconds: f64| seconds.is_finite() && seconds > 0.0;
        let is_right = |run: &Past| {
            entry.kind(run.kind).is_some()
                && [run.units, run.seconds, run.predicted].into_iter().all(is_time)
        };
        if !entry.runs.iter().all(is_right) {
            return Err(Unusable::Wrong("has an invalid run".to_owned()));
        }
        Ok(entry)
    }
}
