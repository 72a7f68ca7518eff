// npm run walks [-- --json]: how many functions, files and components one request passes; as JSON, also which files, in their order.
// A warm layer in this process, one request at a time.
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { recordFunctionEntries, type Walk } from './function-entries.ts';

const recorder = recordFunctionEntries();
const { openDesk, toolOf, ALICE } = await import('../../test/e2e/calls/desk.fixture.ts');

await using desk = await openDesk({ settings: { 'approvals.sweep_seconds': 60 } });
await desk.layer.registerFunction(toolOf('walk', { side_effect_policy: 'pure' }), ({ n }) => ({ done: n }));
const [agent, approver, operator] = [
  await desk.token(),
  await desk.token(ALICE),
  await desk.token({ roles: ['operator'] }),
];
const mcp = await desk.mcp(agent, undefined, '2026');
let n = 0;
let waiting = { approvalId: '', invocationId: '' };
const HTTP = { kind: 'http', config: { base_url: 'http://127.0.0.1:1', method: 'GET', path: '/' } } as const;

/** What is walked, after it was done often enough for everything to be warm. */
const WALKS: Readonly<
  Record<string, { readonly before?: () => Promise<unknown>; readonly run: () => Promise<unknown> }>
> = {
  'REST POST /v1/invocations, native pure tool': {
    run: () => desk.rest('POST', '/v1/invocations', agent, { tool_id: 'walk', parameters: { n: 1 } }),
  },
  'MCP tools/call, the same tool': { run: () => mcp.callTool({ name: 'walk', arguments: { n: 1 } }) },
  'register a manifest': {
    run: () =>
      desk.rest('POST', '/v1/tools', operator, {
        manifest: {
          ...toolOf(`walked-${++n}`, {}),
          executor: HTTP,
          permissions: { network: [{ host: '127.0.0.1', port: 1 }] },
        },
      }),
  },
  'approve a call, which runs': {
    before: async () => {
      waiting = await desk.waits('pay', ++n);
    },
    run: async () => {
      const answer = await desk.rest('POST', `/v1/approvals/${waiting.approvalId}/approval`, approver, {});
      await setTimeout(RUNS_MS);
      return answer;
    },
  },
};
const WARM_RUNS = 5;
/** Of so many runs the shortest counts: timers of the layer that fall into a run are no part of it. */
const RUNS = 9;
/** Pause before each run: events of the one before are delivered in it. */
const PAUSE_MS = 100;
/** An approved call runs after the answer; by then it is on record. Asking for it would be walked too. */
const RUNS_MS = 500;
/** Whether a door answered that the request failed. */
const failed = (answer: unknown): boolean => {
  const { status = 200, isError = false } = answer as { status?: number; isError?: boolean };
  return status >= 300 || isError;
};

const found: Record<string, Walk> = {};
for (const [name, { before, run }] of Object.entries(WALKS)) {
  const walks: Walk[] = [];
  for (let i = 0; i < WARM_RUNS + RUNS; i++) {
    await before?.();
    await setTimeout(PAUSE_MS);
    recorder.begin();
    const answer = await run();
    walks.push(recorder.end());
    if (failed(answer)) throw new Error(`${name}: ${JSON.stringify(answer)}`);
  }
  const [shortest] = walks.slice(WARM_RUNS).toSorted((one, other) => one.entries - other.entries);
  if (shortest !== undefined) found[name] = shortest;
}
if (process.argv.includes('--json')) console.log(JSON.stringify(found));
else console.table(found, ['entries', 'files', 'changesOfFile', 'changesOfComponent']);
