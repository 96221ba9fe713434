use crate::{counts::Allocations, sampling::Timing};

/// All that was measured.
#[derive(Default)]
pub(crate) struct Results {
    rows: Vec<Row>,
}

/// One case: times in nanoseconds, and what one round of it allocates.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) size: usize,
    pub(crate) best: f64,
    pub(crate) median: f64,
    pub(crate) allocations: u64,
    pub(crate) bytes: u64,
}

impl Results {
    pub(crate) fn add(&mut self, timings: Vec<Timing>, counts: &Allocations) {
        self.rows.extend(timings.into_iter().map(|timing| {
            let Timing { name, size, best, median } = timing;
            let key = (name, size);
            let (allocations, bytes) = counts[&key];
            Row { name: key.0, size, best, median, allocations, bytes }
        }));
    }

    /// The row of a case, if it was measured at that size.
    pub(crate) fn find(&self, name: &str, size: usize) -> Option<&Row> {
        self.rows.iter().find(|row| row.size == size && row.name == name)
    }

    /// The row of a case.
    ///
    /// # Panics
    /// When there is none: names are written once, with the cases.
    pub(crate) fn get(&self, name: &str, size: usize) -> &Row {
        let row = self.find(name, size);
        row.unwrap_or_else(|| panic!("`{name}` was not measured at {size} B"))
    }

    /// All rows of a size, in the order in which they were measured.
    pub(crate) fn of_size(&self, size: usize) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.size == size)
    }
}
