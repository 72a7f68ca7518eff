import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { createRedactor } from '@sallyport/guards';
import { systemClock } from '@sallyport/std/clock';
import { describe, expect, onTestFinished, test } from 'vitest';
import { memoryQuotaStore } from '../../../../test/stores/calls/memory-quota-store.ts';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import { GATE_EXEMPT_TOOLS } from '../../../permission/gates/gate-settings.ts';
import { readSettings } from '../../read-settings.ts';
import type { Settings } from '../../settings.ts';
import { openTrust } from './open-trust.ts';

const settingsWith = (given: Partial<Settings> = {}): Settings => readSettings({ environment: {}, given });
const secrets: SecretStore = {
  read: async (_tenantId, names) => new Map(names.filter((name) => name === 'KEY').map((name) => [name, 'value'])),
};
const { signal } = new AbortController();

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'trust-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe('trust, gate and hooks', () => {
  async function openWith(given: Partial<Settings> = {}, files: Record<string, string> = {}) {
    const folder = await temporary();
    await mkdir(join(folder, 'policies'));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    return openTrust({
      settings: settingsWith({ data_folder: folder, ...given }),
      clock: systemClock,
      secrets: { read: async () => new Map() },
      quotaStore: memoryQuotaStore(),
      redactor: createRedactor(),
    });
  }
  const model = { 'gate.enabled': true, 'model.url': 'http://127.0.0.1:9', 'model.name': 'm' };
  const webhook = '[[webhook]]\nid = "a"\nat = "before"\nurl = "https://hooks.example/a"\nsecret = "KEY"\n';

  test('what is not set is absent', async () => {
    const parts = await openWith();
    expect(Object.keys(parts).sort()).toEqual(['quota', 'trust']);
    expect(parts.trust?.autonomous).toBe('refuse');
  });

  test('the gate takes its policies from the setting and from the file', async () => {
    const file = { 'policies/adversarial.toml': 'policies = ["A."]\n[phases]\nplanner = ["B."]\n' };
    const { gate } = await openWith({ ...model, 'gate.policies': ['C.'] }, file);
    expect(gate?.state).toEqual({ model: '127.0.0.1:9/m', policies: 3, failOpen: false });
  });

  test('the gate has enough in the policies of one phase, and hooks of the program come first', async () => {
    const file = { 'policies/adversarial.toml': '[phases]\nplanner = ["B."]\n' };
    expect((await openWith(model, file)).gate?.state.policies).toBe(1);
    const own = [{ id: 'own', at: 'before' as const, run: async () => undefined }] as never;
    const { hooks } = await openTrust({
      settings: settingsWith({ data_folder: await temporary() }),
      ...{ clock: systemClock, secrets, quotaStore: memoryQuotaStore(), redactor: createRedactor(), hooks: own },
    });
    expect(hooks).toBeDefined();
    const named = join(await temporary(), 'other.toml');
    await writeFile(named, webhook);
    const both = await openWith({ 'hooks.file': named });
    expect(both.hooks?.before({ toolId: 't', sideEffect: 'pure', phase: undefined })).toHaveLength(1);
  });

  test('PRM-08 tools are exempt by default as 002 says', () => {
    expect(readSettings({ environment: {} })['gate.exempt_tools']).toEqual(GATE_EXEMPT_TOOLS);
  });

  test('EXT-06 webhooks are read from the file in the data folder; one whose secret is missing fails', async () => {
    const { hooks } = await openWith({}, { 'hooks.toml': webhook });
    const found = hooks?.before({ toolId: 't', sideEffect: 'pure', phase: undefined });
    expect(found?.map(({ id }) => id)).toEqual(['a']);
    await expect(found?.[0]?.run({} as never, signal)).rejects.toMatchObject({ code: 'E3302' });
  });

  test('PRM-07 the quota of a session is that of the settings', async () => {
    const { quota } = await openWith({ 'quota.calls_per_session': 1 });
    const principal = { tenantId: 't', agentDid: 'a', roles: [], sessionId: 's' };
    const take = () => quota?.take(principal as never, {} as never);
    expect([await take(), await take()]).toEqual([undefined, expect.objectContaining({ code: 'E3211' })]);
  });

  test('PRM-08 a phase without policies is not enough for the gate', async () => {
    const opening = openWith(model, { 'policies/adversarial.toml': '[phases]\nplanner = []\n' });
    await expect(opening).rejects.toMatchObject({ code: 'E3801' });
  });

  test.each<[Partial<Settings>, string]>([
    [{ 'gate.enabled': true }, 'model.url'],
    [model, 'gate.policies'],
    [{ ...model, 'model.name': '' }, 'model.name'],
    [{ ...model, 'model.url': '' }, 'model.url'],
    ...['hot', '-0.1', '2.1'].map((text): [Partial<Settings>, string] => [
      { ...model, 'gate.policies': ['A.'], 'model.temperature': text },
      'model.temperature',
    ]),
    [{ 'hooks.file': '/nowhere/hooks.toml' }, 'hooks.file'],
    [{ 'trust.sources': ['x'] }, 'trust.sources'],
  ])('%j is refused and says what to set', async (given, said) => {
    await expect(openWith(given)).rejects.toMatchObject({ code: 'E3801', message: expect.stringContaining(said) });
  });
});

describe('the language model of the gate', () => {
  /** What the model was asked, by a gate with these settings. */
  async function askedWith(given: Partial<Settings>) {
    const asked: { authorization: string | undefined; body: { model: string; temperature?: number } }[] = [];
    const server = createServer(async (request, response) => {
      asked.push({ authorization: request.headers.authorization, body: (await json(request)) as { model: string } });
      response.setHeader('content-type', 'application/json').end('{"choices":[{"message":{"content":"ALLOW"}}]}');
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { gate } = await openTrust({
      settings: settingsWith({
        'gate.enabled': true,
        'gate.policies': ['A.'],
        'model.url': url,
        'model.name': 'm',
        ...given,
      }),
      ...{ clock: systemClock, secrets, quotaStore: memoryQuotaStore(), redactor: createRedactor() },
    });
    const call = { toolId: 'mail__send', parameters: { to: 'ann.lee@example.org' }, phase: undefined };
    const decision = await gate?.judge(call as never, new AbortController().signal);
    return { asked, decision };
  }

  test('PRM-08.1 it has the temperature and the secret of the settings, and sees no personal data', async () => {
    for (const [given, temperature, authorization] of [
      [{ 'model.temperature': '' }, undefined, undefined],
      [{}, 0, undefined],
      [{ 'model.temperature': '2', 'model.secret': 'KEY' }, 2, 'Bearer value'],
    ] as const) {
      const { asked, decision } = await askedWith(given);
      expect(decision).toMatchObject({ allowed: true, answer: 'ALLOW' });
      expect(asked).toMatchObject([{ authorization, body: { model: 'm' } }]);
      expect(asked[0]?.body.temperature).toBe(temperature);
      expect(JSON.stringify(asked)).not.toContain('ann.lee');
    }
  });

  test('PRM-08.4 a secret that is missing is no answer, and the call is refused', async () => {
    const { asked, decision } = await askedWith({ 'model.secret': 'NONE' });
    expect([asked, decision?.allowed]).toEqual([[], false]);
  });
});
