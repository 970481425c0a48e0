//! A call in the middle of a lookup: at its first load of a word. The words' pages allow no access
//! until a load fails, and the handler of the signal makes the call.

use core::{
    ffi::{c_int, c_void},
    mem::{MaybeUninit, size_of},
    ops::Range,
    ptr::null_mut,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};
use std::sync::{Mutex, PoisonError};

use super::{Word, scene::OnDrop};

/// Bytes of a page on processors that have the kernels.
const PAGE: usize = 4096;

/// The pages without access, and the call.
struct Hook<'a> {
    pages: *mut c_void,
    len: usize,
    call: &'a dyn Fn(),
}

/// What the handler does, if anything. Relaxed is enough: one thread writes and reads it.
static HOOK: AtomicPtr<Hook<'static>> = AtomicPtr::new(null_mut());

/// The indices of the words that have pages of their own.
pub(super) fn in_whole_pages(words: &[Word]) -> Range<usize> {
    let (start, per_page) = (words.as_ptr().align_offset(PAGE), PAGE / size_of::<Word>());
    start..start + (words.len() - start) / per_page * per_page
}

/// Calls `lookup`, and `call` when it first loads one of the words that are in whole pages.
pub(super) fn at_first_load(words: &[Word], call: &dyn Fn(), lookup: impl FnOnce()) {
    // The handler and its hook belong to the whole process.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let words = &words[in_whole_pages(words)];
    assert!(!words.is_empty());
    let hook = Hook { pages: words.as_ptr().cast_mut().cast(), len: size_of_val(words), call };
    HOOK.store((&raw const hook).cast_mut().cast(), Relaxed);
    // SAFETY: all bits zero are a valid action. The handler has the type that SA_SIGINFO asks for,
    // and `former` is written before it is read.
    let former = unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        let mut former = MaybeUninit::uninit();
        assert_eq!(libc::sigaction(libc::SIGSEGV, &raw const action, former.as_mut_ptr()), 0);
        former.assume_init()
    };
    let _restore = OnDrop(|| {
        // SAFETY: the pages are those of words that may be read and written, and `former` is what
        // the process had.
        unsafe {
            assert_eq!(libc::mprotect(hook.pages, hook.len, libc::PROT_READ | libc::PROT_WRITE), 0);
            assert_eq!(libc::sigaction(libc::SIGSEGV, &raw const former, null_mut()), 0);
        }
        HOOK.store(null_mut(), Relaxed);
    });
    // SAFETY: whole pages of words, which no other thread knows. Each access waits for the handler.
    assert_eq!(unsafe { libc::mprotect(hook.pages, hook.len, libc::PROT_NONE) }, 0);
    lookup();
}

extern "C" fn on_fault(_signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the system passes a valid `info` of a fault. A hook lives until it is taken away.
    unsafe {
        let (address, hook) = ((*info).si_addr(), HOOK.swap(null_mut(), Relaxed).as_ref());
        match hook {
            Some(hook) if (hook.pages..hook.pages.byte_add(hook.len)).contains(&address) => {
                libc::mprotect(hook.pages, hook.len, libc::PROT_READ | libc::PROT_WRITE);
                (hook.call)();
            }
            // A fault of somebody else: now it ends the process.
            _ => {
                libc::signal(libc::SIGSEGV, libc::SIG_DFL);
            }
        }
    }
}
