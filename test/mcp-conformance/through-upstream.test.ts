import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer } from '../e2e/layer.fixture.ts';
import { registerOwnTools } from './own-tools.fixture.ts';
import { openTokenProxy, runScenario } from './suite.fixture.ts';

const MAY_ASK: ('elicitation' | 'sampling' | 'roots')[] = ['elicitation', 'sampling', 'roots'];

/** The upstream is another layer, with the tools of the suite. */
let upstream: OpenLayer;
let layer: OpenLayer;
const opened = new AsyncDisposableStack();
/** Where the suite finds the tools of each upstream under the names that it calls them by. */
const urls = new Map<string, string>();

beforeAll(async () => {
  upstream = opened.use(await openLayer());
  layer = opened.use(await openLayer());
  await registerOwnTools(upstream.layer);
  for (const [name, olderOnly] of [
    ['newer', false],
    ['older', true],
  ] as const) {
    const server = opened.use(await openTokenProxy(upstream.server.url, upstream.token, { olderOnly }));
    const definition = {
      // Short, since long ids of tools are cut.
      name: name.slice(0, 1),
      transport: { type: 'http' as const, url: `${server.url}/mcp` },
      may_ask: MAY_ASK,
      overrides: { '*': { side_effect_policy: 'pure' as const } },
    };
    const added = await layer.layer.ask('upstreams.add', { upstream: definition }, LOCAL_CALLER);
    expect(added.upstream.protocol_version).toBe(olderOnly ? '2025-11-25' : '2026-07-28');
    const proxy = opened.use(await openTokenProxy(layer.server.url, layer.token, { prefix: `${name.slice(0, 1)}__` }));
    urls.set(name, `${proxy.url}/mcp`);
  }
});
afterAll(() => opened.disposeAsync());

const OF_2025 = [
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-logging',
  'tools-call-with-progress',
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
] as const;
const OF_2026 = [
  'input-required-result-basic-sampling',
  'input-required-result-basic-list-roots',
  'input-required-result-request-state',
  'input-required-result-multi-round',
  'input-required-result-tampered-state',
  'input-required-result-capability-check',
] as const;
/** Scenarios that want the names of a server's questions: one of 2025-11-25 has none. */
const OF_NEWER_SERVERS = [
  'input-required-result-basic-elicitation',
  'input-required-result-multiple-input-requests',
  'input-required-result-missing-input-response',
  'input-required-result-ignore-extra-params',
  'input-required-result-validate-input',
] as const;

describe.each([
  ['newer', '2025-11-25', OF_2025],
  ['older', '2025-11-25', OF_2025],
  ['newer', '2026-07-28', [...OF_2026, ...OF_NEWER_SERVERS]],
  ['older', '2026-07-28', OF_2026],
] as const)('a server of the %s protocol behind the layer, at a client of %s', (server, version, scenarios) => {
  test.each(scenarios)('API-03 EXE-07 the public suite finds no fault in the scenario %s', async (scenario) => {
    expect(await runScenario(String(urls.get(server)), scenario, version)).toEqual([]);
  });
});
