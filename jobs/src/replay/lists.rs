//! Many short lists in one memory: unmatched messages and receives, most lists being empty at any time.

/// No item.
const END: u32 = u32::MAX;

/// A list in [`Lists`].
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    first: u32,
    last: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { first: END, last: END }
    }
}

/// The memory of lists.
#[derive(Debug)]
pub(super) struct Lists<T> {
    /// Items, each with the next one of its list.
    items: Vec<(T, u32)>,
    /// Items that are in no list.
    free: Vec<u32>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    /// Adds an item at the end of a list.
    pub(super) fn push(&mut self, list: &mut List, item: T) {
        let at = match self.free.pop() {
            Some(at) => {
                self.items[at as usize] = (item, END);
                at
            }
            None => {
                self.items.push((item, END));
                self.items.len() as u32 - 1
            }
        };
        match list.last {
            END => list.first = at,
            last => self.items[last as usize].1 = at,
        }
        list.last = at;
    }

    /// Removes and returns the first item for which this is true.
    pub(super) fn take(&mut self, list: &mut List, is_it: impl Fn(&T) -> bool) -> Option<T> {
        let (mut before, mut at) = (END, list.first);
        while at != END {
            let (item, next) = self.items[at as usize];
            if is_it(&item) {
                match before {
                    END => list.first = next,
                    before => self.items[before as usize].1 = next,
                }
                if list.last == at {
                    list.last = before;
                }
                self.free.push(at);
                return Some(item);
            }
            (before, at) = (at, next);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_leave_lists_in_any_order() {
        let mut lists = Lists::default();
        let [mut one, mut other] = [List::default(); 2];
        for item in 0..4 {
            lists.push(&mut one, item);
            lists.push(&mut other, 10 + item);
        }
        let mut taken = |list: &mut List, wanted: u32| lists.take(list, |item| *item == wanted);
        assert_eq!(taken(&mut one, 3), Some(3));
        assert_eq!(taken(&mut one, 1), Some(1));
        assert_eq!(taken(&mut one, 10), None);
        assert_eq!(taken(&mut one, 0), Some(0));
        lists.push(&mut one, 7);
        let mut first = |list: &mut List| lists.take(list, |_| true);
        assert_eq!([first(&mut one), first(&mut one), first(&mut one)], [Some(2), Some(7), None]);
        assert_eq!([first(&mut other), first(&mut other)], [Some(10), Some(11)]);
        assert_eq!(lists.items.len(), 8);
    }
}
