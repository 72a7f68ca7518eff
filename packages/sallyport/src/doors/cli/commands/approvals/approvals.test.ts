import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CliBench, createCliBench } from '../../run-cli.fixture.ts';

let bench: CliBench;
beforeEach(async () => {
  bench = await createCliBench();
});
afterEach(() => bench.remove());

const DIGEST = 'a'.repeat(64);
const APPROVAL = {
  approval_id: 'one',
  invocation_id: 'call',
  state: 'pending',
  tool_id: 'pay',
  tool_version: '1.0.0',
  agent_did: 'did:a',
  reason: 'requires_approval',
  requested_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-02T00:00:00.000Z',
  binding_digest: DIGEST,
  level: 0,
  approvers: ['role:approver'],
  quorum: 1,
};
const DECISION = { approval_id: 'one', invocation_id: 'call', votes: 1, quorum: 1, binding_digest: DIGEST };

test('ORC-03 approvals list shows what waits', async () => {
  bench.layer.answers.set('approvals.list', () => ({ approvals: [APPROVAL] }));
  const { out } = await bench.run(['approvals', 'list']);
  expect(out).toContain('pay 1.0.0');
  expect(bench.layer.asked.at(-1)?.input).toEqual({ state: 'pending' });
});

test('approvals show prints the arguments, without what a terminal would obey', async () => {
  const parameters = { to: '\u001b[2Jdid:b', n: 7 };
  bench.layer.answers.set('approvals.get', () => ({ approval: APPROVAL, parameters, votes: [] }));
  const { out } = await bench.run(['approvals', 'show', 'one'], { terminal: { columns: 80 } });
  expect(out).toContain('"n": 7');
  expect(out).toContain(`--digest ${DIGEST}`);
  expect(out).not.toContain('\u001b[2J');
});

test('ORC-03 approvals approve, edit and deny send what was said', async () => {
  bench.layer.answers.set('approvals.approve', () => ({ ...DECISION, state: 'approved' }));
  bench.layer.answers.set('approvals.deny', () => ({ ...DECISION, state: 'denied' }));
  const asked = () => bench.layer.asked.at(-1)?.input;
  expect(await bench.run(['approvals', 'approve', 'one', '--digest', DIGEST])).toMatchObject({ code: 0 });
  expect(asked()).toEqual({ approval_id: 'one', binding_digest: DIGEST });
  await bench.run(['approvals', 'approve', 'one', '--always', 'tool', '--for', '8h']);
  expect(asked()).toEqual({ approval_id: 'one', remember: { scope: 'tool', for_seconds: 28_800 } });
  await bench.run(['approvals', 'edit', 'one', '{"n":2}', '--reason', 'less']);
  expect(asked()).toEqual({ approval_id: 'one', parameters: { n: 2 }, reason: 'less' });
  expect((await bench.run(['approvals', 'deny', 'one'])).out).toBe('denied one: the call call has ended\n');
});

test('ORC-03 approvals answer takes the token of a notice from the line or from standard input', async () => {
  bench.layer.answers.set('approvals.answer', ({ decision }) => ({
    ...DECISION,
    state: decision === 'deny' ? 'denied' : 'approved',
  }));
  const answer_token = `spa_${'A'.repeat(43)}`;
  const { out } = await bench.run(['approvals', 'answer', 'approve', answer_token, '--digest', DIGEST]);
  expect(out).toBe('approved one: the call call goes on\n');
  const asked = () => bench.layer.asked.at(-1)?.input;
  expect(asked()).toEqual({ answer_token, decision: 'approve', binding_digest: DIGEST });
  await bench.run(['approvals', 'answer', 'deny', '-', '--reason', 'no'], { stdin: `${answer_token}\n` });
  expect(asked()).toEqual({ answer_token, decision: 'deny', reason: 'no' });
  const before = bench.layer.asked.length;
  expect(await bench.run(['approvals', 'answer', 'maybe', answer_token])).toMatchObject({ code: 2 });
  expect(await bench.run(['approvals', 'answer', 'deny'])).toMatchObject({ code: 2 });
  expect(bench.layer.asked).toHaveLength(before);
});

test('a standing rule without an end is a wrong use', async () => {
  expect(await bench.run(['approvals', 'approve', 'one', '--always', 'tool'])).toMatchObject({ code: 2 });
  expect(await bench.run(['approvals', 'delegate', 'did:b'])).toMatchObject({ code: 2 });
});

test('approvals watch shows each call once, until it is stopped', async () => {
  const stop = new AbortController();
  bench.layer.answers.set('approvals.list', () => ({ approvals: [APPROVAL] }));
  bench.layer.answers.set('approvals.get', () => ({ approval: APPROVAL, parameters: {}, votes: [] }));
  const onOut = (text: string) => {
    if (text.includes('one')) stop.abort();
  };
  const { out, code } = await bench.run(['approvals', 'watch', '--json'], { signal: stop.signal, onOut });
  expect(code).toBe(0);
  expect(out.trim().split('\n')).toHaveLength(1);
});
