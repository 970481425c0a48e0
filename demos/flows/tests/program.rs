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
    let output = flows(&["example2.pcap", "2", "5000"]);
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{report}");
    assert!(report.contains("\n4709 packets (10 outside flows, "), "{report}");
    assert_eq!(report.lines().filter(|line| line.contains("guira  ")).count(), 1);
    assert!(report.contains(" of 257 flows\n"), "{report}");
    assert!(report.contains("\nfound 0 false negatives, 0 flows left behind"), "{report}");
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
        (&["example2.pcap", "many"], "usage"),
        (&["example2.pcap", "0"], "usage"),
    ] {
        let output = flows(args);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.contains(part), "{message}");
    }
    fs::remove_file(cut).unwrap();
}
