import { expect, test } from 'vitest';
import { hostRules } from './host-rules.ts';
import { type InsideView, insideView } from './inside-view.ts';

const viewOf = (...rows: [string, number][]): InsideView => {
  const rules = hostRules(rows.map(([host, port]) => ({ host, port })));
  if ('fault' in rules) throw new Error('fault');
  return insideView(rules);
};

test('SBX-04 each name has an address of its own, and needs no proxy', () => {
  const view = viewOf(['a.test', 443], ['a.test', 80], ['b.test', 443]);
  expect(view.hosts).toBe('127.1.0.1 a.test\n127.1.0.2 b.test\n');
  expect(view.listeners.map(({ address, port }) => `${address}:${port}`)).toEqual([
    '127.1.0.1:443',
    '127.1.0.1:80',
    '127.1.0.2:443',
  ]);
  expect(view.environment).toEqual({});
});

test('literals are themselves, and loopback is there already', () => {
  const view = viewOf(['10.1.2.3', 80], ['fd00::5', 80], ['127.0.0.9', 80], ['localhost', 81], ['127.0.0.1', 81]);
  expect(view.hosts).toBe('');
  expect(view.addresses).toEqual(['10.1.2.3', 'fd00::5']);
  expect(view.listeners.map(({ address, port }) => `${address} ${port}`)).toEqual([
    '10.1.2.3 80',
    'fd00::5 80',
    '127.0.0.9 80',
    '127.0.0.1 81',
    '::1 81',
  ]);
});

test('patterns need a proxy, which exact hosts go round', () => {
  const view = viewOf(['*.test', 443], ['a.test', 80]);
  expect(view.listeners.at(-1)?.target).toBeUndefined();
  expect(view.environment['HTTPS_PROXY']).toBe('http://127.1.255.1:3128');
  expect(view.environment['NO_PROXY']).toContain('a.test');
});

test('more names than a block has addresses', () => {
  const view = viewOf(...Array.from({ length: 255 }, (_, index): [string, number] => [`n${index}.test`, 443]));
  expect(view.hosts.split('\n').at(-2)).toBe('127.1.1.1 n254.test');
  expect(new Set(view.listeners.map(({ address }) => address)).size).toBe(255);
});
