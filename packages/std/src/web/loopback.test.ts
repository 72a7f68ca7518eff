import { expect, test } from 'vitest';
import { isLoopback } from './loopback.ts';

test.each(['localhost', '127.0.0.1', '127.255.255.254', '[::1]', '0x7f.1', 'LOCALHOST'])(
  '%s is this machine',
  (host) => {
    expect(isLoopback(new URL(`http://${host}/`).hostname)).toBe(true);
  },
);

test.each([
  '127.0.0.1.example.org',
  'localhost.example.org',
  'my-localhost',
  '128.0.0.1',
  '[::2]',
  '10.0.0.1',
  '0.0.0.0',
])('%s is another one', (host) => {
  expect(isLoopback(new URL(`http://${host}/`).hostname)).toBe(false);
});
