//! What a builder takes, and what results from it.

use guira::{
    BuildError, Filter, InsertError, Layout,
    kind::{Expiring, Fixed},
};

use super::{
    WINDOWS, builder,
    common::{Subject, suite::on_both_engines},
    layouts, stamp_bits,
};

on_both_engines! {
    a_window_decides_the_bits_of_stamps,
    a_life_is_at_least_one_generation_and_at_most_the_window,
    a_life_lasts_for_its_generations,
    a_layout_has_stamps_for_the_window,
    filters_show_their_names,
}

fn a_window_decides_the_bits_of_stamps<G: Subject>() {
    for window in 1..=253 {
        let filter =
            builder::<G>(10, window).false_positive_rate(0.5).build().expect("a small filter");
        assert_eq!(filter.layout().value_bits(), stamp_bits(window), "window {window}");
        assert_eq!(filter.window(), window);
        assert!(filter.generation() > 0);
    }
    for window in [0, 254, u32::MAX] {
        let error = builder::<G>(10, window).build().expect_err("no such window");
        assert_eq!(error, BuildError::InvalidWindow(window));
    }
}

#[test]
fn items_take_as_many_bits_as_in_a_filter_with_equal_slots() {
    for (window, rate) in [(13, 0.001_9), (5, 0.001)] {
        let filter = builder::<Fixed>(4_000_000, window).huge_pages(false).build().expect("memory");
        assert!(filter.false_positive_rate() < rate, "{}", filter.false_positive_rate());
        let bits = filter.size_in_bytes() as f64 * 8.0 / 4e6;
        assert!(bits < 16.9, "{bits} bits per item");
    }
}

fn a_life_is_at_least_one_generation_and_at_most_the_window<G: Subject>() {
    for window in WINDOWS {
        let filter = builder::<G>(10, window).build().expect("a small filter");
        for life in [0, window + 1, u32::MAX] {
            assert_eq!(filter.insert_for(&1, life), Err(InsertError::InvalidLife));
        }
        assert!(!InsertError::InvalidLife.to_string().is_empty() && filter.is_empty());
    }
}

fn a_life_lasts_for_its_generations<G: Subject>() {
    for window in WINDOWS {
        for life in 1..=window {
            let filter = builder::<G>(10, window).build().expect("a small filter");
            filter.insert_for(&1, life).expect("room");
            let found = (0..window + 2).take_while(|_| {
                let found = filter.contains(&1);
                filter.advance();
                found
            });
            assert_eq!(found.count() as u32, life + 1, "in a window of {window}");
        }
    }
}

fn a_layout_has_stamps_for_the_window<G: Subject>() {
    for window in WINDOWS {
        for layout in layouts::<G>(window) {
            let filter = builder::<G>(100, window).layout(layout).build().expect("a small filter");
            assert_eq!(filter.layout(), layout);
        }
    }
    let wrong = layouts::<G>(29).last().expect("a layout");
    for layout in [wrong, Layout::Plain4x16, Layout::SemiSorted6x12] {
        let error = builder::<G>(10, 13).layout(layout).build().expect_err("an unsuitable layout");
        match error {
            BuildError::LayoutUnsuitable { layout: other, value_bits, .. } => {
                assert_eq!((other, value_bits), (layout, Some(4)));
            }
            other => panic!("{other:?}"),
        }
    }
    let error = builder::<G>(10, 13).false_positive_rate(1e-9).build().expect_err("a low rate");
    assert!(matches!(error, BuildError::RateTooLow { .. }));
}

fn filters_show_their_names<G: Subject>() {
    let filter: Filter<Expiring, G> = builder::<G>(10, 13).build().expect("a small filter");
    let debug = format!("{filter:?}");
    let name = if <G as Subject>::GROWS { "GrowingExpiringFilter {" } else { "ExpiringFilter {" };
    assert!(debug.starts_with(name), "{debug}");
    assert!(format!("{:?}", builder::<G>(10, 7)).contains("window: Some(7)"));
}
