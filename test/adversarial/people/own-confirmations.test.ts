import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Settings } from '../../../packages/sallyport/src/index.ts';
import { ALICE, type Desk, openDesk, toolOf } from '../../e2e/calls/desk.fixture.ts';

type Mint = Parameters<Desk['layer']['mintToken']>[0];

const AGENT: Mint = { agent_did: 'did:agent:alone', trust_level: 'trusted' };
const WITH_USER: Mint = { ...AGENT, user_did: 'did:user:u' };
const RULES = `
[[tools.policy]]
id = "asks"
effect = "ask"
tool = "guarded"

[[tools.policy]]
id = "everything-else"
effect = "allow"
`;

let folder: string;
let desk: Desk;
let allowing: Desk;
const asked: string[] = [];

/** A client without a person: it answers yes to each question. */
const approvesAll = ({ message }: { readonly message: string }): object => {
  asked.push(message);
  return { action: 'accept', content: { confirm: true } };
};

async function opened(folder: string, settings: Partial<Settings> = {}): Promise<Desk> {
  await mkdir(join(folder, 'policies'), { recursive: true });
  await writeFile(join(folder, 'policies', 'guard.rules.toml'), RULES);
  const made = await openDesk({ folder, settings: { 'permission.engines': ['rules'], ...settings } });
  for (const id of ['guarded', 'both'])
    await made.layer.registerFunction(toolOf(id, { requires_confirmation: true }), ({ n }) => {
      made.runs.push(`${id} ${String(n)}`);
      return { done: n };
    });
  return made;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'own-confirmations-'));
  desk = await opened(join(folder, 'plain'));
  allowing = await opened(join(folder, 'allowing'), {
    'approvals.client_reasons': ['requires_confirmation', 'trust', 'policy', 'executor'],
  });
});
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  await allowing[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  asked.length = 0;
  desk.runs.length = 0;
  allowing.runs.length = 0;
});

const WAITS = { isError: true, _meta: { status: 'pending_approval' } };

describe.each(['2025', '2026'] as const)('a client of the %s era that answers yes to everything', (era) => {
  const call = async (at: Desk, who: Mint, name: string, n: number) =>
    (await at.mcp(await at.token(who), approvesAll, era)).callTool({ name, arguments: { n } });

  test.each<[string, Mint, string]>([
    ['an agent without a user', AGENT, 'send'],
    ['what the trust does not allow', { ...WITH_USER, trust_level: 'provisional' }, 'plain'],
    ['what both the trust and the manifest ask about', { ...WITH_USER, trust_level: 'provisional' }, 'both'],
    ['what a policy asks about', WITH_USER, 'guarded'],
    ['what needs an approver', WITH_USER, 'pay'],
  ])('VIS-06 PRM-06 confirms nothing for %s: it is not even asked, and the call waits', async (_what, who, tool) => {
    const n = era === '2025' ? 1 : 2;
    const waiting = await call(desk, who, tool, n);
    expect(waiting).toMatchObject(WAITS);
    expect([asked, desk.runs]).toEqual([[], []]);
    const approval = waiting._meta?.['approval'] as { approval_id: string } | undefined;
    const path = `/v1/approvals/${approval?.approval_id}/approval`;
    expect(await desk.rest('POST', path, await desk.token(who), {})).toMatchObject({ status: 403 });
    expect(await desk.rest('POST', path, await desk.token({ ...who, roles: ['agent', 'approver'] }), {})).toMatchObject(
      {
        status: 403,
        body: { e_code: 'E3213' },
      },
    );
    expect(await desk.rest('POST', path, await desk.token(ALICE), {})).toMatchObject({ status: 200 });
    await expect.poll(() => desk.runs).toEqual([`${tool} ${n}`]);
  });

  test('VIS-06 confirms what the manifest alone asks about, for the user whom the credential names', async () => {
    const n = era === '2025' ? 3 : 4;
    expect(await call(desk, WITH_USER, 'send', n)).toMatchObject({ structuredContent: { done: n } });
    expect(asked).toHaveLength(1);
  });

  test('VIS-06 confirms what the operator allows beside that, never without a user', async () => {
    const n = era === '2025' ? 5 : 6;
    const little: Mint = { ...WITH_USER, trust_level: 'provisional' };
    expect(await call(allowing, little, 'plain', n)).toMatchObject({ structuredContent: { done: n } });
    expect(await call(allowing, WITH_USER, 'guarded', n)).toMatchObject({ structuredContent: { done: n } });
    expect(asked).toHaveLength(2);
    expect(await call(allowing, { ...AGENT, trust_level: 'provisional' }, 'plain', n)).toMatchObject(WAITS);
    expect(asked).toHaveLength(2);
  });
});
