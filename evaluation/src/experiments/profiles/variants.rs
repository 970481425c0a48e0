//! Invented profiles for tests: one set that agrees with the paper, and sets that deviate from it
//! in one number or in one curve.

use super::{Curve, Profile, Timed};
use crate::filters::all;

/// Returns the profiles that agree with the paper, and then all variants of them.
pub fn variants() -> Vec<Vec<Profile>> {
    let base: Vec<Profile> = all().iter().map(|kind| paperlike(&kind.name)).collect();
    let mut variants = vec![base.clone()];
    for (index, profile) in base.iter().enumerate() {
        for changed in changes(profile) {
            let mut variant = base.clone();
            variant[index] = changed;
            variants.push(variant);
        }
    }
    variants
}

/// A profile with the paper's numbers, and speeds in the paper's orders and trends.
fn paperlike(name: &str) -> Profile {
    let (bits, rate, speed, lookups, fall) = match name {
        "CF" => (12.60, 0.19, 5.00, 14.0, 0.4),
        "ss-CF" => (12.58, 0.09, 3.13, 7.0, 0.4),
        "BF" => (13.00, 0.19, 3.91, 9.0, 1.0),
        "blocked BF" => (13.00, 0.43, 7.64, 15.0, 1.0),
        "QF" => (13.33, 0.18, 1.91, 2.0, 0.2),
        "dl-CBF" => (15.51, 0.76, 4.78, 7.2, 1.0),
        _ => (12.60, 0.19, 5.00, 14.0, 1.0),
    };
    let is_bloom = name.ends_with("BF") && name != "dl-CBF";
    let full = if name == "dl-CBF" { 78.0 } else { 95.0 };
    let loads = [0.1, 0.3, 0.5, 0.7, 0.9, 0.97].map(|share| share * full);
    let curve = |speed: f64, fall: f64| -> Curve {
        let falling = |load: f64| speed * (1.0 - (1.0 - fall) * load / full);
        loads.map(|load| (load, Timed::of([falling(load)]))).into()
    };
    let by_share = |share: f64| match name {
        "CF" if (share - 50.0).abs() < 1.0 => 0.9 * lookups,
        _ if is_bloom => lookups * (1.0 - 0.5 * (share / 25.0).min(1.0)),
        _ => lookups,
    };
    let falls_with_load = if name == "QF" { 0.2 } else { 1.0 };
    let removals = match name {
        "QF" => loads.map(|load| (load, Timed::of([if load < 20.0 { 12.0 } else { 2.0 }]))).into(),
        "dl-CBF" => curve(8.0, 1.0),
        _ => curve(lookups, 1.0),
    };
    Profile {
        name: name.into(),
        source: "test",
        items: 1000,
        bits_per_item: bits,
        rate,
        construction: Timed::of([speed]),
        by_share: [0.0, 25.0, 50.0, 75.0, 100.0]
            .map(|share| (share, Timed::of([by_share(share)])))
            .into(),
        absent: curve(lookups, if is_bloom { 0.3 } else { falls_with_load }),
        present: curve(lookups, falls_with_load),
        inserts: curve(speed, fall),
        removals,
    }
}

/// Returns a profile with one number five times as large or as small, for each of its numbers and
/// for each whole curve; for the speeds, also with a wide range.
fn changes(profile: &Profile) -> Vec<Profile> {
    let mut changes = Vec::new();
    for (factor, width) in
        [0.2, 0.9, 1.1, 5.0].into_iter().flat_map(|factor| [(factor, 1.0), (factor, 1e3)])
    {
        let mut change = |call: &dyn Fn(&mut Profile)| {
            let mut changed = profile.clone();
            call(&mut changed);
            changes.push(changed);
        };
        let scale = |speed: &mut Timed| {
            let median = speed.median * factor;
            *speed = Timed { median, min: median / width, max: median * width };
        };
        change(&|profile| profile.bits_per_item *= factor);
        change(&|profile| profile.rate *= factor);
        change(&|profile| scale(&mut profile.construction));
        change(&|profile| {
            // The load of the last inserts.
            if let Some(last) = profile.inserts.last_mut() {
                last.0 *= factor;
            }
        });
        let curves: [fn(&mut Profile) -> &mut Curve; 5] = [
            |profile| &mut profile.by_share,
            |profile| &mut profile.absent,
            |profile| &mut profile.present,
            |profile| &mut profile.inserts,
            |profile| &mut profile.removals,
        ];
        for curve in curves {
            change(&|profile| curve(profile).iter_mut().for_each(|point| scale(&mut point.1)));
            for index in 0..6 {
                change(&|profile| {
                    if let Some(point) = curve(profile).get_mut(index) {
                        scale(&mut point.1);
                    }
                });
            }
        }
    }
    changes
}
