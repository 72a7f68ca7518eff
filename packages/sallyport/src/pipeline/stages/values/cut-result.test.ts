import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { expect, test } from 'vitest';
import { manifest, pipeline } from '../../pipeline.fixture.ts';
import { cutOf } from './cut-result.ts';
import { isTextOnly, readableText } from './readable-text.ts';

const NATIVE = { executor: { kind: 'native' as const } };
const MCP = { executor: { kind: 'mcp' as const, config: {} } };
/** Bytes of a text inside a JSON string inside a JSON string, with the quotes of one of both. */
const bytesInside = (text: string): number => Buffer.byteLength(JSON.stringify(JSON.stringify(text))) - 4;

test.each([
  'a',
  'é',
  '€',
  '😀',
  '"',
  '\\',
  '\n',
  '\t',
  '\u0001',
  '\u001f',
  '\u007f',
  '\u0080',
  '\u07ff',
  '\u0800',
  '\ud800',
  '\uffff',
  'a"€\n😀',
])('MOD-10 a result of many %j is cut where the budget ends, and within no character', (unit) => {
  const result = unit.repeat(400);
  const most = 100;
  const cut = cutOf(result, canonicalJson(result.toWellFormed()), { outputBytesMax: most }, NATIVE);
  const preview = cut?.preview ?? '';
  expect(result.startsWith(preview)).toBe(true);
  const next = String.fromCodePoint(result.codePointAt(preview.length) ?? 0);
  expect(bytesInside(preview)).toBeLessThanOrEqual(most);
  expect(bytesInside(preview + next)).toBeGreaterThan(most);
  expect(cut?.beyond).toEqual({ bytesMax: most });
});

test('MOD-10.3 a text that is too long by its quotes alone still has a rest', () => {
  for (const characters of [99, 100]) {
    const result = 'a'.repeat(characters);
    expect(cutOf(result, canonicalJson(result), { outputBytesMax: 100 }, NATIVE)?.preview).toHaveLength(98);
  }
});

test('MOD-10 what goes out is counted: a text as its JSON, all other results as the text of a block of MCP', () => {
  const limits = (outputBytesMax: number) => ({ outputBytesMax });
  const bytes = (result: unknown, max: number, of: typeof NATIVE | typeof MCP = NATIVE) =>
    cutOf(result, canonicalJson(result), limits(max), of)?.bytes;
  expect([bytes('a'.repeat(98), 100), bytes('a'.repeat(99), 100)]).toEqual([undefined, 101]);
  const quoted = { a: 'b' };
  // {"a":"b"} has 9 bytes, and 15 within a text block.
  expect([bytes(quoted, 15), bytes(quoted, 14), bytes(quoted, 9, MCP), bytes(quoted, 8, MCP)]).toEqual([
    undefined,
    15,
    undefined,
    9,
  ]);
});

test('MOD-10 tokens are counted of texts alone, and the smaller budget is named', () => {
  const text = 'word '.repeat(200);
  const cut = (outputBytesMax: number, outputTokensMax?: number, result: unknown = text) =>
    cutOf(result, canonicalJson(result), { outputBytesMax, ...(outputTokensMax && { outputTokensMax }) }, NATIVE);
  expect(cut(10_000)).toBeUndefined();
  expect(cut(10_000, 10_000)).toBeUndefined();
  const byTokens = cut(10_000, 20);
  expect([byTokens?.beyond, byTokens?.bytes]).toEqual([{ tokensMax: 20 }, 1_002]);
  expect(text.startsWith(byTokens?.preview ?? 'x')).toBe(true);
  expect(cut(50, 100)?.beyond).toEqual({ bytesMax: 50 });
  const picture = {
    content: [
      { type: 'text', text },
      { type: 'image', data: 'x' },
    ],
  };
  expect([isTextOnly(picture), cut(10_000, 20, picture)]).toEqual([false, undefined]);
});

test('MOD-10 a result is read as its texts where it has nothing else, and as JSON otherwise', () => {
  const blocks = (...content: unknown[]) => ({ content });
  const text = (of: string) => ({ type: 'text', text: of });
  const read = (result: unknown) => readableText(result, 'JSON');
  expect([read('plain'), read(blocks(text('a'), text('b')))]).toEqual(['plain', 'a\nb']);
  for (const other of [
    blocks(),
    blocks(text('a'), { type: 'image' }),
    blocks({ type: 'text' }),
    blocks('a'),
    {},
    null,
    [1],
  ])
    expect(read(other)).toBe('JSON');
});

test('MOD-10 a cut result says where the rest is read, and the whole text is there', async () => {
  const { add, call, parts } = await pipeline();
  const whole = 'line\n'.repeat(4_000);
  await add(manifest('long'), () => whole);
  const { invocationId, result, warnings } = await call({ tool_id: 'long', parameters: { n: 1 } });
  const { preview, rest } = result as { preview: string; rest: unknown };
  const overflow = { invocation_id: invocationId, offset: preview.length };
  expect([result, rest]).toEqual([
    expect.objectContaining({ truncated: true, bytes: 24_002 }),
    { tool: 'read_overflow', arguments: overflow },
  ]);
  expect(warnings).toEqual([
    expect.objectContaining({ code: 'result_cut', details: { bytes: 24_002, bytes_max: 10_000, overflow } }),
  ]);
  expect((await parts.overflows.find('acme', invocationId))?.text).toBe(whole);
});
