import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from '../layer.fixture.ts';

const BIN = join(import.meta.dirname, '../../../packages/sallyport/bin/sallyport.mjs');

let open: OpenLayer;
beforeAll(async () => {
  open = await openLayer();
  await open.layer.registerFunction(DOUBLE, double);
});
afterAll(() => open[Symbol.asyncDispose]());

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command as a process, as users do, while a layer serves the data folder. */
const cli = (...argv: readonly string[]): Promise<Run> =>
  new Promise((resolve) => {
    const env = { ...process.env, SALLYPORT_DATA_FOLDER: open.folder, SALLYPORT_TOKEN: '', NO_COLOR: '1' };
    execFile(process.execPath, [BIN, ...argv], { env, timeout: 60_000 }, (failed, out, err) =>
      resolve({ code: failed === null ? 0 : Number(failed.code ?? -1), out, err }),
    );
  });
const asked = async (path: string, key: string, method = 'GET', body?: object) => {
  const headers = { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const response = await fetch(open.server.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const call = (key: string) => asked('/v1/invocations', key, 'POST', { tool_id: 'double', parameters: { n: 3 } });

test('PRM-10.1 a key is made, listed and revoked on the command line, and is good at the REST door for just that time', async () => {
  const made = await cli('api-keys', 'create', 'build server', '--role', 'agent', '--expires', '1h', '--json');
  expect(made).toMatchObject({ code: 0, err: '' });
  const { api_key, key } = JSON.parse(made.out) as { api_key: string; key: { key_id: string; prefix: string } };
  expect(api_key).toMatch(/^sp_/);
  expect(await call(api_key)).toMatchObject({ status: 200, body: { status: 'success', result: { value: 6 } } });
  expect((await asked('/v1/api-keys', api_key)).status).toBe(403);

  const listed = await cli('api-keys', 'list');
  expect(listed.out).toMatch(new RegExp(`${key.key_id} +build server +${key.prefix} +active`));
  expect(listed.out).not.toContain(api_key);

  const revoked = await cli('api-keys', 'revoke', key.key_id);
  expect(revoked).toEqual({ code: 0, out: `Revoked build server (${key.prefix}…)\n`, err: '' });
  expect(await call(api_key)).toMatchObject({ status: 401, body: { error: { e_code: 'E3208' } } });
  const after = JSON.parse((await cli('api-keys', 'list', '--json')).out) as { keys: object[] };
  expect(after.keys).toEqual(
    expect.arrayContaining([expect.objectContaining({ key_id: key.key_id, state: 'revoked' })]),
  );
});

test('PRM-10 the same over REST: only an operator, only what he has himself, and of another tenant nothing', async () => {
  const { capability_token: operator } = await open.layer.mintToken({ roles: ['operator'] });
  const { capability_token: other } = await open.layer.mintToken({ roles: ['operator'], tenant_id: 'other' });
  const made = await asked('/v1/api-keys', operator, 'POST', { name: 'k', roles: ['viewer'] });
  expect(made.status).toBe(201);
  const { api_key, key } = made.body as { api_key: string; key: { key_id: string } };
  expect((await asked('/v1/tools', api_key)).status).toBe(200);
  expect((await asked('/v1/api-keys', operator, 'POST', { name: 'k', roles: ['admin'] })).status).toBe(403);
  expect(JSON.stringify((await asked('/v1/api-keys', other)).body)).not.toContain(key.key_id);
  expect((await asked(`/v1/api-keys/${key.key_id}`, other, 'DELETE')).status).toBe(404);
  expect((await asked('/v1/tools', api_key)).status).toBe(200);
  expect((await asked(`/v1/api-keys/${key.key_id}`, operator, 'DELETE')).status).toBe(200);
  expect((await asked('/v1/tools', api_key)).status).toBe(401);
});

test('PRM-02.4 a token is minted, explained and revoked on the command line, and is good for just that time', async () => {
  const minted = await cli('token', 'mint', '--tool', 'double', '--agent', 'did:example:cli', '--json');
  const { capability_token: token, claims } = JSON.parse(minted.out) as {
    capability_token: string;
    claims: { jti: string };
  };
  const rest = async () => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const body = JSON.stringify({ tool_id: 'double', parameters: { n: 3 } });
    const response = await fetch(`${open.server.url}/v1/invocations`, { method: 'POST', headers, body });
    return ((await response.json()) as { error?: { e_code: string } }).error?.e_code ?? 'success';
  };
  expect(await rest()).toBe('success');
  const told = JSON.parse((await cli('token', 'inspect', token, '--json')).out) as { accepted: boolean };
  expect(told).toMatchObject({ kind: 'capability_token', accepted: true, reasons: [] });
  expect(await cli('token', 'revoke', '--jti', claims.jti)).toMatchObject({ code: 0 });
  expect(await rest()).toBe('E3208');
  const after = await cli('token', 'inspect', token, '--json');
  expect(JSON.parse(after.out)).toMatchObject({ accepted: false, reasons: [{ e_code: 'E3208' }] });
});

test('wrong uses of the command end with 2, and with --json in the form of every other error', async () => {
  const missing = await cli('api-keys', 'create', '--json');
  expect(missing).toMatchObject({ code: 2, out: '' });
  expect(JSON.parse(missing.err)).toMatchObject({
    error: { e_code: 'E3801', message: expect.stringContaining('name') },
  });
  const absent = await cli('api-keys', 'revoke', 'no-such-key', '--json');
  expect(absent).toMatchObject({ code: 1, out: '' });
  expect(JSON.parse(absent.err)).toMatchObject({ error: { e_code: 'E3809' } });
});

test('what the command line did is on record without the keys', async () => {
  const { events } = await open.layer.ask(
    'audit.query',
    { type: 'ai.agent.identity.changed', limit: 1000 },
    LOCAL_CALLER,
  );
  const changes = events.map(({ data }) => data['change']);
  expect(changes).toEqual(expect.arrayContaining(['api-key-created', 'api-key-revoked']));
  expect(JSON.stringify(events)).not.toMatch(/sp_[A-Za-z0-9_-]{30}/);
});
