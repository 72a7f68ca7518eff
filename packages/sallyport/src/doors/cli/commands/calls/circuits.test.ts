import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CliBench, createCliBench } from '../../run-cli.fixture.ts';

let bench: CliBench;
beforeEach(async () => {
  bench = await createCliBench();
});
afterEach(() => bench.remove());

const CIRCUIT = {
  name: 'api.example.com',
  state: 'open',
  since: '2026-01-05T10:00:00.000Z',
  call_count: 20,
  failure_count: 13,
  slow_call_count: 0,
  failure_rate: 65,
  slow_call_rate: 0,
  retry_after_ms: 4000,
};

test('API-05 CIR-01 circuits list passes its filters on and shows a row for each, show one of them', async () => {
  bench.layer.answers.set('circuits.list', () => ({ circuits: [CIRCUIT], next: 'api.example.com' }));
  bench.layer.answers.set('circuits.get', () => CIRCUIT);
  const list = await bench.run(['circuits', 'list', '--state', 'open', '--after', 'a', '--limit', '1']);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ state: 'open', after: 'a', limit: 1 });
  expect(list.out).toMatch(/api\.example\.com +open +20 +65% +0% +2026-01-05/);
  expect(list.err).toContain('--after api.example.com');
  const show = await bench.run(['circuits', 'show', 'api.example.com']);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ name: 'api.example.com' });
  expect(show.out).toContain('retry_after_ms: 4000\n');
  expect(JSON.parse((await bench.run(['circuits', 'show', 'a', '--json'])).out)).toEqual(CIRCUIT);
  expect((await bench.run(['circuits', 'list', '--state', 'ajar'])).code).toBe(1);
});

test.each([
  ['open', 'forced_open'],
  ['close', 'closed'],
  ['disable', 'disabled'],
])('API-05 CIR-01 circuits %s sets it to %s', async (verb, state) => {
  bench.layer.answers.set('circuits.set', (input) => ({ ...CIRCUIT, state: input['state'] }));
  const run = await bench.run(['circuits', verb, 'api.example.com', '--reason', 'maintenance']);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ name: 'api.example.com', state, reason: 'maintenance' });
  expect(run).toMatchObject({ code: 0, out: expect.stringContaining(`state: ${state}\n`) });
});
