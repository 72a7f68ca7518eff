import { expect, test } from 'vitest';
import { memoryCompensationStore } from '../../../test/stores/outcomes/memory-compensation-store.ts';
import type { CompensationPlan } from '../../domain/invocation/compensation-plan.ts';
import { type InvocationRecord, withoutResult } from '../../domain/invocation/record.ts';
import { keepMembers } from '../../domain/invocation/result-members.ts';
import { manifest, pipeline } from '../../pipeline/pipeline.fixture.ts';
import { createSideEffects } from '../side-effects.ts';
import { compensationArguments } from './compensation-arguments.ts';

test('VIS-03.5 a compensation gets what the result said, also where its reader got the first part of it', async () => {
  const made = await pipeline();
  const parameters_schema = { type: 'object', properties: { seat: { type: 'string' } } };
  const book = manifest('book', {
    side_effect_policy: 'compensatable',
    compensation_tool_id: 'unbook',
    parameters_schema,
    execution_config: { output_bytes_max: 100 },
  });
  const unbook = manifest('unbook', { side_effect_policy: 'irreversible', parameters_schema });
  const released: unknown[] = [];
  await made.add(book, () => ({ seat: 'A1', terms: 'x'.repeat(500) }));
  await made.add(unbook, ({ seat }) => released.push(seat));
  const effects = createSideEffects({
    ...made.parts,
    compensations: memoryCompensationStore(),
    runCall: made.run,
    findTool: () => unbook,
  });
  const asker = { caller: { door: 'library', token: await made.token() }, agentDid: 'did:agent:a' } as const;
  const record = await made.call({ tool_id: 'book', parameters: { seat: 'Z9' } });
  expect(record.result).toMatchObject({ truncated: true });
  expect(await effects.compensate(record, asker)).toMatchObject({ effect: { status: 'compensated' } });
  expect(released).toEqual(['A1']);
});

test('VIS-03.5 REG-13 an agent whose view renames the compensating tool takes its calls back', async () => {
  const made = await pipeline();
  const unbook = manifest('unbook', { side_effect_policy: 'irreversible' });
  const runs: unknown[] = [];
  const booked = { side_effect_policy: 'compensatable', compensation_tool_id: 'unbook' } as const;
  await made.add(manifest('book', booked), () => 'booked');
  await made.add(unbook, ({ n }) => runs.push(n));
  const tools = [
    { tool: 'book', name: 'reserve' },
    { tool: 'unbook', name: 'release' },
  ];
  const sources = [{ source: 'local', tools }];
  await made.visibility.putView('acme', { name: 'mine', agents: ['*'], conflict: 'prefix', sources });
  const effects = createSideEffects({
    ...made.parts,
    compensations: memoryCompensationStore(),
    runCall: made.run,
    findTool: () => unbook,
  });
  const asker = { caller: { door: 'library', token: await made.token() }, agentDid: 'did:agent:a' } as const;
  const record = await made.call({ tool_id: 'reserve', parameters: { n: 4 } });
  expect(await effects.compensate(record, asker)).toMatchObject({ effect: { status: 'compensated' } });
  expect(runs).toEqual([4]);
});

test('VIS-03.5 what a result said is never replaced by an argument: what is not on record has to be stated', () => {
  const parameters = { seat: 'Z9', pad: 'p' };
  const part = { toolId: 'cancel', parameters, resultMembers: keepMembers({ seat: 'A1', pad: 'x'.repeat(2_000) }) };
  const shortened = { invocationId: 'i', result: { truncated: true, preview: '{"pad":"xx' } };
  const seat = { properties: { seat: { type: 'string' } } };
  const both = { properties: { seat: {}, pad: {} } };
  expect(compensationArguments(seat, shortened, part)).toEqual({ seat: 'A1' });
  const refused = { code: 'E3818', details: { arguments: ['pad'] } };
  expect(compensationArguments(both, shortened, part)).toMatchObject(refused);
  expect(compensationArguments({}, shortened, part)).toMatchObject(refused);
  expect(compensationArguments(both, shortened, part, { pad: 'p' })).toEqual({ seat: 'A1', pad: 'p' });
  const redacted = { invocationId: 'i', result: { seat: ['of [REDACTED:email]'] } };
  const whole = { toolId: 'cancel', parameters };
  expect(compensationArguments(seat, redacted, whole)).toMatchObject({ details: { arguments: ['seat'] } });
  expect(compensationArguments({ properties: { pad: {} } }, redacted, whole)).toEqual({ pad: 'p' });
});

test('VIS-03.5 PIPE-07 a result that is forgotten leaves the names of its members to its compensation, and no value', () => {
  const call = { tenantId: 'acme', compensation: { toolId: 'cancel', parameters: { seat: 'Z9' } } };
  const rows = [
    { ...call, result: { seat: 'A1', free: true } },
    {
      ...call,
      compensation: { ...call.compensation, resultMembers: { kept: { seat: 'A1' }, left: ['free'] } },
      result: { truncated: true },
    },
  ];
  for (const row of rows) {
    const forgotten = withoutResult(row as unknown as InvocationRecord, 7);
    const resultMembers = { kept: {}, left: ['seat', 'free'] };
    expect(forgotten.compensation).toEqual({ ...call.compensation, resultMembers });
    const plan = forgotten.compensation as CompensationPlan;
    const record = { invocationId: 'i', result: undefined };
    expect(compensationArguments({ properties: { seat: {} } }, record, plan)).toMatchObject({ code: 'E3818' });
    expect(compensationArguments({ properties: { other: {} } }, record, plan)).toEqual({});
  }
});
