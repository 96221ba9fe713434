//! Tables and lists of a page.

use std::fmt::Display;

/// A table. The first column is of words, the others are of numbers unless they are said to be of words too.
#[derive(Debug)]
pub(crate) struct Table {
    text: String,
}

impl Table {
    /// A table with these columns. One that begins with `<` is of words.
    pub(crate) fn new(columns: &[&str]) -> Self {
        let names = columns.iter().map(|name| name.trim_start_matches('<'));
        let mut table = Self { text: row(names) };
        let side = |(at, name): (usize, &&str)| {
            if at == 0 || name.starts_with('<') { "---" } else { "--:" }
        };
        table.text += &row(columns.iter().enumerate().map(side));
        table
    }

    /// One more row.
    pub(crate) fn row(&mut self, cells: &[&dyn Display]) {
        self.text += &row(cells);
    }

    /// The table, and an empty line.
    pub(crate) fn end(self) -> String {
        self.text + "\n"
    }
}

fn row(cells: impl IntoIterator<Item = impl Display>) -> String {
    let cells: Vec<_> =
        cells.into_iter().map(|cell| cell.to_string().replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Words with commas between them; a dash where there are none.
pub(crate) fn list<T: Display>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<_> = words.into_iter().map(|word| word.to_string()).collect();
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}

/// Each word once, in order.
pub(crate) fn set<T: Display + Ord>(words: impl IntoIterator<Item = T>) -> String {
    list(words.into_iter().collect::<std::collections::BTreeSet<_>>())
}

/// A name in the font of names.
pub(crate) fn code(name: impl Display) -> String {
    format!("`{name}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_left_and_numbers_right() {
        let mut table = Table::new(&["rule", "finds", "<where"]);
        table.row(&[&"a|b", &3, &list::<&str>([])]);
        assert_eq!(
            table.end(),
            "| rule | finds | where |\n| --- | --: | --- |\n| a\\|b | 3 | - |\n\n"
        );
    }
}
