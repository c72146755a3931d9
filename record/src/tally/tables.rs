//! The processes of communicators and windows, by the numbers of their tables.

use std::ffi::c_int;
use std::sync::Arc;

use rustc_hash::FxHashMap;

/// The number of the table of `MPI_COMM_WORLD`.
pub(super) const WORLD: u32 = 0;

/// The processes of a communicator or window.
#[derive(Default)]
pub(super) struct Table {
    /// The indices of its ranks in `others`; `None` for processes of another world. Only ranks to which the process has
    /// sent.
    pub(super) ranks: FxHashMap<c_int, Option<u32>>,
    pub(super) neighbors: Option<Arc<[c_int]>>,
    /// The weights of all ranks, if an all-to-all needed them.
    pub(super) weights: Option<Arc<[i32]>>,
    /// For collectives of the window, if known.
    pub(super) group: Option<Option<(u64, u32)>>,
}

/// All tables.
pub(super) struct Tables {
    by_number: Vec<Table>,
    by_handle: Option<FxHashMap<usize, u32>>,
    free: Vec<u32>,
}

impl Tables {
    pub(super) const fn new() -> Self {
        Self { by_number: Vec::new(), by_handle: None, free: Vec::new() }
    }

    /// The table with this number.
    pub(super) fn table(&mut self, number: u32) -> &mut Table {
        let number = number as usize;
        if self.by_number.len() <= number {
            self.by_number.resize_with(number + 1, Table::default);
        }
        &mut self.by_number[number]
    }

    /// The index in `others` of a rank that was located before.
    #[inline]
    pub(super) fn find(&self, table: u32, rank: c_int) -> Option<Option<u32>> {
        self.by_number.get(table as usize)?.ranks.get(&rank).copied()
    }

    /// The number of the table of a handle, or of an empty table assigned to it.
    pub(super) fn of(&mut self, handle: usize) -> u32 {
        if let Some(known) = self.by_handle.get_or_insert_default().get(&handle) {
            return *known;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            let number = self.by_number.len().max(WORLD as usize + 1) as u32;
            self.table(number);
            number
        });
        self.by_handle.get_or_insert_default().insert(handle, number);
        number
    }

    /// Empties the table of a handle, for reuse; returns whether there was one.
    pub(super) fn remove(&mut self, handle: usize) -> bool {
        let known = self.by_handle.as_mut().and_then(|known| known.remove(&handle));
        if let Some(number) = known {
            *self.table(number) = Table::default();
            self.free.push(number);
        }
        known.is_some()
    }
}
