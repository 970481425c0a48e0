//! Prefetching of cache lines, by one instruction where the target has one.

/// Prefetches a cache line for reading. Every address is valid: a prefetch never faults.
#[inline]
pub(crate) fn prefetch(line: *const u8) {
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "sse",
        not(any(loom, shuttle, miri, guira_portable))
    ))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults, and the target has SSE.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
    #[cfg(all(target_arch = "aarch64", not(any(loom, shuttle, miri, guira_portable))))]
    // SAFETY: a prefetch reads nothing and never faults. The block touches no stack and no flags.
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{line}]",
            line = in(reg) line,
            options(nostack, preserves_flags, readonly)
        );
    }
    // On other targets the loads themselves overlap, since they do not depend on one another.
    #[cfg(not(all(
        any(all(target_arch = "x86_64", target_feature = "sse"), target_arch = "aarch64"),
        not(any(loom, shuttle, miri, guira_portable))
    )))]
    let _ = line;
}
