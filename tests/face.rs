//! What every public type promises to be, checked by the compiler; and what errors say.

use std::{
    error::Error,
    fmt::Debug,
    hash::{BuildHasher, Hash, Hasher, RandomState},
    panic::{RefUnwindSafe, UnwindSafe},
};

use guira::{
    BuildError, CuckooFilter, DefaultHashBuilder, DefaultHasher, FilterBuilder, GrowingFilter,
    InsertBatchError, InsertError, Layout, Segment, StableHashBuilder, StableHasher,
};

/// Goes from thread to thread, is shared by threads, and by who catches panics. (Filters are in order after a
/// panic, whoever made it.)
fn at_home_anywhere<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + 'static>() {}

/// Fits into any error type there is.
fn an_error<T: Error + Send + Sync + Unpin + 'static>() {}

fn a_value<T: Clone + Eq + Hash>() {}

fn copied<T: Copy>() {}

fn at_home_with<S>()
where
    S: BuildHasher + Debug + Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + 'static,
{
    at_home_anywhere::<CuckooFilter<S>>();
    at_home_anywhere::<GrowingFilter<S>>();
    at_home_anywhere::<FilterBuilder<S>>();
    at_home_anywhere::<S>();
}

#[test]
fn every_type_is_at_home_anywhere() {
    at_home_with::<DefaultHashBuilder>();
    at_home_with::<StableHashBuilder>();
    at_home_with::<RandomState>();
    at_home_anywhere::<(DefaultHasher, StableHasher)>();
    at_home_anywhere::<(Layout, Segment)>();
    at_home_anywhere::<(BuildError, InsertError, InsertBatchError)>();
    #[cfg(feature = "stats")]
    at_home_anywhere::<guira::Stats>();
}

#[test]
fn segments_can_be_walked_anywhere() {
    fn check<T: ExactSizeIterator<Item = Segment> + Send + Sync + Unpin>(segments: &T) -> usize {
        segments.len()
    }
    assert_eq!(check(&GrowingFilter::with_capacity(10).segments()), 1);
}

#[test]
fn errors_are_errors_and_values_are_values() {
    an_error::<BuildError>();
    an_error::<InsertError>();
    an_error::<InsertBatchError>();
    // Not `UnwindSafe`, since an `io::Error` is not.
    #[cfg(feature = "std")]
    an_error::<guira::LoadError>();

    copied::<(BuildError, InsertError, Layout, Segment, StableHashBuilder)>();
    a_value::<(InsertError, InsertBatchError, Layout, Segment, StableHashBuilder)>();
    #[cfg(feature = "stats")]
    {
        fn check<T: Clone + Default + Eq>() {}
        check::<guira::Stats>();
    }
}

#[test]
fn hashers_are_hashers() {
    fn check<S: BuildHasher<Hasher: Hasher + Clone + Debug> + Clone + Default>() {}
    check::<DefaultHashBuilder>();
    check::<StableHashBuilder>();
}

/// Whatever the hasher: it need be neither cloned nor shown to be used, and the filter can be shown.
#[test]
fn a_hasher_of_the_users_own_need_not_be_anything_else() {
    struct Plain;

    impl BuildHasher for Plain {
        type Hasher = StableHasher;

        fn build_hasher(&self) -> StableHasher {
            StableHashBuilder::default().build_hasher()
        }
    }

    let builder = || CuckooFilter::builder().capacity(10).hasher(Plain);
    let filter = builder().build().expect("a small filter");
    assert!(format!("{filter:?}").starts_with("CuckooFilter {"));
    let filter = builder().build_growing().expect("a small filter");
    assert!(format!("{filter:?}").starts_with("GrowingFilter {"));
}

#[test]
fn the_seed_of_the_default_hasher_is_not_shown() {
    let builder = DefaultHashBuilder::with_seed(0x1234_5678_9abc_def0);
    assert_eq!(format!("{builder:?}"), "DefaultHashBuilder { .. }");
    assert_eq!(format!("{:?}", builder.build_hasher()), "DefaultHasher { .. }");
}

#[cfg(feature = "std")]
#[test]
fn what_reading_failed_of_is_the_source_and_said_once() {
    let error = guira::LoadError::from(std::io::Error::other("unplugged"));
    assert!(matches!(error, guira::LoadError::Io(_)));
    assert!(!error.to_string().contains("unplugged"));
    assert_eq!(error.source().expect("a source").to_string(), "unplugged");
    assert!(guira::LoadError::NotASnapshot.source().is_none());
}
