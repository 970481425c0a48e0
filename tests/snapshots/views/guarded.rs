//! Bytes that can only be read, and beside which nothing can be accessed.

/// Copies of bytes in memory of their own. On Linux, they can only be read, and an access to what
/// is before or behind them ends the process.
pub struct Guarded {
    memory: *mut u8,
    len: usize,
    bytes: std::ops::Range<usize>,
}

/// A multiple of the size of a page on all systems.
const PAGE: usize = 64 << 10;

impl Guarded {
    /// Copies bytes, so that they begin where they can be read first, or end where they cannot be
    /// read any further. They begin at a multiple of 8, or as many bytes behind one as `beside`
    /// says.
    ///
    /// # Panics
    /// If the system refuses the memory.
    #[cfg(target_os = "linux")]
    pub fn new(bytes: &[u8], at_end: bool, beside: usize) -> Self {
        let inner = (bytes.len() + 8).next_multiple_of(PAGE);
        let (len, room) = (inner + 2 * PAGE, inner - bytes.len());
        let start = PAGE + if at_end { (room - beside) / 8 * 8 } else { 0 };
        let bytes_at = start + beside..start + beside + bytes.len();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping affects no other memory. What is copied fits into it.
        unsafe {
            let memory = libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0);
            assert!(memory != libc::MAP_FAILED, "memory");
            let memory = memory.cast::<u8>();
            let inside = memory.add(PAGE).cast();
            assert_eq!(libc::mprotect(inside, inner, libc::PROT_READ | libc::PROT_WRITE), 0);
            memory.add(bytes_at.start).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            assert_eq!(libc::mprotect(inside, inner, libc::PROT_READ), 0);
            Self { memory, len, bytes: bytes_at }
        }
    }

    /// Copies bytes.
    #[cfg(not(target_os = "linux"))]
    pub fn new(bytes: &[u8], _at_end: bool, beside: usize) -> Self {
        let mut copy = vec![0_u64; bytes.len() / 8 + 3];
        let (len, range) = (8 * copy.len(), beside..beside + bytes.len());
        let memory = copy.as_mut_ptr().cast::<u8>();
        // SAFETY: what is copied fits.
        unsafe { memory.add(beside).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        std::mem::forget(copy);
        Self { memory, len, bytes: range }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        let len = self.bytes.end - self.bytes.start;
        // SAFETY: they can be read as long as this lives, and nobody writes them.
        unsafe { std::slice::from_raw_parts(self.memory.add(self.bytes.start), len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: made in `new`, with this length, for nothing else.
        unsafe {
            #[cfg(target_os = "linux")]
            libc::munmap(self.memory.cast(), self.len);
            #[cfg(not(target_os = "linux"))]
            drop(Vec::from_raw_parts(self.memory.cast::<u64>(), self.len / 8, self.len / 8));
        }
    }
}
