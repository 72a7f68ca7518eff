import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createRedactor } from '@sallyport/guards';
import { systemClock } from '@sallyport/std/clock';
import { describe, expect, onTestFinished, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryVectorStore } from '../../../test/stores/memory-vector-store.ts';
import { memoryOverflowStore } from '../../../test/stores/outcomes/memory-overflow-store.ts';
import type { SecretStore } from '../../external/secret-store.port.ts';
import type { OutputFilter } from '../../model-facing/output-filter.ts';
import type { Embedder } from '../../registry/embedder.port.ts';
import { embeddingServer, sendJson } from '../../registry/search/embedding-server.fixture.ts';
import { conceptEmbedder, tool } from '../../registry/search/search.fixture.ts';
import { memoryVectorIndex } from '../../storage/memory/memory-vector-index.ts';
import { silentLog } from '../../telemetry/log.ts';
import { embedderOf, openSearch } from '../open-search.ts';
import { readSettings } from '../read-settings.ts';
import type { Settings } from '../settings.ts';
import { ownPlaces } from './from-settings/own-places.ts';
import { receivesRedirects, toolScopesOf } from './from-settings/resource.ts';
import type { Ingredients } from './ingredients.ts';
import { openAudit } from './open-audit.ts';
import { cancelServerTasks, openIntake, openQueue } from './open-orchestration.ts';
import { documentServers } from './open-pipeline.ts';
import { exitCodesOf } from './open-shell.ts';
import { openShortening } from './open-shortening.ts';
import { openDocumentUpdates, openPolicyUpdates, rateLimiterOf, type Storage, slotStoreOf } from './open-storage.ts';

const settingsWith = (given: Partial<Settings> = {}): Settings => readSettings({ environment: {}, given });
const clock = { now: Date.now, monotonic: () => performance.now() };
const secrets: SecretStore = {
  read: async (_tenantId, names) => new Map(names.filter((name) => name === 'KEY').map((name) => [name, 'value'])),
};
const { signal } = new AbortController();
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
    const store = memoryOverflowStore();
    const from = { settings: settingsWith({ data_folder: folder }), clock, log: silentLog } as Ingredients;
    const { overflows } = await openShortening(from, store);
    expect(await overflows?.keep({ tenantId: 'a', agentDid: 'b', userDid: 'c' }, 'd', 'all of it')).toBe(true);
    expect(await overflows?.find('a', 'd')).toMatchObject({ text: 'all of it' });
    const filled = join(folder, 'filled.toml');
    await writeFile(filled, '[[filter]]\nid = "ls"\ntool = { exact = "ls" }\ndrop = ["x"]\n');
    expect(Object.keys(await open({ 'calls.output_filters_file': filled }))).toEqual(['overflows', 'outputFilters']);
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

  test.each(['ollama', 'openai'] as const)(
    'REG-06 the server of %s is asked at the address of the settings, for their model, with their secret',
    async (embedder) => {
      await using server = await embeddingServer((_request, response) =>
        sendJson(response, { embeddings: [[1]], data: [{ index: 0, embedding: [1] }] }),
      );
      const given = { 'search.embedder_url': server.url, 'search.embedder_model': 'own' };
      const ask = (more: Partial<Settings> = {}) =>
        embedderOf(settingsWith({ 'search.embedder': embedder, ...given, ...more }), secrets)?.embed(['a'], signal);
      await ask({ 'search.embedder_secret': 'KEY' });
      await ask();
      expect(server.requests).toMatchObject([{ body: { model: 'own', input: ['a'] } }, { body: { model: 'own' } }]);
      const authorizations = server.requests.map(({ headers }) => headers.authorization);
      expect(authorizations).toEqual([embedder === 'openai' ? 'Bearer value' : undefined, undefined]);
    },
  );

  test('REG-05.1 tools are found by meaning where there is an embedder, over either index', async () => {
    const registry = {
      onChanged: () => ({ [Symbol.dispose]: () => undefined }),
      manifests: () => [tool('sky', 'Tells the forecast.')],
    };
    const found = async (given: Partial<Settings>, embedder?: Embedder) => {
      const database = { vectorStore: memoryVectorStore(), vectorIndex: async () => memoryVectorIndex() };
      const from = { settings: settingsWith(given), clock, log: silentLog, database, registry, embedder };
      const search = await openSearch(from as unknown as Parameters<typeof openSearch>[0]);
      const { mode, total } = await search.search(['acme'], { text: 'umbrella', page: 1, pageSize: 9 });
      await search.close();
      return [mode, total];
    };
    for (const index of ['process', 'pgvector'] as const)
      expect(await found({ 'search.vector_index': index }, conceptEmbedder())).toEqual(['hybrid', 1]);
    expect(await found({})).toEqual(['keyword', 0]);
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
    await expect(open({ 'search.threshold': 1.01 })).rejects.toEqual(faulty('search.threshold must be at most 1'));
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

test('SBX-01 the own files of the layer are known wherever they are: they are hidden from every tool', () => {
  const bare = readSettings({ environment: {}, given: { data_folder: '/data' } });
  // Documented as open: modules that tools have to see.
  const names = Object.keys(bare).filter((name) => /[._](?:file|folder)$/.test(name) && name !== 'functions.folder');
  expect(names).toContain('secrets.key_file');
  const files = Object.fromEntries([...names, 'sandbox.kubernetes_kubeconfig'].map((name) => [name, `/own/${name}`]));
  const named = ownPlaces(readSettings({ environment: {}, given: files }), 'sallyport.toml', ['/run/sockets']);
  expect(new Set(named)).toEqual(new Set([...Object.values(files), resolve('sallyport.toml'), '/run/sockets']));
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

describe('calls that wait', () => {
  test('API-03 the task of a server is cancelled where its tool is one of an upstream, whatever the upstream answers', async () => {
    const asked: unknown[] = [];
    const upstreams = {
      cancelTask: async (tenantId: string, name: string, task: unknown, { invocationId }: { invocationId: string }) => {
        asked.push([tenantId, name, task, invocationId]);
        throw new Error('no connection');
      },
    };
    const configs: Readonly<Record<string, object | undefined>> = {
      'mail 1.0.0': { config: { upstream: 'mail' } },
      'shell 1.0.0': { config: { command: ['x'] } },
      'plain 1.0.0': {},
    };
    const toolOf = (tenantId: string, toolId: string, version: string) => {
      const executor = tenantId === 't' ? configs[`${toolId} ${version}`] : undefined;
      return executor === undefined ? undefined : { manifest: { executor } };
    };
    const cancel = cancelServerTasks(upstreams as never, toolOf as never);
    for (const [tenantId, toolId, toolVersion] of [
      ['t', 'mail', '1.0.0'],
      ['t', 'mail', '2.0.0'],
      ['t', 'shell', '1.0.0'],
      ['t', 'plain', '1.0.0'],
      ['u', 'mail', '1.0.0'],
    ])
      await cancel({ tenantId, toolId, toolVersion, invocationId: 'i' } as never, { id: 'task' } as never);
    expect(asked).toEqual([['t', 'mail', { id: 'task' }, 'i']]);
  });

  test.each([
    ['auto', true, 'memory'],
    ['memory', false, 'memory'],
    ['auto', false, 'database'],
    ['postgres', true, 'database'],
  ] as const)('ORC-06 the queue "%s", with an embedded database %s, is in the %s', async (queue, isEmbedded, place) => {
    const from = { settings: settingsWith({ 'workers.queue': queue }), log: silentLog };
    const connection = { url: 'postgres://nobody@127.0.0.1:9/none' };
    const opening = openQueue(from, { connection, ...(isEmbedded ? { embedded: {} as never } : {}) });
    if (place === 'memory') await (await opening).close();
    else await expect(opening).rejects.toMatchObject({ code: 'E3812' });
  });

  test('ORC-06 no call is taken in where no worker would run it', () => {
    expect(openIntake(settingsWith({ 'workers.enabled': false }))).toBeUndefined();
    expect(openIntake(settingsWith({}))).toBeDefined();
  });
});

describe('the ledger', () => {
  const type = 'ai.agent.tool.side_effect.started' as const;
  const event = { id: 'a', type, time: 1, tenantId: 'acme', subject: 'a', data: {} };

  async function openIn(folder: string, given: Partial<Settings>, more: object = {}) {
    const logged: unknown[] = [];
    const log = { ...silentLog, error: (name: string, fields?: object) => void logged.push([name, fields]) };
    const settings = settingsWith({ data_folder: folder, ...given });
    const from = { settings, clock: systemClock, redactor: createRedactor(), log, ...more };
    const storage = { database: { ledgerStore: memoryLedgerStore(), claimedKeys: 'keys' } } as unknown as Storage;
    const signer = { sign: async () => ({ keyId: 'k', signature: 's' }), verify: async () => true };
    const opened = stack();
    return { opened, logged, ...(await openAudit(opened, from as never, storage, signer as never, 'one')) };
  }

  test('AUD-07 heads that cannot be kept are an error in the log, and events are recorded all the same', async () => {
    const folder = await temporary();
    await mkdir(join(folder, 'audit-heads.json'));
    const effects: string[] = [];
    const onSideEffect = (effect: { type: string }) => void effects.push(effect.type);
    const given = { 'audit.jsonl': true, 'audit.anchor_file': join(folder, 'anchors') };
    const { opened, logged, ledger } = await openIn(folder, given, { onSideEffect });
    expect(logged).toEqual([['anchor-failed', { reason: expect.stringContaining('EISDIR') }]]);
    await ledger.commit({ events: [event], durability: 'synchronous' });
    expect(effects).toEqual([type]);
    await opened.disposeAsync();
    for (const name of ['audit.jsonl', 'anchors'])
      expect((await readFile(join(folder, name), 'utf8')).trim().split('\n')).toHaveLength(1);
  });

  test('AUD-07 an audit knows what is kept outside of the tables: heads in the data folder, and how long keys are', async () => {
    const folder = await temporary();
    const { opened, logged, ledger, outside } = await openIn(folder, {
      'audit.jsonl': false,
      'idempotency.ttl_seconds': 60,
    });
    await ledger.commit({ events: [event], durability: 'synchronous' });
    expect(outside).toMatchObject({ chainId: 'one', everyMs: 60_000, keys: { keys: 'keys', ttlMs: 60_000 } });
    expect([outside.head(), outside.now() > 1]).toEqual([ledger.head(), true]);
    await opened.disposeAsync();
    expect([logged, await readdir(folder)]).toEqual([[], ['audit-heads.json']]);
    await expect(ledger.commit({ events: [event], durability: 'synchronous' })).rejects.toThrow();
  });
});
