import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { createSanitiser } from '../../../detectors/sanitise.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { createPolicyDecisions } from '../../../permission/policy-decisions.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';
import type { ValueRules } from './value-rules.ts';

const schema = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    day: { type: 'string', format: 'date' },
    text: { type: 'string', maxLength: 200 },
    query: { type: 'string', 'x-content': 'sql' },
    script: { type: 'string' },
  },
  additionalProperties: false,
};
const ATTACK = "' OR '1'='1' --";
const MARKUP = '<script>alert(1)</script>';
const ESC = String.fromCharCode(0x1b);

/** A tool that answers with the arguments that reached it. */
async function called(
  parameters: Record<string, unknown>,
  values: Partial<ValueRules> = {},
  more: Partial<ToolManifest> = {},
): Promise<InvocationRecord> {
  const { add, call } = await pipeline({ values });
  await add(manifest('echo', { parameters_schema: schema, ...more }), (given) => given);
  return call({ tool_id: 'echo', parameters });
}

const faultsOf = (record: InvocationRecord): Fault[] => record.failure?.details?.['faults'] as Fault[];

describe('arguments that do not fit', () => {
  test('VAL-02 end with E3502 when only conversions failed, with E3509 otherwise', async () => {
    const unconverted = await called({ n: '12abc', day: '05/01/2026' });
    expect(unconverted.failure?.code).toBe('E3502');
    expect(
      faultsOf(unconverted)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['/day', '/n']);
    expect((await called({ n: '12abc', other: 1 })).failure?.code).toBe('E3509');
  });

  test('VAL-02 are converted, unless nobody wants that', async () => {
    const parameters = { n: '12', day: '5 Jan 2026' };
    expect((await called(parameters)).result).toEqual({ n: 12, day: '2026-01-05' });
    const strict = await called(parameters, { coerceArguments: false });
    expect(strict.failure?.code).toBe('E3509');
    expect(
      faultsOf(strict)
        .map(({ code }) => code)
        .sort(),
    ).toEqual(['E3501', 'E3507']);
  });

  test('VAL-01 are refused before any policy is asked', async () => {
    let asked = 0;
    const engine = {
      name: 'e',
      version: () => '1',
      decide: () => {
        asked += 1;
        return { allowed: false, policies: ['no'] };
      },
    };
    const { add, call } = await pipeline({ policy: createPolicyDecisions({ engine }) });
    await add(manifest('echo', { parameters_schema: schema }), (given) => given);
    expect((await call({ tool_id: 'echo', parameters: { n: 'x' } })).failure?.code).toBe('E3502');
    expect(asked).toBe(0);
    expect((await call({ tool_id: 'echo', parameters: { n: 1 } })).failure?.code).toBe('E3210');
    expect(asked).toBe(1);
  });

  test('VAL-01 name three faults in the message and all in the details', async () => {
    const record = await called({ a: 1, b: 1, c: 1, d: 1, [`long${'g'.repeat(500)}`]: 1 });
    expect(record.failure?.message).toContain('5 faults');
    expect(record.failure?.message).toContain('and 2 more');
    expect(record.failure?.message.length).toBeLessThan(1000);
    expect(faultsOf(record)).toHaveLength(5);
  });
});

describe('VAL-06 control characters in arguments', () => {
  test('are refused with their place, taken out, or let through, as the setting says', async () => {
    const parameters = { text: `red ${ESC}[31m` };
    const refused = await called(parameters);
    expect(refused.failure?.code).toBe('E3801');
    expect(faultsOf(refused)).toMatchObject([{ path: '/text' }]);
    expect((await called(parameters, { controlCharacters: 'strip' })).result).toEqual({ text: 'red [31m' });
    expect((await called(parameters, { controlCharacters: 'allow' })).result).toEqual(parameters);
  });

  test('pass where the manifest says that anything may stand', async () => {
    const raw = { execution_config: { argument_content: { '/text': 'raw' as const } } };
    const record = await called({ text: ESC }, {}, raw);
    expect(record.result).toEqual({ text: ESC });
    expect((await called({ script: ESC }, {}, raw)).failure?.code).toBe('E3801');
  });
});

describe('VAL-04 arguments that look like an attack', () => {
  const argumentSanitiser = createSanitiser();

  test('are refused with place and rule, and without the text', async () => {
    const record = await called({ text: ATTACK }, { argumentSanitiser });
    expect(record).toMatchObject({ state: 'FAILED', failure: { code: 'E3503' } });
    expect(record.failure?.message).toMatch(/at \/text .*rule \w+/);
    expect(record.failure?.details?.['findings']).toMatchObject({ 0: { path: '/text', threat: 'sql_injection' } });
    expect(JSON.stringify(record.failure)).not.toContain("'1'");
  });

  test('are made harmless with a warning when that is the action', async () => {
    const record = await called({ text: `Hello ${MARKUP}` }, { argumentSanitiser });
    expect(record.warnings).toMatchObject([{ code: 'arguments_sanitised' }]);
    expect((record.result as { text: string }).text).not.toContain('<script>');
  });

  test('fail when what is made harmless no longer fits the schema', async () => {
    const short = { ...schema, properties: { text: { type: 'string', maxLength: MARKUP.length } } };
    const record = await called({ text: MARKUP }, { argumentSanitiser }, { parameters_schema: short });
    expect(record.failure?.code).toBe('E3504');
    expect(faultsOf(record)).toMatchObject([{ path: '/text', keyword: 'maxLength' }]);
  });

  test('pass where the owner of the tool expects them, and nowhere else', async () => {
    expect((await called({ query: ATTACK }, { argumentSanitiser })).state).toBe('COMPLETED');
    const declared = { execution_config: { argument_content: { '/script': 'code' as const } } };
    expect((await called({ script: MARKUP }, { argumentSanitiser }, declared)).result).toEqual({ script: MARKUP });
    expect((await called({ query: ATTACK, text: ATTACK }, { argumentSanitiser })).failure?.code).toBe('E3503');
  });

  test('pass when nobody looks', async () => {
    expect((await called({ text: ATTACK })).state).toBe('COMPLETED');
  });
});
