import { call, callNumber, escapedUnless, type HostileProgram, ownKernelMay, perl, sh, socket } from './program.ts';

const PTRACE_TRACEME = 0;
const CLONE_NEWUSER = 0x1000_0000;
const CLONE_NEWNET = 0x4000_0000;
const ADDR_NO_RANDOMIZE = 0x4_0000;
/** By this bit the kernel takes a call of x86-64 for one of the x32 way, which filters often forget. */
const X32 = 0x4000_0000;

/** Programs that ask the kernel for what no tool needs. */
export const KERNEL_PROGRAMS: readonly HostileProgram[] = [
  call('makes an io_uring', 'ioUringSetup', '4, "\\0" x 120'),
  call('offers itself to a debugger', 'ptrace', `${PTRACE_TRACEME}, 0, 0, 0`),
  call('reads the memory of another process', 'processVmReadv', '1, 0, 0, 0, 0, 0'),
  call('writes the memory of another process', 'processVmWritev', '1, 0, 0, 0, 0, 0'),
  call('mounts a tmpfs', 'mount', '"none", "/tmp", "tmpfs", 0, ""'),
  call('opens a file system by the newer calls', 'fsopen', '"proc", 0'),
  call('copies a mount', 'openTree', '-100, "/", 1'),
  call('changes its root', 'chroot', '"/tmp"'),
  call('turns its root', 'pivotRoot', '"/tmp", "/tmp"'),
  call('makes a user namespace', 'unshare', `${CLONE_NEWUSER}`),
  call('makes a network namespace', 'unshare', `${CLONE_NEWNET}`),
  call('opens a file by its handle', 'openByHandle', '3, "\\0" x 64, 0'),
  call('loads a BPF program', 'bpf', '0, "\\0" x 128, 128'),
  call('measures the processor', 'perfEventOpen', '"\\0" x 128, 0, -1, -1, 0'),
  call('asks for its keyring', 'keyctl', '0, -3, 1'),
  call('adds a key', 'addKey', '"user", "key", "value", 5, -3'),
  call('catches page faults', 'userfaultfd', '1'),
  call('hides memory', 'memfdSecret', '0'),
  call('switches address randomisation off', 'personality', `${ADDR_NO_RANDOMIZE}`),
  call('takes a descriptor of another process', 'pidfdGetfd', '3, 0, 0'),
  call('makes System V shared memory', 'shmget', '0, 4096, 0x3b6'),
  call('loads another kernel', 'kexecLoad', '0, 0, 0, 0'),
  perl(
    'joins a namespace',
    `open(my $ns, "<", "/proc/self/ns/net"); ${escapedUnless(`syscall(${callNumber('setns')}, fileno($ns), 0) < 0`)}`,
  ),
  // A kernel of its own knows no such request (ENOTTY); the host's has to be kept from it by the filter.
  ownKernelMay(
    perl('injects into a terminal', `my $c = "x"; ${escapedUnless('!defined(ioctl(STDIN, 0x5412, $c)) && $! == 1')}`),
  ),
  // A filter may also end the process for it, which counts.
  perl(
    'calls the kernel by the x32 way',
    `my $pid = fork; if (!$pid) { open(STDERR, ">", "/dev/null"); exit(syscall(${X32} | 39) > 0 ? 1 : 0) } waitpid($pid, 0); ${escapedUnless('$? >> 8 == 0')}`,
  ),
  socket('vsock', 40, 1, 0),
  socket('netlink', 16, 3, 0),
  socket('packet', 17, 3, 0),
  socket('raw IPv4', 2, 3, 1),
  socket('raw IPv6', 10, 3, 58),
  socket('Bluetooth', 31, 3, 0),
  socket('kernel cryptography', 38, 5, 0),
  sh('makes a device', 'mknod /tmp/device b 8 0'),
  sh('makes a set-uid program', 'cp /bin/sh /tmp/root && chmod 4755 /tmp/root'),
  perl(
    'makes a file that is set-uid from its beginning',
    `use Fcntl; ${escapedUnless('!sysopen(my $f, "/tmp/suid", O_CREAT | O_WRONLY, 04755)')}`,
  ),
  sh(
    'becomes another user',
    '{ test "$(id -u)" != 0 && setpriv --reuid 0 true; } || setpriv --reuid 12345 true || setpriv --clear-groups true',
  ),
  sh('makes namespaces with a tool', 'unshare --user true || unshare --mount true'),
  ...['core_pattern', 'modprobe', 'hostname', 'randomize_va_space'].map((name) =>
    sh(`sets kernel.${name}`, `test -e /proc/sys/kernel/${name} && true 3<>/proc/sys/kernel/${name}`),
  ),
  sh('sets virtual memory', 'true 3>/proc/sys/vm/drop_caches || true 3<>/proc/sys/vm/overcommit_memory'),
  sh('presses system keys', 'true 3>/proc/sysrq-trigger'),
  sh('raises its limits', 'ulimit -c unlimited || ulimit -n 100000'),
  sh('has capabilities', 'grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb):" /proc/self/status | grep -qv 0000000000000000'),
  sh('may gain privileges', 'grep -q "^NoNewPrivs:.*0" /proc/self/status'),
  sh('has no call filter', 'grep -q "^Seccomp:.*0" /proc/self/status'),
  sh('loads a library into every program', ': >>/etc/ld.so.preload'),
  sh('writes over its own program', 'exe=$(readlink /proc/self/exe); true 3<>"$exe" || true 3>/proc/self/exe'),
  ownKernelMay(sh('finds the device of file systems in user space', 'test -e /dev/fuse')),
];
