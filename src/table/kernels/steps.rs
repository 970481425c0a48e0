//! The steps of a batch lookup, written once and compiled for each instruction set.

/// Defines `contains`, `contains_by_copies`, and `contains_burst`, in a module that has the vector
/// type `Vector`, the number of its `LANES`, and the operations on it.
///
/// A vector has one item in each lane of 64 bits. The formulas are those of `addressing.rs` and of
/// `bucket/swar.rs`.
macro_rules! steps {
    ($features:literal) => {
        /// The items of one vector, with their fingerprints and buckets in the last table.
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
            first_buckets: Vector,
            low_bits: Vector,
            last_stripe: Vector,
            ones: Multiplier,
            highs: Vector,
        }

        /// In a table that stands alone, `NESTED` is false, and the code for earlier segments is
        /// not compiled.
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
                    buckets: splat(view.last.words.len() as u64),
                    first_buckets: splat(view.last.words.len() as u64 >> view.level),
                    low_bits: splat((1 << view.level) - 1),
                    last_stripe: splat(view.stripes.len() as u64 - 1),
                    ones: multiplier(view.last.ones),
                    highs: splat(view.last.lanes.highs()),
                }
            }

            /// The fingerprints and the buckets of hashes.
            #[inline]
            #[target_feature(enable = $features)]
            fn locate<const NESTED: bool>(&self, view: &View<'_>, hashes: Vector) -> Group {
                let x = xor(hashes, self.seed);
                let x = multiply(xor(x, shift_right::<{ MIXER[0].0 }>(x)), self.mixer[0]);
                let x = multiply(xor(x, shift_right::<{ MIXER[1].0 }>(x)), self.mixer[1]);
                let mixed = xor(x, shift_right::<31>(x));
                let reduce = |bits: Vector, n: Vector| shift_right::<32>(multiply_low(bits, n));
                let fingerprints = add(self.min_fingerprint, reduce(mixed, self.fingerprints));
                let first = reduce(shift_right::<32>(mixed), self.buckets);
                let x = multiply_low(firsts::<NESTED>(view, fingerprints), self.scatter[0]);
                let x = multiply_low(xor(x, shift_right_low::<15>(x)), self.scatter[1]);
                let t = reduce(x, self.buckets);
                if !NESTED {
                    let second = reflect(first, t, self.buckets);
                    return Group { fingerprints, buckets: [first, second] };
                }
                let halved = |x: Vector| shift_right_by(x, view.level);
                let high = reflect(halved(first), halved(t), self.first_buckets);
                let low = and(xor(t, first), self.low_bits);
                let second = or(shift_left_by(high, view.level), low);
                Group { fingerprints, buckets: [first, second] }
            }

            /// Returns the lanes whose item is in one of the tables, as a mask, and with `VALUES`
            /// the answer of each item.
            ///
            /// In a chain, also prefetches the first `count` items of the group `next`, one table
            /// at a time, because the processor has room for only a few dozen misses.
            #[inline]
            #[target_feature(enable = $features)]
            fn find<const NESTED: bool, const VALUES: bool>(
                &self,
                view: &View<'_>,
                group: &Group,
                (next, count): (&Group, usize),
            ) -> (u32, Vector) {
                if NESTED {
                    prefetch(&view.last, next, count);
                }
                let (mut found, mut all) =
                    compare::<VALUES>(&view.last, self.ones, self.highs, group);
                if NESTED {
                    for part in view.earlier {
                        prefetch(part, &nested(part, next), count);
                        let (ones, highs) = (multiplier(part.ones), splat(part.lanes.highs()));
                        let group = &nested(part, group);
                        let (few, earlier) = compare::<VALUES>(part, ones, highs, group);
                        found |= few;
                        all = select(all, all, earlier);
                    }
                }
                (found, all)
            }

            /// The versions of the items' stripes.
            #[inline]
            #[target_feature(enable = $features)]
            fn versions<const NESTED: bool>(&self, view: &View<'_>, group: &Group) -> Vector {
                let stripes = and(firsts::<NESTED>(view, group.fingerprints), self.last_stripe);
                let places = shift_left::<{ Stripe::WORDS.ilog2() }>(stripes);
                // SAFETY: the number of stripes is a power of two, so the mask yields an index.
                unsafe { gather(Stripe::versions(view.stripes), places) }
            }

            /// Looks up the items of a group, of which those in `lanes` matter. `hashes` are their
            /// hashes. Returns the lanes that were found, and with `VALUES` writes the answers of
            /// all lanes. `next` is as in `find`.
            #[inline]
            #[target_feature(enable = $features)]
            fn look_up<const NESTED: bool, const VALUES: bool>(
                &self,
                view: &View<'_>,
                group: &Group,
                next: (&Group, usize),
                lanes: u32,
                hashes: &[u64],
                values: &mut [u32],
            ) -> u32 {
                let before = self.versions::<NESTED>(view, group);
                let (found, answers) = self.find::<NESTED, VALUES>(view, group, next);
                let changed = different(before, self.versions::<NESTED>(view, group));
                if VALUES {
                    values[..LANES].copy_from_slice(&store_low(answers));
                }
                let open = changed & !found & lanes;
                if open == 0 { found } else { found | view.look_up_again(open, hashes, values) }
            }
        }

        /// Converts fingerprints in the last table to those in the first one, which select the
        /// stripe.
        #[inline]
        #[target_feature(enable = $features)]
        fn firsts<const NESTED: bool>(view: &View<'_>, fingerprints: Vector) -> Vector {
            if NESTED { shift_right_by(fingerprints, view.extra_bits) } else { fingerprints }
        }

        /// The items in an earlier table.
        #[inline]
        #[target_feature(enable = $features)]
        fn nested(part: &Part<'_>, group: &Group) -> Group {
            Group {
                fingerprints: shift_right_by(group.fingerprints, part.fingerprint_shift),
                buckets: group.buckets.map(|buckets| shift_right_by(buckets, part.bucket_shift)),
            }
        }

        /// Both words of each item.
        #[inline]
        #[target_feature(enable = $features)]
        fn words(part: &Part<'_>, group: &Group) -> [Vector; 2] {
            // SAFETY: `locate` reduces both to indices of buckets, and `nested` halves them as
            // often as the number of buckets is halved.
            group.buckets.map(|buckets| unsafe { gather(part.words.as_ptr(), buckets) })
        }

        /// Reads the words of one table. Returns the lanes whose words hold the fingerprint, as a
        /// mask, and with `VALUES` the answer of each item. As `ones` is above the values, the
        /// zero-lane test marks a lane if all bits above its value are zero.
        #[inline]
        #[target_feature(enable = $features)]
        fn compare<const VALUES: bool>(
            part: &Part<'_>,
            ones: Multiplier,
            highs: Vector,
            group: &Group,
        ) -> (u32, Vector) {
            let words = words(part, group);
            let lanes = shift_right_by(group.fingerprints, part.bits_below);
            let pattern = multiply(lanes, ones);
            let zeros = words.map(|word| {
                let x = xor(word, pattern);
                and_not(x, subtract(x, ones.factor()))
            });
            if VALUES {
                let answers = answers(part, words, zeros.map(|zeros| and(zeros, highs)));
                return (nonzero(answers), answers);
            }
            let found = nonzero(and(or(zeros[0], zeros[1]), highs));
            if part.bits_below == 0 || found == 0 {
                return (found, splat(0));
            }
            (full_probe(part, group.fingerprints, words), splat(0))
        }

        /// The answers as `Answers::put` takes them, given the marks of the zero-lane test. Each
        /// value is that of the lowest marked slot, in the first word that has marks.
        #[inline]
        #[target_feature(enable = $features)]
        fn answers(part: &Part<'_>, words: [Vector; 2], marks: [Vector; 2]) -> Vector {
            let word = select(marks[0], words[0], words[1]);
            let marks = select(marks[0], marks[0], marks[1]);
            let lowest = and(marks, subtract(splat(0), marks));
            let slot = shift_to(word, lowest, part.lanes);
            let value = and(slot, splat(mask(part.value_bits as usize).into()));
            select(marks, or(value, splat(FOUND.into())), splat(0))
        }

        /// Compares whole fingerprints, in semi-sorted layouts, once a high part has matched.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn full_probe(part: &Part<'_>, fingerprints: Vector, words: [Vector; 2]) -> u32 {
            let lane = splat((1 << part.lanes.bits()) - 1);
            let nibble = splat(nibbles::MASK.into());
            let codes = splat((1 << part.lanes.shift()) - 1);
            let mut found = 0;
            for word in words {
                let sequence = gather_nibbles(and(word, codes));
                for slot in 0..part.lanes.count() {
                    let highs = and(
                        shift_right_by(word, part.lanes.shift() + slot * part.lanes.bits()),
                        lane,
                    );
                    let low = and(shift_right_by(sequence, slot * nibbles::BITS), nibble);
                    let slots = or(shift_left::<{ nibbles::BITS }>(highs), low);
                    found |= !different(slots, fingerprints);
                }
            }
            found & ALL
        }

        /// Looks up a burst. Returns a bit for each item, and with `VALUES` writes its answer.
        #[target_feature(enable = $features)]
        pub(super) fn contains_burst<const NESTED: bool, const VALUES: bool>(
            view: &View<'_>,
            hashes: &[u64],
            values: &mut [u32],
        ) -> u64 {
            let constants = Constants::new(view);
            let mut found = 0;
            if !view.last.prefetches {
                for (place, hashes) in hashes.chunks(LANES).enumerate() {
                    let group = constants.locate::<NESTED>(view, load(hashes));
                    let (lanes, next) = (mask(hashes.len()), (&group, 0));
                    let values = part_of::<VALUES>(values, place * LANES);
                    let few = constants
                        .look_up::<NESTED, VALUES>(view, &group, next, lanes, hashes, values);
                    found |= u64::from(few & lanes) << (place * LANES);
                }
                return found;
            }
            let unset = Group { fingerprints: splat(0), buckets: [splat(0); 2] };
            let mut groups = [unset; MAX_BURST / LANES];
            for (group, hashes) in groups.iter_mut().zip(hashes.chunks(LANES)) {
                *group = constants.locate::<NESTED>(view, load(hashes));
                prefetch_all::<NESTED>(view, group, hashes.len());
            }
            for (place, (group, hashes)) in groups.iter().zip(hashes.chunks(LANES)).enumerate() {
                let (lanes, next) = (mask(hashes.len()), (group, 0));
                let values = part_of::<VALUES>(values, place * LANES);
                let few =
                    constants.look_up::<NESTED, VALUES>(view, group, next, lanes, hashes, values);
                found |= u64::from(few & lanes) << (place * LANES);
            }
            found
        }

        /// Prefetches the buckets of the first items of a group in all tables.
        #[inline]
        #[target_feature(enable = $features)]
        fn prefetch_all<const NESTED: bool>(view: &View<'_>, group: &Group, count: usize) {
            prefetch(&view.last, group, count);
            if NESTED {
                for part in view.earlier {
                    prefetch(part, &nested(part, group), count);
                }
            }
        }

        /// Prefetches the buckets of the first items of a group in one table.
        #[inline]
        #[target_feature(enable = $features)]
        fn prefetch(part: &Part<'_>, group: &Group, count: usize) {
            if part.prefetches && count > 0 {
                for buckets in group.buckets {
                    for &bucket in &store(buckets)[..count] {
                        part.prefetch(bucket);
                    }
                }
            }
        }

        /// Looks up the rest of the items, of which the next one has this position. The versions
        /// are gathered. Returns the number of items that were found.
        #[target_feature(enable = $features)]
        pub(super) fn contains<const NESTED: bool, const VALUES: bool>(
            view: &View<'_>,
            hashes: &mut Hashes<'_>,
            mut position: usize,
            answers: &mut Answers<'_>,
        ) -> usize {
            let constants = Constants::new(view);
            let unset = Group { fingerprints: splat(0), buckets: [splat(0); 2] };
            // As in `for_each_prefetched`: a rolling window of items whose buckets are prefetched.
            let (mut groups, mut waiting) = ([unset; WINDOW / LANES], 0);
            let (mut blocks, mut current) = ([[0; WINDOW]; 2], 0);
            let (mut count, mut values) = (0, [0; WINDOW]);
            loop {
                let arrived = hashes.fill(&mut blocks[current][..window(NESTED)]);
                let mut found = 0;
                for (place, group) in groups.iter_mut().take(window(NESTED) / LANES).enumerate() {
                    let start = place * LANES;
                    let ready = *group;
                    let mut ahead = 0;
                    if start < arrived {
                        *group = constants.locate::<NESTED>(view, load(&blocks[current][start..]));
                        ahead = LANES.min(arrived - start);
                        if !NESTED || start >= waiting {
                            prefetch_all::<NESTED>(view, group, ahead);
                        }
                    }
                    if start < waiting {
                        let lanes = mask(LANES.min(waiting - start));
                        let hashes = &blocks[1 - current][start..];
                        let next = (&*group, ahead);
                        let values = part_of::<VALUES>(&mut values, start);
                        let few = constants
                            .look_up::<NESTED, VALUES>(view, &ready, next, lanes, hashes, values);
                        found |= few << start;
                    }
                }
                let found = u64::from(found & mask(waiting));
                count += answers.put(position, found, part_of::<VALUES>(&mut values, 0), waiting);
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
        pub(super) fn contains_by_copies<const NESTED: bool, const VALUES: bool>(
            view: &View<'_>,
            hashes: &mut Hashes<'_>,
            answers: &mut Answers<'_>,
        ) -> usize {
            let constants = Constants::new(view);
            let (mut block, mut versions) = ([0; ROUND], [Version::default(); MAX_COPIED]);
            let (mut position, mut count, mut values) = (0, 0, [[0; WINDOW]; ROUND / WINDOW]);
            loop {
                let round = hashes.next(&mut block);
                if round.is_empty() {
                    return count;
                }
                view.copy_versions(&mut versions);
                let mut found = [0; ROUND / WINDOW];
                let windows = found.iter_mut().zip(&mut values).zip(round.chunks(WINDOW));
                for ((found, values), hashes) in windows {
                    for (place, hashes) in hashes.chunks(LANES).enumerate() {
                        let group = constants.locate::<NESTED>(view, load(hashes));
                        let next = (&group, 0);
                        let (few, answers) = constants.find::<NESTED, VALUES>(view, &group, next);
                        *found |= few << (place * LANES);
                        if VALUES {
                            values[place * LANES..][..LANES].copy_from_slice(&store_low(answers));
                        }
                    }
                }
                let unchanged = view.validate(&versions);
                let windows = found.into_iter().zip(&mut values).zip(round.chunks(WINDOW));
                for ((mut found, values), hashes) in windows {
                    let values = part_of::<VALUES>(values, 0);
                    if !unchanged {
                        found |= view.look_up_again(!found, hashes, values);
                    }
                    let found = u64::from(found & mask(hashes.len()));
                    count += answers.put(position, found, values, hashes.len());
                    position += hashes.len();
                }
                if !unchanged {
                    return count + contains::<NESTED, VALUES>(view, hashes, position, answers);
                }
            }
        }
    };
}
pub(super) use steps;
