import { AWAIT_STAGE } from '../../../linux/stage/stage-program.ts';
import { SYSCALL_NUMBERS } from '../../../linux/syscall-numbers.ts';

/** Descriptor by which the program talks with the layer: the channel of a child process of Node. */
export const CHANNEL_FD = 3;

/** How long a child's end may stay untold, where it fell into the microsecond between a look and a wait. */
const LOOK_SECONDS = 1;

/**
 * Program for perl that starts processes for the layer: the `fork` of a process that holds little is short, and that of a
 * large one is not (ADR 0012). It loads no module, since that takes longer than its own start.
 *
 * Arguments: numbers of the calls of `CALLS`; how many sockets each process gets, at its descriptors from 0; the first of the
 * files that it gets after them, each opened anew, and how many; then the command. An order is a line `[id,uid,stages]`, a uid of
 * -1 for the layer's own, and 1 for one that makes a stage before it becomes the command that it is told. Answers are lines of JSON: `"ready"`, `[id,pid]`, the sockets one by one in the form in which a child
 * process of Node sends one (a line with the descriptor beside it), `[id,"fault"]`; and of each end `{"ended":pid,"status":n}`.
 *
 * Numbers of Linux: family 1 is AF_UNIX, type 1 SOCK_STREAM; fcntl 2 is F_SETFD, 1 is FD_CLOEXEC, fcntl 4 is F_SETFL,
 * 2048 is O_NONBLOCK, which Node takes for granted; waitpid 1 is WNOHANG; error 4 is EINTR.
 */
export const FORK_SERVER_PROGRAM = `${AWAIT_STAGE}${String.raw`
my ($dup3, $fcntl, $sendmsg, $setgroups, $setresgid, $setresuid, $setsid, $sockets, $first, $files, @command) = @ARGV;
%ENV = ();
$^F = 2;
open(my $layer, '+<&=', ${CHANNEL_FD}) or exit 1;
opendir(my $own, '/proc/self/fd') or exit 1;
syscall($fcntl, $_ + 0, 2, 1) for grep { /^\d+$/ and $_ > 2 } readdir $own;
closedir $own;

my %running;
my $orders = '';
pipe(my $heard, my $end) or exit 1;
fcntl($end, 4, 2048);
$SIG{CHLD} = sub { syswrite($end, '.') };
tell_layer('"ready"');
for (;;) {
  my $ready = '';
  vec($ready, $_, 1) = 1 for ${CHANNEL_FD}, fileno $heard;
  my $found = select($ready, undef, undef, %running ? ${LOOK_SECONDS} : undef);
  while ((my $pid = waitpid(-1, 1)) > 0) {
    my $status = $?;
    delete $running{$pid};
    tell_layer(qq({"ended":$pid,"status":$status}));
  }
  next unless $found > 0;
  sysread($heard, my $ends, 65536) if vec($ready, fileno $heard, 1);
  next unless vec($ready, ${CHANNEL_FD}, 1);
  my $read = sysread($layer, $orders, 65536, length $orders);
  exit 1 if !defined $read and $! != 4;
  exit if defined $read and $read == 0;
  while ($orders =~ s/^([^\n]*)\n//) { begin($1, $2 + 0, $3) if $1 =~ /^\[(\d+),(-?\d+),([01])\]$/ }
}

sub begin {
  my ($id, $uid, $stages) = @_;
  my (@ours, @theirs);
  for (1 .. $sockets) {
    socketpair(my $our, my $their, 1, 1, 0) or return tell_layer(qq([$id,"no socket: $!"]));
    fcntl($our, 4, 2048);
    push @ours, $our;
    push @theirs, $their;
  }
  for my $file ($first .. $first + $files - 1) {
    open(my $fresh, '<', "/proc/self/fd/$file") or return tell_layer(qq([$id,"no file: $!"]));
    push @theirs, $fresh;
  }
  my $pid = fork();
  return tell_layer(qq([$id,"no process: $!"])) unless defined $pid;
  become($uid, $stages, @theirs) if $pid == 0;
  $running{$pid} = 1;
  tell_layer("[$id,$pid]");
  tell_layer(qq({"cmd":"NODE_HANDLE","type":"net.Socket","msg":$id}), $_) for @ours;
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

sub tell_layer {
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
const CALLS = ['dup3', 'fcntl', 'sendmsg', 'setgroups', 'setresgid', 'setresuid', 'setsid'] as const;

/** Numbers of `CALLS` as arguments. */
export function callNumbers(architecture: 'x64' | 'arm64'): readonly string[] {
  return CALLS.map((name) => String(SYSCALL_NUMBERS[name]?.[architecture]));
}
