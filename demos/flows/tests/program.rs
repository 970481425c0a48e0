//! Runs the program: its output, its exit status and its messages.

use std::{
    env, fs,
    process::{Command, Output},
};

fn flows(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flows")).args(args).output().unwrap()
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
fn unusable_input_is_reported() {
    let whole = fs::read("example2.pcap").unwrap();
    let cut = env::temp_dir().join(format!("flows-cut-{}.pcap", std::process::id()));
    fs::write(&cut, &whole[..100_000]).unwrap();
    for (args, part) in [
        (&[cut.to_str().unwrap()][..], "is cut short"),
        (&["/dev/null"], "is empty"),
        (&["README.md"], "is neither pcap"),
        (&["no-such-file.pcap"], "no-such-file.pcap"),
        (&["src"], "cannot be read"),
        (&["--speed"], "--help"),
        (&["--rate", "7"], "cannot build the map"),
        (&["--capacity", "1"], "--capacity"),
    ] {
        let output = flows(args);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.contains(part), "{message}");
    }
    fs::remove_file(cut).unwrap();
}
