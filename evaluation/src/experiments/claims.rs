//! What the papers' text says about speeds, as rows.

use super::{
    Row,
    compare::{
        FALLS,
        Figure::{Construction, Each, Mean, Near, Rate},
        HIGHER, LOWER, Place, STABLE, at, crossing, last,
    },
    profiles::{
        Curve::{Absent, ByShare, Inserts, Present, Removals},
        GUIRA, GUIRA_BATCHES, Profile, find,
    },
    timing::Timed,
};

/// Checks what sections 7.1 and 7.4 say about construction and about false positives.
pub fn table_3(profiles: &[Profile]) -> Vec<Row> {
    let it = Place("Table 3", profiles);
    let rates = |filter: &str, other: &str, paper: f64, note: &str| {
        it.order(filter, &[other], Rate, HIGHER, note).printed(paper).within_factor(1.25)
    };
    vec![
        it.order_of_all(
            "CF",
            "blocked BF",
            Construction,
            HIGHER,
            "section 7.4: faster than all others except blocked BF",
        )
        .printed(5.00 / 4.78)
        .reason(
            "near its full load, an insert of CF is a chain of reads, each of which depends on the \
             one before; the reads of the other filters are independent, and a modern core \
             overlaps them, also those of several inserts",
        ),
        it.order_of_all("blocked BF", "", Construction, HIGHER, "section 7.1: the fastest")
            .printed(7.64 / 5.00),
        it.order_of_all("QF", "", Construction, LOWER, "section 7.1: the slowest")
            .printed(1.91 / 3.13)
            .reason("an insert of QF reads and writes neighbouring slots; prefetching hides this"),
        it.order("ss-CF", &["CF"], Construction, LOWER, "section 7.1: encoding and decoding")
            .printed(3.13 / 5.00),
        it.order("ss-CF", &["CF"], Rate, LOWER, "section 7.1: half; tolerance 0.05")
            .printed(0.5)
            .within(0.05),
        it.order_of_all("ss-CF", "", Rate, LOWER, "section 7.1: the lowest rate"),
        it.order_of_all("QF", "ss-CF", Rate, LOWER, "section 7.1: the second lowest rate"),
        rates("blocked BF", "BF", 2.0, "section 7.1: twice as high; tolerance a factor of 1.25"),
        rates(
            "blocked BF",
            "ss-CF",
            4.0,
            "section 7.1: four times that of the best cuckoo filter, and 4.8 times by the printed \
             rates; tolerance a factor of 1.25",
        ),
        it.order_of_all(
            "dl-CBF",
            "",
            Rate,
            HIGHER,
            "section 7.1: much higher than the others, because a lookup compares 16 cells",
        )
        .printed(0.76 / 0.43),
    ]
}

/// Compares the construction of guira's layouts with that of the paper's cuckoo filter.
pub fn guira_construction(profiles: &[Profile]) -> Vec<Row> {
    let guiras = profiles.iter().filter(|profile| profile.name().starts_with("guira"));
    let row = |profile: &Profile| {
        Place("Table 3", profiles).guira(profile.name(), Construction, "filled to its capacity")
    };
    guiras.map(row).collect()
}

/// Checks what section 7.2 says about lookups in full filters.
pub fn figure_5(profiles: &[Profile]) -> Vec<Row> {
    let it = Place("Figure 5", profiles);
    let each = Each(ByShare);
    let points = |name: &str| find(profiles, name).curve(ByShare);
    let cf = |share| at(points("CF"), share);
    let half = cf(50.0) / Timed::mean([cf(0.0), cf(100.0)].into_iter());
    let mut rows = vec![
        it.order("CF", &["BF"], each, HIGHER, "two reads in parallel")
            .reason("a lookup of an absent key in BF reads two lines on average, and no more"),
        it.trend("CF", ByShare, STABLE, "a lookup always reads both buckets"),
        Row::timed("Figure 5", "CF: half present / mean of none and all", half, "×")
            .holds(0.8..=0.98)
            .note("the paper: slightly slower, because of branch mispredictions")
            .reason("no branch here depends on the contents of a bucket"),
        it.order("ss-CF", &["CF"], each, LOWER, "slower, because buckets are decoded"),
        it.trend("BF", ByShare, FALLS, "nine reads instead of two"),
        it.trend("blocked BF", ByShare, FALLS, "nine bits of one cache line instead of two"),
        it.order(
            "blocked BF",
            &["BF"],
            each,
            HIGHER,
            "the paper: BF is about 4 million operations per second slower",
        ),
        it.order_of_all(
            "QF",
            "",
            each,
            LOWER,
            "the slowest in the paper: clusters are long at a load of 90 %",
        )
        .reason("at some shares, another filter's lookups are slower here"),
        it.order("dl-CBF", &["ss-CF"], each, HIGHER, "four buckets, but no decoding")
            .reason("a lookup reads four cache lines instead of two, and decoding costs less here"),
        it.order(
            "dl-CBF",
            &["BF"],
            Near(ByShare, 0.0),
            LOWER,
            "the paper: 30 % slower than BF; four cache lines instead of two",
        )
        .printed(0.7)
        .reason("the four reads are independent and without a branch"),
        it.order("dl-CBF", &["BF"], each, LOWER, "the same claim at all shares")
            .printed(0.7)
            .reason(
                "the paper's other claims exclude it: dl-CBF is faster than ss-CF, which is faster \
                 than BF above a quarter present",
            ),
        it.trend("dl-CBF", ByShare, STABLE, "a lookup always reads four buckets"),
    ];
    let ratio = |(ours, theirs): (&(f64, Timed), &(f64, Timed))| (ours.0, ours.1 / theirs.1);
    let from = crossing(&points("ss-CF").iter().zip(points("BF")).map(ratio).collect());
    for (location, paper) in [("Figure 5", 25.0), (";login:, Figure 3", 50.0)] {
        let quantity = "share of present keys above which ss-CF is faster than BF";
        rows.push(
            Row::timed(location, quantity, from, "%")
                .printed(paper)
                .holds(0.0..=paper + 12.5)
                .note("interpolated; tolerance half a step between the measured shares")
                .reason("the nine reads of BF are independent, so a modern core overlaps them"),
        );
    }
    rows.extend([GUIRA, GUIRA_BATCHES].map(|name| {
        let note = "only guira supports concurrent use: a lookup also validates the version of its \
                    stripe; batches hide cache misses";
        it.guira(name, each, note)
    }));
    rows
}

/// Checks what section 7.2 says about lookups by load.
pub fn figure_6(profiles: &[Profile]) -> Vec<Row> {
    let it = Place("Figure 6", profiles);
    let bits = "in a fuller filter, the first zero bit comes later";
    let dl_cbf = "in the paper, a lookup may end at the first match while the table is less than a \
                  fifth full; here it always reads four buckets";
    vec![
        it.trend("CF", Absent, STABLE, "a lookup always reads two buckets"),
        it.trend("CF", Present, STABLE, "a lookup always reads two buckets"),
        it.trend("ss-CF", Absent, STABLE, "a lookup always reads and decodes two buckets"),
        it.trend("ss-CF", Present, STABLE, "a lookup always reads and decodes two buckets"),
        it.trend("QF", Absent, FALLS, "clusters grow"),
        it.trend("QF", Present, FALLS, "clusters grow"),
        it.trend("BF", Absent, FALLS, bits),
        it.trend("BF", Present, STABLE, "a lookup always reads nine bits"),
        it.trend("blocked BF", Absent, FALLS, bits),
        it.trend("blocked BF", Present, STABLE, "a lookup always reads nine bits"),
        it.trend("dl-CBF", Absent, STABLE, "a lookup always reads four buckets"),
        it.trend("dl-CBF", Present, STABLE, dl_cbf),
    ]
}

/// Checks what section 7.3 says about inserts.
pub fn figure_7(profiles: &[Profile]) -> Vec<Row> {
    let it = Place("Figure 7", profiles);
    let dl_cbf = "an insert always reads four buckets and relocates nothing";
    let full = last(find(profiles, "dl-CBF").curve(Inserts));
    let guira = |name| {
        let note =
            "the emptier bucket first, breadth-first search, and interleaved inserts in batches";
        it.guira(name, Near(Inserts, 92.5), note)
    };
    vec![
        it.trend("CF", Inserts, FALLS, "relocations, each of which depends on the one before"),
        it.trend("ss-CF", Inserts, FALLS, "relocations, with decoding and encoding"),
        it.trend("QF", Inserts, FALLS, "clusters grow and are shifted"),
        it.trend("BF", Inserts, STABLE, "an insert always sets nine bits"),
        it.trend("blocked BF", Inserts, STABLE, "an insert always sets nine bits in one line"),
        it.trend("dl-CBF", Inserts, STABLE, dl_cbf),
        Row::new("Figure 7", "dl-CBF, load of the last inserts", full, "%")
            .printed(80.0)
            .holds(70.0..=80.5)
            .note("section 7.3: no more than 80 %; larger tables reach a lower load (Table 3)"),
        guira(GUIRA),
        guira(GUIRA_BATCHES),
    ]
}

/// Checks what section 7.4 says about removals.
pub fn figure_8(profiles: &[Profile]) -> Vec<Row> {
    let it = Place("Figure 8", profiles);
    vec![
        it.order(
            "CF",
            &["ss-CF", "QF", "dl-CBF"],
            Mean(Removals),
            HIGHER,
            "the fastest: two buckets instead of four, and no decoding",
        ),
        it.order(
            "dl-CBF",
            &["ss-CF", "QF"],
            Mean(Removals),
            HIGHER,
            "the second fastest: no decoding",
        )
        .reason("QF is faster as soon as it is no longer nearly full"),
        it.trend("CF", Removals, STABLE, "at most two buckets"),
        it.trend("ss-CF", Removals, STABLE, "at most two buckets"),
        it.order(
            "QF",
            &["CF", "ss-CF", "dl-CBF"],
            Near(Removals, 87.5),
            LOWER,
            "clusters are long and are shifted back",
        ),
        it.order(
            "QF",
            &["ss-CF"],
            Near(Removals, 2.5),
            HIGHER,
            "nearly empty: one slot read and one written",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::{figure_5, figure_6, figure_7, figure_8, guira_construction, table_3};
    use crate::experiments::{profiles::variants, row::assert_each_row_can_change};

    #[test]
    fn each_row_can_change() {
        let variants = variants();
        for rows in [table_3, guira_construction, figure_5, figure_6, figure_7, figure_8] {
            assert_each_row_can_change(&variants, |profiles| rows(profiles));
        }
    }
}
