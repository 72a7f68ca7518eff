import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { FilteredCall } from '../../../model-facing/output-filter.ts';
import { createSchemaValidator } from '../../../validation/schema-validator.ts';
import { manifest } from '../../pipeline.fixture.ts';
import { isTextOnly, readableText } from './readable-text.ts';
import { type ShortenParts, shortenResult } from './shorten-result.ts';

/** What was kept, what the filters were asked about, and the warnings; the test says what filters make of a result. */
let kept: string[];
let calls: FilteredCall[];
let warnings: Warning[];
let isKept: boolean;
let filtered: unknown;
let findings: string[];
let fitting: boolean | undefined;
beforeEach(() => {
  [kept, calls, warnings, isKept, filtered, findings, fitting] = [[], [], [], true, undefined, [], undefined];
});

const FILTERS = [
  { filter: 'logs', confidence: 'full' },
  { filter: 'dots', confidence: 'degraded' },
];

async function shortened(
  result: unknown,
  tool: Partial<ToolManifest> = {},
  more: {
    readonly outputFilters?: undefined;
    readonly limits?: object;
    readonly redact?: (of: unknown) => unknown;
  } = {},
  executor: object = {},
) {
  const parts = {
    schemas: createSchemaValidator(),
    values: {
      markResultsOnly: true,
      scanOutput: async () => ({ tainted: findings.length > 0, findings, complete: true }),
      resultRedactor: {
        value: (value: unknown) => ({
          value: JSON.parse(JSON.stringify(value).replace('secret', '')),
          findings: JSON.stringify(value).includes('secret') ? [{ kind: 'key', rule: 'r', path: '' }] : [],
        }),
      },
    },
    overflows: {
      keep: async (_owner: object, _id: string, text: string) => {
        kept.push(text);
        return isKept;
      },
    },
    outputFilters: {
      filter: async (_given: unknown, of: () => FilteredCall, _turn: unknown, fits: (made: unknown) => boolean) => {
        calls.push(of());
        fitting = fits(filtered);
        return filtered === undefined ? undefined : { result: filtered, filters: FILTERS };
      },
    },
    ...('outputFilters' in more ? { outputFilters: undefined } : {}),
  } as unknown as ShortenParts;
  const call = {
    tool: { manifest: manifest('t', tool) },
    executor,
    parameters: { n: 1 },
    principal: {},
    grant: { limits: { outputBytesMax: 100, ...more.limits } },
  } as unknown as Parameters<typeof shortenResult>[1];
  const judged = { invocationId: 'i', result, text: canonicalJson(result) };
  return shortenResult(parts, call, judged, { warnings, turn: async () => undefined }, more.redact);
}
const overflow = (offset: number) => ({ invocation_id: 'i', offset });

describe('MOD-06 what output filters leave of a result', () => {
  test('is answered, with a warning that names them and where the whole text is', async () => {
    filtered = 'short';
    expect(await shortened('a long text')).toBe('short');
    expect(kept).toEqual(['a long text']);
    expect(calls).toStrictEqual([{ toolId: 't', arguments: { n: 1 } }]);
    expect(warnings).toEqual([
      {
        code: 'result_filtered',
        message:
          'Lines of the result were left out by output filters of the operator (logs, full; dots, degraded). Read the rest with read_overflow, invocation_id i, offset 0.',
        details: { filters: FILTERS, characters: 5, characters_before: 11, overflow: overflow(0) },
      },
    ]);
  });

  test('is the whole where they change nothing, or there are none; they see the command of a program', async () => {
    expect(await shortened('a text', {}, {}, { commandOf: () => ['ls', '-l'] })).toBe('a text');
    expect(calls).toEqual([{ toolId: 't', arguments: { n: 1 }, command: 'ls -l' }]);
    filtered = 'short';
    expect(await shortened('a text', {}, { outputFilters: undefined })).toBe('a text');
    const read = { executor: { kind: 'mcp' as const, config: { upstream: 'u', tool: 'resources/read' } } };
    expect(await shortened('a text', read)).toBe('a text');
    expect([kept, warnings, calls.length]).toEqual([[], [], 1]);
  });

  test('is judged again: a new warning is added, a known one is not, and of a secret nothing is kept', async () => {
    filtered = 'reads like orders';
    findings = ['orders'];
    await shortened('a text');
    expect(warnings.map(({ code }) => code)).toEqual(['tainted_result', 'result_filtered']);
    await shortened('a text');
    expect(warnings.map(({ code }) => code)).toEqual(['tainted_result', 'result_filtered', 'result_filtered']);
    [warnings, kept, findings] = [[], [], []];
    filtered = 'a secret';
    expect(await shortened('a se\ncret')).toBe('a ');
    expect([kept, warnings.map(({ code }) => code)]).toEqual([[], ['result_redacted', 'result_filtered']]);
    expect(warnings[1]?.message).toContain('The rest was not kept.');
    expect(warnings[1]?.details).not.toHaveProperty('overflow');
  });

  const numbers = { type: 'object', properties: { a: { type: 'integer' } } };
  const promised = { executor: { kind: 'mcp' as const, config: { upstream: 'u', tool: 't', output_schema: numbers } } };
  test.each<[unknown, Partial<ToolManifest>, boolean]>([
    [{ a: 'x' }, {}, true],
    [{ a: 1 }, { result_schema: numbers }, true],
    [{ a: 'x' }, { result_schema: numbers }, false],
    [{ a: '1' }, { result_schema: numbers }, false],
    [{ structuredContent: { a: 1 } }, promised, true],
    [{ structuredContent: { a: 'x' } }, promised, false],
    [{ content: [] }, promised, true],
    ['a text', promised, true],
    [{ structuredContent: { a: 'x' } }, { executor: { ...promised.executor, kind: 'native' } }, true],
    [{ structuredContent: { a: 'x' } }, { executor: { kind: 'mcp', config: { upstream: 'u', tool: 't' } } }, true],
  ])('%j of %j fits what is promised: %s', async (made, tool, fits) => {
    filtered = made;
    await shortened('a text', tool);
    expect(fitting).toBe(fits);
  });
});

describe('MOD-10 a result beyond the budget', () => {
  const long = 'word '.repeat(100);

  test('is cut, and its rest begins where the preview ends; after filters or redaction it begins at 0', async () => {
    const rest = (offset: number) => ({ tool: 'read_overflow', arguments: overflow(offset) });
    expect(await shortened(long)).toEqual({
      truncated: true,
      bytes: 502,
      preview: long.slice(0, 98),
      rest: rest(98),
    });
    expect(await shortened(long, {}, { redact: () => 'clean' })).toMatchObject({ rest: rest(0) });
    filtered = long.slice(5);
    expect(await shortened(long)).toMatchObject({ bytes: 497, rest: rest(0) });
    expect(kept).toEqual([long, 'clean', long]);
    expect(warnings.map(({ code }) => code)).toEqual(['result_cut', 'result_cut', 'result_filtered', 'result_cut']);
    expect(warnings[0]?.message).toBe(
      'The result has 502 bytes and was cut to the first 100. Read the rest with read_overflow, invocation_id i, offset 98. Or ask for less, or raise execution_config.output_bytes_max.',
    );
  });

  test('has no rest where it is not kept', async () => {
    isKept = false;
    expect(await shortened(long)).toEqual({ truncated: true, bytes: 502, preview: long.slice(0, 98) });
    expect(warnings).toMatchObject([{ message: expect.stringContaining('The rest was not kept.') }]);
    expect(warnings[0]?.details).toEqual({ bytes: 502, bytes_max: 100 });
  });

  test('of tokens says so; what a client reads of a server has none', async () => {
    const limits = { outputBytesMax: 10_000, outputTokensMax: 10 };
    await shortened(long, {}, { limits });
    expect(warnings).toMatchObject([{ details: { bytes: 502, tokens_max: 10 } }]);
    expect(warnings[0]?.message).toMatch(/cut to about 10 tokens\. .+ execution_config\.output_tokens_max\.$/);
    const read = { executor: { kind: 'mcp' as const, config: { upstream: 'u', tool: 'prompts/get' } } };
    expect(await shortened(long, read, { limits })).toBe(long);
  });
});

test('MOD-10 only blocks of text are read as text', () => {
  const text = { type: 'text', text: 'a' };
  const other = { type: 'resource', text: 'b' };
  expect([readableText({ content: [text, other] }, 'JSON'), isTextOnly({ content: [text, other] })]).toEqual([
    'JSON',
    false,
  ]);
  // No blocks of MCP: a member of another result that has the same name.
  expect([isTextOnly({ content: ['a', 1] }), isTextOnly({ content: [{ text: 'a' }] }), isTextOnly('a')]).toEqual([
    true,
    true,
    true,
  ]);
});
