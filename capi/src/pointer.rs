//! Pointers that C passes: the only place that dereferences them.
//!
//! Only C makes the pointers of this file: nothing here constructs one, and their fields are
//! private. The head of the header demands that a pointer leads to as many values as the function
//! says, that no other thread writes them during the call, and that what an [`Out`] leads to
//! overlaps nothing else; and that what a view is opened in stays as it is until the view is
//! destroyed. Every `unsafe` block below rests on this demand. Null, alignment, and
//! lengths are checked.

use core::{
    ffi::{CStr, c_char},
    marker::PhantomData,
    mem::MaybeUninit,
    ptr, slice,
};

use crate::status::Status;

/// An object that the call reads, while other threads may use it.
#[repr(transparent)]
pub struct Ref<T>(*const T);

/// An object that the call changes, while other threads may use it.
#[repr(transparent)]
pub struct Shared<T>(*mut T);

/// An object that no other thread uses.
#[repr(transparent)]
pub struct Owned<T>(*mut T);

/// Values that a call reads.
#[repr(transparent)]
pub struct In<T>(*const T);

/// Values that a call writes. They may be uninitialized before.
#[repr(transparent)]
pub struct Out<T>(*mut T);

/// As [`Out`], but the pointer may be null.
#[repr(transparent)]
pub struct Optional<T>(Out<T>);

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

/// Structs of numbers that later releases may extend. They begin with the number of bytes that the
/// struct has in the header with which the caller was compiled.
///
/// # Safety
/// The type must be `repr(C)`, begin with a `usize`, and have a value for every bit pattern.
pub unsafe trait Extensible: Copy {}

/// Defines a struct that later releases may extend.
macro_rules! extensible {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident: $in_c:literal {
            $(pub $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name {
            pub size: usize,
            $(pub $field: $type,)*
        }

        // SAFETY: numbers.
        unsafe impl $crate::pointer::Extensible for $name {}

        #[cfg(test)]
        impl $name {
            /// Checks the layout in C.
            pub fn declare(header: &mut String) {
                use core::mem::offset_of;
                use std::fmt::Write;

                let size = size_of::<$name>();
                writeln!(header, "_Static_assert(sizeof({}) == {size}, \"\");", $in_c).unwrap();
                $(
                    let (offset, size) = (offset_of!($name, $field), size_of::<$type>());
                    writeln!(
                        header,
                        "_Static_assert(offsetof({0}, {1}) == {offset}, \"\");\n\
                         _Static_assert(sizeof((({0} *)0)->{1}) == {size}, \"\");",
                        $in_c,
                        stringify!($field),
                    )
                    .unwrap();
                )*
            }
        }
    };
}
pub(crate) use extensible;

/// Limit on the bytes of an [`Extensible`]. A larger number is not a size, but the content of
/// memory that the caller did not initialize.
const MAX_STRUCT: usize = 4096;

/// Returns an error unless a pointer can lead to `len` values.
fn check<T>(pointer: *const T, len: usize) -> Result<(), Status> {
    if pointer.is_null() {
        return Err(Status::ErrNull);
    }
    let bytes = len.checked_mul(size_of::<T>());
    if pointer.is_aligned() && fits(bytes) { Ok(()) } else { Err(Status::ErrArgument) }
}

/// Returns whether an object can have so many bytes.
fn fits(bytes: Option<usize>) -> bool {
    bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok())
}

/// Returns the number of bytes that a struct has beyond those that this release knows.
fn check_size<T: Extensible>(pointer: *const T) -> Result<usize, Status> {
    check(pointer, 1)?;
    // SAFETY: see the head of this file. The struct begins with its size.
    let size = unsafe { pointer.cast::<usize>().read() };
    if size > MAX_STRUCT {
        return Err(Status::ErrStructSize);
    }
    size.checked_sub(size_of::<T>()).ok_or(Status::ErrStructSize)
}

impl<T> Ref<T> {
    /// The object.
    #[inline]
    pub fn get(&self) -> Result<&T, Status> {
        // SAFETY: see the head of this file.
        unsafe { self.0.as_ref() }.ok_or(Status::ErrNull)
    }
}

impl<T> Shared<T> {
    /// The object.
    #[inline]
    pub fn get(&self) -> Result<&T, Status> {
        // SAFETY: see the head of this file.
        unsafe { self.0.as_ref() }.ok_or(Status::ErrNull)
    }
}

impl<T> Owned<T> {
    /// Moves an object to the heap, for C.
    pub fn on_heap(object: T) -> Result<*mut T, Status> {
        // Not `Box::new`, which would end the process if the memory is refused.
        let mut objects = Vec::new();
        objects.try_reserve_exact(1).map_err(|_| Status::ErrNoMemory)?;
        objects.push(object);
        // A slice of one object has the address and the layout of the object.
        Ok(Box::into_raw(objects.into_boxed_slice()).cast())
    }

    /// The object.
    pub fn get_mut(&mut self) -> Result<&mut T, Status> {
        // SAFETY: see the head of this file.
        unsafe { self.0.as_mut() }.ok_or(Status::ErrNull)
    }

    /// Destroys the object, if there is one.
    pub fn destroy(self) {
        if !self.0.is_null() {
            // SAFETY: see the head of this file. The pointer is from `on_heap`.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }
}

impl In<u16> {
    /// The values. The pointer may be null if there are none.
    pub fn slice(&self, len: usize) -> Result<&[u16], Status> {
        if len == 0 {
            return Ok(&[]);
        }
        check(self.0, len)?;
        // SAFETY: see the head of this file.
        Ok(unsafe { slice::from_raw_parts(self.0, len) })
    }
}

impl In<u8> {
    /// Keys of `len` bytes each, `stride` bytes apart. The pointer may be null if they have no
    /// bytes.
    pub fn keys(
        &self,
        stride: usize,
        n: usize,
        len: usize,
    ) -> Result<impl Iterator<Item = &[u8]>, Status> {
        let bytes =
            stride.checked_mul(n.saturating_sub(1)).and_then(|start| start.checked_add(len));
        let first = if n == 0 || len == 0 { ptr::dangling() } else { self.0 };
        if first.is_null() {
            return Err(Status::ErrNull);
        }
        if !fits(bytes) {
            return Err(Status::ErrArgument);
        }
        let stride = if len == 0 { 0 } else { stride };
        // SAFETY: see the head of this file.
        Ok((0..n).map(move |at| unsafe { slice::from_raw_parts(first.add(at * stride), len) }))
    }

    /// Bytes that C lends until the object that is made of them is destroyed.
    pub fn lent(&self, len: usize) -> Result<&'static [u8], Status> {
        check(self.0, len)?;
        // SAFETY: see the head of this file. Nobody writes the bytes before the object is
        // destroyed, and it is used no more then.
        Ok(unsafe { slice::from_raw_parts(self.0, len) })
    }

    /// One key of `len` bytes.
    pub fn key(&self, len: usize) -> Result<&[u8], Status> {
        Ok(self.keys(0, 1, len)?.next().unwrap_or_default())
    }
}

impl Out<u64> {
    /// Writes `n` hashes, `stride` bytes apart, aligned or not. The pointer may be null if there
    /// are none.
    pub fn scatter(
        &mut self,
        stride: usize,
        n: usize,
        hashes: impl Iterator<Item = u64>,
    ) -> Result<(), Status> {
        In(self.0.cast_const()).hashes(stride, n)?; // checks
        for (at, hash) in (0..n).zip(hashes) {
            // SAFETY: see the head of this file.
            unsafe { self.0.byte_add(at * stride).write_unaligned(hash) };
        }
        Ok(())
    }
}

/// Hashes at equal distances, aligned or not.
pub struct Strided<'a> {
    first: In<u64>,
    stride: usize,
    len: usize,
    lifetime: PhantomData<&'a u64>,
}

impl In<u64> {
    /// The hashes, `stride` bytes apart. The pointer may be null if there are none.
    #[inline]
    pub fn hashes(&self, stride: usize, len: usize) -> Result<Strided<'_>, Status> {
        if len > 0 && self.0.is_null() {
            return Err(Status::ErrNull);
        }
        if stride < size_of::<u64>() || !fits(stride.checked_mul(len)) {
            return Err(Status::ErrArgument);
        }
        Ok(Strided { first: Self(self.0), stride, len, lifetime: PhantomData })
    }

    /// The hashes as a slice, if they are one. There may be no more than memory can hold.
    #[inline]
    pub fn side_by_side(&self, stride: usize, len: usize) -> Option<&[u64]> {
        let is_slice = stride == size_of::<u64>() && !self.0.is_null() && self.0.is_aligned();
        // SAFETY: see the head of this file.
        is_slice.then(|| unsafe { slice::from_raw_parts(self.0, len) })
    }
}

impl Strided<'_> {
    /// The number of hashes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The hashes as a slice, if they are one.
    #[inline]
    pub fn slice(&self) -> Option<&[u64]> {
        self.first.side_by_side(self.stride, self.len)
    }

    /// Copies hashes from this position on into a block: all that are left, or as many as fit.
    #[inline(never)]
    pub fn gather<'a>(&self, start: usize, block: &'a mut [MaybeUninit<u64>]) -> &'a [u64] {
        let n = block.len().min(self.len - start);
        for (at, place) in block[..n].iter_mut().enumerate() {
            // SAFETY: see the head of this file. The position is below `len`.
            let hash = unsafe { self.first.0.byte_add((start + at) * self.stride) };
            // SAFETY: as above.
            place.write(unsafe { hash.read_unaligned() });
        }
        // SAFETY: these places were written.
        unsafe { slice::from_raw_parts(block.as_ptr().cast(), n) }
    }
}

impl In<c_char> {
    /// A text that ends with a zero byte.
    pub fn text(&self) -> Result<&CStr, Status> {
        check(self.0, 1)?;
        // SAFETY: see the head of this file.
        Ok(unsafe { CStr::from_ptr(self.0) })
    }
}

impl<T: Extensible> In<T> {
    /// The struct. Fields that this release does not know must be zero.
    pub fn read(&self) -> Result<T, Status> {
        let more = check_size(self.0)?;
        // SAFETY: see the head of this file. So many bytes follow those that are known.
        let more = unsafe { slice::from_raw_parts(self.0.add(1).cast::<u8>(), more) };
        if more.iter().any(|&byte| byte != 0) {
            return Err(Status::ErrStructSize);
        }
        // SAFETY: as above.
        Ok(unsafe { self.0.read() })
    }
}

impl<T> Out<T> {
    /// The place for one value.
    pub fn place(&mut self) -> Result<&mut MaybeUninit<T>, Status> {
        check(self.0, 1)?;
        // SAFETY: see the head of this file.
        Ok(unsafe { &mut *self.0.cast() })
    }
}

impl<T: Zeroable> Out<T> {
    /// The places for values, which become zero first. The pointer may be null if there are none.
    #[inline]
    pub fn slice(&mut self, len: usize) -> Result<&mut [T], Status> {
        if len == 0 {
            return Ok(&mut []);
        }
        check(self.0, len)?;
        // SAFETY: see the head of this file. Zero is a value of the type.
        unsafe { ptr::write_bytes(self.0, 0, len) };
        // SAFETY: as above.
        Ok(unsafe { slice::from_raw_parts_mut(self.0, len) })
    }
}

impl<T> Optional<T> {
    /// As [`Out::place`], or `None` if the pointer is null.
    pub fn place(&mut self) -> Result<Option<&mut MaybeUninit<T>>, Status> {
        if self.0.0.is_null() { Ok(None) } else { self.0.place().map(Some) }
    }
}

impl<T: Zeroable> Optional<T> {
    /// As [`Out::slice`], or `None` if the pointer is null.
    pub fn slice(&mut self, len: usize) -> Result<Option<&mut [T]>, Status> {
        if self.0.0.is_null() { Ok(None) } else { self.0.slice(len).map(Some) }
    }
}

impl<T: Extensible> Out<T> {
    /// Replaces the struct by one whose first field is zero, except for that field. What this
    /// release does not know becomes zero.
    pub fn fill(&mut self, value: T) -> Result<(), Status> {
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
