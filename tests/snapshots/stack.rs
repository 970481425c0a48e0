//! The calls that take most stack, in threads that have little.

use std::{env, fs, process, thread};

use super::common::{
    kind::{Kind, Of},
    saved::loader,
    settings,
    suite::on_all_kinds,
};

on_all_kinds! { calls_need_little_stack }

/// Bytes of stack of a thread: what `docs::limits` says, and half as much again, since this is
/// compiled with less effort and more checks.
const STACK: usize = 96 << 10;

fn with_little_stack(call: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, call);
        thread.expect("a thread").join().expect("no panic");
    });
}

fn calls_need_little_stack<K: Kind>() {
    let name = format!("guira-stack-{}-{:?}", process::id(), thread::current().id());
    let path = &env::temp_dir().join(name);
    // More than a fixed filter holds, so that items search for room together.
    let keys: &[u64] = &(0..4_000).collect::<Vec<_>>();
    for layout in K::layouts() {
        let filter: &Of<K> = &settings::<K>(3_000, layout, 1).build().expect("a small filter");
        with_little_stack(|| assert_eq!(K::add_batch(filter, keys).is_ok(), K::GROWS));
        with_little_stack(|| filter.save(path).expect("a file"));
        with_little_stack(|| assert!(loader::<K>().file(path).expect("its file").len() > 2_000));
    }
    fs::remove_file(path).expect("the last file");
}
