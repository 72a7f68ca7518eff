import { escapedUnless, type HostileProgram, ownKernelMay, perl, sh } from './program.ts';

/**
 * The same for a sandbox that may reach one address, and tries to reach more.
 * @param host name of the one address, which leads to 127.0.0.1
 */
export function networkPrograms(host: string, port: number): readonly HostileProgram[] {
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
    // A loopback of its own may know no privileged ports.
    ownKernelMay(
      network(
        'binds a privileged port',
        'socket($s, AF_INET, SOCK_STREAM, 0) && bind($s, pack_sockaddr_in(80, inet_aton("127.0.0.1")))',
      ),
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
    sh('meets processes that serve its way out', 'set -- /proc/[0-9]*; test $# -gt 6'),
  ];
}
