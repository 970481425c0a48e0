//! Load factors at the first refusal: many runs of one shape, and what they come to.

use super::Progress;
use crate::{
    parallel,
    placement::{Rule, Shape, Zero, load_at_first_refusal},
};

/// The rules compared, and what they are called.
pub const RULES: [(Rule, &str); 3] = [
    (Rule::Papers(Zero::BecomesOne), "paper's placement"),
    (Rule::Papers(Zero::IsLeftOut), "paper's placement, even fingerprints"),
    (Rule::Library, "this library's placement"),
];

/// The loads of some runs, in per cent.
#[derive(Clone, Debug)]
pub struct Loads(Vec<f64>);

impl Loads {
    pub fn runs(&self) -> usize {
        self.0.len()
    }

    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    pub fn minimum(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The variance of one run, in points squared.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|load| (load - mean).powi(2)).sum();
        squares / (self.0.len() as f64 - 1.0).max(1.0)
    }
}

/// Runs of a rule and a shape that are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub rule: Rule,
    pub shape: Shape,
    pub runs: usize,
}

/// Makes the runs, on all cores, and returns the loads of each in the order in which they were wanted.
pub fn measure(wanted: &[Wanted], progress: &Progress) -> Vec<Loads> {
    let mut jobs: Vec<(usize, u64)> = (0..wanted.len())
        .flat_map(|index| (0..wanted[index].runs as u64).map(move |run| (index, run)))
        .collect();
    // The long ones first, so that no core ends alone.
    jobs.sort_by_key(|&(index, _)| std::cmp::Reverse(wanted[index].shape.room()));
    progress.expect(jobs.len());
    let loads = parallel::map(&jobs, |&(index, run)| {
        let Wanted { rule, shape, .. } = wanted[index];
        let load = 100.0 * load_at_first_refusal(rule, shape, run);
        progress.step();
        load
    });
    let mut sorted = vec![Loads(Vec::new()); wanted.len()];
    for (&(index, _), load) in jobs.iter().zip(loads) {
        sorted[index].0.push(load);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::Loads;

    #[test]
    fn mean_variance_and_minimum_are_those_of_the_textbook() {
        let loads = Loads(vec![2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert!((loads.mean() - 5.0).abs() < 1e-12);
        assert!((loads.variance() - 32.0 / 7.0).abs() < 1e-12);
        assert!((loads.minimum() - 2.0).abs() < 1e-12);
        assert!(Loads(vec![3.0]).variance().abs() < 1e-12);
    }
}
