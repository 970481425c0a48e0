//! Runs the program: its output, its exit status and its messages.

use std::{
    env, fs,
    process::{Command, Output},
};

fn flows(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flows")).args(args).output().unwrap()
}

/// Checks for exit status 2 and a message that contains `part`.
fn assert_unusable(args: &[&str], part: &str) {
    let output = flows(args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains(part), "{message}");
}

#[test]
fn follows_and_replays_the_shipped_capture() {
    let output = flows(&["--flows", "5000", "--threads", "2"]);
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{report}");
    assert!(report.starts_with("packets          4709 (10 outside flows)\n"), "{report}");
    assert_eq!(report.lines().filter(|line| line.starts_with("guira")).count(), 2);
    assert!(report.ends_with("\nfalse negatives  0\nleft behind      0\n"), "{report}");
}

#[test]
fn without_a_replay_the_report_has_no_table() {
    let report = String::from_utf8(flows(&["--flows", "0"]).stdout).unwrap();
    assert!(!report.contains("guira") && report.ends_with("left behind      0\n"), "{report}");
}

#[test]
fn a_capture_that_ends_within_a_packet_is_reported() {
    let whole = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/example2.pcap")).unwrap();
    let cut = env::temp_dir().join(format!("flows-cut-{}.pcap", std::process::id()));
    fs::write(&cut, &whole[..100_000]).unwrap();
    assert_unusable(&[cut.to_str().unwrap()], "is cut short");
    fs::remove_file(cut).unwrap();
}

#[test]
fn other_unusable_input_is_reported() {
    assert_unusable(&["/dev/null"], "is empty");
    assert_unusable(&[concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")], "is neither pcap");
    assert_unusable(&["no-such-file.pcap"], "no-such-file.pcap: ");
    assert_unusable(&[env!("CARGO_MANIFEST_DIR")], "cannot be read");
    assert_unusable(&["--speed"], "--help");
    assert_unusable(&["--rate", "7"], "cannot build the map");
    assert_unusable(&["--capacity", "1"], "--capacity");
}
