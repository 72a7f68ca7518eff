import { describe, expect, test } from 'vitest';
import { createEgressGuard, isPublic } from './egress-guard.ts';

const guardFor = (...addresses: string[]) =>
  createEgressGuard({
    resolveHost: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  });

const refused = expect.objectContaining({ code: 'E3104' });

describe('what a grant allows', () => {
  const guard = guardFor('93.184.215.14');
  const grant = [
    { host: 'api.example.com', port: 443 },
    { host: '[::1]', port: 8080 },
    { host: '127.0.0.1', port: 80 },
  ];

  test.each([
    ['https://api.example.com/x', 'api.example.com', 443],
    ['https://API.example.com:443/x', 'api.example.com', 443],
    ['http://[::1]:8080/', '::1', 8080],
    ['http://127.0.0.1/', '127.0.0.1', 80],
    ['http://0x7f.1/', '127.0.0.1', 80],
  ])('%s', (url, host, port) => expect(guard.admit(new URL(url), grant)).toEqual({ host, port }));

  test.each([
    'http://api.example.com/',
    'https://api.example.com:8443/',
    'https://evil.api.example.com/',
    'https://api.example.com.evil/',
    'https://api.example.com./',
    'https://api.example.com@evil.com/',
    'http://localhost/',
    'http://[::ffff:127.0.0.1]/',
  ])('not %s', (url) => expect(() => guard.admit(new URL(url), grant)).toThrow(refused));

  test('nothing, when it names nothing', () => {
    expect(() => guard.admit(new URL('https://api.example.com/'), [])).toThrow(refused);
  });
});

describe('where a name may lead', () => {
  test('to public addresses', async () => {
    expect(
      await guardFor('93.184.215.14', '2606:2800:21f:cb07::1').resolve({ host: 'example.com', port: 443 }),
    ).toHaveLength(2);
  });

  test.each(['10.0.0.5', '127.0.0.1', '169.254.169.254', '100.64.0.1', '::1', '::ffff:10.0.0.5', 'fd00:ec2::254'])(
    'not to %s, also when another address is public',
    async (address) => {
      await expect(
        guardFor('93.184.215.14', address).resolve({ host: 'rebind.example.com', port: 443 }),
      ).rejects.toThrow(refused);
    },
  );

  test('localhost to loopback only', async () => {
    expect(await guardFor('127.0.0.1', '::1').resolve({ host: 'localhost', port: 443 })).toHaveLength(2);
    await expect(guardFor('93.184.215.14').resolve({ host: 'localhost', port: 443 })).rejects.toThrow(refused);
    await expect(guardFor('10.0.0.1').resolve({ host: 'localhost', port: 443 })).rejects.toThrow(refused);
  });

  test('an IP literal to itself, without a question to anyone', async () => {
    const guard = createEgressGuard({ resolveHost: () => Promise.reject(new Error('asked')) });
    expect(await guard.resolve({ host: '10.1.2.3', port: 443 })).toEqual([{ address: '10.1.2.3', family: 4 }]);
    expect(await guard.resolve({ host: 'fd00::1', port: 443 })).toEqual([{ address: 'fd00::1', family: 6 }]);
  });

  test('a name without an address is not reachable', async () => {
    await expect(guardFor().resolve({ host: 'example.com', port: 443 })).rejects.toMatchObject({ code: 'E3310' });
    const failing = createEgressGuard({ resolveHost: () => Promise.reject(new Error('ENOTFOUND')) });
    await expect(failing.resolve({ host: 'example.com', port: 443 })).rejects.toMatchObject({ code: 'E3310' });
  });
});

describe('patterns of a grant', () => {
  const guard = guardFor('93.184.215.14');
  const grant = [
    { host: '*.example.com', port: 443 },
    { host: '*', port: 8443 },
    { host: 'localhost', port: 80 },
    { host: 'any-port.example.org', port: 0 },
  ];

  test.each([
    ['https://api.example.com/', 'api.example.com'],
    ['https://a.b.example.com/', 'a.b.example.com'],
    ['https://anything.org:8443/', 'anything.org'],
    ['https://93.184.215.14:8443/', '93.184.215.14'],
    ['http://localhost/', 'localhost'],
    ['http://any-port.example.org:81/', 'any-port.example.org'],
  ])('%s', (url, host) => expect(guard.admit(new URL(url), grant)).toMatchObject({ host }));

  test.each([
    'https://example.com/',
    'https://evilexample.com/',
    'https://anything.org/',
    'https://localhost:8443/',
    'https://sub.localhost:8443/',
    'https://metadata.google.internal:8443/',
    'https://printer:8443/',
    'https://10.0.0.1:8443/',
    'https://[::1]:8443/',
    'https://[::ffff:169.254.169.254]:8443/',
    'https://0x7f.1:8443/',
    'http://localhost./',
  ])('EXE-05 not %s: a pattern means public hosts only', (url) =>
    expect(() => guard.admit(new URL(url), grant)).toThrow(refused),
  );
});

describe('a policy of the operator', () => {
  const resolveHost = async () => [{ address: '10.1.2.3', family: 4 }];

  test('opens a private range, at one port too, and closes hosts and addresses', async () => {
    const guard = createEgressGuard({ resolveHost, policy: { allowedAddresses: ['10.1.0.0/16:8080'] } });
    expect(await guard.resolve({ host: 'wiki.example.com', port: 8080 })).toHaveLength(1);
    await expect(guard.resolve({ host: 'wiki.example.com', port: 8081 })).rejects.toThrow(refused);
    const closed = createEgressGuard({ resolveHost, policy: { deniedHosts: ['bad.example.com'] } });
    const grant = [{ host: 'bad.example.com', port: 443 }];
    expect(() => closed.admit(new URL('https://bad.example.com/'), grant)).toThrow(refused);
    expect(() => createEgressGuard({ policy: { allowedAddresses: ['10.0.0'] } })).toThrow(TypeError);
  });

  test('that does not speak of a literal in the grant leaves it as it is', () => {
    const guard = createEgressGuard({ policy: { deniedHosts: ['bad.example.com'] } });
    const grant = [{ host: '10.0.0.7', port: 80 }];
    expect(guard.admit(new URL('http://10.0.0.7/'), grant)).toEqual({ host: '10.0.0.7', port: 80 });
  });
});

test.each([
  ['9.255.255.255', true],
  ['10.0.0.0', false],
  ['10.255.255.255', false],
  ['11.0.0.0', true],
  ['100.63.255.255', true],
  ['100.64.0.0', false],
  ['100.127.255.255', false],
  ['100.128.0.0', true],
  ['168.63.129.16', false],
  ['172.15.255.255', true],
  ['172.16.0.0', false],
  ['172.31.255.255', false],
  ['172.32.0.0', true],
  ['192.168.1.1', false],
  ['223.255.255.255', true],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['0.0.0.0', false],
  ['::', false],
  ['::ffff:8.8.8.8', true],
  ['::ffff:127.0.0.1', false],
  ['64:ff9b::a00:1', false],
  ['2002:a00:1::', false],
  ['2606:4700:4700::1111', true],
  ['fe80::1', false],
  ['fec0::1', false],
  ['ff02::1', false],
])('%s is public: %s', (address, expected) => expect(isPublic(address)).toBe(expected));
