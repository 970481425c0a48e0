//! Pointers that C passes: the only place that dereferences them.
//!
//! Only C makes an [`In`], an [`Out`] or a [`Shared`]: nothing here constructs one, and their
//! fields are private. The head of the header demands that a pointer leads to as many values as the
//! function says, that no other thread writes them during the call, and that what an [`Out`] leads
//! to overlaps nothing else. Every `unsafe` block below rests on this demand. Null, alignment, and
//! lengths are checked.

use core::{
    ffi::{CStr, c_char},
    mem::MaybeUninit,
    ptr, slice,
};

use crate::error::Error;

// The three have no doc comments, which the header would repeat.

// An object that the call changes, while other threads may use it.
#[repr(transparent)]
pub struct Shared<T>(*mut T);

// Values that a call reads.
#[repr(transparent)]
pub struct In<T>(*const T);

// Values that a call writes. They may be uninitialized before.
#[repr(transparent)]
pub struct Out<T>(*mut T);

/// Types of which every bit pattern is a value.
///
/// # Safety
/// Every bit pattern must be a value.
pub unsafe trait Plain: Copy {}
// SAFETY: an integer.
unsafe impl Plain for u8 {}
// SAFETY: an integer.
unsafe impl Plain for u16 {}
// SAFETY: an integer.
unsafe impl Plain for u64 {}

/// Types of which zero is a value.
///
/// # Safety
/// The bit pattern of zeros must be a value.
pub unsafe trait Zeroable: Copy {}
// SAFETY: an integer.
unsafe impl Zeroable for u16 {}
// SAFETY: an integer.
unsafe impl Zeroable for u64 {}
// SAFETY: zero is `false`.
unsafe impl Zeroable for bool {}

/// Structs that later releases may extend. They begin with the number of bytes that the struct has
/// in the header with which the caller was compiled.
///
/// # Safety
/// The type must be `repr(C)` and begin with a `usize`.
pub unsafe trait Extensible: Plain {}

/// Limit on the bytes of an [`Extensible`]. A larger number is not a size, but the content of
/// memory that the caller did not initialize.
const MAX_STRUCT: usize = 4096;

/// Returns an error unless a pointer can lead to `len` values.
fn check<T>(pointer: *const T, len: usize) -> Result<(), Error> {
    if pointer.is_null() {
        return Err(Error::Null);
    }
    let fits = len.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if pointer.is_aligned() && fits { Ok(()) } else { Err(Error::Argument) }
}

/// Returns the number of bytes that a struct has beyond those that this release knows.
fn check_size<T: Extensible>(pointer: *const T) -> Result<usize, Error> {
    check(pointer, 1)?;
    // SAFETY: see the head of this file. The struct begins with its size.
    let size = unsafe { pointer.cast::<usize>().read() };
    if size > MAX_STRUCT {
        return Err(Error::StructSize);
    }
    size.checked_sub(size_of::<T>()).ok_or(Error::StructSize)
}

impl<T> Shared<T> {
    /// The object, or `None` if the pointer is null.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: see the head of this file.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Plain> In<T> {
    /// The values. The pointer may be null if there are none.
    #[inline]
    pub fn slice(&self, len: usize) -> Result<&[T], Error> {
        if len == 0 {
            return Ok(&[]);
        }
        check(self.0, len)?;
        // SAFETY: see the head of this file.
        Ok(unsafe { slice::from_raw_parts(self.0, len) })
    }
}

impl In<c_char> {
    /// A text that ends with a zero byte.
    pub fn text(&self) -> Result<&CStr, Error> {
        check(self.0, 1)?;
        // SAFETY: see the head of this file.
        Ok(unsafe { CStr::from_ptr(self.0) })
    }
}

impl<T: Extensible> In<T> {
    /// The struct. Fields that this release does not know must be zero.
    pub fn read(&self) -> Result<T, Error> {
        let more = check_size(self.0)?;
        // SAFETY: see the head of this file. So many bytes follow those that are known.
        let more = unsafe { slice::from_raw_parts(self.0.add(1).cast::<u8>(), more) };
        if more.iter().any(|&byte| byte != 0) {
            return Err(Error::StructSize);
        }
        // SAFETY: as above.
        Ok(unsafe { self.0.read() })
    }
}

impl<T> Out<T> {
    /// The place for one value.
    pub fn place(&mut self) -> Result<&mut MaybeUninit<T>, Error> {
        check(self.0, 1)?;
        // SAFETY: see the head of this file.
        Ok(unsafe { &mut *self.0.cast() })
    }

    /// The place for one value, or `None` if the pointer is null.
    pub fn optional(&mut self) -> Result<Option<&mut MaybeUninit<T>>, Error> {
        if self.0.is_null() { Ok(None) } else { self.place().map(Some) }
    }
}

impl<T: Zeroable> Out<T> {
    /// The places for values, which become zero first. The pointer may be null if there are none.
    #[inline]
    pub fn slice(&mut self, len: usize) -> Result<&mut [T], Error> {
        if len == 0 {
            return Ok(&mut []);
        }
        check(self.0, len)?;
        // SAFETY: see the head of this file. Zero is a value of the type.
        unsafe { ptr::write_bytes(self.0, 0, len) };
        // SAFETY: as above.
        Ok(unsafe { slice::from_raw_parts_mut(self.0, len) })
    }

    /// As [`slice`](Self::slice), or `None` if the pointer is null.
    pub fn optional_slice(&mut self, len: usize) -> Result<Option<&mut [T]>, Error> {
        if self.0.is_null() { Ok(None) } else { self.slice(len).map(Some) }
    }
}

impl<T: Extensible> Out<T> {
    /// Replaces the struct by one whose first field is zero, except for that field. What this
    /// release does not know becomes zero.
    pub fn fill(&mut self, value: T) -> Result<(), Error> {
        let more = check_size(self.0.cast_const())?;
        let size_field = size_of::<usize>();
        let from = (&raw const value).cast::<u8>();
        // SAFETY: see the head of this file. Both structs have these bytes.
        unsafe {
            let to = self.0.cast::<u8>();
            ptr::copy_nonoverlapping(
                from.add(size_field),
                to.add(size_field),
                size_of::<T>() - size_field,
            );
        }
        // SAFETY: as above. So many bytes follow those that are known.
        unsafe { ptr::write_bytes(self.0.add(1).cast::<u8>(), 0, more) };
        Ok(())
    }
}
