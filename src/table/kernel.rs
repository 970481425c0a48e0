//! Which instructions loops over blocks of items use.

/// The instructions by which a filter looks up batches, and single items in filters that grow: by
/// default, the [best](Self::best) ones of the processor. All kernels give the same answers, bit
/// for bit. While other threads write, all of them keep the same promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// The instructions that every processor of the target has.
    Scalar,
    /// AVX2, BMI1 and BMI2.
    Avx2,
    /// AVX-512 (F, BW, DQ and VL), BMI1 and BMI2.
    Avx512,
}

impl Kernel {
    /// All kernels, the slowest first.
    pub const ALL: &'static [Self] = &[Self::Scalar, Self::Avx2, Self::Avx512];

    /// Returns whether this program can use the kernel. Vector kernels require that it was compiled
    /// for x86-64, and that the processor has the instructions.
    ///
    /// Without the feature `std` the processor is not asked. Then a kernel is available if the
    /// crate was compiled for a target that has its features.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            Self::Avx2 => has_avx2(),
            Self::Avx512 => has_avx512(),
        }
    }

    /// Returns the fastest kernel that is available.
    ///
    /// With the feature `std` the environment variable `GUIRA_KERNEL` can name a slower one, for
    /// all filters of the process: `scalar`, `avx2` or `avx512`. It is read once. A name that is
    /// unknown or not available has no effect.
    #[must_use]
    pub fn best() -> Self {
        #[cfg(feature = "std")]
        {
            use std::sync::OnceLock;
            static BEST: OnceLock<Kernel> = OnceLock::new();
            *BEST.get_or_init(|| named().unwrap_or_else(Kernel::fastest))
        }
        #[cfg(not(feature = "std"))]
        Self::fastest()
    }

    fn fastest() -> Self {
        let available = Self::ALL.iter().rev().copied().find(|kernel| kernel.is_available());
        available.unwrap_or(Self::Scalar)
    }
}

/// The kernel that the environment names, if it is available.
#[cfg(feature = "std")]
fn named() -> Option<Kernel> {
    let kernel = match std::env::var("GUIRA_KERNEL").ok()?.as_str() {
        "scalar" => Kernel::Scalar,
        "avx2" => Kernel::Avx2,
        "avx512" => Kernel::Avx512,
        _ => return None,
    };
    kernel.is_available().then_some(kernel)
}

/// Returns whether vectors are compiled in and the processor, or the target, has the features.
macro_rules! has {
    ($($feature:tt),*) => {{
        #[cfg(guira_vectors)]
        {
            #[cfg(feature = "std")]
            {
                $(std::arch::is_x86_feature_detected!($feature))&&*
            }
            #[cfg(not(feature = "std"))]
            {
                cfg!(all($(target_feature = $feature),*))
            }
        }
        #[cfg(not(guira_vectors))]
        false
    }};
}

fn has_avx2() -> bool {
    has!("avx2", "bmi1", "bmi2")
}

fn has_avx512() -> bool {
    has!("avx512f", "avx512dq", "avx512vl", "avx512bw", "bmi1", "bmi2")
}
