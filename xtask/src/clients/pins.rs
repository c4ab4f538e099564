//! Every version that `cargo xtask clients` installs, in one place.
//!
//! Wheels are named with everything that they need: pip is told to look for nothing else. So a client changes only when
//! this file does, and with it what is known about it (`known.txt`).

/// Wheels that are installed together, and what they are for.
pub struct Wheels {
    /// The name of the stamp that says that they are there.
    pub name: &'static str,
    /// `package==version`, a line each.
    pub pins: &'static [&'static str],
}

/// NVIDIA's compilers, and numba-cuda with what its own tests import. CI installs no others.
pub const BASE: Wheels = Wheels {
    name: "base",
    pins: &[
        "cffi==2.1.1",
        "cuda-bindings==13.0.3",
        "cuda-core==1.0.1",
        "cuda-pathfinder==1.9.0",
        "filecheck==1.0.6",
        "iniconfig==2.3.1",
        "llvmlite==0.50.0",
        "ml_dtypes==0.6.0",
        "numba==0.68.1",
        "numba-cuda==0.30.4",
        "numpy==2.2.6",
        "nvidia-cuda-cccl==13.0.85",
        "nvidia-cuda-nvrtc==13.0.88",
        "nvidia-cuda-nvrtc-cu12==12.9.86",
        "nvidia-cuda-runtime==13.0.96",
        "nvidia-nvjitlink==13.0.88",
        "nvidia-nvvm==13.0.88",
        "packaging==26.3",
        "pluggy==1.7.0",
        "psutil==7.2.2",
        "pycparser==3.12",
        "Pygments==2.21.0",
        "pytest==9.2.0",
    ],
};

/// The other clients in Python, and headers and libclang for the crates that make their bindings when they are built.
pub const REST: Wheels = Wheels {
    name: "rest",
    pins: &[
        "libclang==18.1.1",
        "nvidia-cuda-crt==13.0.88",
        "nvidia-curand==10.4.0.35",
        "tinygrad==0.13.0",
        "triton==3.9.0",
    ],
};

/// A crate from the registry.
pub struct Crate {
    /// Its name there.
    pub name: &'static str,
    /// The version.
    pub version: &'static str,
    /// What `cargo test` is told.
    pub arguments: &'static [&'static str],
    /// Versions of everything that it needs, where its package says none.
    pub lock: Option<&'static str>,
    /// Tests that are marked as ignored because they want a process of their own.
    pub alone: &'static [&'static str],
    /// Tests that CI leaves out: they take long and are known to fail.
    pub not_in_ci: &'static [&'static str],
}

/// cudarc: its tests of the driver API and of NVRTC; cuBLAS and the others are libraries of NVIDIA's. One test compiles for
/// `compute_53`, which NVRTC 13 no longer knows: it is given NVRTC 12.
pub const CUDARC: Crate = Crate {
    name: "cudarc",
    version: "0.19.10",
    arguments: &[
        "--lib",
        "--no-default-features",
        "--features",
        "std,driver,nvrtc,dynamic-loading,cuda-13000,f16,f8,f4",
    ],
    lock: None,
    alone: &[
        "driver::safe::core::tests::test_post_alloc_memory",
        "driver::safe::launch::tests::test_device_side_assert",
    ],
    not_in_ci: &["driver::safe::launch::tests::test_par_launch"],
};

/// cust with all of its features.
pub const CUST: Crate = Crate {
    name: "cust",
    version: "0.3.2",
    arguments: &["--lib", "--all-features"],
    lock: Some(include_str!("cust.lock")),
    alone: &[],
    not_in_ci: &[],
};

/// cuda-core, the crate; the package for Python has the same name.
pub const CUDA_CORE: Crate = Crate {
    name: "cuda-core",
    version: "0.4.0",
    arguments: &["--lib", "--tests"],
    lock: None,
    alone: &[],
    not_in_ci: &[],
};

/// cuda-async.
pub const CUDA_ASYNC: Crate = Crate { name: "cuda-async", ..CUDA_CORE };

/// The version of a wheel.
pub fn version(package: &str) -> &'static str {
    let pins = BASE.pins.iter().chain(REST.pins);
    let pin = pins.filter_map(|pin| pin.split_once("==")).find(|(name, _)| *name == package);
    pin.map_or("", |(_, version)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pin_is_exact_and_there_once() {
        let pins: Vec<&str> = BASE.pins.iter().chain(REST.pins).copied().collect();
        for pin in &pins {
            let (name, version) = pin.split_once("==").expect("an exact version");
            assert!(version.chars().all(|c| c.is_ascii_digit() || c == '.'), "{pin}");
            let again = pins.iter().filter(|other| other.split("==").next() == Some(name)).count();
            assert_eq!(again, 1, "{name}");
        }
        assert_eq!(version("tinygrad"), "0.13.0");
    }
}
