import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { DOUBLE, type OpenLayer, openLayer, post } from '../layer.fixture.ts';

const AGENT = 'did:example:busy';
const SLOTS = 2;
const WAITING = 12;

let open: OpenLayer;
/** Token of the agent whose calls wait. */
let token: string;
/** Running calls of the tool `held`, in the order in which they began. */
const held: { readonly n: number; readonly end: () => void }[] = [];
let most = 0;

beforeAll(async () => {
  open = await openLayer({ 'calls.per_agent_max': SLOTS, 'calls.per_agent_waiting_max': WAITING });
  const { layer } = open;
  await layer.registerFunction({ ...DOUBLE, tool_id: 'held' }, async ({ n }, { signal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const call = { n: Number(n), end: resolve };
    held.push(call);
    most = Math.max(most, held.length);
    signal.addEventListener('abort', () => reject(signal.reason));
    try {
      await promise;
    } finally {
      held.splice(held.indexOf(call), 1);
    }
    return { value: Number(n) };
  });
  await layer.registerFunction({ ...DOUBLE, tool_id: 'asked', requires_confirmation: true }, () => ({ value: 1 }));
  ({ capability_token: token } = await layer.mintToken({ agent_did: AGENT }));
});
afterAll(() => open[Symbol.asyncDispose]());

const call = (tool_id: string, n: number, more: object = {}, bearer = token) =>
  post({ ...open, token: bearer }, '/v1/invocations', JSON.stringify({ tool_id, parameters: { n }, ...more }));
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await sleep(5);
};
const numbers = (): number[] => held.map(({ n }) => n);
async function client(): Promise<Client> {
  const made = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await made.connect(new StreamableHTTPClientTransport(new URL(`${open.server.url}/mcp`), { requestInit }));
  return made;
}

/** Takes all slots of the agent, runs `work`, and ends the calls that hold the slots. */
async function withoutFreeSlot(work: () => Promise<void>): Promise<void> {
  const holding = Array.from({ length: SLOTS }, (_, n) => call('held', n));
  await until(() => held.length === SLOTS);
  await work();
  for (const each of [...held]) each.end();
  expect((await Promise.all(holding)).map(({ status }) => status)).toEqual(Array(SLOTS).fill(200));
}

describe('more calls of an agent than it has slots', () => {
  test('PIPE-08.2 all end well, over MCP and REST, and never more run at once than may', async () => {
    most = 0;
    const mcp = await client();
    const overMcp = Array.from({ length: 6 }, (_, n) => mcp.callTool({ name: 'held', arguments: { n } }));
    const overRest = Array.from({ length: 6 }, (_, n) => call('held', 10 + n));
    let isOver = false;
    const all = Promise.all([...overMcp, ...overRest]).finally(() => {
      isOver = true;
    });
    await until(() => held.length === SLOTS);
    while (!isOver) {
      for (const each of [...held]) each.end();
      await sleep(5);
    }
    const ends = await all;
    expect(ends.filter((end) => !('isError' in end && end.isError === true)).length).toBe(12);
    expect((await Promise.all(overRest)).map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(most).toBe(SLOTS);
    await mcp.close();
  });

  test('PIPE-08 run in the order in which they came, and how long they waited is on record and in the audit', async () => {
    const waiting: ReturnType<typeof call>[] = [];
    await withoutFreeSlot(async () => {
      for (const n of [10, 11, 12]) {
        waiting.push(call('held', n));
        await sleep(50);
      }
      for (const n of [10, 11, 12]) {
        held[0]?.end();
        await until(() => numbers().includes(n));
      }
    });
    const [first] = await Promise.all(waiting);
    const body: Record<string, unknown> = first?.body ?? {};
    const invocation_id = String(body['invocation_id']);
    const metadata = { slot_wait_ms: expect.any(Number) };
    expect(body['execution_metadata']).toMatchObject(metadata);
    const { events } = await open.layer.ask('audit.query', { invocation_id }, LOCAL_CALLER);
    expect(events.at(-1)?.data).toMatchObject({ state: 'COMPLETED', execution_metadata: metadata });
  });

  test('PIPE-08 delay no other agent', async () => {
    await withoutFreeSlot(async () => {
      const waiting = call('held', 20);
      const { capability_token: other } = await open.layer.mintToken({ agent_did: 'did:example:other' });
      const running = call('held', 30, {}, other);
      await until(() => numbers().includes(30));
      expect(numbers()).not.toContain(20);
      held.find(({ n }) => n === 30)?.end();
      expect((await running).status).toBe(200);
      held[0]?.end();
      await until(() => numbers().includes(20));
      held.find(({ n }) => n === 20)?.end();
      expect((await waiting).status).toBe(200);
    });
  });

  test('PIPE-08.3 end with E3106 when their own time is over, and at once when too many wait', async () => {
    await withoutFreeSlot(async () => {
      const late = await call('held', 40, { resource_limits: { timeout_seconds: 0.05 } });
      expect([late.status, late.body['error']]).toMatchObject([429, { e_code: 'E3106', retryable: true }]);
      const gone = new AbortController();
      const waiting = Array.from({ length: WAITING }, (_, n) =>
        open.layer.invoke({ tool_id: 'held', parameters: { n }, capability_token: token }, { signal: gone.signal }),
      );
      await sleep(50);
      const refused = await call('held', 41);
      const message = expect.stringContaining(`${WAITING} calls of it wait`);
      expect([refused.status, refused.body['error']]).toMatchObject([429, { e_code: 'E3106', message }]);
      gone.abort();
      for (const { error } of await Promise.all(waiting)) expect(error?.e_code).toBe('E3805');
    });
  });

  test('PIPE-06 PIPE-08 leave the queue when they are cancelled or their client is gone', async () => {
    await withoutFreeSlot(async () => {
      const [one, two] = [await client(), await client()];
      const cancel = new AbortController();
      const cancelled = one.callTool({ name: 'held', arguments: { n: 50 } }, { signal: cancel.signal });
      const dropped = two.callTool({ name: 'held', arguments: { n: 51 } });
      const stays = call('held', 52);
      await sleep(100);
      cancel.abort();
      await expect(cancelled).rejects.toThrow();
      await Promise.all([two.close(), expect(dropped).rejects.toThrow()]);
      await one.close();
      await sleep(100);
      held[0]?.end();
      await until(() => numbers().includes(52));
      held.find(({ n }) => n === 52)?.end();
      expect((await stays).status).toBe(200);
    });
  });

  test('ORC-03 PIPE-08 leave a call that waits for a person alone: it holds no slot, and needs none to be asked', async () => {
    await withoutFreeSlot(async () => {
      const { body } = await call('asked', 60);
      expect(body['status']).toBe('pending_approval');
    });
    const pending = await Promise.all(Array.from({ length: SLOTS + 1 }, (_, n) => call('asked', 61 + n)));
    expect(pending.map(({ body }) => body['status'])).toEqual(Array(SLOTS + 1).fill('pending_approval'));
    await withoutFreeSlot(async () => {});
  });
});
