import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { type Desk, openDesk, toolOf } from './desk.fixture.ts';

const LATER = { execution_options: { async_mode: true } };

let databases: TestDatabases;
let one: Desk;
let two: Desk;
/** The running calls by the number in their argument; a call ends when the test calls `end`. */
const running = new Map<number, { readonly desk: Desk; readonly end: () => void; readonly aborted: () => boolean }>();

beforeAll(async () => {
  databases = await embeddedDatabases(true);
  const connection = await databases.fresh();
  const settings = { 'database.url': 'url' in connection ? connection.url : '', 'workers.lease_seconds': 3 };
  one = await openDesk({ settings });
  two = await openDesk({ settings });
  await addTools();
}, 120_000);
afterAll(async () => {
  for (const { end } of running.values()) end();
  await two[Symbol.asyncDispose]();
  await one[Symbol.asyncDispose]();
  await databases.close();
});

/** Registers the same function at both layers: whichever layer takes a call runs it. */
async function addTools(): Promise<void> {
  for (const desk of [one, two])
    await desk.layer.registerFunction(toolOf('report', { side_effect_policy: 'pure' }), async ({ n }, context) => {
      context.progress({ progress: 1, total: 4, message: 'reading' });
      await new Promise<void>((resolve, reject) => {
        running.set(Number(n), { desk, end: resolve, aborted: () => context.signal.aborted });
        context.signal.addEventListener('abort', () => reject(context.signal.reason));
      });
      return { pages: n };
    });
}

/** The one of the two layers that does not run the call with this number. */
const besides = (n: number): Desk => (running.get(n)?.desk === one ? two : one);

const runs = (n: number) => expect.poll(() => running.has(n)).toBe(true);

/** A stream of events: the text received so far, and all events once the stream has ended. */
interface Stream {
  readonly text: string;
  readonly over: Promise<{ readonly event: string; readonly data: string }[]>;
}

function eventsOf(desk: Desk, invocationId: string, token: string): Stream {
  let text = '';
  const read = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${desk.server.url}/v1/invocations/${invocationId}/events`, { headers });
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return [...text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, event = '', data = '']) => ({ event, data }));
  };
  const over = read();
  return {
    get text() {
      return text;
    },
    over,
  };
}

describe('calls that run later, on two instances over one PostgreSQL', () => {
  test('ORC-01.5 API-01.9 PIPE-07.1 PIPE-07.2 PIPE-07.3 PIPE-07.5 a call is answered at once, followed by events from the other instance, and its result stays', async () => {
    const token = await one.token({ agent_did: 'did:agent:a', user_did: 'did:user:u', session_id: 's' });
    const accepted = await one.invoke('report', 1, LATER, token);
    expect(accepted.body).toMatchObject({ status: 'pending', polling_info: { status_url: expect.any(String) } });
    const id = String(accepted.body['invocation_id']);
    const elsewhere = await two.token({ agent_did: 'did:agent:a', user_did: 'did:user:u', session_id: 's' });
    const streams = [eventsOf(one, id, token), eventsOf(two, id, elsewhere)];
    await runs(1);
    const lines: string[] = [];
    const watching = besides(1).cli(['calls', 'watch', id], undefined, (text) => lines.push(text));
    await expect.poll(() => lines.join('')).toContain('25 %  reading');
    // Each stream polls the progress of the call by itself.
    await expect.poll(() => streams.every(({ text }) => text.includes('reading'))).toBe(true);
    running.get(1)?.end();
    for (const told of await Promise.all(streams.map(({ over }) => over))) {
      const states = told.map(({ data }) => JSON.parse(data));
      expect(states).toContainEqual(expect.objectContaining({ progress_percent: 25, current_phase: 'reading' }));
      expect(told.at(-1)?.event).toBe('end');
      expect(states.at(-1)).toMatchObject({ status: 'success', result: { pages: 1 } });
    }
    expect(await watching).toMatchObject({ code: 0, out: expect.stringContaining('"pages": 1') });
    expect((await two.cli(['calls', 'show', id])).out).toContain('COMPLETED');
  });

  test('ORC-01.4 PIPE-06.2 PIPE-06.3 a call is cancelled from the instance that does not run it', async () => {
    const { body } = await one.invoke('report', 2, LATER);
    const id = String(body['invocation_id']);
    await runs(2);
    const other = besides(2);
    expect(await other.cli(['calls', 'extend', id, '10m'])).toMatchObject({ code: 0 });
    expect(await other.cli(['calls', 'cancel', id, '--reason', 'enough'])).toMatchObject({ code: 0 });
    expect(await one.reaches(id, 'ABORTED')).toMatchObject({ status: 'cancelled', error: { e_code: 'E3805' } });
    expect(running.get(2)?.aborted()).toBe(true);
    expect(await other.cli(['calls', 'cancel', id])).toMatchObject({ code: 1 });
  });

  test('ORC-03 what waits at one instance is approved at the other, and runs once', async () => {
    const { approvalId, invocationId } = await one.waits('pay', 5);
    const approved = await two.cli(['approvals', 'approve', approvalId]);
    expect(approved).toMatchObject({ code: 0 });
    expect(await one.reaches(invocationId, 'COMPLETED')).toMatchObject({ result: { done: 5 } });
    expect([...one.runs, ...two.runs].filter((run) => run === 'pay 5')).toHaveLength(1);
  });
});
