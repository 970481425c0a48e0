//! A run that is terminated writes what it has measured.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

#[test]
#[cfg(unix)]
fn a_signal_ends_the_run_with_a_report_and_status_130() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("interrupted");
    let _ = fs::remove_dir_all(&folder);
    let mut run = Command::new(env!("CARGO_BIN_EXE_guira-bench"))
        .args(["--only", "loads", "--only", "growing", "--grow", "1000..20000"])
        .args(["--quick", "--output"])
        .arg(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let progress = BufReader::new(run.stderr.take().expect("a pipe"));
    // The first target is complete when the second begins.
    let second = "growth, 1,000 to 20,000, target 0.1 %";
    let begun = progress.lines().map_while(Result::ok).find(|line| line.starts_with(second));
    assert!(begun.is_some(), "the section has begun");
    // SAFETY: a signal to a child that has not been waited for.
    unsafe { libc::kill(run.id() as libc::pid_t, libc::SIGTERM) };
    assert_eq!(run.wait().expect("the status").code(), Some(130));
    let report = fs::read_to_string(folder.join("report.md")).expect("the report");
    assert!(report.contains("This report is incomplete."), "{report}");
    assert!(report.contains("growing: stopped before its end"), "{report}");
    assert!(report.contains("loads: not started"), "{report}");
    let rows =
        fs::read_to_string(folder.join("growing.csv")).expect("the rows of the first target");
    assert!(rows.lines().count() >= 4, "{rows}");
    assert!(folder.join("growth-1-percent-bits.svg").exists());
}
