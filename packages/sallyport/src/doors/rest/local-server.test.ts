import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { KiB } from '@sallyport/std/bytes';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestDoor } from '../mcp-transports/doors.fixture.ts';
import { createLayerDouble, type LayerDouble, manifestOf } from '../tool-layer.fixture.ts';
import type { RestDoor } from './create-rest-door.ts';

let folder: string;
let socketPath: string;
let layer: LayerDouble;
let door: RestDoor;
let url: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'local-server-'));
  socketPath = join(folder, 'door.sock');
  layer = createLayerDouble();
  door = openDoor();
  url = await door.listen(0);
});
afterEach(async () => {
  await door.close();
  rmSync(folder, { recursive: true, force: true });
});

const openDoor = (): RestDoor => openTestDoor(layer, { localSocket: socketPath });

async function ask(method: string, path: string, body?: string, headers: OutgoingHttpHeaders = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ socketPath, method, path, headers }, resolve).once('error', reject).end(body);
  const response = await promise;
  return { status: response.statusCode, body: await json(response) };
}

const JSON_BODY = { 'content-type': 'application/json' };

test('PRM-10 who asks over the unix socket without a token is the operator; over the address nobody is', async () => {
  expect(await ask('GET', '/v1/manifests')).toMatchObject({ status: 200 });
  expect(layer.asked.at(-1)?.caller).toMatchObject({ door: 'rest', local: true });
  expect((await fetch(`${url}/v1/manifests`)).status).toBe(401);
  expect(layer.asked.at(-1)?.caller.local).toBeUndefined();
});

test('PRM-10 a token that is shown over the unix socket is what counts there', async () => {
  const manifest = JSON.stringify({ manifest: manifestOf('fresh') });
  const asAgent = { ...JSON_BODY, authorization: 'Bearer agent' };
  expect(await ask('POST', '/v1/tools', manifest, asAgent)).toMatchObject({ status: 403 });
  expect(await ask('POST', '/v1/tools', manifest, { ...JSON_BODY, 'x-api-key': 'wrong' })).toMatchObject({
    status: 401,
  });
  expect(layer.asked.every(({ caller }) => caller.local === undefined)).toBe(true);
  expect(await ask('POST', '/v1/tools', manifest, JSON_BODY)).toMatchObject({ status: 201 });
});

test('PRM-10 the operator may send a large body, and calls no tool without a token', async () => {
  const description = 'x'.repeat(100 * KiB);
  const manifest = JSON.stringify({ manifest: manifestOf('large', { description }) });
  const inChunks = { ...JSON_BODY, 'transfer-encoding': 'chunked' };
  expect(await ask('POST', '/v1/tools', manifest, inChunks)).toMatchObject({ status: 201 });
  const call = JSON.stringify({ tool_id: 'large', parameters: {} });
  expect(await ask('POST', '/v1/invocations', call, JSON_BODY)).toMatchObject({ status: 401 });
});

test('API-01 rubbish and foreign hosts are refused on the unix socket as elsewhere', async () => {
  expect(await ask('GET', '/v1/manifests', undefined, { host: 'evil.example' })).toMatchObject({ status: 403 });
  const socket = connect(socketPath);
  socket.write('rubbish\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /);
});

test('OPS-03 the unix socket ends with the door, and its idle connections', async () => {
  const idle = connect(socketPath);
  const ended = new Promise((resolve) => idle.once('close', resolve));
  await new Promise((resolve) => idle.once('connect', resolve));
  await door.close();
  await ended;
  expect(existsSync(socketPath)).toBe(false);
});

test('OPS-03 a socket that cannot be made is E3900, and nothing listens then', async () => {
  await door.close();
  writeFileSync(socketPath, 'a file');
  const refused = openDoor();
  await expect(refused.listen(0)).rejects.toMatchObject({
    code: 'E3900',
    message: expect.stringContaining('EADDRINUSE'),
  });
  expect(refused.app.server.listening).toBe(false);
  await refused.close();
});

test('OPS-03 where the address cannot be had, nothing listens on the socket either', async () => {
  const { port } = new URL(url);
  socketPath = join(folder, 'other.sock');
  const refused = openDoor();
  await expect(refused.listen(Number(port))).rejects.toMatchObject({ code: 'E3900' });
  expect(existsSync(socketPath)).toBe(false);
  await refused.close();
});
