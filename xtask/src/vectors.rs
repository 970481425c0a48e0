//! `cargo xtask vectors`: checks that the compiler makes vectors of the loops over columns.
//!
//! Nothing else notices when it does not: the results are the same.

use std::{
    fs,
    ops::RangeInclusive,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

/// A function that is compiled for some instructions, and what its code must have: an instruction,
/// and a prefix of the registers.
struct Loop {
    /// A part of the name of its symbol.
    symbol: &'static str,
    instruction: &'static str,
    registers: &'static str,
    /// How many of these instructions there are, in a loop or if it is unrolled.
    count: [RangeInclusive<usize>; 2],
}

/// The loops of `src/table/block.rs`, each for a table of a fixed size and for one that grows. Of
/// the products of 32 bits, four mix a hash, and three locate its item. (AVX-512 also has a product
/// of 64 bits, which takes three times as long: with more of these, there would be fewer of 32;
/// AVX2 makes three of 32 bits of one.)
const LOOPS: [Loop; 4] = [
    Loop {
        symbol: "5block4avx26locate",
        instruction: "vpmuludq",
        registers: "%ymm",
        count: [7..=12, 28..=48],
    },
    Loop {
        symbol: "5block6avx5126locate",
        instruction: "vpmuludq",
        registers: "%zmm",
        count: [14..=16, 14..=16],
    },
    Loop {
        symbol: "5block4avx27compare",
        instruction: "vpsubq",
        registers: "%ymm",
        count: [2..=32, 2..=32],
    },
    Loop {
        symbol: "5block6avx5127compare",
        instruction: "vpsubq",
        registers: "%zmm",
        count: [2..=32, 2..=32],
    },
];

/// Runs the command. Returns `false` if a loop is not one of vectors.
pub(crate) fn run() -> Result<bool> {
    if cfg!(not(target_arch = "x86_64")) {
        println!("skipped: no vectors for this target");
        return Ok(true);
    }
    let root = crate::root();
    let target = root.join("target/vectors");
    let status = Command::new("cargo")
        .args(["rustc", "--quiet", "--release", "--package=guira", "--lib"])
        .arg("--target-dir")
        .arg(&target)
        .args(["--", "--emit=asm", "-Ccodegen-units=1"])
        .current_dir(&root)
        .env("CARGO_ENCODED_RUSTFLAGS", "")
        .stdin(Stdio::null())
        .status()
        .context("cargo")?;
    ensure!(status.success(), "the library does not compile");
    let text = assembly(&target.join("release/deps"))?;
    let mut passed = true;
    for Loop { symbol, instruction, registers, count } in LOOPS {
        let functions = functions(&text, symbol);
        ensure!(!functions.is_empty(), "no function has `{symbol}` in its name");
        for code in functions {
            let of = |line: &&&str| line.contains(instruction) && line.contains(registers);
            let found = code.iter().filter(of).count();
            println!("{symbol}: {found} of {instruction} on {registers}");
            passed &= count.iter().any(|count| count.contains(&found));
        }
    }
    Ok(passed)
}

/// The newest assembly of the library in a folder.
fn assembly(folder: &Path) -> Result<String> {
    let mut newest = None;
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("guira-") && name.ends_with(".s") {
            newest = newest.max(Some((entry.metadata()?.modified()?, entry.path())));
        }
    }
    let (_, path) = newest.context("the compiler has written no assembly")?;
    Ok(fs::read_to_string(path)?)
}

/// The lines of each function whose symbol contains this text.
fn functions<'a>(assembly: &'a str, symbol: &str) -> Vec<Vec<&'a str>> {
    let mut functions = Vec::new();
    let mut lines = assembly.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("_ZN") && line.ends_with(':') && line.contains(symbol) {
            functions
                .push(lines.by_ref().take_while(|line| !line.contains(".cfi_endproc")).collect());
        }
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::functions;

    #[test]
    fn the_lines_of_a_function_are_found_by_its_symbol() {
        let text =
            "_ZN1a1bE:\n\tmul\n\t.cfi_endproc\n_ZN1a1cE:\n\tadd\n\tsub\n\t.cfi_endproc\n\tret\n";
        assert_eq!(functions(text, "1a1c"), [["\tadd", "\tsub"]]);
        assert!(functions(text, "1d").is_empty());
    }
}
