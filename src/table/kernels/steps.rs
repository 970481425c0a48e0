//! The steps of a batch lookup, written once and compiled for each instruction set.

/// Defines `contains`, `contains_by_copies`, and `contains_burst`, in a module that has the vector
/// type `Vector`, the number of its `LANES`, and the operations on it.
///
/// A vector has one item in each lane of 64 bits. The formulas are those of `addressing.rs` and of
/// `bucket/swar.rs`.
macro_rules! steps {
    ($features:literal) => {
        /// The items of one vector.
        #[derive(Clone, Copy)]
        struct Group {
            fingerprints: Vector,
            buckets: [Vector; 2],
        }

        /// What is the same for all items, in every lane.
        struct Constants {
            seed: Vector,
            mixer: [Multiplier; 2],
            min_fingerprint: Vector,
            fingerprints: Vector,
            scatter: [Vector; 2],
            buckets: Vector,
            last_stripe: Vector,
            lanes: Multiplier,
            highs: Vector,
        }

        impl Constants {
            #[inline]
            #[target_feature(enable = $features)]
            fn new(view: &View<'_>) -> Self {
                Self {
                    seed: splat(view.seed),
                    mixer: MIXER.map(|(_, factor)| multiplier(factor)),
                    min_fingerprint: splat(view.min_fingerprint.into()),
                    fingerprints: splat(view.fingerprints.into()),
                    scatter: SCATTER.map(|factor| splat(factor.into())),
                    buckets: splat(view.words.len() as u64),
                    last_stripe: splat(view.stripes.len() as u64 - 1),
                    lanes: multiplier(view.lanes.ones()),
                    highs: splat(view.lanes.highs()),
                }
            }

            /// The fingerprints and the buckets of hashes.
            #[inline]
            #[target_feature(enable = $features)]
            fn locate(&self, hashes: Vector) -> Group {
                let x = xor(hashes, self.seed);
                let x = multiply(xor(x, shift_right::<{ MIXER[0].0 }>(x)), self.mixer[0]);
                let x = multiply(xor(x, shift_right::<{ MIXER[1].0 }>(x)), self.mixer[1]);
                let mixed = xor(x, shift_right::<31>(x));
                let reduce = |bits: Vector, n: Vector| shift_right::<32>(multiply_low(bits, n));
                let fingerprints = add(self.min_fingerprint, reduce(mixed, self.fingerprints));
                let first = reduce(shift_right::<32>(mixed), self.buckets);
                let x = multiply_low(fingerprints, self.scatter[0]);
                let x = multiply_low(xor(x, shift_right_low::<15>(x)), self.scatter[1]);
                let second = reflect(first, reduce(x, self.buckets), self.buckets);
                Group { fingerprints, buckets: [first, second] }
            }

            /// Returns the lanes whose words hold the fingerprint, as a mask.
            #[inline]
            #[target_feature(enable = $features)]
            fn compare(&self, view: &View<'_>, group: &Group, words: [Vector; 2]) -> u32 {
                let values = shift_right_by(group.fingerprints, view.bits_below);
                let pattern = multiply(values, self.lanes);
                let zeros = words.map(|word| {
                    let x = xor(word, pattern);
                    and_not(x, subtract(x, self.lanes.factor()))
                });
                let found = nonzero(and(or(zeros[0], zeros[1]), self.highs));
                if view.bits_below == 0 || found == 0 {
                    return found;
                }
                full_probe(view, group.fingerprints, words)
            }

            /// The versions of the items' stripes.
            #[inline]
            #[target_feature(enable = $features)]
            fn versions(&self, view: &View<'_>, group: &Group) -> Vector {
                let stripes = and(group.fingerprints, self.last_stripe);
                let places = shift_left::<{ Stripe::WORDS.ilog2() }>(stripes);
                // SAFETY: there is a power of two of stripes, so the mask yields an index of them.
                unsafe { gather(Stripe::versions(view.stripes), places) }
            }

            /// Both words of each item.
            #[inline]
            #[target_feature(enable = $features)]
            fn words(&self, view: &View<'_>, group: &Group) -> [Vector; 2] {
                // SAFETY: `locate` reduces both to indices of buckets.
                group.buckets.map(|buckets| unsafe { gather(view.words.as_ptr(), buckets) })
            }

            /// Looks up the items of a group, of which those in `lanes` matter. `hashes` are their
            /// hashes. Returns the lanes that were found.
            #[inline]
            #[target_feature(enable = $features)]
            fn look_up(&self, view: &View<'_>, group: &Group, lanes: u32, hashes: &[u64]) -> u32 {
                let before = self.versions(view, group);
                let found = self.compare(view, group, self.words(view, group));
                let changed = different(before, self.versions(view, group));
                let open = changed & !found & lanes;
                if open == 0 { found } else { found | view.look_up_again(open, hashes) }
            }
        }

        /// Compares whole fingerprints, in semi-sorted layouts, once a high part has matched.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn full_probe(view: &View<'_>, fingerprints: Vector, words: [Vector; 2]) -> u32 {
            let lane = splat((1 << view.lanes.bits()) - 1);
            let nibble = splat(nibbles::MASK.into());
            let codes = splat((1 << view.lanes.shift()) - 1);
            let mut found = 0;
            for word in words {
                let sequence = gather_nibbles(and(word, codes));
                for slot in 0..view.lanes.count() {
                    let highs = and(
                        shift_right_by(word, view.lanes.shift() + slot * view.lanes.bits()),
                        lane,
                    );
                    let low = and(shift_right_by(sequence, slot * nibbles::BITS), nibble);
                    let slots = or(shift_left::<{ nibbles::BITS }>(highs), low);
                    found |= !different(slots, fingerprints);
                }
            }
            found & ALL
        }

        /// Looks up a burst. Returns a bit for each item.
        #[target_feature(enable = $features)]
        pub(super) fn contains_burst(view: &View<'_>, hashes: &[u64]) -> u64 {
            let constants = Constants::new(view);
            let mut found = 0;
            if !view.prefetches {
                for (place, hashes) in hashes.chunks(LANES).enumerate() {
                    let group = constants.locate(load(hashes));
                    let lanes = mask(hashes.len());
                    let few = constants.look_up(view, &group, lanes, hashes);
                    found |= u64::from(few & lanes) << (place * LANES);
                }
                return found;
            }
            let unset = Group { fingerprints: splat(0), buckets: [splat(0); 2] };
            let mut groups = [unset; MAX_BURST / LANES];
            for (group, hashes) in groups.iter_mut().zip(hashes.chunks(LANES)) {
                *group = constants.locate(load(hashes));
                prefetch(view, group, hashes.len());
            }
            for (place, (group, hashes)) in groups.iter().zip(hashes.chunks(LANES)).enumerate() {
                let lanes = mask(hashes.len());
                let few = constants.look_up(view, group, lanes, hashes);
                found |= u64::from(few & lanes) << (place * LANES);
            }
            found
        }

        /// Prefetches the buckets of the first items of a group.
        #[inline]
        #[target_feature(enable = $features)]
        fn prefetch(view: &View<'_>, group: &Group, count: usize) {
            for buckets in group.buckets {
                for &bucket in &store(buckets)[..count] {
                    view.prefetch(bucket);
                }
            }
        }

        /// Looks up the rest of the items, of which the next one has this position. The versions
        /// are gathered. Returns the number of items that were found.
        #[target_feature(enable = $features)]
        pub(super) fn contains(
            view: &View<'_>,
            hashes: &mut Hashes<'_>,
            mut position: usize,
            answers: &mut Answers<'_>,
        ) -> usize {
            let constants = Constants::new(view);
            let unset = Group { fingerprints: splat(0), buckets: [splat(0); 2] };
            // As in `for_each_prefetched`: a rolling window of items whose buckets are prefetched.
            let (mut window, mut waiting) = ([unset; WINDOW / LANES], 0);
            let (mut blocks, mut current) = ([[0; WINDOW]; 2], 0);
            let mut count = 0;
            loop {
                let arrived = hashes.fill(&mut blocks[current]);
                let mut found = 0;
                for (place, group) in window.iter_mut().enumerate() {
                    let start = place * LANES;
                    let prefetched = *group;
                    if start < arrived {
                        *group = constants.locate(load(&blocks[current][start..]));
                        if view.prefetches {
                            prefetch(view, group, LANES.min(arrived - start));
                        }
                    }
                    if start < waiting {
                        let lanes = mask(LANES.min(waiting - start));
                        let hashes = &blocks[1 - current][start..];
                        found |= constants.look_up(view, &prefetched, lanes, hashes) << start;
                    }
                }
                count += answers.put(position, u64::from(found & mask(waiting)), waiting);
                position += waiting;
                waiting = arrived;
                current = 1 - current;
                if arrived == 0 {
                    return count;
                }
            }
        }

        /// Looks up all items, in rounds with one copy of all versions before and after each. If a
        /// version changed during a round, gathers the versions of the items that are left. Returns
        /// the number of items that were found.
        #[target_feature(enable = $features)]
        pub(super) fn contains_by_copies(
            view: &View<'_>,
            hashes: &mut Hashes<'_>,
            answers: &mut Answers<'_>,
        ) -> usize {
            let constants = Constants::new(view);
            let (mut block, mut versions) = ([0; ROUND], [Version::default(); MAX_COPIED]);
            let (mut position, mut count) = (0, 0);
            loop {
                let round = hashes.next(&mut block);
                if round.is_empty() {
                    return count;
                }
                view.copy_versions(&mut versions);
                let mut found = [0; ROUND / WINDOW];
                for (found, hashes) in found.iter_mut().zip(round.chunks(WINDOW)) {
                    for (place, hashes) in hashes.chunks(LANES).enumerate() {
                        let group = constants.locate(load(hashes));
                        let words = constants.words(view, &group);
                        *found |= constants.compare(view, &group, words) << (place * LANES);
                    }
                }
                let unchanged = view.validate(&versions);
                for (mut found, hashes) in found.into_iter().zip(round.chunks(WINDOW)) {
                    if !unchanged {
                        found |= view.look_up_again(!found, hashes);
                    }
                    let found = u64::from(found & mask(hashes.len()));
                    count += answers.put(position, found, hashes.len());
                    position += hashes.len();
                }
                if !unchanged {
                    return count + contains(view, hashes, position, answers);
                }
            }
        }
    };
}
pub(super) use steps;

/// Defines functions that are compiled for these features, and inline.
macro_rules! operations {
    ($features:literal
     $($(#[$doc:meta])*
       fn $name:ident $(<const $n:ident: u32>)? ($($argument:ident: $type:ty),*) -> $result:ty
       $body:block)*) => {
        $(
            $(#[$doc])*
            #[inline]
            #[target_feature(enable = $features)]
            fn $name $(<const $n: u32>)? ($($argument: $type),*) -> $result $body
        )*
    };
}
pub(super) use operations;
