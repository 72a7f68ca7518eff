import { arch } from 'node:process';

/** A program that tries to leave its sandbox and says `ESCAPED` when it can. It ends at once and harms nothing. */
export interface HostileProgram {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

/** Numbers of calls that perl and sh have no word for: x86-64, arm64. */
const CALLS = {
  bpf: [321, 280],
  chroot: [161, 51],
  fsopen: [430, 430],
  ioUringSetup: [425, 425],
  kexecLoad: [246, 104],
  keyctl: [250, 219],
  memfdSecret: [447, 447],
  mount: [165, 40],
  openByHandle: [304, 265],
  openTree: [428, 428],
  perfEventOpen: [298, 241],
  personality: [135, 92],
  pidfdGetfd: [438, 438],
  pivotRoot: [155, 41],
  processVmReadv: [310, 270],
  processVmWritev: [311, 271],
  ptrace: [101, 117],
  setns: [308, 268],
  shmget: [29, 194],
  unshare: [272, 97],
  userfaultfd: [323, 282],
  addKey: [248, 217],
} as const;

const PTRACE_TRACEME = 0;
const CLONE_NEWUSER = 0x1000_0000;
const CLONE_NEWNET = 0x4000_0000;
const ADDR_NO_RANDOMIZE = 0x4_0000;

/** Programs for every driver that runs the host's own sh and perl. */
export const HOSTILE_PROGRAMS: readonly HostileProgram[] = [
  ...[
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
  ],
  perl(
    'joins a namespace',
    `open(my $ns, "<", "/proc/self/ns/net"); ${escapedUnless(`syscall(${number('setns')}, fileno($ns), 0) < 0`)}`,
  ),
  perl('injects into a terminal', `my $c = "x"; ${escapedUnless('!defined(ioctl(STDIN, 0x5412, $c)) && $! == 1')}`),
  socket('vsock', 40, 1, 0),
  socket('netlink', 16, 3, 0),
  socket('packet', 17, 3, 0),
  socket('raw IPv4', 2, 3, 1),
  socket('Bluetooth', 31, 3, 0),
  socket('kernel cryptography', 38, 5, 0),
  sh('makes a device', 'mknod /tmp/device b 8 0'),
  sh('makes a set-uid program', 'cp /bin/sh /tmp/root && chmod 4755 /tmp/root'),
  sh('becomes root', 'setpriv --reuid 0 true || setpriv --clear-groups true'),
  sh('makes namespaces with a tool', 'unshare --user true || unshare --mount true'),
  ...['/usr/bin/hostile', '/hostile', '/etc/hostile', '/dev/hostile', '/lib/hostile', '/proc/hostile'].map((path) =>
    sh(`writes ${path}`, `: 2>/dev/null >${path}`),
  ),
  sh('changes the passwords', 'echo x >>/etc/passwd || echo x >/etc/shadow'),
  ...['core_pattern', 'modprobe', 'hostname', 'randomize_va_space'].map((name) =>
    sh(`sets kernel.${name}`, `test -e /proc/sys/kernel/${name} && true 3<>/proc/sys/kernel/${name}`),
  ),
  sh('sets virtual memory', 'true 3>/proc/sys/vm/drop_caches || true 3<>/proc/sys/vm/overcommit_memory'),
  sh('presses system keys', 'true 3>/proc/sysrq-trigger'),
  ...['/proc/kcore', '/proc/kmsg', '/proc/timer_list', '/proc/vmallocinfo', '/proc/slabinfo', '/proc/keys'].map(
    (path) => sh(`reads ${path}`, `head -c 1 ${path} | grep -q .`),
  ),
  sh('reads disks and memory', 'ls /dev/mem /dev/kmem /dev/vda /dev/sda /dev/kvm /dev/fuse 2>/dev/null | grep -q .'),
  sh('reads host accounts', 'cat /etc/shadow || ls /root || ls /home | grep -q .'),
  sh(
    'leaves by the root of the first process',
    'ls /proc/1/root/root || ls /proc/1/cwd/root || ls /proc/1/root/home | grep -q .',
  ),
  sh(
    'reads the environment of the first process',
    'tr "\\0" "\\n" </proc/1/environ | grep -qvE "^(PWD|OLDPWD|SHLVL|_)="',
  ),
  sh('sees the cgroup file system', 'ls /sys/fs/cgroup/ | grep -q .'),
  sh('raises its limits', 'ulimit -c unlimited || ulimit -n 100000'),
  sh('has capabilities', 'grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb):" /proc/self/status | grep -qv 0000000000000000'),
  sh('may gain privileges', 'grep -q "^NoNewPrivs:.*0" /proc/self/status'),
  sh('has no call filter', 'grep -q "^Seccomp:.*0" /proc/self/status'),
  sh('meets other processes', 'test "$(ls /proc | grep -c "^[0-9]")" -gt 6'),
  sh(
    'keeps an inherited descriptor',
    'for fd in /proc/self/fd/*; do n=$(basename $fd); test "$n" -gt 2 && test -e "$fd" && test "$(readlink "$fd")" != /dev/null && exit 0; done; exit 1',
  ),
];

/**
 * The same for a sandbox that may reach one address, and tries to reach more.
 * @param host name of the one address, which leads to 127.0.0.1
 */
export function hostileNetworkPrograms(host: string, port: number): readonly HostileProgram[] {
  const reaches = (address: string, at: number): string =>
    `socket($s, AF_INET, SOCK_STREAM, 0) && connect($s, pack_sockaddr_in(${at}, inet_aton("${address}")))`;
  const reachesBySix = (address: string): string =>
    `socket($s, AF_INET6, SOCK_STREAM, 0) && connect($s, pack_sockaddr_in6(${port}, inet_pton(AF_INET6, "${address}")))`;
  const answers = (address: string): string =>
    `socket($s, AF_INET, SOCK_DGRAM, 0) && connect($s, pack_sockaddr_in(53, inet_aton("${address}"))) && send($s, "\\0" x 12, 0) && do { my $r = ""; vec($r, fileno($s), 1) = 1; select($r, undef, undef, 0.2) && defined(recv($s, my $got, 512, 0)) && length $got }`;
  const network = (name: string, attempt: string): HostileProgram =>
    perl(name, `use Socket qw(:all); my $s; ${escapedUnless(`!(${attempt})`)}`);
  const own = `(gethostbyname("${host}"))[4]`;
  const interfaceRequest = 'pack("a16 a16 x8", "lo", pack_sockaddr_in(0, inet_aton("192.0.2.1")))';
  return [
    network('reaches its own server by the address of the host', reaches('127.0.0.1', port)),
    network('reaches it by IPv6', reachesBySix('::1')),
    network('reaches it by mapped IPv6', reachesBySix('::ffff:127.0.0.1')),
    network(
      'reaches another port of the granted name',
      `socket($s, AF_INET, SOCK_STREAM, 0) && connect($s, pack_sockaddr_in(${port === 1 ? 2 : port - 1}, ${own}))`,
    ),
    network('reaches a neighbour of the granted name', reaches('127.1.0.2', port)),
    network('reaches the proxy of others', reaches('127.1.255.1', 3128)),
    network('reaches metadata', reaches('169.254.169.254', 80)),
    network('reaches an address without a name', reaches('192.0.2.1', 443)),
    network('finds a name that was not granted', 'gethostbyname("example.org")'),
    network('finds a name below the granted one', `gethostbyname("sub.${host}")`),
    network('finds the name of the metadata service', 'gethostbyname("metadata.google.internal")'),
    ...['127.0.0.1', '127.0.0.53', '192.0.2.1'].map((address) =>
      network(`asks ${address} for names`, answers(address)),
    ),
    network(
      'takes the place of the granted address',
      `socket($s, AF_INET, SOCK_STREAM, 0) && setsockopt($s, SOL_SOCKET, SO_REUSEADDR, 1) && setsockopt($s, SOL_SOCKET, SO_REUSEPORT, 1) && bind($s, pack_sockaddr_in(${port}, ${own})) && listen($s, 1)`,
    ),
    network(
      'binds a privileged port',
      'socket($s, AF_INET, SOCK_STREAM, 0) && bind($s, pack_sockaddr_in(80, inet_aton("127.0.0.1")))',
    ),
    network(
      'gives itself an address',
      `socket($s, AF_INET, SOCK_DGRAM, 0) && do { my $r = ${interfaceRequest}; ioctl($s, 0x8916, $r) }`,
    ),
    network(
      'gives itself a route',
      'socket($s, AF_INET, SOCK_DGRAM, 0) && do { my $r = "\\0" x 120; ioctl($s, 0x890b, $r) }',
    ),
    sh(
      'opens the settings of the network',
      'true 3<>/proc/sys/net/ipv4/ip_unprivileged_port_start || true 3<>/proc/sys/net/ipv4/ip_forward',
    ),
    sh(
      'has capabilities beside its way out',
      'grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb):" /proc/self/status | grep -qv 0000000000000000',
    ),
    sh('sees sockets of the host', 'tail -n +2 /proc/net/unix | grep -q @'),
    sh('sees interfaces of the host', 'tail -n +3 /proc/net/dev | grep -qv "^ *lo:"'),
    sh('meets processes that serve its way out', 'test "$(ls /proc | grep -c "^[0-9]")" -gt 6'),
  ];
}

function sh(name: string, attempt: string): HostileProgram {
  return {
    name,
    command: ['/bin/sh', '-c', `if (${attempt}) >/dev/null 2>&1; then echo ESCAPED; else echo contained; fi`],
  };
}

function perl(name: string, code: string): HostileProgram {
  return { name, command: ['/usr/bin/perl', '-e', code] };
}

function call(name: string, callName: keyof typeof CALLS, args: string): HostileProgram {
  // Refused by the filter, not by chance: a wrong argument would be EFAULT, EINVAL or EBADF.
  return perl(
    name,
    `my @a = (${args}); my $r = syscall(${number(callName)}, @a); ${escapedUnless('$r < 0 && ($! == 1 || $! == 38)')}`,
  );
}

function socket(name: string, family: number, type: number, protocol: number): HostileProgram {
  return perl(`opens a ${name} socket`, escapedUnless(`!socket(my $s, ${family}, ${type}, ${protocol})`));
}

function escapedUnless(condition: string): string {
  return `print((${condition}) ? "contained\\n" : "ESCAPED\\n");`;
}

function number(name: keyof typeof CALLS): number {
  return CALLS[name][arch === 'arm64' ? 1 : 0];
}
