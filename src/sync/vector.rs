//! Loads of shared words straight into vector registers, and the copying of many words, on x86-64.
//!
//! A word that other threads change may only be read by an atomic load, and Rust has no atomic load
//! into a vector register. So these loads are inline assembly. Why they are sound:
//!
//! - *Each word is loaded whole.* A load of an aligned quadword is atomic, whichever register it
//!   goes to (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3A, section
//!   9.1.1; AMD64 Architecture Programmer's Manual, volume 2, section 7.3.2).
//! - *Each load is an Acquire.* x86-64 reorders no load with an earlier load, and no store with an
//!   earlier load (volume 3A, section 9.2.2).
//! - *The compiler keeps the order.* The assembly has neither of the options `nomem` and
//!   `readonly`, so the compiler must assume that it writes memory, and moves no access to shared
//!   memory across it. (With `readonly`, it could move a later load, such as a lookup's second load
//!   of the version, before the assembly.)

use core::{
    arch::{
        asm,
        x86_64::{__m128i, _mm_sfence, _mm_stream_si64},
    },
    ptr::from_mut,
};

use super::{Relaxed, Word};

/// Size in bytes from which [`load_all`] is faster than plain stores: from there on, the words and
/// the values together exceed the caches of a core.
pub(crate) const MIN_STREAMED: usize = 4 << 20;

/// Loads words by Relaxed. The values go to memory past the caches.
///
/// A plain store would first read the cache line that it writes. So this is faster than a loop of
/// plain stores. `src/docs/speed.md` compares it with `memcpy` too, which is no faster.
pub(crate) fn load_all(words: &[Word], values: &mut [u64]) {
    for (word, value) in words.iter().zip(values) {
        // SAFETY: the target has SSE2, and the value is borrowed exclusively. The fence below comes
        // before any other access to it.
        unsafe { _mm_stream_si64(from_mut(value).cast(), word.load(Relaxed) as i64) };
    }
    // The stores come before later accesses by this thread or by those that it synchronizes with.
    // SAFETY: the target has SSE.
    unsafe { _mm_sfence() };
}

/// Loads two words, the first one into the low half of the register. The addresses are `first` plus
/// the indices times 8 bytes.
/// With `AVX`, by its instructions: others among them would wait for the upper halves of registers.
///
/// # Safety
/// At each of these addresses is a [`Word`], valid for reads. With `AVX`, the processor has it.
#[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
#[inline(always)]
pub(crate) unsafe fn load_both<const AVX: bool>(first: *const Word, indices: [u64; 2]) -> __m128i {
    let both;
    // SAFETY: the caller promises that the addresses are valid, and the target has SSE2. The
    // module's documentation says why no atomic type is needed.
    unsafe {
        if AVX {
            asm!(
                "vmovq {both}, qword ptr [{first} + 8 * {one}]",
                "vmovhps {both}, {both}, qword ptr [{first} + 8 * {other}]",
                both = out(xmm_reg) both,
                first = in(reg) first,
                one = in(reg) indices[0],
                other = in(reg) indices[1],
                options(nostack, preserves_flags)
            );
            return both;
        }
        asm!(
            "movq {both}, qword ptr [{first} + 8 * {one}]",
            "movhps {both}, qword ptr [{first} + 8 * {other}]",
            both = out(xmm_reg) both,
            first = in(reg) first,
            one = in(reg) indices[0],
            other = in(reg) indices[1],
            options(nostack, preserves_flags)
        );
    }
    both
}
