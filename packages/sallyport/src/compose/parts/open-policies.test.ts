import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { policyQuestion } from '../../permission/policies/policy.fixture.ts';
import type { PolicyUpdates } from '../../permission/policy-updates.port.ts';
import { memoryPolicyUpdates } from '../../storage/memory/memory-policy-updates.ts';
import { type Log, silentLog } from '../../telemetry/log.ts';
import { readSettings } from '../read-settings.ts';
import type { Settings } from '../settings.ts';
import type { Ingredients } from './ingredients.ts';
import { checkPolicies, openPolicies } from './open-policies.ts';

const FORBIDS = '@id("nobody")\nforbid (principal, action, resource) when { resource.category == "file_system" };\n';
const DENIES = '[[tools.policy]]\neffect = "deny"\n';

let folder: string;
let logged: [event: string, fields: unknown][];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'policies-'));
  logged = [];
  onTestFinished(() => rm(folder, { recursive: true }));
});
const log: Log = {
  ...silentLog,
  info: (event, fields) => void logged.push([event, fields]),
  error: (event, fields) => void logged.push([event, fields]),
};

const settingsWith = (given: Partial<Settings> = {}): Settings =>
  readSettings({ environment: {}, given: { data_folder: folder, ...given } });

async function open(given: Partial<Settings> = {}, updates: PolicyUpdates = memoryPolicyUpdates()) {
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const from = { settings: settingsWith(given), clock, log } as Ingredients;
  const policies = await openPolicies(from, Promise.resolve(updates));
  onTestFinished(() => policies[Symbol.asyncDispose]());
  return { ...policies, updates };
}

describe('the engines of a layer', () => {
  test('PRM-04.1 PRM-04.2 Cedar decides by default, over the folder of the data folder or the one that is named', async () => {
    expect((await open()).administration.list(false)).toMatchObject([{ engine: 'cedar', mode: 'enforce' }]);
    expect(await readdir(join(folder, 'policies'))).not.toEqual([]);
    const named = join(folder, 'named');
    await mkdir(named);
    await writeFile(join(named, 'own.cedar'), `permit (principal, action, resource);\n${FORBIDS}`);
    const { decisions } = await open({ 'permission.policies_folder': named });
    const decided = (category: string) => decisions.decide(policyQuestion({ category, contentHash: category }));
    expect(await decided('computation')).toMatchObject({ allowed: true });
    expect(await decided('file_system')).toMatchObject({ allowed: false, policies: ['own.cedar:nobody'] });
  });

  test('PRM-04.1 several decide together, and those in shadow mode only record what they would have decided', async () => {
    await mkdir(join(folder, 'policies'));
    await writeFile(join(folder, 'policies', 'own.cedar'), 'permit (principal, action, resource);\n');
    await writeFile(join(folder, 'policies', 'rules.toml'), DENIES);
    const states = async (given: Partial<Settings>) => {
      const { administration, decisions } = await open(given);
      const decided = await decisions.decide(policyQuestion());
      return [
        'allowed' in decided && decided.allowed,
        administration.list(false).map(({ engine, mode }) => `${engine} ${mode}`),
      ];
    };
    const both = { 'permission.engines': ['cedar', 'rules'], 'permission.shadow_engines': [''] };
    expect(await states(both)).toEqual([false, ['cedar enforce', 'rules enforce']]);
    const shadow = { 'permission.engines': ['cedar'], 'permission.shadow_engines': ['rules'] };
    expect(await states(shadow)).toEqual([true, ['cedar enforce', 'rules shadow']]);
    const servers = { 'permission.engines': ['opa', 'abac'], 'permission.abac_endpoint': 'http://127.0.0.1:9/abac' };
    const opened = await open(servers);
    expect(opened.administration.list(false).map(({ engine }) => engine)).toEqual(['opa', 'abac']);
  });

  test('PRM-05 a rule that moves from one engine to another is in force all the while', async () => {
    const both = { 'permission.engines': ['cedar', 'rules'] };
    const put = async (cedar: string, rules: string): Promise<void> => {
      await writeFile(join(folder, 'policies', 'own.cedar'), cedar);
      await writeFile(join(folder, 'policies', 'rules.toml'), rules);
    };
    const permit = 'permit (principal, action, resource);\n';
    const allow = '[[tools.policy]]\neffect = "allow"\n';
    await mkdir(join(folder, 'policies'));
    await put(`${permit}${FORBIDS}`, allow);
    const { administration, decisions, recordIn } = await open(both);
    const decide = () => decisions.decide(policyQuestion({ category: 'file_system' }));
    const seen: unknown[] = [await decide()];
    const commit = async (): Promise<void> => void seen.push(await decide());
    await recordIn({ commit } as unknown as Parameters<typeof recordIn>[0]);
    await put(permit, '[[tools.policy');
    await expect(administration.reload()).rejects.toMatchObject({
      code: 'E3214',
      failure: { details: { file: 'rules.toml' } },
    });
    seen.push(await decide());
    await put(permit, DENIES);
    await administration.reload().catch(() => undefined);
    await put(`${permit}${FORBIDS}`, allow);
    await administration.reload().catch(() => undefined);
    expect(seen.length).toBeGreaterThan(4);
    for (const each of seen) expect(each).toMatchObject({ allowed: false });
  });

  test.each<[Partial<Settings>, string]>([
    [{ 'permission.engines': [''] }, 'names no engine'],
    [{ 'permission.engines': ['cedar', 'casbin'] }, 'permission.engines: casbin is no engine'],
    [{ 'permission.engines': ['cedar', 'cedar'] }, 'named twice'],
    [{ 'permission.shadow_engines': ['casbin'] }, 'permission.shadow_engines: casbin'],
    [{ 'permission.engines': ['cedar', 'rules'], 'permission.shadow_engines': ['rules'] }, 'rules stands in'],
  ])('PRM-04.1 %j is refused', async (given, message) => {
    await expect(open(given)).rejects.toMatchObject({ code: 'E3801', message: expect.stringContaining(message) });
    expect(await checkPolicies(settingsWith(given))).toMatchObject({
      ...{ name: 'policies', state: 'failed', message: expect.stringContaining(message) },
      hint: expect.stringContaining('policy test'),
    });
  });

  test('PRM-05.3 what was decided is forgotten once other instances say that policies have changed', async () => {
    const { decisions, updates } = await open();
    const [first, again] = [await decisions.decide(policyQuestion()), await decisions.decide(policyQuestion())];
    expect(again).toMatchObject({ ...first });
    let cleared = 0;
    const { clear } = decisions;
    decisions.clear = () => {
      cleared += 1;
      clear();
    };
    await updates.publish({ reason: 'another instance' });
    expect(cleared).toBeGreaterThan(0);
  });

  test('PRM-05.3 what is closed listens to nobody', async () => {
    const closed = await open();
    let cleared = 0;
    closed.decisions.clear = () => {
      cleared += 1;
    };
    await closed[Symbol.asyncDispose]();
    await writeFile(join(folder, 'policies', 'own.cedar'), 'permit (principal, action, resource);\n');
    logged = [];
    await closed.updates.publish({ reason: 'another instance' });
    await closed.administration.testFiles();
    expect([cleared, logged]).toEqual([0, []]);
  });

  test('PRM-04.8 a channel that cannot be opened is a fault of the start, after those of the policies', async () => {
    const closed = Promise.reject(new Error('no database'));
    const clock = { now: Date.now, monotonic: () => performance.now() };
    const start = (given: Partial<Settings>) =>
      openPolicies({ settings: settingsWith(given), clock, log } as Ingredients, closed);
    await expect(start({})).rejects.toThrow('no database');
    await expect(start({ 'permission.engines': ['casbin'] })).rejects.toMatchObject({ code: 'E3801' });
  });
});

describe('what is said of policies', () => {
  test('PRM-05 each change is audited, one that was made before there is a ledger too', async () => {
    const committed: unknown[] = [];
    const { administration, recordIn } = await open({ 'tenant.default': 'own' });
    const path = join(folder, 'policies', 'own.cedar');
    await writeFile(path, 'permit (principal, action, resource);\n');
    await administration.reload();
    const commit = async ({ events }: { events: readonly { tenantId: string; data: object }[] }) => {
      committed.push(...events.map(({ tenantId, data }) => [tenantId, data]));
    };
    await recordIn({ commit } as unknown as Parameters<typeof recordIn>[0]);
    await writeFile(path, 'permit nobody;\n');
    await administration.reload().catch(() => undefined);
    expect(committed).toEqual([
      ['own', expect.objectContaining({ engine: 'cedar', change: 'in-force' })],
      ['own', expect.objectContaining({ engine: 'cedar', change: 'kept-out', file: 'own.cedar', line: 1 })],
    ]);
  });

  test('a change that is in force is in the log, one that is not with its file and line', async () => {
    const { administration } = await open();
    const path = join(folder, 'policies', 'own.cedar');
    await writeFile(path, 'permit (principal, action, resource);\n');
    await administration.reload();
    expect(logged).toContainEqual([
      'policies-in-force',
      expect.objectContaining({ engine: 'cedar', policies: expect.any(Number) }),
    ]);
    await writeFile(path, 'permit (principal, action, resource);\npermit nobody;\n');
    await expect(administration.reload()).rejects.toMatchObject({ code: 'E3214' });
    expect(logged).toContainEqual([
      'policies-not-in-force',
      { engine: 'cedar', reason: expect.any(String), file: expect.stringContaining('own.cedar'), line: 2 },
    ]);
  });

  test('PRM-04 policies are tested over the files that there are, of the engines in force or of those that are given', async () => {
    const { administration } = await open();
    const ofTool = (category: string, expected: 'allow' | 'deny') =>
      ({
        file: 'a.test.toml',
        wanted: { name: category, expect: expected, tool: { tool_id: 't', category } },
      }) as const;
    const cases = [ofTool('file_system', 'deny'), ofTool('computation', 'allow')];
    const passed = async (...files: (readonly [string, string])[]) =>
      administration
        .test(files.length === 0 ? undefined : files.map(([name, text]) => ({ name, text })), cases)
        .then((all) => all.map((each) => each.passed))
        .catch(({ code, message }: { code: string; message: string }) => `${code} ${message}`);
    const cedar = ['own.cedar', `permit (principal, action, resource);\n${FORBIDS}`] as const;
    const rules = [
      'own.rules.toml',
      '[[tools.policy]]\ncategory = "file_system"\neffect = "deny"\n[[tools.policy]]\neffect = "allow"\n',
    ] as const;
    expect(await passed(cedar)).toEqual([true, true]);
    expect(await passed(['own.cedar', 'permit (principal, action, resource);'])).toEqual([false, true]);
    expect(await passed(cedar, ['rules.toml', DENIES])).toEqual([true, false]);
    expect(String(await passed(rules))).toMatch(/true|E3214/);
    expect(await passed(['readme.md', ''])).toContain('E3214 There are no policies to test');
    expect(await passed(['own.cedar', 'permit nobody;'])).toContain('E3214');
    expect(await passed(['rules.toml', 'x'])).toContain('E3214');
    // Of the folder only the files of the engines in force count.
    await writeFile(join(folder, 'policies', 'own.cedar'), cedar[1]);
    await writeFile(join(folder, 'policies', 'rules.toml'), DENIES);
    expect(await passed()).toEqual([true, true]);
    const byRules = (await open({ 'permission.engines': ['rules'] })).administration;
    expect((await byRules.test(undefined, cases)).map((each) => each.passed)).toEqual([true, false]);
  });

  test('SBX-02.8 doctor names the engines, and creates nothing in a folder that no layer has used', async () => {
    const ok = { name: 'policies', state: 'ok', message: 'cedar' };
    const temporary = await mkdtemp(join(tmpdir(), 'policies-'));
    vi.stubEnv('TMPDIR', temporary);
    expect(await checkPolicies(settingsWith())).toEqual(ok);
    vi.unstubAllEnvs();
    expect([await readdir(folder), await readdir(temporary)]).toEqual([[], []]);
    await rm(temporary, { recursive: true });
    await mkdir(join(folder, 'policies'));
    await writeFile(join(folder, 'policies', 'rules.toml'), DENIES);
    const shadowed = settingsWith({ 'permission.shadow_engines': ['rules'] });
    expect(await checkPolicies(shadowed)).toEqual({ ...ok, message: 'cedar, rules in shadow mode' });
    await writeFile(join(folder, 'policies', 'own.shadow.cedar'), 'permit nobody;');
    await writeFile(join(folder, 'policies', 'other.cedar'), 'permit (principal, action, resource);\n');
    expect(await checkPolicies(settingsWith())).toMatchObject({
      ...{ name: 'policies', state: 'warning', message: expect.stringContaining('nobody') },
    });
    await writeFile(join(folder, 'policies', 'own.cedar'), 'permit nobody;');
    expect(await checkPolicies(settingsWith())).toMatchObject({ state: 'failed' });
  });
});
