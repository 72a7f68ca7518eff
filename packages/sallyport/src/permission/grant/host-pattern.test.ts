import { expect, test } from 'vitest';
import { allowsPort, hostMatcher, normalHost, normalPattern } from './host-pattern.ts';
import { narrowPattern } from './narrow-patterns.ts';

const LABEL = 'a'.repeat(63);
/** 253 characters, the longest name. */
const LONGEST = `${LABEL}.${LABEL}.${LABEL}.${'a'.repeat(61)}`;

test.each([
  ['API.Example.com', 'api.example.com'],
  ['api.example.com.', 'api.example.com'],
  ['_dmarc.a-b.test', '_dmarc.a-b.test'],
  ['BÜCHER.test', 'xn--bcher-kva.test'],
  ['XN--BCHER-KVA.test', 'xn--bcher-kva.test'],
  ['ａ。test', 'a.test'],
  ['7.test', '7.test'],
  ['7a', '7a'],
  ['127.0.0.1', '127.0.0.1'],
  ['[::1]', '::1'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['[::FFFF:a00:1ff]', '10.0.1.255'],
  ['::fffe:a00:1', '::fffe:a00:1'],
  [LONGEST, LONGEST],
  [`${LONGEST}.`, LONGEST],
])('PRM-03.4 the host %s has the normal form %s', (host, normal) => {
  expect(normalHost(host)).toBe(normal);
});

test.each([
  '',
  '.',
  'a..test',
  '.a.test',
  '-a.test',
  'a-.test',
  'a b.test',
  'a.test:80',
  'a\0.test',
  'a.te\nst',
  'a.test/x',
  'a.test?x',
  'a.test#x',
  String.raw`a.test\x`,
  'u@a.test',
  'a%2etest',
  '%61.test',
  'bü.test/x',
  'bü.test?x',
  'b%C3%BC.test',
  'bü／x.test',
  'bü .test',
  'bü*.test',
  '１２７.0.0.1',
  '*',
  '*.a.test',
  'a.7',
  'a.0x7f',
  '0x',
  '127.0.0.1.',
  '[127.0.0.1]',
  '[a.test]',
  '[::1',
  '::1]',
  '[::1%lo]',
  'fe80::1%eth0',
  ':::1',
  `${LABEL}a.test`,
  `a${LONGEST}`,
])('PRM-03.4 %j is no host', (host) => {
  expect(normalHost(host)).toBeUndefined();
});

test.each<[patterns: string[], hosts: string[], others: string[]]>([
  [['*'], ['a.test', '::1', '10.0.0.1'], []],
  [['a.test'], ['a.test'], ['b.a.test', 'xa.test']],
  [['*.a.test'], ['b.a.test', 'c.b.a.test'], ['a.test', 'xa.test', 'a.test.x']],
  [['*.A.Test.'], ['b.a.test'], ['a.test']],
  [
    ['a.test', '*.b.test', '10.0.0.0/8'],
    ['a.test', 'x.b.test', '10.1.1.1'],
    ['b.test', '11.0.0.1', 'x.a.test'],
  ],
  [['10.0.0.0/8'], ['10.0.0.1'], ['::1', 'a.test', '10.a.test']],
  [
    ['2001:db8::/32', '[::1]'],
    ['2001:db8::1', '::1'],
    ['2001:db9::1', '10.0.0.1'],
  ],
  [['*.0.0.1', '*.10.0.0.1', 'a.*', '**', '*a.test', 'x.*.test', ''], [], ['10.0.0.1', '127.0.0.1', 'a.b', 'a.test']],
  [['10.0.0.0/33', '/', 'a.test/8'], [], ['10.0.0.1', 'a.test']],
  [[], [], ['a.test', '10.0.0.1']],
])('PRM-03.4 the patterns %j allow %j and not %j', (patterns, hosts, others) => {
  const allows = hostMatcher(patterns);
  for (const host of hosts) expect(allows(host), host).toBe(true);
  for (const host of others) expect(allows(host), host).toBe(false);
});

test('PRM-03.4 a port is allowed when it is listed, or all are', () => {
  expect([allowsPort([443], 443), allowsPort([80, 0], 443)]).toEqual([true, true]);
  expect([allowsPort([443], 80), allowsPort([], 443), allowsPort([443], 0)]).toEqual([false, false, false]);
});

test.each([
  ['*', '*'],
  ['*.A.test.', '*.a.test'],
  ['*.bücher.test', '*.xn--bcher-kva.test'],
  ['*.', undefined],
  ['*.10.0.0.1', undefined],
  ['*.*', undefined],
  ['a.*', undefined],
  ['a.test', undefined],
  ['a.test*.', undefined],
])('PRM-03.4 the pattern %s has the normal form %s', (host, normal) => {
  expect(normalPattern(host)).toBe(normal);
});

test.each<[wanted: string, hosts: string[], left: string[]]>([
  ['*', ['*'], ['*']],
  ['*', ['a.test', '*.b.test', 'A.Test.'], ['a.test', '*.b.test']],
  ['*', ['10.0.0.1', '::1', 'localhost', 'x.localhost', 'LOCALHOST', '*.localhost', '10.0.0.0/8', 'a..b'], []],
  ['*', ['localhost.test', '.localhost', 'mylocalhost'], ['localhost.test', 'mylocalhost']],
  ['*.a.test', ['*'], ['*.a.test']],
  ['*.a.test', ['*.a.test'], ['*.a.test']],
  ['*.a.test', ['*.test', '*.b.a.test', 'c.a.test'], ['*.a.test', '*.b.a.test', 'c.a.test']],
  ['*.a.test', ['a.test', '*.xa.test', 'xa.test', 'b.test', '*.b.test'], []],
])('PRM-03.4 of the wanted pattern %s the hosts %j leave %j', (wanted, hosts, left) => {
  const rows = narrowPattern({ host: wanted, port: 443 }, { hosts, ports: [443] });
  expect(rows).toEqual(left.map((host) => ({ host, port: 443 })));
  expect(narrowPattern({ host: wanted, port: 80 }, { hosts, ports: [443] })).toEqual([]);
});

test('PRM-03.4 of one pattern 256 hosts are left at most', () => {
  const hosts = Array.from({ length: 300 }, (_, at) => `h${at}.test`);
  const rows = narrowPattern({ host: '*.test', port: 1 }, { hosts, ports: [0] });
  expect(rows.map(({ host }) => host)).toEqual(hosts.slice(0, 256));
});
