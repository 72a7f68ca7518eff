import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Caller,
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  silentLog,
} from '../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { DOUBLE, type OpenLayer, openLayer, post } from './layer.fixture.ts';

let open: OpenLayer;

const CATALOG: Caller = { ...LOCAL_CALLER, tenantId: 'catalog' };
const manifestOf = (tool_id: string, description: string) => ({ ...DOUBLE, tool_id, tool_name: tool_id, description });
const FORECAST = manifestOf('forecast', 'Weather forecast for a city.');
const MAILER = manifestOf('mailer', 'Sends an e-mail to a contact.');
const OFFERED = manifestOf('flights', 'Finds flights between two airports.');
/** The search index has the vectors of both tools. */
const READY = { indexed: 2, pending: 0, failed: 0 };
const RAIN = 'Do I need an umbrella in Paris, will it rain?';

beforeAll(async () => {
  open = await openLayer();
  for (const manifest of [FORECAST, MAILER]) await open.layer.ask('tools.register', { manifest }, LOCAL_CALLER);
  await open.layer.ask('tools.register', { manifest: OFFERED }, CATALOG);
});
afterAll(() => open[Symbol.asyncDispose]());

/** The members of answers that the tests read. */
interface Body {
  readonly results?: readonly { readonly tool: { readonly tool_id: string }; readonly similarity?: number }[];
  readonly tools?: readonly { readonly tool_id: string }[];
}

const idsOf = (body: Body): readonly string[] => (body.results ?? []).map(({ tool }) => tool.tool_id);

async function searched(request: object, claims?: Parameters<EmbeddedToolLayer['mintToken']>[0]) {
  const token = claims === undefined ? open.token : (await open.layer.mintToken(claims)).capability_token;
  return post({ server: open.server, token }, '/v1/tool-search', JSON.stringify(request));
}

describe('the search of a whole layer', () => {
  test('REG-05.1 REG-06.1 a request in other words finds the tool, with no network', async () => {
    // Until the model is loaded, keyword search answers.
    await expect
      .poll(async () => (await searched({ query: RAIN })).body)
      .toMatchObject({ mode: 'hybrid', warnings: [], progress: READY });
    const { status, body } = await searched({ query: RAIN });
    expect(status).toBe(200);
    expect(idsOf(body as Body)[0]).toBe('forecast');
    expect(body['pagination']).toMatchObject({ page: 1, page_size: 50 });
  });

  test('REG-05 tool.list answers a capability query by the same search', async () => {
    const { tools } = await open.layer.ask('tools.list', { capability_query: RAIN }, LOCAL_CALLER);
    expect(tools[0]?.tool_id).toBe('forecast');
    const all = await open.layer.ask('tools.list', {}, LOCAL_CALLER);
    expect(all.tools.map(({ tool_id }) => tool_id)).toEqual(['forecast', 'mailer']);
  });

  test('REG-05 a token finds only what it covers, with whatever words', async () => {
    const { body } = await searched({ query: 'weather forecast', threshold: 0 }, { tool_id: 'mail*' });
    expect(idsOf(body as Body)).toEqual(['mailer']);
    expect(body['pagination']).toMatchObject({ total_count: 1 });
  });

  test('REG-05.6 VIS-01.1 the tier decides which tools take part', async () => {
    const found = async (tier: string) =>
      idsOf((await searched({ query: 'flights', threshold: 0, tier })).body as Body);
    expect(await found('catalog')).toEqual(expect.arrayContaining(['flights', 'forecast', 'mailer']));
    expect(await found('tenant')).not.toContain('flights');
    await open.layer.ask('availability.set', { tool_id: 'flights', available: true }, LOCAL_CALLER);
    expect((await found('tenant'))[0]).toBe('flights');
    expect((await found('agent'))[0]).toBe('flights');
    expect(idsOf((await searched({ query: 'a plane to Rome', threshold: 0 })).body as Body)[0]).toBe('flights');
    await open.layer.ask('availability.set', { tool_id: 'flights', available: false }, LOCAL_CALLER);
    expect(await found('agent')).not.toContain('flights');
    const disabled = { agent_did: 'did:example:b', tool_id: 'mailer', enabled: false };
    await open.layer.ask('activations.set', disabled, LOCAL_CALLER);
    const agent = { agent_did: 'did:example:b', roles: ['agent' as const] };
    const asAgent = await searched({ query: 'send an e-mail', threshold: 0 }, agent);
    expect(idsOf(asAgent.body as Body)).toEqual(['forecast']);
    const asked = {
      agent_did: 'did:example:c',
      tool_id: 'forecast',
      policy_overrides: { requires_approval: true },
    } as const;
    await open.layer.ask('activations.set', asked, LOCAL_CALLER);
    for (const tier of ['catalog', 'agent']) {
      const said = await searched({ query: 'weather', threshold: 0, tier }, { agent_did: 'did:example:c' });
      const [first] = (said.body as Body).results ?? [];
      expect(first?.tool).toMatchObject({ tool_id: 'forecast', requires_approval: true });
    }
  });

  test('REG-05 VIS-01.1 whoever manages tools finds one once that the tenant has and the catalogue too', async () => {
    const both = manifestOf('mailer', 'Sends an e-mail, as the catalogue offers it.');
    await open.layer.ask('tools.register', { manifest: both }, CATALOG);
    const search = { query: 'send an e-mail', threshold: 0 };
    const { results } = await open.layer.ask('tools.search', search, LOCAL_CALLER);
    const found = results.filter(({ tool }) => tool.tool_id === 'mailer');
    expect(found.map(({ tool }) => tool.description)).toEqual([MAILER.description]);
  });

  test('REG-05.2 where no threshold is named, nothing is found by meaning below a similarity of 0.7', async () => {
    const similar = async (more: object) =>
      ((await searched({ query: RAIN, ...more })).body as Body).results?.map(({ similarity = 0 }) => similarity) ?? [];
    const all = await similar({ threshold: 0 });
    expect(await similar({})).toEqual(all.filter((similarity) => similarity >= 0.7));
    expect(all.filter((similarity) => similarity < 0.7)).not.toEqual([]);
  });

  test('REG-05.7 a page has 50 tools where nothing is said, and 200 at most', async () => {
    const pageOf = async (more: object) => {
      const { status, body } = await searched({ query: RAIN, ...more });
      return [status, (body['pagination'] as { page_size?: number } | undefined)?.page_size];
    };
    expect([await pageOf({}), await pageOf({ page_size: 200 })]).toEqual([
      [200, 50],
      [200, 200],
    ]);
    expect(await pageOf({ page_size: 201 })).toEqual([400, undefined]);
  });

  test('another tenant finds nothing', async () => {
    const { body } = await searched({ query: 'weather forecast', threshold: 0 }, { tenant_id: 'globex' });
    expect(body).toMatchObject({ results: [], pagination: { total_count: 0 } });
  });

  test.each([
    ['no query', {}],
    ['an empty query', { query: '' }],
    ['4097 characters', { query: 'x'.repeat(4097) }],
    ['a threshold above 1', { query: 'x', threshold: 1.01 }],
    ['201 a page', { query: 'x', page_size: 201 }],
    ['page 0', { query: 'x', page: 0 }],
  ])('%s is refused', async (_, request) => {
    expect((await searched(request)).status).toBe(400);
  });

  test('4096 characters of emoji, and 200 a page, are no fault', async () => {
    const { status, body } = await searched({ query: '🙂'.repeat(2048), page_size: 200 });
    expect([status, (body as Body).results]).toEqual([200, []]);
  });
});

describe('layers on one data folder, one after the other', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await temporaryDataFolder('sallyport-search-');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function inLayer<T>(embedder: string, work: (layer: EmbeddedToolLayer) => Promise<T>): Promise<T> {
    const settings = { data_folder: folder, 'search.embedder': embedder, 'search.embedder_url': 'http://127.0.0.1:9' };
    const layer = await createToolLayer({ settings: settings as never, log: silentLog, environment: {} });
    try {
      return await work(layer);
    } finally {
      await layer.close();
    }
  }
  const search = (layer: EmbeddedToolLayer) => layer.ask('tools.search', { query: RAIN }, LOCAL_CALLER);

  test('REG-05.9 REG-06 each start takes another embedder, and a dead one leaves keywords with E3005', async () => {
    await inLayer('local', async (layer) => {
      await layer.ask('tools.register', { manifest: FORECAST }, LOCAL_CALLER);
      // Until the model is loaded, keyword search answers.
      const byMeaning = { mode: 'hybrid', results: [{ tool: { tool_id: 'forecast' } }] };
      await expect.poll(() => search(layer)).toMatchObject(byMeaning);
    });
    const down = await inLayer('ollama', (layer) =>
      layer.ask('tools.search', { query: 'forecast of the weather' }, LOCAL_CALLER),
    );
    expect(down).toMatchObject({ mode: 'keyword', warnings: [{ code: 'E3005' }] });
    expect(down.results[0]?.tool.tool_id).toBe('forecast');
    await inLayer('local', (layer) =>
      expect.poll(() => search(layer)).toMatchObject({ mode: 'hybrid', progress: { indexed: 1, pending: 0 } }),
    );
    const none = await inLayer('none', search);
    expect(none).toMatchObject({ mode: 'keyword', warnings: [] });
  });
});
