//! A process that saves a filter to a file is killed at every system call that changes files: the
//! file is the old one or the new one, as a whole.
//!
//! This program starts itself again and traces the second process. The calls are counted when they
//! begin, so a process that is killed at call number n has made the n calls before it, and no part
//! of this one.

#[cfg(all(feature = "std", target_os = "linux", target_arch = "x86_64"))]
#[path = "common/files.rs"]
mod files;

#[cfg(all(feature = "std", target_os = "linux", target_arch = "x86_64"))]
mod traced {
    use std::{
        env,
        ffi::{c_long, c_void},
        fs::{self, Permissions},
        io,
        mem::MaybeUninit,
        os::unix::{fs::PermissionsExt, process::CommandExt},
        path::Path,
        process::Command,
        ptr::null_mut,
    };

    use super::files::{Folder, filled, holds};

    /// The variable that makes this program the process that saves. Its value is the path.
    const PATH: &str = "GUIRA_SAVE_TO";
    /// Seed of the filter in the old file.
    const OLD: u64 = 1;
    /// Seed of the filter that the traced process saves.
    const NEW: u64 = 2;
    /// Seed of the filter that is saved after a crash.
    const LATER: u64 = 3;

    /// The system calls that change, sync, or lock files, and `openat`, which may create one.
    const CALLS: [(c_long, &str); 14] = [
        (libc::SYS_openat, "open"),
        (libc::SYS_write, "write"),
        (libc::SYS_writev, "write"),
        (libc::SYS_pwrite64, "write"),
        (libc::SYS_ftruncate, "truncate"),
        (libc::SYS_fchmod, "chmod"),
        (libc::SYS_flock, "lock"),
        (libc::SYS_fsync, "sync"),
        (libc::SYS_fdatasync, "sync"),
        (libc::SYS_rename, "rename"),
        (libc::SYS_renameat, "rename"),
        (libc::SYS_renameat2, "rename"),
        (libc::SYS_unlink, "remove"),
        (libc::SYS_unlinkat, "remove"),
    ];

    pub fn run() {
        if let Some(path) = env::var_os(PATH) {
            return filled(NEW).save(path).expect("room on the disk");
        }
        let folder = Folder::new("crash");
        let path = folder.join("seen.guira");
        let private = Permissions::from_mode(0o600);
        for has_old in [true, false] {
            for calls in 0.. {
                if has_old {
                    fs::write(&path, filled(OLD).to_bytes()).expect("room on the disk");
                    fs::set_permissions(&path, private.clone()).expect("the file is ours");
                } else {
                    fs::remove_file(&path).or_else(missing).expect("the file is ours");
                }
                let (made, is_killed) = save(&path, calls);
                if !is_killed {
                    assert!(holds(&path, NEW) && folder.names() == ["seen.guira"]);
                    check_order(&made);
                    break;
                }
                let is_old = if has_old { holds(&path, OLD) } else { !path.exists() };
                assert!(is_old || holds(&path, NEW), "neither old nor new after {made:?}");
                // Others can read no more than before, at any time.
                for name in folder.names().into_iter().filter(|_| has_old) {
                    let found = fs::metadata(folder.join(&name)).expect("a file");
                    assert_eq!(found.permissions().mode() & 0o777, 0o600, "{name}");
                }
                // What the process left behind does not disturb a later save.
                filled(LATER).save(&path).expect("room on the disk");
                assert!(holds(&path, LATER));
                assert_eq!(folder.names(), ["seen.guira"], "after {made:?}");
            }
        }
    }

    /// Does not mind that a file is missing.
    fn missing(error: io::Error) -> io::Result<()> {
        if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
    }

    /// What is written is on the disk before the file gets its name, and the name is there after.
    fn check_order(made: &[&str]) {
        let steps: Vec<&str> = made
            .iter()
            .copied()
            .skip_while(|&call| call != "write")
            .filter(|call| ["write", "sync", "rename"].contains(call))
            .collect();
        let writes = steps.iter().take_while(|&&call| call == "write").count();
        assert!(writes > 3, "too few calls at which a file is unfinished: {made:?}");
        assert_eq!(steps[writes..], ["sync", "rename", "sync"], "in {made:?}");
    }

    /// Saves a filter in another process, which is killed when it has made this many calls. Returns
    /// the calls that it made, and whether it was killed.
    #[expect(
        clippy::zombie_processes,
        reason = "`wait` waits for the processes that are not killed"
    )]
    fn save(path: &Path, calls: usize) -> (Vec<&'static str>, bool) {
        let program = env::current_exe().expect("the path of this program");
        let mut command = Command::new(program);
        command.env(PATH, path);
        // SAFETY: the call is a system call, which is allowed between fork and exec.
        let mut process = unsafe { command.pre_exec(|| ptrace(libc::PTRACE_TRACEME, 0, 0)) }
            .spawn()
            .expect("a process that may be traced");
        let id = process.id().cast_signed();
        let mut made = Vec::new();
        assert_eq!(wait(id), Some(libc::SIGTRAP), "a traced process stops when its program begins");
        let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
        ptrace(libc::PTRACE_SETOPTIONS, id, options as usize).expect("our own process");
        let (mut signal, mut is_inside) = (0, false);
        loop {
            ptrace(libc::PTRACE_SYSCALL, id, signal as usize).expect("a stopped process");
            match wait(id) {
                None => return (made, false),
                // The process stops when a call begins, and when it ends.
                Some(stop) if stop == libc::SIGTRAP | 0x80 => {
                    is_inside = !is_inside;
                    signal = 0;
                    if let (true, Some(name)) = (is_inside, changing_call(id)) {
                        if made.len() == calls {
                            process.kill().expect("our own process");
                            process.wait().expect("our own process");
                            return (made, true);
                        }
                        made.push(name);
                    }
                }
                Some(stop) => signal = stop,
            }
        }
    }

    /// Waits until a process stops, and returns the signal of the stop; or until it has ended well.
    fn wait(id: libc::pid_t) -> Option<i32> {
        let mut status = 0;
        // SAFETY: `status` is valid for writes.
        assert_eq!(unsafe { libc::waitpid(id, &raw mut status, 0) }, id);
        if libc::WIFSTOPPED(status) {
            return Some(libc::WSTOPSIG(status));
        }
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status}");
        None
    }

    /// The name of the system call at which a process stopped, if it can change files.
    fn changing_call(id: libc::pid_t) -> Option<&'static str> {
        let mut registers = MaybeUninit::<libc::user_regs_struct>::zeroed();
        ptrace(libc::PTRACE_GETREGS, id, registers.as_mut_ptr().expose_provenance())
            .expect("a stopped process");
        // SAFETY: all its fields are integers, for which zero is valid.
        let registers = unsafe { registers.assume_init() };
        let (_, name) = CALLS.iter().find(|(number, _)| *number == registers.orig_rax as c_long)?;
        let changes = libc::O_CREAT | libc::O_TRUNC;
        // The third argument has the flags.
        (*name != "open" || registers.rdx as i32 & changes != 0).then_some(*name)
    }

    /// Makes a request that needs no address.
    fn ptrace(request: u32, id: libc::pid_t, data: usize) -> io::Result<()> {
        // SAFETY: the data of PTRACE_GETREGS is valid for writes, and the others have no pointer.
        let result = unsafe { libc::ptrace(request, id, null_mut::<c_void>(), data) };
        if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

fn main() {
    #[cfg(all(feature = "std", target_os = "linux", target_arch = "x86_64"))]
    traced::run();
}
