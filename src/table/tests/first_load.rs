//! A call in the middle of a lookup: at its first load from a page. The page allows no access until
//! a load fails, and the handler of the signal makes the call.

use core::{
    ffi::{c_int, c_void},
    mem::MaybeUninit,
    ptr::{from_ref, null_mut},
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};
use std::sync::{Mutex, PoisonError};

use crate::sync::Word;

/// Bytes of a page on x86-64.
const PAGE: usize = 4096;

/// The page without access, and the call.
struct Hook<'a> {
    page: *mut c_void,
    call: &'a dyn Fn(),
}

/// What the handler does, if anything. Relaxed is enough: one thread writes and reads it.
static HOOK: AtomicPtr<Hook<'static>> = AtomicPtr::new(null_mut());

/// The number of the page of a word.
pub(super) fn page(word: &Word) -> usize {
    from_ref(word).addr() / PAGE
}

/// Calls `lookup`, and `call` when it first loads a word from the page of this one.
pub(super) fn at_first_load(word: &Word, call: &dyn Fn(), lookup: impl FnOnce()) {
    // The handler and its hook belong to the whole process.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let in_page = from_ref(word).addr() % PAGE;
    let hook = Hook { page: from_ref(word).wrapping_byte_sub(in_page).cast_mut().cast(), call };
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
        // SAFETY: the page is one of words that may be read and written, and `former` is what the
        // process had.
        unsafe {
            assert_eq!(libc::mprotect(hook.page, PAGE, libc::PROT_READ | libc::PROT_WRITE), 0);
            assert_eq!(libc::sigaction(libc::SIGSEGV, &raw const former, null_mut()), 0);
        }
        HOOK.store(null_mut(), Relaxed);
    });
    // SAFETY: a page of words, which no other thread knows. Each access waits for the handler.
    assert_eq!(unsafe { libc::mprotect(hook.page, PAGE, libc::PROT_NONE) }, 0);
    lookup();
    assert!(HOOK.load(Relaxed).is_null(), "the lookup has loaded no word from the page");
}

/// Calls a function when it is dropped.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

extern "C" fn on_fault(_signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the system passes a valid `info` of a fault. A hook lives until it is taken away.
    unsafe {
        let (address, hook) = ((*info).si_addr(), HOOK.swap(null_mut(), Relaxed).as_ref());
        match hook {
            Some(hook) if (hook.page..hook.page.byte_add(PAGE)).contains(&address) => {
                libc::mprotect(hook.page, PAGE, libc::PROT_READ | libc::PROT_WRITE);
                (hook.call)();
            }
            // A fault of somebody else: now it ends the process.
            _ => {
                libc::signal(libc::SIGSEGV, libc::SIG_DFL);
            }
        }
    }
}
