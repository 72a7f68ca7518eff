import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  embeddedDatabases,
  run,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from '../layer.fixture.ts';

const LOCAL = { door: 'library', local: true } as const;
const ENOUGH_MS = 20_000;

let databases: TestDatabases;
let policyServer: Server;
let allows = true;
const opened: AsyncDisposable[] = [];

beforeAll(async () => {
  databases = await embeddedDatabases(true);
  policyServer = createServer((request, response) => {
    request.resume();
    const answer = request.url?.includes('abac')
      ? { allowed: allows, cache_ttl_seconds: 3600 }
      : { result: { allow: allows, cache_ttl_seconds: 3600 } };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => policyServer.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  policyServer.closeAllConnections();
  await new Promise((resolve) => policyServer.close(resolve));
  await databases.close();
});
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

/** Two layers over one new database. */
async function twoLayers(settings: Parameters<typeof openLayer>[0]) {
  const connection = await databases.fresh();
  const url = 'url' in connection ? connection.url : '';
  const layers: OpenLayer[] = [];
  for (let instance = 0; instance < 2; instance += 1) {
    const open = await openLayer({ 'database.url': url, ...settings });
    opened.push(open);
    layers.push(open);
    await open.layer.registerFunction(DOUBLE, double);
  }
  const [one, two] = layers;
  if (one === undefined || two === undefined) throw new Error('no layers');
  return { one, two, connection };
}

const call = ({ layer, token }: OpenLayer) => layer.invoke({ tool_id: 'double', parameters: { n: 4 } }, { token });
const isAllowed = async (open: OpenLayer) => expect(await call(open)).toMatchObject({ status: 'success' });
const isDenied = async (open: OpenLayer) => expect(await call(open)).toMatchObject({ error: { e_code: 'E3210' } });

test.each(['opa', 'abac'] as const)(
  'PRM-05.4 a decision of %s that an instance has cached is asked anew once another instance reloads the policies',
  async (engine) => {
    const url = `http://127.0.0.1:${(policyServer.address() as AddressInfo).port}`;
    allows = true;
    const { one, two, connection } = await twoLayers({
      'permission.engines': [engine],
      'permission.opa_endpoint': `${url}/v1/data/tools/allow`,
      'permission.abac_endpoint': url,
      // On a busy machine an answer may take longer than the default of half a second.
      'permission.timeout_ms': ENOUGH_MS,
    });
    for (const each of [one, two, one, two]) await isAllowed(each);
    allows = false;
    await one.layer.ask('policies.reload', {}, LOCAL);
    await isDenied(one);
    await vi.waitFor(() => isDenied(two), ENOUGH_MS);
    // The other direction: a program changes the policies itself and notifies the instances.
    allows = true;
    await run(connection, 'notify "policy:updates"');
    for (const each of [one, two]) await vi.waitFor(() => isAllowed(each), ENOUGH_MS);
  },
);

test('PRM-05.4 a changed file in a folder that two instances share holds on both, and both notify', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-policies-'));
  opened.push({ [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) });
  const rules = (effect: string) =>
    writeFile(join(folder, 'rules.toml'), `[[tools.policy]]\nid = "all"\neffect = "${effect}"\n`);
  await rules('allow');
  const { one, two, connection } = await twoLayers({
    'permission.engines': ['rules'],
    'permission.policies_folder': folder,
  });
  for (const each of [one, two]) await isAllowed(each);
  await rules('deny');
  for (const each of [one, two]) await vi.waitFor(() => isDenied(each), ENOUGH_MS);
  await vi.waitFor(async () => {
    const rows = await run(connection, 'select reason from sallyport.policy_updates');
    expect(rows).toEqual([{ reason: 'policy files changed' }]);
  }, ENOUGH_MS);
});
