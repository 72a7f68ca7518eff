import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { AGENT, type Desk, openDesk, toolOf } from '../calls/desk.fixture.ts';

let desk: Desk;
let token: string;
beforeAll(async () => {
  desk = await openDesk();
  token = await desk.token(AGENT);
});
afterAll(() => desk[Symbol.asyncDispose]());

const invoke = (tool_id: string, parameters: Record<string, unknown>) =>
  desk.layer.invoke({ tool_id, parameters, capability_token: token });

test('EXE-08.1 a result that its function goes on changing is judged, recorded and answered as it was returned', async () => {
  const shared = { n: 0 };
  let reads = 0;
  await desk.layer.registerFunction(toolOf('sharing', {}), async () => {
    void (async () => {
      for (let turn = 0; turn < 200; turn += 1) {
        await new Promise(setImmediate);
        shared.n += 1;
      }
    })();
    return shared;
  });
  await desk.layer.registerFunction(toolOf('counting', {}), () => ({
    get n() {
      reads += 1;
      return reads;
    },
  }));
  for (const tool of ['sharing', 'counting']) {
    const { invocation_id, result } = await invoke(tool, { n: 1 });
    expect(result).toEqual({ n: tool === 'sharing' ? 0 : 1 });
    expect(await desk.status(invocation_id)).toMatchObject({ result });
  }
  expect(await desk.layer.ask('audit.verify', {}, LOCAL_CALLER)).toMatchObject({ whole: true, calls: { gaps: 0 } });
});

test('EXE-08.1 a function that changes its arguments changes neither those of its caller nor those of the call', async () => {
  await desk.layer.registerFunction(toolOf('changing', {}), (parameters) => {
    Object.assign(parameters, { n: 99, more: true });
    return 'changed';
  });
  const own = { n: 1 };
  expect(await invoke('changing', own)).toMatchObject({ status: 'success' });
  expect(own).toEqual({ n: 1 });
});

test('API-04.2 calls that a program makes with one object run with what it held at each call', async () => {
  const before = desk.runs.length;
  const own = { n: 0 };
  const calls = [1, 2, 3].map((n) => {
    own.n = n;
    return invoke('plain', own);
  });
  expect((await Promise.all(calls)).map(({ result }) => result)).toEqual([{ done: 1 }, { done: 2 }, { done: 3 }]);
  expect(desk.runs.slice(before).toSorted()).toEqual(['plain 1', 'plain 2', 'plain 3']);
});

test('API-04.2 a program that changes a manifest it was given changes no registered tool', async () => {
  const manifest = async () =>
    (await desk.layer.ask('tools.get', { tool_id: 'pay' }, LOCAL_CALLER)).manifest as ToolManifest;
  Object.assign(await manifest(), { side_effect_policy: 'pure', execution_config: {} });
  expect(await manifest()).toMatchObject({
    side_effect_policy: 'irreversible',
    execution_config: { requires_approval: true },
  });
  expect(await invoke('pay', { n: 1 })).toMatchObject({ status: 'pending_approval' });
});
