import { equal } from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Check } from './suite.ts';

/** A sandbox without granted addresses reaches nothing. The host must have perl in /usr. */
export function networkCases(check: Check): void {
  check('a server on the loopback of the host is not reached', async ({ run }) => {
    for (const host of ['127.0.0.1', '::1']) {
      const server = await listen({ host, port: 0 });
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      const [family, pack] = host === '::1' ? ['AF_INET6', 'pack_sockaddr_in6'] : ['AF_INET', 'pack_sockaddr_in'];
      const code = `use Socket qw(:all); socket(my $s, ${family}, SOCK_STREAM, 0) or die; connect($s, ${pack}(${port}, inet_pton(${family}, "${host}"))) and print "ESCAPED"`;
      equal((await run(['/usr/bin/perl', '-e', code])).stdout, '');
      await close(server);
    }
  });

  check('an abstract unix socket of the host is not reached', async ({ run }) => {
    const name = `sandbox-suite-${process.pid}`;
    const server = await listen({ path: `\0${name}` });
    const code = `use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die; connect($s, pack_sockaddr_un("\\0${name}")) and print "ESCAPED"`;
    equal((await run(['/usr/bin/perl', '-e', code])).stdout, '');
    await close(server);
  });

  check('names do not resolve and metadata addresses are unreachable', async ({ run }) => {
    const code = `use Socket; print "ESCAPED" if gethostbyname("example.org"); socket(my $s, AF_INET, SOCK_STREAM, 0) or die; connect($s, pack_sockaddr_in(80, inet_aton("169.254.169.254"))) and print "ESCAPED"`;
    equal((await run(['/usr/bin/perl', '-e', code])).stdout, '');
  });
}

async function listen(where: { host: string; port: number } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.end('ESCAPED'));
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  server.once('error', reject);
  server.listen(where, () => resolve(server));
  return promise;
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await promise;
  await sleep(0);
}
