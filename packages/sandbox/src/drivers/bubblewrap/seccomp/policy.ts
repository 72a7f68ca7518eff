/** System calls that a sandboxed program may make. Unlisted names get ENOSYS, as on a kernel without them. */

/** Allowed whatever their arguments. Kept to what sh, coreutils, perl, python, node and compilers need. */
export const ALLOWED: readonly string[] = words(`
  access alarm arch_prctl bind brk capget capset chdir chown clock_getres clock_gettime clock_nanosleep close close_range
  connect copy_file_range dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2
  epoll_wait eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fchdir fchown
  fchownat fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex
  futex_waitv futimesat get_robust_list get_thread_area getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups
  getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid
  getsockname getsockopt gettid gettimeofday getuid getxattr inotify_add_watch inotify_init inotify_init1
  inotify_rm_watch ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown
  lgetxattr link linkat listen listxattr llistxattr lremovexattr lseek lsetxattr lstat madvise membarrier memfd_create
  mincore mkdir mkdirat mlock mlock2 mlockall mmap mprotect mremap msync munlock munlockall munmap nanosleep newfstatat
  pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2
  prlimit64 pselect6 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv recvfrom recvmmsg recvmsg
  removexattr rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask
  rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max
  sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
  sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select sendfile sendmmsg sendmsg
  sendto set_robust_list set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid
  setresgid setresuid setreuid setrlimit setsid setsockopt setuid setxattr shutdown sigaltstack signalfd signalfd4 splice
  stat statfs statx symlink symlinkat sync sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete
  timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate umask
  uname unlink unlinkat utime utimensat utimes vfork vmsplice wait4 waitid write writev accept accept4
`);

/** Refused with EPERM: known and dangerous; a clear refusal helps more than "does not exist". */
export const REFUSED: readonly string[] = words(`
  acct add_key adjtimex bpf chroot clock_adjtime clock_settime delete_module fanotify_init fanotify_mark finit_module
  fsconfig fsmount fsopen fspick init_module ioperm iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie mbind
  memfd_secret migrate_pages modify_ldt mount mount_setattr move_mount move_pages mq_getsetattr mq_notify mq_open
  mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd name_to_handle_at open_by_handle_at open_tree
  perf_event_open pidfd_getfd pivot_root process_madvise process_mrelease process_vm_readv process_vm_writev ptrace
  quotactl quotactl_fd reboot request_key semctl semget semop semtimedop set_mempolicy set_mempolicy_home_node setdomainname
  sethostname setns settimeofday shmat shmctl shmdt shmget swapoff swapon syslog umount2 unshare userfaultfd vhangup
`);

/**
 * A test of one argument. Only the low 32 bits are read: every argument tested here is an `int` or `unsigned int` for
 * the kernel, which ignores the rest too.
 */
export interface ArgumentTest {
  readonly argument: 0 | 1 | 2 | 3;
  /** True when the argument equals one of these, or when any bit of `anyBit` is set. */
  readonly oneOf?: readonly number[];
  readonly anyBit?: number;
}

/** Errors with which a call is refused; an `unheeded` call seems to have succeeded. */
export type Refusal = 'EPERM' | 'ENOSYS' | 'EAFNOSUPPORT' | 'unheeded';

/** A call that is allowed only for some arguments: refused when all of `refuseWhen` hold, or one of `allowOnlyWhen` does not. */
export interface ArgumentRule {
  readonly refuseWhen?: readonly ArgumentTest[];
  readonly allowOnlyWhen?: readonly ArgumentTest[];
  readonly refusal: Refusal;
}

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const CLONE_NEW_ANY = 0x7e02_0000;
/** S_ISUID | S_ISGID: a program left in a host folder must not carry its owner's rights to whoever runs it there. */
const SET_ID_BITS = 0o6000;
/** O_CREAT | __O_TMPFILE: only then does `open` look at its mode argument. */
const CREATES = 0o100 | 0o20_000_000;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const IPPROTO_TCP = 6;
const IPPROTO_UDP = 17;
/** TIOCSTI and TIOCLINUX put input into a terminal; TIOCSETD loads line disciplines. */
const TERMINAL_INJECTION = [0x5412, 0x541c, 0x5423];
/** PER_LINUX, and the value that only asks. */
const HARMLESS_PERSONALITIES = [0, 0xffff_ffff];

const refuseSetId = (argument: 1 | 2 | 3): ArgumentRule => ({
  refuseWhen: [{ argument, anyBit: SET_ID_BITS }],
  refusal: 'EPERM',
});

/** Calls whose arguments decide. clone3 and openat2 pass theirs through a pointer, so callers fall back to the old ones. */
export const RULES: Readonly<Record<string, ArgumentRule>> = {
  clone: { refuseWhen: [{ argument: 0, anyBit: CLONE_NEW_ANY }], refusal: 'EPERM' },
  socket: {
    allowOnlyWhen: [
      { argument: 0, oneOf: [AF_UNIX, AF_INET, AF_INET6] },
      { argument: 2, oneOf: [0, IPPROTO_TCP, IPPROTO_UDP] },
    ],
    refusal: 'EAFNOSUPPORT',
  },
  socketpair: { allowOnlyWhen: [{ argument: 0, oneOf: [AF_UNIX] }], refusal: 'EAFNOSUPPORT' },
  ioctl: { refuseWhen: [{ argument: 1, oneOf: TERMINAL_INJECTION }], refusal: 'EPERM' },
  personality: { allowOnlyWhen: [{ argument: 0, oneOf: HARMLESS_PERSONALITIES }], refusal: 'EPERM' },
  chmod: refuseSetId(1),
  fchmod: refuseSetId(1),
  fchmodat: refuseSetId(2),
  creat: refuseSetId(1),
  mknod: refuseSetId(1),
  mknodat: refuseSetId(2),
  open: {
    refuseWhen: [
      { argument: 1, anyBit: CREATES },
      { argument: 2, anyBit: SET_ID_BITS },
    ],
    refusal: 'EPERM',
  },
  openat: {
    refuseWhen: [
      { argument: 2, anyBit: CREATES },
      { argument: 3, anyBit: SET_ID_BITS },
    ],
    refusal: 'EPERM',
  },
};

/** SO_SNDBUF and SO_RCVBUF at the level SOL_SOCKET. */
const SOL_SOCKET = 1;
const BUFFER_SIZES = [7, 8];
const F_SETPIPE_SZ = 1031;

/**
 * Further rules without control groups: memory that belongs to no process is refused, and kernel buffers keep their
 * size. A request for larger socket buffers seems to succeed, as with the kernel beyond its own limit.
 */
export const UNCOUNTED_RULES: Readonly<Record<string, ArgumentRule>> = {
  memfd_create: { refuseWhen: [], refusal: 'ENOSYS' },
  fcntl: { refuseWhen: [{ argument: 1, oneOf: [F_SETPIPE_SZ] }], refusal: 'EPERM' },
  setsockopt: {
    refuseWhen: [
      { argument: 1, oneOf: [SOL_SOCKET] },
      { argument: 2, oneOf: BUFFER_SIZES },
    ],
    refusal: 'unheeded',
  },
};

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
