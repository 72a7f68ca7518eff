import { escapedUnless, type HostileProgram, ownKernelMay, perl, sh } from './program.ts';

const anyOf = (...paths: string[]): string => `for f in ${paths.join(' ')}; do test -e "$f" && exit 0; done; exit 1`;

/** What the first process has for its root; outside a sandbox the host's. */
const FIRST_ROOT = '/proc/1/root';

/** Programs that look for what is not theirs: files, processes, environments, descriptors. */
export const FILE_PROGRAMS: readonly HostileProgram[] = [
  ...['/usr/bin/hostile', '/hostile', '/etc/hostile', '/lib/hostile', '/proc/hostile', '/sys/hostile'].map((path) =>
    sh(`writes ${path}`, `: 2>/dev/null >${path}`),
  ),
  // Devices of a kernel of its own are files in its memory.
  ownKernelMay(sh('writes /dev/hostile', ': 2>/dev/null >/dev/hostile')),
  // Those of a kernel of its own are nobody else's.
  ownKernelMay(
    sh(
      'changes a device',
      'for name in null zero full random urandom; do chmod 666 /dev/$name && exit 0; done; exit 1',
    ),
  ),
  sh('changes the passwords', 'echo x >>/etc/passwd || echo x >/etc/shadow'),
  ...['/proc/kcore', '/proc/kmsg', '/proc/timer_list', '/proc/vmallocinfo', '/proc/slabinfo', '/proc/keys'].map(
    (path) => sh(`reads ${path}`, `head -c 1 ${path} | grep -q .`),
  ),
  ...['/proc/kpagecount', '/proc/kpageflags', '/proc/kpagecgroup'].map((path) =>
    sh(`reads ${path}`, `test "$(head -c 8 ${path} | wc -c)" -gt 0`),
  ),
  sh('reads disks and memory', anyOf('/dev/mem', '/dev/kmem', '/dev/vda', '/dev/sda', '/dev/kvm')),
  sh('reads host accounts', `cat /etc/shadow || { ${anyOf('/root*/*', '/root*/.[a-z]*', '/home/*')}; }`),
  sh('reads keys of the host', anyOf('/etc/ssl/private', '/etc/ssh', '/run/secrets', '/var/run/docker.sock')),
  sh('leaves by the root of the first process', anyOf(`${FIRST_ROOT}/root`, '/proc/1/cwd/root', `${FIRST_ROOT}/home`)),
  sh('leaves by dots', anyOf('/tmp/../../../root', '/usr/../root', '/proc/self/cwd/../../../home')),
  sh('links to a file of the host', 'ln /etc/shadow /tmp/hard || { ln -s /root /tmp/soft && test -d /tmp/soft; }'),
  sh(
    'reads in the environment of the first process what is not its own',
    'env >/tmp/own; tr "\\0" "\\n" </proc/1/environ | grep -vxF -f /tmp/own | grep -qvE "^(PWD|OLDPWD|SHLVL|_)="',
  ),
  sh('sees the cgroup file system', anyOf('/sys/fs/cgroup/*')),
  sh('sees mounts of the host', 'grep -E " /(root|home|boot)" /proc/self/mounts'),
  sh('meets other processes', 'set -- /proc/[0-9]*; test $# -gt 6'),
  perl(
    'signals processes that are not its own',
    // The layer, what started it, and whatever has such a number outside; its own sandbox has few processes.
    escapedUnless(`!grep { $_ > 60 && kill(0, $_) } ${process.pid}, ${process.ppid}, 61 .. 400`),
  ),
  sh(
    'keeps an inherited descriptor',
    'for fd in /proc/self/fd/*; do n=$(basename $fd); test "$n" -gt 2 && test -e "$fd" && test "$(readlink "$fd")" != /dev/null && exit 0; done; exit 1',
  ),
  sh(
    'leaves a core dump',
    'cd /tmp; sh -c "kill -SEGV \\$\\$"; for f in /tmp/*core*; do test -e "$f" && exit 0; done; exit 1',
  ),
];
