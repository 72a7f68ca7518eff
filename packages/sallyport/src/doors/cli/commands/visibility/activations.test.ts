import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CliBench, createCliBench } from '../../run-cli.fixture.ts';

let bench: CliBench;
beforeEach(async () => {
  bench = await createCliBench();
});
afterEach(() => bench.remove());

const ACTIVATION = { agent_did: 'did:a', tool_id: 'send', enabled: true, policy_overrides: {}, changed_at: '' };

test('activations set sends the overrides that were named, and no other', async () => {
  bench.layer.answers.set('activations.set', (input) => ({ ...ACTIVATION, ...input }));
  const policy = ['--confirm', 'yes', '--confirmation-prompt', 'Sure?', '--require-approval', '--timeout-max', '1m'];
  const argv = ['activations', 'set', 'did:a', 'send', ...policy, '--per-minute', '6'];
  expect(await bench.run(argv)).toMatchObject({ code: 0, out: 'send is enabled for did:a\n' });
  expect(bench.layer.asked.at(-1)?.input).toEqual({
    agent_did: 'did:a',
    tool_id: 'send',
    enabled: true,
    policy_overrides: {
      requires_confirmation: true,
      confirmation_prompt: 'Sure?',
      requires_approval: true,
      timeout_seconds_max: 60,
      rate_limit: { per_minute: 6, burst: 6 },
    },
  });
  const { out } = await bench.run(['activations', 'set', 'did:a', 'send', '--disable', '--reason', 'trial']);
  expect(out).toBe('send is disabled for did:a\n');
  expect(bench.layer.asked.at(-1)?.input).toMatchObject({ enabled: false, policy_overrides: {}, reason: 'trial' });
  expect((await bench.run(['activations', 'set', 'did:a', 'send', '--confirm', 'perhaps'])).code).toBe(2);
});

test('activations list shows what each changes', async () => {
  const activations = [{ ...ACTIVATION, policy_overrides: { timeout_seconds_max: 5 }, reason: 'slow' }];
  bench.layer.answers.set('activations.list', () => ({ activations }));
  const { out } = await bench.run(['activations', 'list', '--agent', 'did:a', '--tool', 'send']);
  expect(out).toMatch(/did:a +send +yes +timeout_seconds_max=5 slow/);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ agent_did: 'did:a', tool_id: 'send' });
});

test('activations remove fails when there was nothing to remove', async () => {
  const removals = [true, false];
  bench.layer.answers.set('activations.remove', (input) => ({ ...input, removed: removals.shift() }));
  const argv = ['activations', 'remove', 'did:a', 'send'];
  expect(await bench.run(argv)).toMatchObject({ code: 0, out: 'Removed the activation of send for did:a\n' });
  expect(await bench.run(argv)).toMatchObject({ code: 1, out: '' });
});

test('VIS-01 activations for one user name the user, in what is asked and in what is said', async () => {
  bench.layer.answers.set('activations.set', (input) => ({ ...ACTIVATION, ...input }));
  bench.layer.answers.set('activations.remove', (input) => ({ ...input, removed: true }));
  bench.layer.answers.set('activations.list', () => ({ activations: [{ ...ACTIVATION, user_did: 'did:u' }] }));
  const said = {
    set: 'send is enabled for did:a, user did:u',
    remove: 'Removed the activation of send for did:a, user did:u',
  };
  for (const command of ['set', 'remove'] as const) {
    const { out } = await bench.run(['activations', command, 'did:a', 'send', '--user', 'did:u']);
    expect(out).toBe(`${said[command]}\n`);
    expect(bench.layer.asked.at(-1)?.input).toMatchObject({ agent_did: 'did:a', user_did: 'did:u', tool_id: 'send' });
  }
  expect((await bench.run(['activations', 'list', '--user', 'did:u'])).out).toMatch(/did:a +did:u +send +yes/);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ user_did: 'did:u' });
});
