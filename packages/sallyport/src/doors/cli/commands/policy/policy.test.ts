import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CliBench, createCliBench } from '../../run-cli.fixture.ts';

let bench: CliBench;
beforeEach(async () => {
  bench = await createCliBench();
});
afterEach(() => bench.remove());

const RULE = { name: 'a.cedar:no', effect: 'deny', mode: 'enforce', file: 'a.cedar', line: 3 };
const STATE = { engine: 'cedar', mode: 'enforce', version: 'v1', left_out: [], policies: [RULE] };

test('PRM-08.7 policy list shows the state of the gate', async () => {
  const gate = { model: 'host/m', policies: 2, fail_open: true };
  bench.layer.answers.set('policies.list', () => ({ engines: [STATE], gate }));
  const { out } = await bench.run(['policy', 'list']);
  expect(out).toContain('gate: host/m judges by 2 policies; a call that it does not answer runs (fail_open)');
});

test('policy list shows the policies, and ends with 1 while the newest files are not in force', async () => {
  bench.layer.answers.set('policies.list', () => ({ engines: [STATE] }));
  const fine = await bench.run(['policy', 'list']);
  expect(fine).toMatchObject({ code: 0, out: expect.stringMatching(/cedar +enforce +deny +a\.cedar:no +3/) });
  const fault = { message: 'Policy file a.cedar, line 3: rubbish.', since: '2026-01-01T00:00:00Z' };
  bench.layer.answers.set('policies.list', () => ({ engines: [{ ...STATE, fault }] }));
  const faulty = await bench.run(['policy', 'list', '--text']);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ text: true });
  expect(faulty).toMatchObject({ code: 1, err: expect.stringContaining('line 3: rubbish') });
});

test('policy reload says whether anything changed', async () => {
  bench.layer.answers.set('policies.reload', () => ({
    changed: true,
    engines: [{ engine: 'cedar', mode: 'enforce', version: 'v2', policies: 2 }],
  }));
  expect(await bench.run(['policy', 'reload'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('cedar (enforce): 2 policies'),
  });
});

test('policy test sends files and folders, prints failures and ends with 1', async () => {
  const failed = {
    file: 'x.test.toml',
    name: 'intern',
    passed: false,
    expected: 'deny',
    decided: 'allow',
    by: [],
    message: 'expected deny.',
  };
  bench.layer.answers.set('policies.test', () => ({ passed: 1, failed: 1, faults: [], cases: [failed] }));
  await bench.file('x.test.toml', 'tests');
  await bench.file('p.cedar', 'policies');
  const { code, out } = await bench.run(['policy', 'test', 'x.test.toml', '--policies', '.']);
  expect(code).toBe(1);
  expect(out).toBe('x.test.toml: intern: expected deny.\n1 passed, 1 failed\n');
  expect(bench.layer.asked.at(-1)?.input).toEqual({
    tests: [{ name: 'x.test.toml', text: 'tests' }],
    policies: [{ name: 'p.cedar', text: 'policies' }],
  });
  bench.layer.answers.set('policies.test', () => ({ passed: 1, failed: 0, faults: [], cases: [] }));
  expect(await bench.run(['policy', 'test'])).toMatchObject({ code: 0 });
  expect(bench.layer.asked.at(-1)?.input).toEqual({});
  bench.layer.answers.set('policies.test', () => ({ passed: 1, failed: 0, faults: [{ message: 'bad' }], cases: [] }));
  expect(await bench.run(['policy', 'test'])).toMatchObject({ code: 1 });
  expect(await bench.run(['policy', 'test', 'nowhere.test.toml'])).toMatchObject({ code: 2 });
});

test('policy why takes an invocation or a question, not both', async () => {
  const explained = { ...RULE, text: 'forbid (principal, action, resource);', held: [], unmet: [] };
  bench.layer.answers.set('policies.explain', () => ({
    tool_id: 'x',
    allowed: false,
    recorded: { engine: 'cedar', version: 'v0', allowed: false, policies: ['a.cedar:no'] },
    still_so: false,
    assumed: ['The limits are not on record.'],
    engines: [
      { engine: 'cedar', mode: 'enforce', allowed: false, decided: [explained], nearest: [], changes: ['Change it.'] },
    ],
  }));
  const { code, out, err } = await bench.run(['policy', 'why', 'abc']);
  expect(code).toBe(0);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ invocation_id: 'abc' });
  expect(out).toContain('deny by a.cedar:no (a.cedar:3)\n      forbid (principal, action, resource);');
  expect(out).toContain('- Change it.');
  expect(err).toContain('The policies changed since');
  await bench.run(['policy', 'why', '--question', '{"tool":{"tool_id":"x"}}']);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ question: { tool: { tool_id: 'x' } } });
  for (const wrong of [[], ['abc', '--question', '{}'], ['--question', 'x']]) {
    expect(await bench.run(['policy', 'why', ...wrong])).toMatchObject({ code: 2 });
  }
});
