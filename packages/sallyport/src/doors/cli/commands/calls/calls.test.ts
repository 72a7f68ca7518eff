import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CliBench, createCliBench } from '../../run-cli.fixture.ts';

let bench: CliBench;
beforeEach(async () => {
  bench = await createCliBench();
});
afterEach(() => bench.remove());

const CALL = { invocation_id: 'one', tool_id: 'report', tool_version: '1.0.0' };
const RUNNING = { ...CALL, status: 'running', state: 'EXECUTING' };
const DONE = { ...CALL, status: 'success', state: 'COMPLETED', result: { pages: 3 } };
const REFUSED = { e_code: 'E3807', code: 'approval_denied', message: 'Nobody wanted it.', retryable: false };

/** Makes the layer report these states one after the other. */
function states(...told: readonly object[]): void {
  bench.layer.answers.set('invocations.watch', ({ after }) => {
    const at = after === undefined ? 0 : Math.min(Number(after) + 1, told.length - 1);
    return { event_id: String(at), changed: true, over: at === told.length - 1, invocation: told[at] };
  });
}

test('PIPE-07 calls watch prints each step of a call, and ends with it', async () => {
  states(RUNNING, { ...RUNNING, progress_percent: 25.2, current_phase: 'reading' }, DONE);
  const { code, out } = await bench.run(['calls', 'watch', 'one']);
  expect([code, out]).toEqual([0, 'running\nrunning  25 %  reading\nsuccess\n{\n  "pages": 3\n}\n']);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ invocation_id: 'one', wait_seconds: 15, after: '1' });
  const { out: lines } = await bench.run(['calls', 'watch', 'one', '--json']);
  expect(
    lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).status),
  ).toEqual(['running', 'running', 'success']);
});

test('calls watch of a call that was refused says why and ends with 1', async () => {
  const approval = { approval_id: 'two', reason: 'policy', expires_at: '2026-01-01T00:00:00.000Z' };
  states(
    { ...CALL, status: 'pending_approval', state: 'AUTHORIZED', approval },
    { ...CALL, status: 'permission_denied', state: 'DENIED', error: REFUSED },
  );
  const { code, out, err } = await bench.run(['calls', 'watch', 'one']);
  expect([code, out]).toEqual([1, 'pending_approval  approval two\npermission_denied\n']);
  expect(err).toContain('E3807: Nobody wanted it.');
});

test('calls watch ends when it is stopped, though the call goes on', async () => {
  const stop = new AbortController();
  states(RUNNING, DONE);
  const onOut = () => stop.abort();
  expect(await bench.run(['calls', 'watch', 'one'], { signal: stop.signal, onOut })).toMatchObject({ code: 0 });
  expect(bench.layer.asked).toHaveLength(1);
});

test('calls show prints where a call stands', async () => {
  bench.layer.answers.set('invocations.get', () => DONE);
  const { out } = await bench.run(['calls', 'show', 'one']);
  expect(out).toContain('one: success\n  tool     report 1.0.0\n  state    COMPLETED\n');
  expect(JSON.parse((await bench.run(['calls', 'show', 'one', '--json'])).out)).toEqual(DONE);
});

test('calls cancel and extend send what was said; what changed nothing ends with 1', async () => {
  bench.layer.answers.set('invocations.cancel', ({ reason }) => ({
    invocation_id: 'one',
    cancelled: reason !== undefined,
    message: reason === undefined ? 'Already over: COMPLETED' : 'Cancellation in progress',
  }));
  expect(await bench.run(['calls', 'cancel', 'one', '--reason', 'enough'])).toMatchObject({ code: 0 });
  expect(bench.layer.asked.at(-1)?.input).toEqual({ invocation_id: 'one', reason: 'enough' });
  expect(await bench.run(['calls', 'cancel', 'one'])).toMatchObject({ code: 1, out: 'Already over: COMPLETED\n' });
  bench.layer.answers.set('invocations.extend', () => ({
    invocation_id: 'one',
    extended: true,
    message: 'It has more.',
  }));
  expect(await bench.run(['calls', 'extend', 'one', '10m'])).toMatchObject({ code: 0, out: 'It has more.\n' });
  expect(bench.layer.asked.at(-1)?.input).toEqual({ invocation_id: 'one', extend_seconds: 600 });
  expect(await bench.run(['calls', 'extend', 'one', 'long'])).toMatchObject({ code: 2 });
});

test('API-05 the commands of checkpoints take what they are about as arguments', async () => {
  bench.layer.answers.set('checkpoints.list', () => ({ checkpoints: [] }));
  bench.layer.answers.set('checkpoints.diff', () => ({ changes: [] }));
  const { code } = await bench.run(['checkpoints', 'list', 'one']);
  const { code: alike } = await bench.run(['checkpoints', 'diff', 'first', 'second']);
  expect([code, alike]).toEqual([0, 0]);
  expect(bench.layer.asked.map(({ input }) => input)).toEqual([
    { invocation_id: 'one' },
    { checkpoint_id: 'first', with: 'second' },
  ]);
});
