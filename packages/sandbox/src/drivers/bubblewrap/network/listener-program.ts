/**
 * Program for perl that enters the user and network namespaces of a sandbox, makes listening sockets there, hands each to
 * the layer, and ends. It runs outside the sandbox, with the file system of the host: nothing inside is needed for it,
 * and nothing inside ever has a capability. It loads no module, since that takes longer than all that it does.
 *
 * Arguments: pid of the sandbox's first process; numbers of setns and sendmsg; how many addresses follow that the loopback
 * device shall have; those; then the addresses to listen at. Addresses are socket addresses in hexadecimal. Sockets go over
 * descriptor 3 in the form in which a child process of Node sends a handle (a line of JSON with the descriptor beside it).
 *
 * Numbers of Linux: ioctls 0x8913 SIOCGIFFLAGS (flag 1 is IFF_UP), 0x8916 SIOCSIFADDR, 0x891c SIOCSIFNETMASK; family 2 is
 * AF_INET and 10 AF_INET6; type 1 is SOCK_STREAM and 2 SOCK_DGRAM; the loopback device is always the first.
 */
export const LISTENER_PROGRAM = String.raw`
my ($pid, $setns, $sendmsg, $count, @rest) = @ARGV;
my @addresses = splice(@rest, 0, $count);

for my $kind ('user', 'net') {
  open(my $namespace, '<', "/proc/$pid/ns/$kind") or die "the $kind namespace cannot be opened: $!\n";
  syscall($setns, fileno($namespace), 0) == 0 or die "the $kind namespace cannot be entered: $!\n";
}

socket(my $four, 2, 2, 0) or die "no IPv4 socket: $!\n";
for (my $looks = 3000; ; $looks--) {
  my $request = pack('a16 x24', 'lo');
  ioctl($four, 0x8913, $request) or die "no loopback device: $!\n";
  last if unpack('x16 S', $request) & 1;
  die "the loopback device stays down\n" if $looks == 0;
  select(undef, undef, undef, 0.001);
}

my $label = 0;
for my $address (map { pack('H*', $_) } @addresses) {
  if (unpack('S', $address) == 10) {
    socket(my $six, 10, 2, 0) or die "no IPv6 socket: $!\n";
    my $request = pack('a16 I i', substr($address, 8, 16), 128, 1);
    ioctl($six, 0x8916, $request) or die "an IPv6 address cannot be added: $!\n";
    next;
  }
  $label++;
  my $request = pack('a16 a16 x8', "lo:$label", $address);
  ioctl($four, 0x8916, $request) or die "an IPv4 address cannot be added: $!\n";
  $request = pack('a16 S x2 C4 x16', "lo:$label", 2, 255, 255, 255, 255);
  ioctl($four, 0x891c, $request) or die "an IPv4 address cannot be narrowed: $!\n";
}

my $index = 0;
for my $address (map { pack('H*', $_) } @rest) {
  socket(my $listener, unpack('S', $address), 1, 0) or die "no socket: $!\n";
  bind($listener, $address) or die "address $index cannot be bound: $!\n";
  listen($listener, 511) or die "address $index cannot be listened at: $!\n";
  my $text = sprintf(qq({"cmd":"NODE_HANDLE","type":"net.Native","msg":%d}\n), $index++);
  my $bytes = pack('P J', $text, length $text);
  # SOL_SOCKET, SCM_RIGHTS
  my $rights = pack('J i i i x4', 20, 1, 1, fileno $listener);
  my $message = pack('J J P J P J J', 0, 0, $bytes, 1, $rights, length $rights, 0);
  syscall($sendmsg, 3, $message, 0) == length $text or die "a socket cannot be handed over: $!\n";
}
`;

/** Numbers of setns and sendmsg, which perl has no words for. */
export const CALL_NUMBERS: Readonly<Partial<Record<NodeJS.Architecture, readonly [setns: number, sendmsg: number]>>> = {
  x64: [308, 46],
  arm64: [268, 211],
};
