import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer } from '../e2e/layer.fixture.ts';
import { runClientSuite } from './client/suite.fixture.ts';
import { KNOWN_FAILURES, NOT_JUDGED, type Subject } from './known-failures.ts';
import { registerOwnFunctions } from './own-functions.fixture.ts';
import { registerOwnOffers } from './own-offers.fixture.ts';
import { registerOwnTasks } from './own-tasks.fixture.ts';
import { faultsIn, type Revision, runSuite, type SuiteRun, scenariosOf } from './suite.fixture.ts';
import { openTokenProxy } from './token-proxy.fixture.ts';

const SERVER = join(import.meta.dirname, 'reference/reference-server.ts');
const MAY_ASK = ['elicitation' as const, 'sampling' as const, 'roots' as const];

/** Jobs that the layer runs as tasks, since their server has none. */
const OF_THE_LAYER = Object.fromEntries(
  ['slow_compute', 'protocol_error_job', 'confirm_delete', 'multi_input'].map((job) => [
    job,
    { task_support: 'optional' as const },
  ]),
);

const STARTS_MAX = 5;
/** Scenarios that run alone: over stdio a log message goes to the newest call of its agent, which may be another scenario's. */
const LOGGING = { '2025-11-25': 'tools-call-with-logging', '2026-07-28': 'server-stateless' } as const;

/** Scenarios that each revision counts for servers. */
const COUNTED = { '2025-11-25': 30, '2026-07-28': 37 } as const;

const opened = new AsyncDisposableStack();
let through: OpenLayer;
/** Where the suite finds each subject. */
const urls = new Map<Subject, string>();

beforeAll(async () => {
  through = opened.use(await openLayer());
  const own = opened.use(await openLayer());
  const proxy = opened.use(await openTokenProxy(through.server.url, through.token));
  for (const [name, ...args] of [['reference'], ['older', 'older']] as const) {
    await addReference(through, name, args);
    urls.set(name, `${proxy.url}/mcp/servers/${name}`);
  }
  await registerOwnFunctions(own.layer);
  await registerOwnTasks(own.layer);
  await registerOwnOffers(own.layer);
  // Calls are confirmed by the user of the agent.
  const { capability_token } = await own.layer.mintToken({ user_did: 'did:user:suite' });
  const direct = opened.use(await openTokenProxy(own.server.url, capability_token));
  urls.set('functions', `${direct.url}/mcp`);
});
afterAll(() => opened.disposeAsync());

async function addReference({ layer }: OpenLayer, name: string, args: readonly string[]): Promise<void> {
  const upstream = {
    name,
    transport: { type: 'stdio' as const, command: process.execPath, args: [SERVER, ...args] },
    may_ask: MAY_ASK,
    overrides: {
      ...(name === 'older' ? OF_THE_LAYER : {}),
      failing_job: { task_support: 'required' as const },
    },
  };
  const wanted = name === 'older' ? '2025-11-25' : '2026-07-28';
  for (let times = 1; ; times += 1) {
    const added = await layer.ask('upstreams.add', { upstream }, LOCAL_CALLER);
    // A server that a busy machine is slow to start counts as an older one.
    if (added.upstream.protocol_version === wanted || times === STARTS_MAX) {
      expect(added.upstream.protocol_version).toBe(wanted);
      return;
    }
    await layer.ask('upstreams.remove', { name }, LOCAL_CALLER);
  }
}

describe.each(['reference', 'older', 'functions'] as const)('%s', (subject) => {
  const runs = new Map<Revision, SuiteRun>();
  beforeAll(async () => {
    const url = urls.get(subject) ?? '';
    const revisions = ['2025-11-25', '2026-07-28'] as const;
    // Both at once: most of a run is pauses.
    const all = await Promise.all(revisions.map((revision) => runSuite(url, revision)));
    for (const [at, revision] of revisions.entries()) {
      runs.set(revision, new Map([...(all[at] ?? []), ...(await runSuite(url, revision, LOGGING[revision]))]));
    }
  });

  describe.each(['2025-11-25', '2026-07-28'] as const)('at a client of %s', (revision) => {
    const { counted, others } = scenariosOf(revision, 'server');
    const known = KNOWN_FAILURES[subject][revision];
    const faultsOf = (scenario: string) =>
      faultsIn(runs.get(revision)?.get(scenario) ?? []).filter(({ id }) => !NOT_JUDGED[subject].has(id));

    test('API-03 the suite runs every scenario, and none is missing that is known to fail', () => {
      expect(counted).toHaveLength(COUNTED[revision]);
      expect([...(runs.get(revision)?.keys() ?? [])].sort()).toEqual([...counted, ...others].sort());
      expect(Object.keys(known).filter((scenario) => faultsOf(scenario).length === 0)).toEqual([]);
    });

    const passed = [...counted, ...others].filter((scenario) => known[scenario] === undefined);
    test.each(passed)('API-03.10 API-03.15 EXE-07 the public suite finds no fault in the scenario %s', (scenario) => {
      expect(faultsOf(scenario)).toEqual([]);
    });
  });
});

/** Calls the tools of the scenario as a user's client does, two of them at once. */
async function callTools({ layer, server, token }: OpenLayer, url: string): Promise<void> {
  await layer.ask('upstreams.add', { upstream: { name: 'rounds', transport: { type: 'http', url } } }, LOCAL_CALLER);
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { confirmed: true } }));
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
  const call = (tool: string) => client.callTool({ name: `rounds__test_mrtr_${tool}`, arguments: {} });
  await Promise.all([call('echo_state'), call('unrelated')]);
  await call('no_state');
  await call('no_result_type');
  await client.close();
}

test('API-03.5 EXE-07 the public suite finds no fault in the rounds of a call that the layer sends to a server of 2026-07-28', async () => {
  const which = ['--scenario', 'sep-2322-client-request-state', '--spec-version', '2026-07-28'];
  const { exitCode, output, failures } = await runClientSuite(which, ({ url }) => callTools(through, url));
  expect([...failures]).toEqual([]);
  expect(exitCode, output).toBe(0);
});
