import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as soon } from 'node:timers/promises';
import { systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { memoryPolicyUpdates } from '../storage/memory/memory-policy-updates.ts';
import { silentLog } from '../telemetry/log.ts';
import { decisionsOf } from './gates/gates.fixture.ts';
import { policyQuestion } from './policies/policy.fixture.ts';
import { createPolicyAdministration, type PolicyReading, type RunningEngine } from './policy-administration.ts';
import type { PolicyDecision, PolicyEngine, PolicyFault } from './policy-engine.port.ts';
import { createRulesPolicyEngine } from './policy-engines/rules/rules-policy-engine.ts';
import type { PolicyUpdate } from './policy-updates.port.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-administration-'));
});
afterEach(() => rm(folder, { recursive: true }));

const rules = (effect: string, id = effect) => `[[tools.policy]]\nid = "${id}"\neffect = "${effect}"\n`;
const write = (text: string, name = 'rules.toml') => writeFile(join(folder, name), text);

/** @param watched the folder that the administration watches */
const open = async (watched = folder) => {
  const engine = await createRulesPolicyEngine({ folder });
  const heard: PolicyUpdate[] = [];
  const updates = memoryPolicyUpdates();
  updates.subscribe((update) => heard.push(update));
  const news: string[] = [];
  const faults: PolicyFault[] = [];
  const told = {
    inForce: ({ engine }: PolicyReading) => void news.push(engine),
    notTaken: (_reading: PolicyReading, fault: PolicyFault) => void faults.push(fault),
  };
  const engines = [{ engine, mode: 'enforce' as const }];
  const engineOver = (files: readonly { readonly name: string; readonly text: string }[]) =>
    createRulesPolicyEngine({ files });
  const administration = createPolicyAdministration(
    { engines, folder: watched, engineOver, updates, news: told, log: silentLog, clock: systemClock },
    engine,
  );
  return { engine, decisions: decisionsOf(engine), administration, updates, heard, news, faults };
};

describe('hot reload', () => {
  test('PRM-05 a change of a file is in force without being asked for, remembered decisions too', async () => {
    await write(rules('allow'));
    const { decisions, administration, news } = await open();
    await using _closed = administration;
    expect(decisions.decide(policyQuestion())).toMatchObject({ allowed: true });
    await write(rules('deny'));
    await vi.waitFor(() => expect(decisions.decide(policyQuestion())).toMatchObject({ allowed: false }), 50_000);
    expect(news).toEqual(['rules']);
  });

  test('PRM-05 a set with a fault stays out, is told once and listed until it is mended', async () => {
    await write(rules('allow'));
    const { engine, decisions, administration, faults } = await open();
    await using _closed = administration;
    const version = engine.version();
    await write('rubbish');
    await vi.waitFor(
      () => expect(administration.list(false)).toMatchObject([{ fault: { file: 'rules.toml' } }]),
      50_000,
    );
    await expect(administration.reload()).rejects.toMatchObject({
      code: 'E3214',
      message: expect.stringContaining('The policies before it stay in force.'),
      failure: { details: { file: 'rules.toml' } },
    });
    expect(faults).toHaveLength(1);
    expect(administration.list(false)).toMatchObject([{ version, policies: [{ name: 'rules.toml:allow' }] }]);
    expect(decisions.decide(policyQuestion())).toMatchObject({ allowed: true });
    await write(rules('ask'));
    await administration.reload();
    expect(administration.list(false)[0]?.fault).toBeUndefined();
    expect(decisions.decide(policyQuestion())).toMatchObject({ ask: true });
  });

  test('who asked for a reload is told with what became of it', async () => {
    await write(rules('allow'));
    const engine = await createRulesPolicyEngine({ folder });
    const heard: PolicyReading[] = [];
    const told = {
      inForce: (reading: PolicyReading) => void heard.push(reading),
      notTaken: (reading: PolicyReading) => void heard.push(reading),
    };
    const updates = memoryPolicyUpdates();
    // No watcher of this folder reads the policies before the caller reloads them.
    const elsewhere = await mkdtemp(join(tmpdir(), 'sallyport-elsewhere-'));
    const parts = {
      engines: [{ engine, mode: 'enforce' as const }],
      folder: elsewhere,
      ...{ updates, news: told, log: silentLog, clock: systemClock },
    };
    const engineOver = () => Promise.resolve(engine);
    const administration = createPolicyAdministration({ ...parts, engineOver }, engine);
    const by = { agentDid: 'did:a', door: 'rest' };
    const versionBefore = engine.version();
    await write(rules('deny'));
    await administration.reload(by);
    await write('rubbish');
    await expect(administration.reload(by)).rejects.toMatchObject({ code: 'E3214' });
    const version = engine.version();
    expect(heard).toEqual([
      { engine: 'rules', version, versionBefore, policies: 1, by },
      { engine: 'rules', version, versionBefore: version, policies: 1, by },
    ]);
    await administration[Symbol.asyncDispose]();
    await rm(elsewhere, { recursive: true });
  });

  test('a reload is told to every instance, though nothing changed here', async () => {
    await write(rules('allow'));
    const { administration, heard } = await open();
    await using _closed = administration;
    expect(await administration.reload()).toMatchObject({
      changed: false,
      engines: [{ engine: 'rules', policies: 1 }],
    });
    expect(heard).toHaveLength(1);
  });

  test('PRM-05 a change of a file is published; an update from elsewhere reads the files and is not published again', async () => {
    await write(rules('allow'));
    const { engine, administration, updates, heard } = await open();
    await using _closed = administration;
    await updates.publish({ reason: 'elsewhere' });
    // This reload runs after the reload that the update caused.
    await administration.reload();
    expect(heard).toEqual([{ reason: 'elsewhere' }, { reason: 'policies were reloaded' }]);
    await write(rules('deny'));
    await vi.waitFor(() => expect(heard).toHaveLength(3), 10_000);
    expect(heard[2]).toEqual({ reason: 'policy files changed' });
    expect(engine.decide(policyQuestion())).toMatchObject({ allowed: false });
  });

  test('PRM-05 an update from elsewhere reads a folder whose changes nobody notifies', async () => {
    await write(rules('allow'));
    const elsewhere = await mkdtemp(join(tmpdir(), 'sallyport-elsewhere-'));
    const { engine, administration, updates } = await open(elsewhere);
    await write(rules('deny'));
    await updates.publish({ reason: 'missed', missed: true });
    expect(engine.decide(policyQuestion())).toMatchObject({ allowed: true });
    await updates.publish({ reason: 'elsewhere' });
    await vi.waitFor(() => expect(engine.decide(policyQuestion())).toMatchObject({ allowed: false }), 10_000);
    await administration[Symbol.asyncDispose]();
    await rm(elsewhere, { recursive: true });
  });

  test('after it is closed nothing is read any more', async () => {
    await write(rules('allow'));
    const { engine, administration } = await open();
    await administration[Symbol.asyncDispose]();
    const version = engine.version();
    await write(rules('deny'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(engine.version()).toBe(version);
  });
});

test('texts of policies are listed when asked for', async () => {
  await write(rules('allow'));
  const { administration } = await open();
  await using _closed = administration;
  expect(administration.list(true)[0]?.policies[0]?.text).toContain('effect = "allow"');
  expect(administration.list(false)[0]?.policies[0]).not.toHaveProperty('text');
});

describe('tests of policies', () => {
  const tool = { tool_id: 'mail__send' };
  const cases = [
    { file: 'a.test.toml', wanted: { name: 'runs', tool, expect: 'allow' as const, by: 'rules.toml:allow' } },
    {
      file: 'a.test.toml',
      wanted: { name: 'by another', tool, expect: 'allow' as const, by: ['rules.toml:allow', 'x'] },
    },
    { file: 'a.test.toml', wanted: { name: 'is refused', tool, expect: 'deny' as const } },
  ];

  test('they are run against the folder as it is, and nothing is put in force', async () => {
    await write(rules('allow'));
    const { engine, administration } = await open();
    await using _closed = administration;
    const results = await administration.test(undefined, cases);
    expect(results.map(({ passed }) => passed)).toEqual([true, false, false]);
    expect(results[1]?.message).toContain('not by x');
    expect(results[2]?.message).toBe('expected deny, but it is allow by rules.toml:allow.');
    const other = await administration.test([{ name: 'rules.toml', text: rules('deny') }], cases);
    expect(other.map(({ passed }) => passed)).toEqual([false, false, true]);
    expect(engine.decide(policyQuestion())).toMatchObject({ allowed: true });
  });

  test('PIPE-15 a case may say in which phase its call is', async () => {
    await write('[[tools.policy]]\neffect = "deny"\nphase = "planner"\n[[tools.policy]]\neffect = "allow"\n');
    const { administration } = await open();
    await using _closed = administration;
    const inPhase = (phase: 'planner' | 'executor', expected: 'allow' | 'deny') => {
      return { file: 'a.test.toml', wanted: { name: phase, tool, context: { phase }, expect: expected } };
    };
    const results = await administration.test(undefined, [inPhase('planner', 'deny'), inPhase('executor', 'allow')]);
    expect(results.map(({ passed }) => passed)).toEqual([true, true]);
  });

  test('test files are those with the right names', async () => {
    await write(rules('allow'));
    await write('x', 'a.test.toml');
    await write('y', 'b.test.json');
    const { administration } = await open();
    await using _closed = administration;
    expect(await administration.testFiles()).toEqual([
      { name: 'a.test.toml', text: 'x' },
      { name: 'b.test.json', text: 'y' },
    ]);
  });
});

test('an explanation is of each engine, with its mode', async () => {
  await write(rules('allow', 'all'));
  const { administration } = await open();
  await using _closed = administration;
  expect(await administration.explain({ tool: { tool_id: 'x' } })).toMatchObject([
    {
      engine: 'rules',
      mode: 'enforce',
      allowed: true,
      decided: [{ name: 'rules.toml:all', file: 'rules.toml', line: 1 }],
    },
  ]);
});

/** An engine that does as it is asked; `more` are the methods that it has besides. */
const engineThat = (name: string, more: Partial<PolicyEngine> = {}): PolicyEngine => ({
  name,
  version: () => `${name}-1`,
  decide: () => ({ allowed: false, policies: [] }),
  ...more,
});
const rejecting =
  (message: string, details: object = {}) =>
  () =>
    Promise.reject(new ToolLayerError('E3214', message, { details: { ...details } }));

/** An administration of these engines, with what it notified of. Its folder is empty. */
function administer(engines: readonly RunningEngine[], publish?: () => Promise<void>) {
  const updates = memoryPolicyUpdates();
  const [inForce, notTaken, errors] = [[] as PolicyReading[], [] as [PolicyReading, PolicyFault][], [] as unknown[]];
  const judged: [names: string[], own: boolean][] = [];
  const administration = createPolicyAdministration(
    {
      engines,
      folder,
      engineOver: async (files, own) => {
        judged.push([files.map(({ name }) => name), own]);
        return engineThat('judging');
      },
      updates: { ...updates, publish: publish ?? updates.publish },
      news: {
        inForce: (reading) => soon().then(() => void inForce.push(reading)),
        notTaken: (reading, fault) => soon().then(() => void notTaken.push([reading, fault])),
      },
      log: { ...silentLog, error: (event, fields) => void errors.push([event, fields]) },
      clock: { now: () => 86_400_000, monotonic: () => 0 },
    },
    engineThat('decided'),
  );
  onTestFinished(() => administration[Symbol.asyncDispose]());
  return { administration, updates, inForce, notTaken, errors, judged };
}

describe('several engines', () => {
  test('PRM-05 one that rejects its policies keeps no other from taking its own, and the caller learns where the fault is', async () => {
    const bad = engineThat('bad', { reload: rejecting('A is wrong.', { file: 'a', line: 3 }) });
    const good = engineThat('good', {
      reload: async () => true,
      policies: () => [{ name: 'p', effect: 'allow', mode: 'enforce' }],
    });
    const { administration, inForce, notTaken } = administer([
      { engine: bad, mode: 'enforce' },
      { engine: good, mode: 'shadow' },
      { engine: engineThat('elsewhere'), mode: 'enforce' },
    ]);
    const by = { agentDid: 'did:a', door: 'rest' };
    await expect(administration.reload(by)).rejects.toMatchObject({
      code: 'E3214',
      message: 'A is wrong. The policies before it stay in force.',
      failure: { details: { file: 'a', line: 3 } },
    });
    expect(inForce[0]).toEqual({ engine: 'good', version: 'good-1', versionBefore: 'good-1', policies: 1, by });
    expect(notTaken[0]).toEqual([
      { engine: 'bad', version: 'bad-1', versionBefore: 'bad-1', policies: 0, by },
      { message: 'A is wrong.', file: 'a', line: 3 },
    ]);
    expect(administration.list(false)).toEqual([
      {
        engine: 'bad',
        mode: 'enforce',
        version: 'bad-1',
        fault: { message: 'A is wrong.', file: 'a', line: 3, since: '1970-01-02T00:00:00.000Z' },
        left_out: [],
        policies: [],
      },
      {
        engine: 'good',
        mode: 'shadow',
        version: 'good-1',
        left_out: [],
        policies: [{ name: 'p', effect: 'allow', mode: 'shadow' }],
      },
      { engine: 'elsewhere', mode: 'enforce', version: 'elsewhere-1', left_out: [], policies: [] },
    ]);
    expect(administration.version()).toBe('decided-1');
  });

  test('PRM-05 another fault is notified of, the same one once; a fault without a place has none', async () => {
    let message = 'A.';
    const engine = engineThat('bad', { reload: () => rejecting(message)() });
    const { administration, notTaken } = administer([{ engine, mode: 'enforce' }]);
    for (const each of ['A.', 'A.', 'B.']) {
      message = each;
      const failed = await administration.reload().catch((thrown: unknown) => thrown);
      expect(failed).toMatchObject({ message: `${each} The policies before it stay in force.` });
      expect(Object.keys((failed as ToolLayerError).failure.details ?? {})).toEqual([]);
    }
    expect(notTaken.map(([{ by }, fault]) => [by, fault])).toEqual([
      [undefined, { message: 'A.' }],
      [undefined, { message: 'B.' }],
    ]);
  });

  test('PIPE-15 a part that was left out is notified of at the start and after each change, and listed', async () => {
    const fault = { message: 'S is wrong.', file: 's.shadow.cedar' };
    const engine = engineThat('partly', { faults: () => [fault], reload: async () => true });
    const { administration, inForce, notTaken } = administer([{ engine, mode: 'enforce' }]);
    const reading = { engine: 'partly', version: 'partly-1', versionBefore: 'partly-1', policies: 0 };
    await soon();
    expect(notTaken).toEqual([[reading, fault]]);
    expect(await administration.reload()).toEqual({
      changed: true,
      engines: [{ engine: 'partly', mode: 'enforce', version: 'partly-1', policies: 0 }],
    });
    expect([inForce[0], notTaken[1]]).toEqual([reading, [reading, fault]]);
    expect(administration.list(false)).toMatchObject([{ left_out: [fault] }]);
  });

  test('PRM-05 other instances that cannot be notified of changed files are an error of the log', async () => {
    const engine = engineThat('changing', { reload: async () => true });
    const { errors } = administer([{ engine, mode: 'enforce' }], () =>
      Promise.reject(new ToolLayerError('E3812', 'nobody listens')),
    );
    await vi.waitFor(
      () => expect(errors).toContainEqual(['policies-not-reloaded', { reason: 'nobody listens' }]),
      50_000,
    );
  });

  test('PRM-04.8 of an engine whose policies are elsewhere the explanation is its answer, or that it has none', async () => {
    const answers: (() => PolicyDecision)[] = [
      () => ({ allowed: true, policies: ['p'], reasons: ['why'] }),
      () => ({ allowed: false, ask: true, policies: ['q'] }),
      () => {
        throw new ToolLayerError('E3206', 'opa is away.');
      },
    ];
    const { administration } = administer(
      answers.map((decide, at) => ({ engine: engineThat(`e${at}`, { decide }), mode: 'enforce' })),
    );
    const policy = { mode: 'enforce', held: [], unmet: [] };
    const about = (at: number) => ({
      engine: `e${at}`,
      mode: 'enforce',
      nearest: [],
      changes: [`The policies of e${at} are kept by its server. Look there.`],
    });
    expect(await administration.explain({ tool: { tool_id: 'x' } })).toEqual([
      { ...about(0), allowed: true, decided: [{ ...policy, name: 'p', effect: 'allow' }], reasons: ['why'] },
      { ...about(1), allowed: false, ask: true, decided: [{ ...policy, name: 'q', effect: 'deny' }] },
      { ...about(2), allowed: false, decided: [], error: 'opa is away.' },
    ]);
  });
});

test('PRM-04 the files of the folder are told apart by their names alone', async () => {
  const policies = ['a.cedar', 'b.rules.toml', 'rules.toml'];
  const tests = ['a.test.json', 'a.test.toml'];
  const others = ['a.cedar.bak', 'a.json', 'a.test.tomls', 'a.toml', 'atest.toml', 'myrules.toml', 'rules.toml.old'];
  for (const name of [...policies, ...tests, ...others]) await write('', name);
  const { administration, judged } = administer([]);
  expect((await administration.testFiles()).map(({ name }) => name)).toEqual(tests);
  await administration.test(undefined, []);
  await administration.test([{ name: 'x.cedar', text: '' }], []);
  expect(judged).toEqual([
    [policies, true],
    [['x.cedar'], false],
  ]);
});
