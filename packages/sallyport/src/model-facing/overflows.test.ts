import { expect, test } from 'vitest';
import { memoryOverflowStore } from '../../test/stores/outcomes/memory-overflow-store.ts';
import { createOverflows, OVERFLOW_CHARACTERS_MAX } from './overflows.ts';
import { endWithinTokens } from './token-estimate.ts';

const OWNER = { tenantId: 'acme', agentDid: 'did:agent:a' };

/** Overflows with a clock that the test turns. */
function made(keptMs: number, store = memoryOverflowStore()) {
  let now = 1_000_000;
  const warned: string[] = [];
  const log = { warn: (event: string) => void warned.push(event) };
  const overflows = createOverflows({ store, clock: { now: () => now }, log, keptMs });
  return { overflows, warned, pass: (ms: number) => (now += ms) };
}

test('MOD-06.6 an overflow can be read until its time is over', async () => {
  const { overflows, pass } = made(1000);
  expect(await overflows.keep(OWNER, 'one', 'whole')).toBe(true);
  pass(999);
  expect((await overflows.find('acme', 'one'))?.text).toBe('whole');
  pass(1);
  expect(await overflows.find('acme', 'one')).toBeUndefined();
});

test('MOD-06.6 nothing is kept where that is turned off, and a store that fails fails no call', async () => {
  const off = made(0);
  expect(await off.overflows.keep(OWNER, 'one', 'whole')).toBe(false);
  const keep = () => Promise.reject(new Error('down'));
  const broken = made(1000, { ...memoryOverflowStore(), keep });
  expect(await broken.overflows.keep(OWNER, 'one', 'whole')).toBe(false);
  expect([off.warned, broken.warned]).toEqual([[], ['overflow-not-kept']]);
});

test('MOD-06.6 no more of a text is kept than the bound', async () => {
  const { overflows } = made(1000);
  await overflows.keep(OWNER, 'one', 'x'.repeat(OVERFLOW_CHARACTERS_MAX + 1));
  expect((await overflows.find('acme', 'one'))?.text).toHaveLength(OVERFLOW_CHARACTERS_MAX);
});

test.each([
  ['words', 'Five words in this text', 5],
  ['a long word', 'internationalisation', 4],
  ['digits', '1234567', 3],
  ['signs', '{"a":[1]}', 6.2],
  ['indentation', '\n        x', 3],
  ['Chinese', '漢字', 2.4],
  ['pictures', '😀😀', 4],
])('MOD-06.6 tokens of %s are estimated', (_what, text, tokens) => {
  expect(endWithinTokens(text, 0, tokens + 0.001)).toBe(text.length);
  expect(endWithinTokens(text, 0, tokens - 0.01)).toBeLessThan(text.length);
});

test('MOD-06.6 an estimate ends between characters, and begins anywhere', () => {
  expect(endWithinTokens('a😀b', 0, 2)).toBe(1);
  expect(endWithinTokens('word word word', 5, 1)).toBe(10);
});
