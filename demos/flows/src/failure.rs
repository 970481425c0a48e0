//! Reasons to end the run early, with their exit statuses.

use std::fmt;

/// Why the run ended early, in one line for standard error.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    /// The filter broke a guarantee.
    Broken(String),
    /// An input or an option is unusable.
    Unusable(String),
}

impl Failure {
    pub fn broken(line: impl Into<String>) -> Self {
        Self::Broken(line.into())
    }

    pub fn unusable(line: impl Into<String>) -> Self {
        Self::Unusable(line.into())
    }

    /// The exit status of the program.
    pub fn status(&self) -> u8 {
        match self {
            Self::Broken(_) => 1,
            Self::Unusable(_) => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Broken(line) | Self::Unusable(line)) = self;
        f.write_str(line)
    }
}
