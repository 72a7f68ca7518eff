import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer } from '../e2e/layer.fixture.ts';
import { failedIn, SUITE } from './suite.fixture.ts';

const HAND_OVER = fileURLToPath(new URL('./hand-over.mjs', import.meta.url));

/** Runs a scenario for clients; `drive` gets the address of its server. @returns the checks that failed */
async function runClientScenario(scenario: string, version: string, drive: (url: string) => Promise<void>) {
  const waiting = createServer(async (request, response) => {
    await drive(await text(request));
    response.end();
  });
  waiting.listen(0, '127.0.0.1');
  await once(waiting, 'listening');
  const command = `${process.execPath} ${HAND_OVER} http://127.0.0.1:${(waiting.address() as AddressInfo).port}/`;
  const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', version, '--verbose'];
  const suite = spawn(process.execPath, [SUITE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [said] = await Promise.all([text(suite.stdout), text(suite.stderr), once(suite, 'close')]);
  waiting.closeAllConnections();
  waiting.close();
  return failedIn(scenario, said);
}

/** Calls the tools of the scenario as a user's client does, two of them at once. */
async function callTools({ layer, server, token }: OpenLayer, url: string): Promise<void> {
  const upstream = { name: 'u', transport: { type: 'http' as const, url } };
  await layer.ask('upstreams.add', { upstream }, LOCAL_CALLER);
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { confirmed: true } }));
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
  const call = (tool: string) => client.callTool({ name: `u__test_mrtr_${tool}`, arguments: {} });
  await Promise.all([call('echo_state'), call('unrelated')]);
  await call('no_state');
  await call('no_result_type');
  await client.close();
}

test('API-03.5 EXE-07 the public suite finds no fault in the rounds of a call that the layer sends to a server of 2026-07-28', async () => {
  await using layer = await openLayer();
  const failed = await runClientScenario('sep-2322-client-request-state', '2026-07-28', (url) => callTools(layer, url));
  expect(failed).toEqual([]);
});
