import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenLayer, openLayer } from '../../e2e/layer.fixture.ts';
import { registerOwnTools } from './own-tools.fixture.ts';
import { openTokenProxy, runScenario, type TokenProxy } from './suite.fixture.ts';

let open: OpenLayer;
let proxy: TokenProxy;
beforeAll(async () => {
  open = await openLayer();
  await registerOwnTools(open.layer);
  proxy = await openTokenProxy(`${open.server.url}/mcp`, open.token);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
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
])('API-03.10 API-03.15 the public suite passes with our own tools: %s', async (name) => {
  const { code, out } = await runScenario(name, proxy.url);
  expect(code, out).toBe(0);
});
