import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_TERMS, termsFor } from './approval-terms.ts';
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

test('what is not TOML, not known or too long is refused by name', async () => {
  expect(refusal('[[rule')).toMatch(/^E3801 .*is not TOML/);
  expect(refusal('[[rule]]\napprover = ["x"]')).toMatch(/^E3801 .*approvals.toml has faults/);
  const path = join(await mkdtemp(join(tmpdir(), 'sallyport-terms-')), 'approvals.toml');
  onTestFinished(() => rm(dirname(path), { recursive: true }));
  await writeFile(path, `# ${'x'.repeat(300_000)}`);
  await expect(readApprovalTerms(path, { fourEyes: true })).rejects.toThrow(
    /approvals.toml has more than .* characters/,
  );
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
