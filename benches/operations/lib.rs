//! There is nothing here: the package is for `operations.rs` alone.
