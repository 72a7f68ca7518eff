import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, describe, expect, test } from 'vitest';
import type { ToolWatchResponse } from '../../../api/schemas/invocation.ts';
import { type RunningDoor, startRestDoor } from './rest-door.fixture.ts';
import type { RestSettings } from './settings.ts';

let running: RunningDoor | undefined;
afterEach(() => running?.door.close());

/** A door whose layer reports a call in these states one after the other, one state for each request. */
async function streaming(states: readonly string[], settings: Partial<RestSettings> = {}): Promise<RunningDoor> {
  const made = await startRestDoor(settings);
  running = made;
  made.layer.answers.set('invocations.watch', (input) => {
    if (input['invocation_id'] !== 'mine') throw new ToolLayerError('E3809', 'There is no such invocation.');
    const at = states.indexOf(String(input['after'])) + 1;
    const state = states[Math.min(at, states.length - 1)] ?? '';
    const isLast = at >= states.length - 1;
    return {
      event_id: state,
      changed: state !== input['after'],
      over: isLast && state !== 'EXECUTING',
      invocation: { invocation_id: 'mine', tool_id: 't', state, status: 'running' },
    } as ToolWatchResponse;
  });
  return made;
}

const PATH = '/v1/invocations/mine/events';
const ALL = ['AUTHORIZED', 'EXECUTING', 'COMPLETED'];

describe('the stream of an invocation', () => {
  test('PIPE-07 tells each state once and ends with the final one', async () => {
    const { ask } = await streaming(ALL);
    const response = await ask('GET', PATH);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('id:'));
    expect(events.map((event) => event.split('\n').slice(0, 2))).toEqual([
      ['id: AUTHORIZED', 'event: status'],
      ['id: EXECUTING', 'event: status'],
      ['id: COMPLETED', 'event: end'],
    ]);
    expect(events[0]).toContain('data: {"invocation_id":"mine"');
  });

  test('goes on behind the last event that the client has seen, and has nothing to say behind the end', async () => {
    const { ask } = await streaming(ALL);
    const again = await ask('GET', PATH, undefined, { 'last-event-id': 'AUTHORIZED' });
    expect((await again.text()).match(/^id: .*$/gm)).toEqual(['id: EXECUTING', 'id: COMPLETED']);
    const done = await ask('GET', PATH, undefined, { 'last-event-id': 'COMPLETED' });
    expect([done.status, await done.text()]).toEqual([204, '']);
    const odd = await ask('GET', PATH, undefined, { 'last-event-id': 'x'.repeat(5_000) });
    expect((await odd.text()).match(/^id: .*$/gm)).toHaveLength(3);
  });

  test('is refused like any other question, before a stream begins', async () => {
    const { ask, layer } = await streaming(ALL);
    const refused = await ask('GET', '/v1/invocations/other/events');
    expect([refused.status, await refused.json()]).toMatchObject([404, { e_code: 'E3809' }]);
    expect((await ask('HEAD', PATH)).status).toBe(404);
    expect(layer.asked.every(({ caller }) => caller.token === 'agent')).toBe(true);
  });

  test('PIPE-07 one more of a holder ends its oldest, one of another holder is refused; all end with the door', async () => {
    const { ask, layer, door } = await streaming(ALL, { streamsMax: 1, closeGraceMs: 20_000 });
    layer.answers.set('invocations.watch', async (input, { signal }) => {
      const waits = Number(input['wait_seconds']) > 0;
      if (waits) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      const invocation = { invocation_id: 'mine', tool_id: 't', state: 'EXECUTING', status: 'running' };
      return { event_id: 'EXECUTING', changed: !waits, over: false, invocation };
    });
    const open = async (headers: Record<string, string> = {}) => {
      const response = await ask('GET', PATH, undefined, headers);
      const reader = response.body?.getReader();
      await reader?.read();
      const end = async (): Promise<void> => {
        while ((await reader?.read())?.done === false);
      };
      return { response, end };
    };
    const first = await open();
    const { response } = await open({ authorization: 'Bearer agent-elsewhere' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    const second = await open();
    expect(second.response.status).toBe(200);
    await first.end();
    await door.close();
    await second.end();
  });

  test('a stream ends after its time, and says when to come again', async () => {
    const { ask } = await streaming(['EXECUTING'], { streamMs: 0 });
    const text = await (await ask('GET', PATH)).text();
    expect(text).toMatch(/^retry: 2000\n\nid: EXECUTING\n/);
  });
});
