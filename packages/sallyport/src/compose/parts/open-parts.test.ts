import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { createRedactor } from '@sallyport/guards';
import { systemClock } from '@sallyport/std/clock';
import { describe, expect, onTestFinished, test } from 'vitest';
import { memoryQuotaStore } from '../../../test/stores/calls/memory-quota-store.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryOverflowStore } from '../../../test/stores/outcomes/memory-overflow-store.ts';
import type { SecretStore } from '../../external/secret-store.port.ts';
import type { OutputFilter } from '../../model-facing/output-filter.ts';
import { GATE_EXEMPT_TOOLS } from '../../permission/gates/gate-settings.ts';
import { silentLog } from '../../telemetry/log.ts';
import { embedderOf, openSearch } from '../open-search.ts';
import { readSettings } from '../read-settings.ts';
import type { Settings } from '../settings.ts';
import { ownPlaces } from './from-settings/own-places.ts';
import { receivesRedirects, toolScopesOf } from './from-settings/resource.ts';
import type { Ingredients } from './ingredients.ts';
import { openAudit } from './open-audit.ts';
import { openNotifiers } from './open-notifiers.ts';
import { documentServers } from './open-pipeline.ts';
import { exitCodesOf } from './open-shell.ts';
import { openShortening } from './open-shortening.ts';
import { openDocumentUpdates, openPolicyUpdates, rateLimiterOf, type Storage, slotStoreOf } from './open-storage.ts';
import { openTrust } from './open-trust.ts';

const settingsWith = (given: Partial<Settings> = {}): Settings => readSettings({ environment: {}, given });
const clock = { now: Date.now, monotonic: () => performance.now() };
const secrets: SecretStore = { read: async () => new Map([['KEY', 'value']]) };
const faulty = (message: string) =>
  expect.objectContaining({ code: 'E3801', message: expect.stringContaining(message) });

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parts-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
function stack(): AsyncDisposableStack {
  const opened = new AsyncDisposableStack();
  onTestFinished(() => opened.disposeAsync());
  return opened;
}

describe('notifiers', () => {
  const SMTP = { 'notifiers.smtp_host': 'mail.example', 'notifiers.smtp_from': 'layer@example.com' };
  const WEBHOOK = { 'notifiers.webhook_url': 'https://hooks.example/a', 'notifiers.webhook_secret': 'KEY' };
  const open = (...[given]: [Partial<Settings>]) =>
    openNotifiers(stack(), { settings: settingsWith(given), log: silentLog, secrets });

  test('ORC-03 those that are named are opened, in their order, with what they need', () => {
    const all = { 'notifiers.enabled': ['log', 'console', 'webhook', 'smtp'], ...SMTP, ...WEBHOOK };
    expect(open(all).map(({ name }) => name)).toEqual(['log', 'console', 'webhook:approvals', 'smtp']);
    expect(open({ 'notifiers.enabled': [] })).toEqual([]);
  });

  test.each<[Partial<Settings>, string]>([
    [{ 'notifiers.enabled': ['pager'] }, 'names "pager"; there are console, log, webhook, smtp'],
    [{ 'notifiers.enabled': ['toString'] }, 'names "toString"'],
    [{ ...WEBHOOK, 'notifiers.enabled': ['webhook'], 'notifiers.webhook_url': '' }, 'needs notifiers.webhook_url'],
    [
      { ...WEBHOOK, 'notifiers.enabled': ['webhook'], 'notifiers.webhook_secret': '' },
      'needs notifiers.webhook_secret',
    ],
    [{ ...SMTP, 'notifiers.enabled': ['smtp'], 'notifiers.smtp_host': '' }, 'needs notifiers.smtp_host'],
    [{ ...SMTP, 'notifiers.enabled': ['smtp'], 'notifiers.smtp_from': '' }, 'needs notifiers.smtp_from'],
  ])('ORC-03 %j is refused', (given, message) => {
    expect(() => open(given)).toThrow(faulty(message));
  });
});

describe('results and commands', () => {
  test('MOD-06 output filters come from the program, then from the file; a named file must hold some', async () => {
    const folder = await temporary();
    const own: OutputFilter = { id: 'own', matches: () => true, apply: (text: string) => text } as never;
    const open = (given: Partial<Settings>, outputFilters?: readonly OutputFilter[]) => {
      const settings = settingsWith({ data_folder: folder, ...given });
      const from = { settings, clock, log: silentLog, ...(outputFilters === undefined ? {} : { outputFilters }) };
      return openShortening(from as Ingredients, memoryOverflowStore());
    };
    expect(Object.keys(await open({}))).toEqual(['overflows']);
    expect(Object.keys(await open({}, [own]))).toEqual(['overflows', 'outputFilters']);
    const named = { 'calls.output_filters_file': join(folder, 'none.toml') };
    await expect(open(named, [own])).rejects.toEqual(
      faulty(`calls.output_filters_file names ${join(folder, 'none.toml')}`),
    );
  });

  test('EXE-02 exit codes that roll a transaction back are numbers from 0 to 255', () => {
    const read = (...codes: string[]) => exitCodesOf(settingsWith({ 'shell.auto_rollback_exit_codes': codes }));
    expect(read('0', '1', '255')).toEqual([0, 1, 255]);
    for (const wrong of ['256', '-1', '1000', 'x', '', '1.5'])
      expect(() => read(wrong)).toThrow(faulty('shell.auto_rollback'));
  });
});

describe('the search', () => {
  test('REG-06 the embedder is that of the settings; none: tools are found by words alone', () => {
    const name = (given: Partial<Settings>) => embedderOf(settingsWith(given), secrets)?.model;
    expect(embedderOf(settingsWith({ 'search.embedder': 'none' }), secrets)).toBeUndefined();
    expect(name({ 'search.embedder': 'local' })).toBeTypeOf('string');
    expect(name({ 'search.embedder': 'ollama' })).toContain('nomic-embed-text');
    expect(name({ 'search.embedder': 'ollama', 'search.embedder_model': 'own' })).toContain('own');
    expect(name({ 'search.embedder': 'openai' })).toContain('text-embedding-3-small');
  });

  test('REG-05.2 a threshold above 1, and an index that the database does not have, are refused', async () => {
    const registry = { onChanged: () => ({ [Symbol.dispose]: () => undefined }), manifests: () => [] } as never;
    const open = async (given: Partial<Settings>, index?: object) => {
      const database = { vectorStore: {}, vectorIndex: async () => index } as never;
      const from = { settings: settingsWith(given), clock, log: silentLog, database, registry, embedder: undefined };
      await (await openSearch(from)).close();
    };
    await open({ 'search.threshold': 1, 'search.vector_index': 'process' });
    await open({ 'search.vector_index': 'pgvector' }, {});
    await expect(open({ 'search.threshold': 1.01 })).rejects.toEqual(faulty('search.threshold is 1.01'));
    await expect(open({ 'search.vector_index': 'pgvector' })).rejects.toEqual(faulty('no extension "vector"'));
  });
});

describe('what instances share', () => {
  const storageOf = (isEmbedded: boolean): Storage =>
    ({
      database: {
        rateLimiter: 'rates of the database',
        slotStore: 'slots of the database',
        policyUpdates: () => 'updates of the database',
        documentUpdates: () => 'documents of the database',
      },
      ...(isEmbedded ? { embedded: {} } : {}),
    }) as unknown as Storage;

  test.each([
    ['auto', true, false],
    ['auto', false, true],
    ['postgres', true, true],
    ['postgres', false, true],
    ['memory', false, false],
  ] as const)(
    'OPS-02 rates and slots in the store "%s", with an embedded database %s, are shared: %s',
    (store, isEmbedded, shared) => {
      const settings = settingsWith({ 'rate.store': store, 'calls.slot_store': store });
      const storage = storageOf(isEmbedded);
      expect(rateLimiterOf(storage, settings, clock) === storage.database.rateLimiter).toBe(shared);
      expect(slotStoreOf(storage, settings)).toBe(shared ? storage.database.slotStore : undefined);
    },
  );

  test('PRM-05.4 DOC-02.3 changes are published in the database where others may use it, else in this process', async () => {
    expect(await openPolicyUpdates(storageOf(false))).toBe('updates of the database');
    expect(await openDocumentUpdates(storageOf(false))).toBe('documents of the database');
    for (const updates of [await openPolicyUpdates(storageOf(true)), await openDocumentUpdates(storageOf(true))]) {
      expect(updates).toHaveProperty('publish');
      await updates[Symbol.asyncDispose]();
    }
  });
});

test('nothing is left in the folder of a part that was refused', async () => {
  const folder = await temporary();
  await writeFile(join(folder, 'output-filters.toml'), 'x');
  const from = { settings: settingsWith({ data_folder: folder }), clock, log: silentLog } as Ingredients;
  await expect(openShortening(from, memoryOverflowStore())).rejects.toMatchObject({ code: 'E3801' });
  expect(await readdir(folder)).toEqual(['output-filters.toml']);
});

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

  test('webhooks are read from the file in the data folder', async () => {
    const { hooks } = await openWith({}, { 'hooks.toml': webhook });
    expect(hooks?.before({ toolId: 't', sideEffect: 'pure', phase: undefined })?.map(({ id }) => id)).toEqual(['a']);
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

test('SBX-01 the own files of the layer are known wherever they are: they are hidden from every tool', () => {
  const files = {
    data_folder: '/data',
    'approvals.file': '/etc/approvals.toml',
    'hooks.file': '/etc/hooks.toml',
    'object_store.folder': '/objects',
    'oauth.exchange_file': '/etc/exchange.toml',
    'permission.policies_folder': '/etc/policies',
    'sandbox.kubernetes_kubeconfig': '/etc/kubeconfig',
    'sandbox.microvm_folder': '/images',
    'shell.policy_file': '/etc/shell.toml',
    'shell.snapshot_folder': '/snapshots',
    'audit.anchor_file': '/etc/anchors',
    'tokens.public_key_file': '/etc/keys.pem',
  };
  const named = ownPlaces(readSettings({ environment: {}, given: files }), 'sallyport.toml', ['/run/sockets']);
  expect(new Set(named)).toEqual(new Set([...Object.values(files), resolve('sallyport.toml'), '/run/sockets']));
  const bare = readSettings({ environment: {}, given: { data_folder: '/data' } });
  expect(ownPlaces(bare, undefined, [])).not.toContain(resolve(''));
});

test('PRM-10 a scope of tools is scope=TOOL, and the longest pattern comes first', () => {
  const read = (...scopes: string[]) => toolScopesOf({ 'oauth.tool_scopes': scopes });
  expect(read('all=*', 'a=b=c', 'mail=mail__*')).toEqual([
    { scope: 'mail', tool: 'mail__*' },
    { scope: 'a=b', tool: 'c' },
    { scope: 'all', tool: '*' },
  ]);
  for (const wrong of ['mail', '=mail', 'mail=', 'm ail=mail', ''])
    expect(() => read(wrong)).toThrow(expect.objectContaining({ code: 'E3801' }));
});

test('PRM-11 redirects of logins are received only where all callers and the redirect are on this machine', () => {
  const received = (given: Partial<Settings>) =>
    receivesRedirects(settingsWith({ 'server.host': '127.0.0.1', 'server.public_url': '', ...given }));
  for (const here of [
    {},
    { 'server.host': 'localhost' },
    { 'server.host': '::1' },
    { 'server.public_url': 'http://localhost:9000' },
    { 'upstreams.login_redirect_url': 'http://[::1]:8976/callback' },
  ])
    expect([here, received(here)]).toEqual([here, true]);
  for (const elsewhere of [
    { 'server.host': '0.0.0.0' },
    { 'server.host': '192.168.0.7' },
    { 'server.public_url': 'http://tools.example.com' },
    { 'server.public_url': 'https://localhost' },
    { 'upstreams.login_redirect_url': 'http://tools.example.com/callback' },
    { 'upstreams.login_redirect_url': 'https://127.0.0.1:8976/callback' },
    { 'upstreams.login_redirect_url': 'callback' },
  ])
    expect([elsewhere, received(elsewhere)]).toEqual([elsewhere, false]);
});

test('DOC-04.5 documents are here at the own server under any name, and elsewhere only at the server that is named', () => {
  const transports: Record<string, object> = {
    mine: { type: 'embedded', server: 'documents' },
    context: { type: 'embedded', server: 'context' },
    docs: { type: 'http', url: 'http://127.0.0.1:9' },
    mail: { type: 'http', url: 'http://127.0.0.1:9', server: 'documents' },
  };
  const definition = (tenantId: string, name: string) =>
    tenantId === 't' && transports[name] ? { transport: transports[name] } : undefined;
  const at = documentServers({ definition } as unknown as Parameters<typeof documentServers>[0], 'docs');
  const places = ['mine', 'context', 'docs', 'mail', 'nobody'].map((name) => at('t', name));
  expect(places).toEqual(['here', undefined, 'elsewhere', undefined, undefined]);
  expect([at('u', 'mine'), at('u', 'docs')]).toEqual([undefined, 'elsewhere']);
});

test('AUD-07 heads that cannot be kept are an error in the log, and events are recorded all the same', async () => {
  const folder = await temporary();
  await mkdir(join(folder, 'audit-heads.json'));
  const logged: unknown[] = [];
  const effects: string[] = [];
  const settings = settingsWith({
    ...{ data_folder: folder, 'audit.jsonl': true, 'audit.anchor_file': join(folder, 'anchors') },
  });
  const from = { settings, clock: systemClock, redactor: createRedactor() };
  const log = { ...silentLog, error: (event: string, fields?: object) => void logged.push([event, fields]) };
  const onSideEffect = ({ type }: { type: string }) => void effects.push(type);
  const storage = { database: { ledgerStore: memoryLedgerStore() } } as unknown as Storage;
  const signer = { sign: async () => ({ keyId: 'k', signature: 's' }), verify: async () => true };
  const opened = stack();
  const { ledger } = await openAudit(opened, { ...from, log, onSideEffect } as never, storage, signer as never, 'one');
  expect(logged).toEqual([['anchor-failed', { reason: expect.stringContaining('EISDIR') }]]);
  const type = 'ai.agent.tool.side_effect.started' as const;
  const event = { id: 'a', type, time: 1, tenantId: 'acme', subject: 'a', data: {} };
  await ledger.commit({ events: [event], durability: 'synchronous' });
  expect(effects).toEqual([type]);
  await opened.disposeAsync();
  for (const name of ['audit.jsonl', 'anchors'])
    expect((await readFile(join(folder, name), 'utf8')).trim().split('\n')).toHaveLength(1);
});
