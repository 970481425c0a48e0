//! Places of the labels at the line ends, so that no two overlap.

/// Moves targets apart, as little as possible, so that neighbours have a distance of at least
/// `distance` and all lie between `low` and `high`. Returns the places in the order of the targets.
pub(super) fn spread(targets: &[f64], distance: f64, (low, high): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..targets.len()).collect();
    order.sort_by(|&a, &b| targets[a].total_cmp(&targets[b]));
    // Groups of touching labels: number of labels, and the place of the first.
    let mut groups: Vec<(usize, f64)> = Vec::new();
    let mut grouped = 0;
    for &label in &order {
        groups.push((1, targets[label]));
        grouped += 1;
        loop {
            let &(count, _) = groups.last().expect("just pushed");
            // The first place that is nearest to the targets of the group.
            let members = &order[grouped - count..grouped];
            let offsets =
                members.iter().enumerate().map(|(nth, &it)| targets[it] - nth as f64 * distance);
            let mean = offsets.sum::<f64>() / count as f64;
            let first = mean.min(high - (count - 1) as f64 * distance).max(low);
            groups.last_mut().expect("just pushed").1 = first;
            let before = groups.len().checked_sub(2).map(|at| groups[at]);
            match before {
                Some((other, place)) if place + other as f64 * distance > first => {
                    groups.pop();
                    groups.last_mut().expect("two groups").0 = other + count;
                }
                _ => break,
            }
        }
    }
    let mut places = vec![0.0; targets.len()];
    let mut labels = order.into_iter();
    for (count, first) in groups {
        for (nth, label) in labels.by_ref().take(count).enumerate() {
            places[label] = first + nth as f64 * distance;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn labels_keep_their_distance_and_their_order() {
        let targets = [50.0, 10.0, 12.0, 11.0, 99.0, 98.0, 49.0];
        let places = spread(&targets, 10.0, (0.0, 100.0));
        let mut sorted: Vec<(f64, f64)> = targets.into_iter().zip(places.iter().copied()).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(sorted.windows(2).all(|pair| pair[1].1 - pair[0].1 >= 10.0 - 1e-9), "{sorted:?}");
        assert!(places.iter().all(|place| (0.0..=100.0).contains(place)));
    }

    #[test]
    fn labels_with_space_stay_at_their_targets() {
        assert_eq!(spread(&[40.0, 10.0], 10.0, (0.0, 100.0)), [40.0, 10.0]);
    }
}
