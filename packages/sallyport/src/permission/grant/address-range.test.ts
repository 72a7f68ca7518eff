import { BlockList, isIPv4 } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressRange, isInRange } from './address-range.ts';

test.each([
  '10.0.0.0/33',
  '10.0.0.0/',
  '/8',
  '10.0.0.0',
  '10.0.0/8',
  '::/129',
  '::1%lo/128',
  'a.test/8',
  '10.0.0.0/8/8',
  '1.2.3.4/-1',
  '::ffff:0:0/95',
])('%s is no range', (text) => {
  expect(addressRange(text)).toBeUndefined();
});

test('SBX-01 a range holds the addresses that the kernel would say, and none of the other family', () => {
  const ipv4 = fc.ipV4();
  const near = fc
    .tuple(fc.constantFrom('10.1.', '10.0.'), fc.nat(255), fc.nat(255))
    .map(([a, b, c]) => `${a}${b}.${c}`);
  const ipv6 = fc.ipV6();
  const near6 = fc
    .tuple(fc.constantFrom('2001:db8::', '2001:db8:0:1::'), fc.nat(0xffff))
    .map(([a, b]) => `${a}${b.toString(16)}`);
  const address = fc.oneof(ipv4, near, ipv6, near6);
  fc.assert(
    fc.property(address, fc.nat(128), address, (first, wide, asked) => {
      const bits = isIPv4(first) ? wide % 33 : wide;
      const list = new BlockList();
      list.addSubnet(first, bits, isIPv4(first) ? 'ipv4' : 'ipv6');
      const range = addressRange(`${first}/${bits}`);
      // IPv4-mapped addresses have cases of their own below.
      fc.pre(!/^[0:]*:ffff:/i.test(first) && !/^[0:]*:ffff:/i.test(asked) && isIPv4(first) === isIPv4(asked));
      expect(range !== undefined && isInRange(range, asked)).toBe(list.check(asked, isIPv4(asked) ? 'ipv4' : 'ipv6'));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['::/0', '10.0.0.1', false],
  ['0.0.0.0/0', '::1', false],
  ['0.0.0.0/0', '255.255.255.255', true],
  ['::ffff:10.0.0.0/104', '10.9.9.9', true],
  ['::ffff:10.0.0.0/104', '11.0.0.0', false],
  ['::ffff:a00:0/128', '10.0.0.0', true],
  ['1::ffff:a00:0/128', '10.0.0.0', false],
  ['1::ffff:a00:0/128', '1::ffff:a00:0', true],
  ['0:0:0:0:1:ffff:a00:0/128', '10.0.0.0', false],
  ['::fffe:a00:0/128', '10.0.0.0', false],
  ['::ffff:0.0.0.0/96', '1.2.3.4', true],
  ['2001:DB8::ABCD/128', '2001:db8::abcd', true],
  ['::1.2.3.4/128', '::102:304', true],
  ['1:2:3:4:5:6:7::/112', '1:2:3:4:5:6:7:9', true],
  ['1:2:3:4:5:6:7::/112', '1:2:3:4:5:6:8:9', false],
  ['1:2:3:4:5:6:7:8/120', '1:2:3:4:5:6:7:ff', true],
  ['10.0.0.1/32', '10.0.0.1', true],
  ['10.0.0.1/31', '10.0.0.2', false],
])('SBX-01 %s and %s', (text, address, expected) => {
  const range = addressRange(text);
  expect(range !== undefined && isInRange(range, address)).toBe(expected);
});
