import { expect, test } from 'vitest';
import { socketAddress } from './socket-address.ts';

test.each([
  ['127.1.0.254', 443, '020001bb7f0100fe0000000000000000'],
  ['::1', 8080, '0a001f90000000000000000000000000000000000000000100000000'],
  ['2001:db8::5:0', 1, '0a0000010000000020010db8000000000000000000050000' + '00000000'],
  ['1:2:3:4:5:6:7:8', 65_535, '0a00ffff000000000001000200030004000500060007000800000000'],
])('%s with port %i as the kernel has it', (address, port, hex) => {
  expect(socketAddress(address, port)).toBe(hex);
});
