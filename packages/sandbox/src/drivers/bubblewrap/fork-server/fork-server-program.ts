import { AWAIT_STAGE } from '../../../linux/stage/stage-program.ts';
import { SYSCALL_NUMBERS } from '../../../linux/syscall-numbers.ts';
import { SANDBOX_BOUNDS } from '../settings.ts';

/** Descriptor by which the program talks to the layer: the channel of a Node child process. */
export const CHANNEL_FD = 3;

/**
 * Longest delay before a child's end is noticed that fell into the microsecond between a check and a wait, in seconds.
 */
const LOOK_SECONDS = 1;

/**
 * Program for perl that starts processes for the layer: the `fork` of a process that holds little is short, and that of a
 * large one is not (ADR 0012). It loads no module, since that takes longer than its own start.
 *
 * Arguments: numbers of the calls of `CALLS`; 1 where what it starts has the uid of the layer's own user, whose counters it then bounds; how many sockets each process gets, at its descriptors from 0; the first of the
 * files that it gets after them, each opened anew, and how many; then the command. An order is a line `[id,uid,stages]`, a uid of
 * -1 for the layer's own, and `stages` 1 for a process that first reads an order for a stage, makes the stage, and then runs the order's command. Answers are lines of JSON: `"ready"` (or `"unbounded"`, where those counters
 * could not be bounded), `[id,pid]`, the sockets one by one in the form in which a child
 * process of Node sends one (a line with the descriptor beside it), `[id,"fault"]`; and of each end `{"ended":pid,"status":n}`.
 *
 * Numbers of Linux: resource 11 is RLIMIT_SIGPENDING, 0x10000000 CLONE_NEWUSER; family 1 is AF_UNIX, type 1 SOCK_STREAM; fcntl 2 is F_SETFD, 1 is FD_CLOEXEC, fcntl 4 is F_SETFL,
 * 2048 is O_NONBLOCK, which Node takes for granted; waitpid 1 is WNOHANG; error 4 is EINTR.
 */
export const FORK_SERVER_PROGRAM = `${AWAIT_STAGE}${String.raw`
my ($dup3, $fcntl, $prlimit, $sendmsg, $setgroups, $setresgid, $setresuid, $setsid, $new_space) = splice(@ARGV, 0, 9);
my ($shares_user, $sockets, $first, $files, @command) = @ARGV;
%ENV = ();
bound_signals();
my $is_bounded = !$shares_user || leaves_half();
$^F = 2;
open(my $layer, '+<&=', ${CHANNEL_FD}) or exit 1;
opendir(my $own, '/proc/self/fd') or exit 1;
syscall($fcntl, $_ + 0, 2, 1) for grep { /^\d+$/ and $_ > 2 } readdir $own;
closedir $own;

my %running;
my $orders = '';
pipe(my $signalled, my $end) or exit 1;
fcntl($end, 4, 2048);
$SIG{CHLD} = sub { syswrite($end, '.') };
notify_layer($is_bounded ? '"ready"' : '"unbounded"');
for (;;) {
  my $ready = '';
  vec($ready, $_, 1) = 1 for ${CHANNEL_FD}, fileno $signalled;
  my $found = select($ready, undef, undef, %running ? ${LOOK_SECONDS} : undef);
  while ((my $pid = waitpid(-1, 1)) > 0) {
    my $status = $?;
    delete $running{$pid};
    notify_layer(qq({"ended":$pid,"status":$status}));
  }
  next unless $found > 0;
  sysread($signalled, my $ends, 65536) if vec($ready, fileno $signalled, 1);
  next unless vec($ready, ${CHANNEL_FD}, 1);
  my $read = sysread($layer, $orders, 65536, length $orders);
  exit 1 if !defined $read and $! != 4;
  exit if defined $read and $read == 0;
  while ($orders =~ s/^([^\n]*)\n//) { begin($1, $2 + 0, $3) if $1 =~ /^\[(\d+),(-?\d+),([01])\]$/ }
}

# Each sandbox counts for itself: signals that wait, and timers, each of which is one.
sub bound_signals {
  my $limit = pack('Q2', 0, 0);
  syscall($prlimit, 0, 11, 0, $limit);
  my ($least) = sort { $a <=> $b } ${SANDBOX_BOUNDS.signalsPendingMax}, (unpack('Q2', $limit))[1];
  $limit = pack('Q2', $least, $least);
  syscall($prlimit, 0, 11, $limit, 0);
}

# Some systems allow such a namespace and then nothing in it, so that it is tried by somebody else first.
sub leaves_half {
  my $pid = fork() // return 0;
  leave_half() && exit 0 || exit 1 if $pid == 0;
  waitpid($pid, 0);
  return $? == 0 && leave_half();
}

# Of what the kernel counts for the user, half stays outside: the bounds of a user namespace around all sandboxes.
sub leave_half {
  my %half;
  for my $what ('instances', 'watches') {
    my ($own, $all) = ("/proc/sys/user/max_inotify_$what", "/proc/sys/fs/inotify/max_user_$what");
    my ($least) = sort { $a <=> $b } map { open(my $from, '<', $_) or return 0; readline $from } $own, $all;
    $half{$own} = int($least / 2);
  }
  my ($own_uid, $own_gid) = ($<, $( + 0);
  syscall($new_space, 0x10000000) == 0 or return 0;
  my @maps = (['setgroups', 'deny'], ['uid_map', "$own_uid $own_uid 1"], ['gid_map', "$own_gid $own_gid 1"]);
  for (map({ ["/proc/self/$_->[0]", $_->[1]] } @maps), map({ [$_, $half{$_}] } keys %half)) {
    open(my $to, '>', $_->[0]) or return 0;
    syswrite($to, $_->[1]) or return 0;
  }
  return 1;
}

sub begin {
  my ($id, $uid, $stages) = @_;
  my (@ours, @theirs);
  for (1 .. $sockets) {
    socketpair(my $our, my $their, 1, 1, 0) or return notify_layer(qq([$id,"no socket: $!"]));
    fcntl($our, 4, 2048);
    push @ours, $our;
    push @theirs, $their;
  }
  for my $file ($first .. $first + $files - 1) {
    open(my $fresh, '<', "/proc/self/fd/$file") or return notify_layer(qq([$id,"no file: $!"]));
    push @theirs, $fresh;
  }
  my $pid = fork();
  return notify_layer(qq([$id,"no process: $!"])) unless defined $pid;
  if ($pid == 0) {
    # What waits for a stage becomes no other program before: holding these it would not see the layer’s end.
    close $_ for @ours;
    become($uid, $stages, @theirs);
  }
  $running{$pid} = 1;
  notify_layer("[$id,$pid]");
  notify_layer(qq({"cmd":"NODE_HANDLE","type":"net.Socket","msg":$id}), $_) for @ours;
}

sub become {
  my ($uid, $stages, @descriptors) = @_;
  syscall($setsid);
  if ($uid >= 0) {
    syscall($setgroups, 0, 0) == 0 or exit 125;
    syscall($setresgid, $uid, $uid, $uid) == 0 or exit 125;
    syscall($setresuid, $uid, $uid, $uid) == 0 or exit 125;
  }
  for my $place (0 .. $#descriptors) {
    syscall($dup3, fileno($descriptors[$place]), $place, 0) == $place or exit 125;
  }
  $SIG{CHLD} = 'DEFAULT';
  await_stage() if $stages;
  { no warnings; exec { $command[0] } @command }
  exit 125;
}

sub notify_layer {
  my ($text, $socket) = @_;
  $text .= "\n";
  my $bytes = pack('P J', $text, length $text);
  # SOL_SOCKET, SCM_RIGHTS
  my $rights = defined $socket ? pack('J i i i x4', 20, 1, 1, fileno $socket) : '';
  my $message = pack('J J P J P J J', 0, 0, $bytes, 1, $rights, length $rights, 0);
  my $sent;
  do { $sent = syscall($sendmsg, ${CHANNEL_FD}, $message, 0) } while ($sent < 0 and $! == 4);
  $sent == length $text or exit 1;
}
`}`;

/** Calls that perl has no words for, in the order of the program's arguments. */
const CALLS = [
  'dup3',
  'fcntl',
  'prlimit64',
  'sendmsg',
  'setgroups',
  'setresgid',
  'setresuid',
  'setsid',
  'unshare',
] as const;

/** Numbers of `CALLS` as arguments. */
export function callNumbers(architecture: 'x64' | 'arm64'): readonly string[] {
  return CALLS.map((name) => String(SYSCALL_NUMBERS[name]?.[architecture]));
}
