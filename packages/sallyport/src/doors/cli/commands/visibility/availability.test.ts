import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CliBench, createCliBench } from '../../run-cli.fixture.ts';

let bench: CliBench;
beforeEach(async () => {
  bench = await createCliBench();
});
afterEach(() => bench.remove());

const SAID = { tool_id: 'offer', available: false, reason: 'under review', changed_at: '2026-01-01T00:00:00.000Z' };

test('availability set sends what was said, and list shows it', async () => {
  bench.layer.answers.set('availability.set', (input) => ({ ...SAID, ...input }));
  bench.layer.answers.set('availability.list', () => ({ availability: [SAID] }));
  const set = await bench.run(['availability', 'set', 'offer', 'off', '--reason', 'under review']);
  expect(set).toMatchObject({ code: 0, out: 'offer is not available to the tenant\n' });
  expect(bench.layer.asked.at(-1)?.input).toEqual({ tool_id: 'offer', available: false, reason: 'under review' });
  expect((await bench.run(['availability', 'set', 'offer', 'on'])).out).toBe('offer is available to the tenant\n');
  expect((await bench.run(['availability', 'list'])).out).toMatch(/offer +no +2026\S+ +under review/);
  const { out } = await bench.run(['availability', 'list', '--json']);
  expect(JSON.parse(out)).toEqual({ availability: [SAID] });
});

test('availability tools shows a tier, with the reason for what an agent lacks', async () => {
  const shown = { name: 'mail', tool_id: 'up__send', version: '1.0.0', description: 'Sends.' };
  const why_unavailable = { code: 'disabled_for_agent', message: 'Ask for it.' };
  bench.layer.answers.set('visibility.list', () => ({
    tools: [shown, { ...shown, name: 'wipe', tool_id: 'wipe', why_unavailable }],
    total_count: 300,
    page: 2,
    page_size: 200,
  }));
  const argv = ['availability', 'tools', '--list', 'agent-unavailable', '--agent', 'did:a', '--page', '2'];
  const { code, out, err } = await bench.run(argv);
  expect(code).toBe(0);
  expect(out).toMatch(/mail +up__send +1\.0\.0 +Sends\.\nwipe +1\.0\.0 +\(disabled_for_agent\) Ask for it\./);
  expect(err).toContain('Page 2 of 2, 300 tools');
  expect(bench.layer.asked.at(-1)?.input).toEqual({ list: 'agent-unavailable', agent_did: 'did:a', page: 2 });
  expect((await bench.run(['availability', 'tools', '--list', 'all'])).code).toBe(2);
});
