import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_TERMS, levelAt, levelOf, termsFor } from './approval-terms.ts';
import { parseApprovalTerms, readApprovalTerms } from './approval-terms-file.ts';

const HOUR = 3_600_000;
const parse = (text: string) => parseApprovalTerms(text, 'approvals.toml', { fourEyes: true });
const refusal = (text: string): string => {
  try {
    parse(text);
  } catch (thrown) {
    if (thrown instanceof ToolLayerError) return `${thrown.code} ${thrown.message}`;
    throw thrown;
  }
  return 'taken';
};

test('ORC-03 without a file or a rule approvers are asked, admins after one and four hours, and the end is after a day', async () => {
  expect(await readApprovalTerms('/nowhere/approvals.toml', { fourEyes: true })).toEqual([]);
  expect(DEFAULT_TERMS.levels.map(({ afterMs }) => afterMs)).toEqual([0, HOUR, 4 * HOUR]);
  expect(DEFAULT_TERMS.expiresAfterMs).toBe(24 * HOUR);
  const [open] = parse('[[rule]]\ntools = ["x"]');
  expect(open).toMatchObject({ levels: DEFAULT_TERMS.levels, quorum: 1, fourEyes: true });
});

test('ORC-03 a rule says who is asked when, and who may answer: everybody who was asked so far', () => {
  const [terms] = parse(`[[rule]]
approvers = ["did:a"]
quorum = 2
escalation = [{ after = "1h", approvers = ["did:b"] }, { after = "4h" }, { after = "24h" }]
on_timeout = "deny"`);
  expect(terms?.expiresAfterMs).toBe(24 * HOUR);
  expect(terms?.levels).toEqual([
    { afterMs: 0, notified: ['did:a'], eligible: ['did:a'] },
    { afterMs: HOUR, notified: ['did:b'], eligible: ['did:a', 'did:b'] },
    { afterMs: 4 * HOUR, notified: ['did:b'], eligible: ['did:a', 'did:b'] },
  ]);
});

test('ORC-05.6 an empty list of approvers is refused, at the first level as at every other', () => {
  expect(refusal('[[rule]]\napprovers = []')).toMatch(/^E3801 .*names no approvers in rule 1/);
  expect(refusal('[[rule]]\nescalation = [{ after = "1h", approvers = [] }]')).toMatch(/E3801 .*escalation of rule 1/);
  expect(refusal('[[rule]]\napprovers = [" "]')).toMatch(/blank/);
  expect(refusal('[[rule]]\napprovers = ["role:nobody"]')).toMatch(/role:nobody/);
});

test('ORC-05 a quorum that nobody could meet is refused, one that roles may meet is not', () => {
  expect(refusal('[[rule]]\napprovers = ["did:a"]\nquorum = 2')).toMatch(/nobody could ever approve/);
  expect(refusal('[[rule]]\napprovers = ["did:a", "did:a"]\nquorum = 2')).toMatch(/nobody could ever approve/);
  expect(refusal('[[rule]]\napprovers = ["did:a", "did:b"]\nquorum = 2')).toBe('taken');
  expect(refusal('[[rule]]\napprovers = ["role:approver"]\nquorum = 9')).toBe('taken');
  expect(refusal('[[rule]]\nquorum = 0')).toMatch(/^E3801/);
});

test('ORC-03 a timeout never means yes', () => {
  expect(refusal('[[rule]]\non_timeout = "allow"')).toMatch(/never runs; write "deny"/);
});

test('times that cannot be are refused', () => {
  expect(refusal('[[rule]]\nexpires_after = "31d"')).toMatch(/30 days/);
  expect(refusal('[[rule]]\nexpires_after = "1ms"')).toMatch(/30 days/);
  expect(refusal('[[rule]]\nexpires_after = "soon"')).toMatch(/^E3801/);
  const twice = 'escalation = [{ after = "2h", approvers = ["did:a"] }, { after = "1h", approvers = ["did:b"] }]';
  expect(refusal(`[[rule]]\n${twice}`)).toMatch(/ascending/);
  expect(refusal('[[rule]]\nexpires_after = "1h"\nescalation = [{ after = "1h", approvers = ["did:a"] }]')).toMatch(
    /expired already/,
  );
});

test('what is not TOML or not known is refused by name', () => {
  expect(refusal('[[rule')).toMatch(/^E3801 .*is not TOML/);
  expect(refusal('[[rule]]\napprover = ["x"]')).toMatch(/^E3801 .*approvals.toml has faults/);
});

test('the first rule that matches a tool counts', () => {
  const terms = parse(`[[rule]]
tools = ["bank__*"]
side_effects = ["irreversible"]
approvers = ["did:bank"]
[[rule]]
tags = ["money"]
approvers = ["did:money"]
[[rule]]
categories = ["mail"]
reasons = ["requires_confirmation"]
approvers = ["did:mail"]`);
  const named = (manifest: object, reason: 'policy' | 'requires_confirmation' = 'policy') =>
    termsFor(terms, { manifest } as never, reason).levels[0].notified;
  expect(named({ tool_id: 'bank__send', tags: ['money'] })).toEqual(['did:bank']);
  expect(named({ tool_id: 'bank__send', tags: ['money'], side_effect_policy: 'pure' })).toEqual(['did:money']);
  expect(named({ tool_id: 'mail', category: 'mail' }, 'requires_confirmation')).toEqual(['did:mail']);
  expect(named({ tool_id: 'mail', category: 'mail' })).toEqual(['role:approver']);
});

test('ORC-03 a file is read; one that cannot be read is a fault and never the same as none', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'approvals-'));
  try {
    await expect(readApprovalTerms(folder, { fourEyes: true })).rejects.toMatchObject({
      code: 'E3801',
      message: expect.stringContaining('cannot be read'),
    });
    const path = join(folder, 'approvals.toml');
    await writeFile(path, '[[rule]]\ntools = ["x"]');
    expect(await readApprovalTerms(path, { fourEyes: false })).toMatchObject([{ fourEyes: false }]);
    expect(await readApprovalTerms(join(folder, 'none.toml'), { fourEyes: true })).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('ORC-03 what a rule says counts, and what it leaves out has its default', () => {
  const [full, bare] = parse(`[[rule]]
tools = ["t"]
tags = ["g"]
categories = ["c"]
side_effects = ["pure"]
reasons = ["trust"]
four_eyes = false
at_client = false
remember = "never"
[[rule]]`);
  expect(full).toMatchObject({ name: 'rule 1', fourEyes: false, atClient: false, remember: 'never' });
  expect(full?.match).toEqual({
    tools: ['t'],
    tags: ['g'],
    categories: ['c'],
    sideEffects: ['pure'],
    reasons: ['trust'],
  });
  expect(bare).toEqual({ ...DEFAULT_TERMS, name: 'rule 2' });
  expect(parse('')).toEqual([]);
});

test('ORC-03.11 ORC-05.2 times are read in their unit; the shortest and the longest are taken, and one more is not', () => {
  const expiresAfter = (text: string) => parse(`[[rule]]\nexpires_after = "${text}"`)[0]?.expiresAfterMs;
  expect(['1000ms', '1s', '2m', '3h', '30d'].map(expiresAfter)).toEqual([1000, 1000, 120_000, 3 * HOUR, 720 * HOUR]);
  for (const text of ['999ms', '2592000001ms', '1w', '1.5h', '-1h'])
    expect(refusal(`[[rule]]\nexpires_after = "${text}"`), text).toMatch(/^E3801/);
  const steps = (more: string) => refusal(`[[rule]]\nexpires_after = "2h"\nescalation = [${more}]`);
  const step = (after: string) => `{ after = "${after}", approvers = ["did:a"] }`;
  expect(steps(`${step('1h')}, ${step('1h')}`)).toMatch(/ascending/);
  expect(steps(step('0s'))).toMatch(/ascending/);
  expect(steps(`${step('1ms')}, ${step('7199999ms')}`)).toBe('taken');
  expect(steps(step('2h'))).toMatch(/expired already/);
});

test('ORC-03.11 a last step without approvers is the end unless another end is named, and any other asks the same people again', () => {
  const levels = (text: string) => {
    const [terms] = parse(`[[rule]]\n${text}`);
    return [terms?.levels.map(({ afterMs }) => afterMs / HOUR), (terms?.expiresAfterMs ?? 0) / HOUR];
  };
  const named = 'escalation = [{ after = "1h", approvers = ["did:a"] }]';
  expect(levels(named)).toEqual([[0, 1], 24]);
  expect(levels('escalation = [{ after = "1h" }, { after = "2h" }]')).toEqual([[0, 1], 2]);
  expect(levels('expires_after = "3h"\nescalation = [{ after = "2h" }]')).toEqual([[0, 2], 3]);
  expect(levels('expires_after = "2h"\nescalation = [{ after = "2h" }]')).toEqual([[0], 2]);
  expect(levels('approvers = ["did:a"]\nescalation = []')).toEqual([[0], 24]);
  // Without an escalation of its own a rule has the default one, as far as its end lets it.
  expect(levels('expires_after = "1h"')).toEqual([[0], 1]);
  expect(levels('expires_after = "61m"')[0]).toEqual([0, 1]);
  expect(levels('expires_after = "5h"')[0]).toEqual([0, 1, 4]);
  expect(levels('approvers = ["did:a"]\nexpires_after = "5h"')).toEqual([[0], 5]);
  const [first] = parse(`[[rule]]\n${named}`);
  expect(first?.levels[0]).toEqual(DEFAULT_TERMS.levels[0]);
  expect(first?.levels[1]).toEqual({ afterMs: HOUR, notified: ['did:a'], eligible: ['role:approver', 'did:a'] });
});

test('ORC-05.6 a blank name among approvers is refused, and a name that comes twice is one', () => {
  for (const name of ['', ' did:a', 'did:a ']) expect(refusal(`[[rule]]\napprovers = ["${name}"]`)).toMatch(/blank/);
  expect(refusal('[[rule]]\nescalation = [{ after = "1h", approvers = ["role:x"] }]')).toMatch(/role:x in the escal/);
  const [terms] = parse('[[rule]]\napprovers = ["did:a", "role:admin", "did:a"]');
  expect(terms?.levels[0].notified).toEqual(['did:a', 'role:admin']);
});

test('a file may be as long as its limit, and not one character more', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'sallyport-terms-')), 'approvals.toml');
  onTestFinished(() => rm(dirname(path), { recursive: true }));
  const readOf = async (characters: number) => {
    await writeFile(path, `#${'x'.repeat(characters - 1)}`);
    return readApprovalTerms(path, { fourEyes: true });
  };
  expect(await readOf(256 * KiB)).toEqual([]);
  await expect(readOf(256 * KiB + 1)).rejects.toThrow(/approvals.toml has more than 262144 characters/);
});

test('ORC-03.10 the level is the last that was reached; before the first, and after the last, there is none', () => {
  const at = (elapsedMs: number) => levelAt(DEFAULT_TERMS, elapsedMs);
  expect([-1, 0, HOUR - 1, HOUR, 4 * HOUR, 99 * HOUR].map(at)).toEqual([0, 0, 0, 1, 2, 2]);
  expect(levelOf(DEFAULT_TERMS, 1)).toBe(DEFAULT_TERMS.levels[1]);
  expect(levelOf(DEFAULT_TERMS, 7)).toBe(DEFAULT_TERMS.levels[2]);
});

test('ORC-03.11 a rule matches where all that it names fits', () => {
  const named = (rule: string, manifest: object) =>
    termsFor(parse(`[[rule]]\n${rule}`), { manifest: { tool_id: 'x', ...manifest } } as never, 'trust').name;
  expect(named('tags = ["a", "b"]', { tags: ['z', 'b'] })).toBe('rule 1');
  expect(named('tags = ["a", "b"]', { tags: ['z'] })).toBe('default');
  expect(named('tags = ["a"]', {})).toBe('default');
  expect(named('tools = ["y", "x"]', {})).toBe('rule 1');
  expect(named('tools = ["y"]\nreasons = ["trust"]', {})).toBe('default');
  expect(named('categories = ["m", "n"]', { category: 'n' })).toBe('rule 1');
  expect(named('categories = ["m"]', {})).toBe('default');
  // A tool that says nothing of its side effect counts as irreversible.
  expect(named('side_effects = ["irreversible"]', {})).toBe('rule 1');
});
