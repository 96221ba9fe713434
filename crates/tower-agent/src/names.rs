//! Which names a policy means.

use std::{collections::HashSet, error::Error as StdError, fmt};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// A set of names: exact ones and globs.
///
/// A name with none of the characters `*`, `?`, `[` and `{` is exact: byte for byte and case-sensitive, found by hash.
/// Anything else is a glob over the whole name: `*` is any text, `?` one character, `[ab]` one of several and
/// `{a,b}` one of several texts. A look-up allocates nothing.
///
/// ```
/// use tower_agent::Names;
///
/// let names = Names::new(["read_file", "github.*"])?;
/// assert!(names.contains("read_file") && names.contains("github.list_issues"));
/// assert!(!names.contains("Read_File") && !names.contains("read_file "));
///
/// let error = Names::new(["read_[file"]).unwrap_err();
/// assert_eq!(error.pattern(), "read_[file");
/// # Ok::<(), tower_agent::NamesError>(())
/// ```
#[derive(Clone, Default)]
pub struct Names {
    exact: HashSet<Box<str>>,
    globs: GlobSet,
    patterns: Vec<Box<str>>,
}

/// A name pattern that is no glob.
#[derive(Clone, Debug)]
pub struct NamesError {
    pattern: Box<str>,
    source: globset::Error,
}

impl Names {
    /// Exact names and globs.
    ///
    /// # Errors
    /// When a glob is malformed; the error names it.
    pub fn new<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Result<Self, NamesError> {
        let mut set = Self::default();
        let mut globs = GlobSetBuilder::new();
        for name in names {
            let name = name.as_ref();
            if is_exact(name) {
                set.exact.insert(name.into());
            } else {
                globs.add(glob(name)?);
                set.patterns.push(name.into());
            }
        }
        set.globs = globs.build().map_err(|error| set.too_big(error))?;
        Ok(set)
    }

    /// Exact names only, whatever characters they have.
    pub fn exact<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Self {
        let exact = names.into_iter().map(|name| name.as_ref().into()).collect();
        Self { exact, ..Self::default() }
    }

    /// Whether the name is one of these.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.exact.contains(name) || (!self.patterns.is_empty() && self.globs.is_match(name))
    }

    /// Whether there are no names, so that nothing is contained.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.patterns.is_empty()
    }

    fn too_big(&self, source: globset::Error) -> NamesError {
        NamesError { pattern: self.patterns.join(", ").into(), source }
    }
}

fn is_exact(name: &str) -> bool {
    !name.contains(['*', '?', '[', '{'])
}

fn glob(pattern: &str) -> Result<globset::Glob, NamesError> {
    GlobBuilder::new(pattern)
        .literal_separator(false)
        .build()
        .map_err(|source| NamesError { pattern: pattern.into(), source })
}

impl NamesError {
    /// The pattern as it was given.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }
}

impl fmt::Display for NamesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no glob for names: {}", self.pattern, self.source.kind())
    }
}

impl StdError for NamesError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.source)
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> = self.exact.iter().chain(&self.patterns).collect();
        names.sort_unstable();
        f.debug_set().entries(names).finish()
    }
}
