import { expect, test } from 'vitest';
import { type HostRules, hostRules, plainHost } from './host-rules.ts';

const rulesOf = (...rows: [string, number][]): HostRules => {
  const rules = hostRules(rows.map(([host, port]) => ({ host, port })));
  if ('fault' in rules) throw new Error(`fault: ${rules.fault.host}`);
  return rules;
};

test.each<[string, number, boolean]>([
  ['api.example.com', 443, true],
  ['api.example.com', 80, false],
  ['example.com', 443, false],
  ['x.api.example.com', 443, false],
  ['any.example.org', 8443, true],
  ['a.b.example.org', 1, true],
  ['example.org', 8443, false],
  ['notexample.org', 8443, false],
  ['10.0.0.1', 22, true],
  ['10.0.0.1', 23, false],
])('SBX-04 rows open %s:%i: %s', (host, port, allowed) => {
  const rules = rulesOf(['API.example.com.', 443], ['*.example.org', 0], ['10.0.0.1', 22]);
  expect(rules.allows(host, port)).toBe(allowed);
});

test('a pattern of names opens no address, and * opens all at its port', () => {
  expect('fault' in hostRules([{ host: '*.0.1', port: 80 }])).toBe(true);
  expect(rulesOf(['*', 80]).allows('10.0.0.1', 80)).toBe(true);
  expect(rulesOf(['*', 80]).allows('x.test', 81)).toBe(false);
});

test('only rows with an exact host and port are known before', () => {
  const rules = rulesOf(['a.test', 80], ['A.test', 80], ['b.test', 0], ['*.c.test', 80]);
  expect(rules.exact).toEqual([{ host: 'a.test', port: 80 }]);
  expect(rules.hasPatterns).toBe(true);
  expect(rulesOf(['a.test', 80]).hasPatterns).toBe(false);
});

test.each([
  'a b',
  'a\nb',
  '127.1',
  '0x7f.1',
  '2130706433',
  '*x.test',
  'x.*',
  '',
  'a..b',
  'fe80::1%eth0',
  '0.0.0.0',
  '::',
  '224.0.0.1',
  '255.255.255.255',
  '::ffff:10.0.0.1',
  '[1.2.3.4]',
])('SBX-04 a row for %j is a fault', (host) => {
  expect(hostRules([{ host, port: 80 }])).toEqual({ fault: { host, port: 80 } });
});

test('hosts have one form', () => {
  expect(plainHost('Example.COM.')).toBe('example.com');
  expect(plainHost('[2001:DB8:0::1]')).toBe('2001:db8::1');
  expect(plainHost('127.0.0.1')).toBe('127.0.0.1');
  for (const odd of ['127.0.0.01', '１２７.0.0.1', 'a_b..c', 'ex ample', 'x'.repeat(64)])
    expect(plainHost(odd)).toBeUndefined();
});
