import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { standInServer } from '../../../packages/sallyport/src/external/token-exchange/authorization-server.fixture.ts';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { type OpenLayer, openLayer, post } from '../layer.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-exchange-'));
let open: OpenLayer;
let idp: Awaited<ReturnType<typeof standInServer>>;
/** The Authorization headers that the service received. */
const heard: (string | undefined)[] = [];
/** A service that answers with the credential of its caller. */
const service = createServer((request, response) => {
  heard.push(request.headers.authorization);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ caller: request.headers.authorization ?? 'nobody' }));
});

let refused = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  idp = await standInServer(({ form }) =>
    form['subject_token'] === refused ? { status: 400, body: '{"error":"invalid_grant"}' } : {},
  );
  const file = join(folder, 'exchanges.toml');
  const table = { endpoint: idp.url, client_id: 'layer', client_secret: 'idp', audience: 'files' };
  const lines = Object.entries(table).map(([key, value]) => `${key} = "${value}"\n`);
  writeFileSync(file, `[files_of_user]\n${lines.join('')}`);
  open = await openLayer(
    { 'oauth.exchange_file': file, 'agent.allowed_hosts': ['127.0.0.1'] },
    { SALLYPORT_SECRET_IDP: 'proof' },
  );
  await open.layer.ask('tools.register', { manifest: whoAmI() }, LOCAL_CALLER);
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await idp[Symbol.asyncDispose]();
  service.closeAllConnections();
  service.close();
  rmSync(folder, { recursive: true, force: true });
});

function whoAmI(): ToolManifest {
  const { port } = service.address() as AddressInfo;
  return {
    tool_id: 'who_am_i',
    tool_name: 'Who am I',
    version: '1.0.0',
    description: 'Asks the service who its caller is.',
    side_effect_policy: 'pure',
    parameters_schema: { type: 'object', additionalProperties: false },
    permissions: { credentials: ['files_of_user'], network: [{ host: '127.0.0.1', port }] },
    executor: {
      kind: 'http',
      config: {
        base_url: `http://127.0.0.1:${port}`,
        method: 'GET',
        path: '/',
        auth: [{ type: 'bearer', secret: 'files_of_user' }],
      },
    },
  };
}

/** A token of one user that allows everything that the tool needs. */
async function tokenOf(user: string): Promise<string> {
  const { port } = service.address() as AddressInfo;
  const { capability_token: token } = await open.layer.mintToken({
    user_did: user,
    hosts: ['127.0.0.1'],
    ports: [port],
    secrets: ['files_of_user'],
  });
  return token;
}

const call = (token: string) => post({ ...open, token }, '/v1/invocations', '{"tool_id":"who_am_i","parameters":{}}');

test('PRM-11.3 PRM-11.5 two users of one tool reach the service each as himself, also at once and again', async () => {
  const [alice, bob] = [await tokenOf('did:user:alice'), await tokenOf('did:user:bob')];
  const answers = await Promise.all([alice, bob, alice, bob].map(call));
  const seen = answers.map(({ body }) => JSON.stringify(body['result']));
  for (const [index, token] of [alice, bob, alice, bob].entries()) {
    expect(answers[index]?.status, JSON.stringify(answers[index])).toBe(200);
    // The value of a credential never reaches the model, not even when the service returns it.
    expect(seen[index]).not.toContain(token);
  }
  expect(heard).toEqual(expect.arrayContaining([`Bearer for-files-of-${alice}`, `Bearer for-files-of-${bob}`]));
  expect(heard).toHaveLength(4);
  expect(new Set(heard).size).toBe(2);
  expect(idp.seen).toHaveLength(2);
});

test('PRM-11 a caller whose token is not exchanged is told, and the service is not asked', async () => {
  refused = await tokenOf('did:user:mallory');
  const before = heard.length;
  const { body } = await call(refused);
  expect(body).toMatchObject({ status: 'error', error: { e_code: 'E3307' } });
  expect(heard).toHaveLength(before);
});
