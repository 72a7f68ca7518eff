import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import {
  openTaskServer,
  type TaskServer,
} from '../../../packages/sallyport/src/mcp-servers/test-servers/task-http-server.ts';
import { type OpenLayer, openLayer } from '../../e2e/layer.fixture.ts';
import { registerOwnTools } from './own-tools.fixture.ts';
import { openTokenProxy, runScenario, type TokenProxy } from './suite.fixture.ts';

let open: OpenLayer;
let upstream: TaskServer;
let proxy: TokenProxy;
beforeAll(async () => {
  open = await openLayer();
  await registerOwnTools(open.layer);
  upstream = await openTaskServer();
  const transport = { type: 'http' as const, url: upstream.url };
  const overrides = { multi_input: { task_support: 'optional' as const } };
  await open.layer.ask('upstreams.add', { upstream: { name: 'server', transport, overrides } }, LOCAL_CALLER);
  // Under the names that the suite expects.
  const view = {
    name: 'suite',
    agents: ['*' as const],
    conflict: 'priority' as const,
    sources: [{ source: 'local' }, { source: 'server' }],
  };
  await open.layer.ask('views.put', { view }, LOCAL_CALLER);
  // Calls are confirmed by the user of the agent.
  const { capability_token } = await open.layer.mintToken({ user_did: 'did:user:suite' });
  proxy = await openTokenProxy(`${open.server.url}/mcp`, capability_token);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await open[Symbol.asyncDispose]();
});

test.each([
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-status-notifications',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
])('API-03.10 API-03.15 the public suite passes: %s', async (name) => {
  const { code, out } = await runScenario(name, proxy.url);
  expect(code, out).toBe(0);
});
