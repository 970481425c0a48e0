//! The provenance of a report: machine, compiler, commit, command, date.

use std::{fs, process::Command};

/// Returns names and values of the facts that belong beside every figure of a package's program.
#[must_use]
pub fn facts(package: &str) -> Vec<(&'static str, String)> {
    let cores = crate::Cores::list().count();
    vec![
        ("machine", format!("{}, {cores} cores used", processor())),
        ("caches", caches()),
        ("kernel", first_line("/proc/sys/kernel/osrelease")),
        ("huge pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")),
        ("rustc", output("rustc", &["--version"])),
        ("commit", commit()),
        ("command", command(package)),
        ("date", output("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
    ]
}

fn processor() -> String {
    let field = |name: &str| {
        let file = fs::read_to_string("/proc/cpuinfo").ok()?;
        let line = file.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    let name = field("model name").unwrap_or_else(|| std::env::consts::ARCH.into());
    match (field("cpu family"), field("model\t")) {
        (Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        _ => name,
    }
}

/// Returns the sizes of the first core's caches, by level.
#[must_use]
pub fn caches() -> String {
    let sizes = (0..8).filter_map(|index| {
        let read = |name: &str| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
            fs::read_to_string(path).ok().map(|text| text.trim().to_string())
        };
        (read("type")? != "Instruction").then_some(())?;
        Some(format!("L{} {}", read("level")?, read("size")?))
    });
    sizes.collect::<Vec<_>>().join(", ")
}

fn first_line(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|_| "unknown".into());
    text.lines().next().unwrap_or_default().into()
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    text.map_or("unknown".into(), |text| String::from_utf8_lossy(&text).trim().to_string())
}

fn commit() -> String {
    let commit = output("git", &["rev-parse", "--short=12", "HEAD"]);
    let clean = output("git", &["status", "--porcelain", "--untracked-files=no"]).is_empty();
    if clean { commit } else { format!("{commit}, with changes") }
}

/// Returns the cargo command that repeats this run.
fn command(package: &str) -> String {
    let mut command = format!("cargo run --release -p {package}");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.is_empty() {
        command = format!("{command} -- {}", arguments.join(" "));
    }
    command
}
