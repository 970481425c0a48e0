//! Load factors at the first refusal, and their statistics over many runs.

use guira_harness::plot::Look;
use rayon::prelude::*;

use crate::{
    filters::look,
    simulation::{Shape, load_at_first_refusal},
};

/// Returns the look of tables with so many slots per bucket: with four they are the paper's filter.
pub fn slot_look(slots: usize) -> Look {
    match slots {
        1 => Look::nth(10),
        2 => Look::nth(11),
        4 => look("CF"),
        _ => Look::nth(12),
    }
}

/// The loads of some runs, in per cent.
#[derive(Clone, Debug)]
pub struct Loads(pub Vec<f64>);

impl Loads {
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    pub fn minimum(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Returns the sample variance, in squared percentage points.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|load| (load - mean).powi(2)).sum();
        squares / (self.0.len() as f64 - 1.0).max(1.0)
    }
}

/// Fills tables of each shape as often as it says, on all cores, and returns their loads in the
/// order of `specs`.
pub fn measure(specs: &[(Shape, usize)]) -> Vec<Loads> {
    let of_spec = |&(shape, runs): &(Shape, usize)| {
        let runs = (0..runs as u64).into_par_iter();
        Loads(runs.map(|run| 100.0 * load_at_first_refusal(shape, run)).collect())
    };
    specs.par_iter().map(of_spec).collect()
}

#[cfg(test)]
mod tests {
    use super::Loads;

    #[test]
    fn mean_variance_and_minimum_match_the_textbook() {
        let loads = Loads(vec![2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert!((loads.mean() - 5.0).abs() < 1e-12);
        assert!((loads.variance() - 32.0 / 7.0).abs() < 1e-12);
        assert!((loads.minimum() - 2.0).abs() < 1e-12);
        assert!(Loads(vec![3.0]).variance().abs() < 1e-12);
    }
}
