/**
 * Program for perl, the first process of a gVisor sandbox that may reach addresses. gVisor has a network of its own that the
 * layer cannot reach into, so here the sockets that clients connect to are served inside: each connection is carried to the
 * gate over a unix socket that was bound in. Nothing depends on it: the gate outside checks each target again.
 *
 * Arguments: path of the gate's socket; uid of the tool; addresses for the loopback device, with commas, in hexadecimal;
 * listeners, with commas, each an address in hexadecimal, a slash, and `host:port` (nothing for the proxy); the tool's
 * command. It gives the loopback device its addresses, listens, becomes two processes (the forwarder under a uid of its
 * own) and starts the tool without any capability. It ends as the tool ends, after what the tool sent has left.
 *
 * Numbers of Linux: families 1 unix, 2 IPv4, 10 IPv6, 16 netlink; SOCK_STREAM 1, SOCK_RAW 3; SOL_SOCKET 1, SO_LINGER 13;
 * F_SETFL 4, O_NONBLOCK 2048; RTM_NEWADDR 20; PR_CAPBSET_DROP 24; EAGAIN 11, ENOENT 2, EINTR 4.
 */
export const FORWARDER_PROGRAM = String.raw`
my ($way, $uid, $prctl, $addresses, $listeners, @command) = @ARGV;
$SIG{PIPE} = 'IGNORE';

for my $address (map { pack('H*', $_) } split(/,/, $addresses)) {
  my $family = unpack('S', $address);
  my $bytes = $family == 2 ? substr($address, 4, 4) : substr($address, 8, 16);
  my $attribute = pack('S S', 4 + length $bytes, 2) . $bytes . pack('S S', 4 + length $bytes, 1) . $bytes;
  my $message = pack('C C C C L', $family, 8 * length $bytes, 0, 0, 1) . $attribute;
  socket(my $netlink, 16, 3, 0) or die "no netlink socket: $!\n";
  syswrite($netlink, pack('L S S L L', 16 + length $message, 20, 0x405, 1, 0) . $message);
  sysread($netlink, my $answer, 4096);
  my $error = unpack('x16 l', $answer);
  die "the loopback device takes no address: error $error\n" if $error && $error != -17;
}

my @listening;
for (split(/,/, $listeners)) {
  my ($hex, $target) = split(m{/}, $_, 2);
  my $address = pack('H*', $hex);
  socket(my $listener, unpack('S', $address), 1, 0) or next;
  bind($listener, $address) && listen($listener, 511) or die "cannot listen for $target: $!\n";
  fcntl($listener, 4, 2048);
  push @listening, [$listener, $target];
}

pipe(my $ended, my $holding) or die "no pipe: $!\n";
my $forwarder = fork;
defined $forwarder or die "no process for the way out: $!\n";
if (!$forwarder) {
  close $holding;
  open(STDIN, '<', '/dev/null'); open(STDOUT, '>', '/dev/null'); open(STDERR, '>', '/dev/null');
  ($(, $)) = (65533, '65533 65533'); ($<, $>) = (65533, 65533);
  forward();
  exit 0;
}
close $ended;
close $_->[0] for @listening;

my $tool = fork;
defined $tool or die "no process for the tool: $!\n";
if (!$tool) {
  close $holding;
  $SIG{PIPE} = 'DEFAULT';
  syscall($prctl, 24, $_, 0, 0, 0) for 0 .. 40;
  ($(, $)) = ($uid, "$uid $uid"); ($<, $>) = ($uid, $uid);
  exec { $command[0] } @command;
  my $code = $! == 2 ? 127 : 126;
  print STDERR "$command[0]: $!\n";
  exit $code;
}
$SIG{TERM} = sub { kill 'TERM', $tool };
my $status;
while (1) {
  my $pid = waitpid(-1, 0);
  next if $pid == -1 && $! == 4;
  last if $pid == -1;
  if ($pid == $tool) { $status = $?; last }
}
close $holding;
waitpid($forwarder, 0);
exit($status & 127 ? 128 + ($status & 127) : $status >> 8);

sub forward {
  # By descriptor: h handle, other descriptor, out bytes to write, head answer of the gate, eof, fin (pass the end on), shut
  my %end;
  my $ending = 0;
  my $until;
  while (1) {
    my ($read, $write) = ('', '');
    for (keys %end) {
      my ($e, $o) = ($end{$_}, $end{$end{$_}{other}});
      vec($read, $_, 1) = 1 if !$e->{eof} && !defined $o->{head} && length $o->{out} < 262144;
      vec($write, $_, 1) = 1 if length $e->{out};
    }
    if (keys %end < 900) { vec($read, fileno $_->[0], 1) = 1 for @listening }
    vec($read, fileno $ended, 1) = 1 if !$ending;
    my $found = select($read, $write, undef, $ending ? 0.03 : undef);
    if ($ending) {
      my $waits = grep { length $_->{out} || defined $_->{head} } values %end;
      last if (!$found && !$waits) || time > $until;
    }
    next if $found < 1;
    if (!$ending && vec($read, fileno $ended, 1)) { $ending = 1; $until = time + 3 }
    for (@listening) {
      my ($listener, $target) = @$_;
      next if !vec($read, fileno $listener, 1);
      while (keys %end < 900 && accept(my $client, $listener)) { begin($client, $target, \%end) }
    }
    for my $n (keys %end) {
      my $e = $end{$n} or next;
      take($n, $e, \%end) if vec($read, $n, 1);
    }
    for my $n (keys %end) {
      my $e = $end{$n} or next;
      if (vec($write, $n, 1)) {
        my $sent = syswrite($e->{h}, $e->{out});
        if (defined $sent) { substr($e->{out}, 0, $sent, '') } elsif ($! != 11) { drop($n, \%end); next }
      }
      if ($e->{fin} && !$e->{shut} && !length $e->{out}) { shutdown($e->{h}, 1); $e->{shut} = 1 }
      my $o = $end{$e->{other}};
      if ($e->{shut} && $o->{shut}) { delete @end{$n, $e->{other}} }
    }
  }
}

sub begin {
  my ($client, $target, $end) = @_;
  my $gate;
  if (!socket($gate, 1, 1, 0) || !connect($gate, pack('S a*', 1, $way . "\0"))) { reset_($client); return }
  fcntl($_, 4, 2048) for $client, $gate;
  my ($c, $g) = (fileno $client, fileno $gate);
  $end->{$c} = { h => $client, other => $g, out => '' };
  $end->{$g} = { h => $gate, other => $c, out => '' };
  if ($target ne '') {
    $end->{$g}{head} = '';
    $end->{$g}{out} = "CONNECT $target HTTP/1.1\r\nHost: $target\r\n\r\n";
  }
}

sub take {
  my ($n, $e, $end) = @_;
  my $got = sysread($e->{h}, my $part, 65536);
  if (!defined $got) { drop($n, $end) if $! != 11; return }
  my $o = $end->{$e->{other}};
  if ($got == 0) {
    if (defined $e->{head}) { drop($n, $end); return }
    $e->{eof} = 1; $o->{fin} = 1;
    return;
  }
  if (!defined $e->{head}) { $o->{out} .= $part; return }
  $e->{head} .= $part;
  my $at = index($e->{head}, "\r\n\r\n");
  if ($at >= 0 && $e->{head} =~ m{^HTTP/1\.\d 200 }) { $o->{out} .= substr($e->{head}, $at + 4); delete $e->{head} }
  elsif ($at >= 0 || length $e->{head} > 8192) { drop($n, $end) }
}

# A refusal is a reset, never an orderly end.
sub drop {
  my ($n, $end) = @_;
  my $e = delete $end->{$n};
  my $o = delete $end->{$e->{other}};
  reset_($_->{h}) for grep { defined } $e, $o;
}

sub reset_ {
  my ($h) = @_;
  setsockopt($h, 1, 13, pack('i i', 1, 0));
  close $h;
}
`;
