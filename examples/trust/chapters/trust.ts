import assert from 'node:assert/strict';
import type { PendingApproval } from '../../../packages/sallyport/api/schemas/invocation.ts';
import {
  type Answer,
  ask,
  assertRefused,
  assertResult,
  bearer,
  callOverMcp,
  invoke,
  refusalOf,
  type TrustParts,
  tokenFor,
} from '../trust-story.ts';

/** What an agent may do alone, how often, and what it can learn before. */
export async function trustChapter(parts: TrustParts): Promise<void> {
  parts.story.step('A dry run');
  await dryRun(parts);
  parts.story.step('How far an agent is trusted');
  await trusted(parts);
  parts.story.step('How often a session may call');
  await quota(parts);
}

async function dryRun(parts: TrustParts): Promise<void> {
  const { story, sallyport, runsOf } = parts;
  const runs = runsOf('delete-page');
  const invocation_id = crypto.randomUUID();
  const headers = bearer(await tokenFor(parts));
  const request = { tool_id: 'delete-page', parameters: { page: 'home' } };
  const { body } = await ask(parts, '/v1/dry-runs', headers, { ...request, invocation_id });
  const found = await ask(parts, `/v1/invocations/${invocation_id}`, headers);
  story.holds(
    'it says that the call would run, why, and through which stages; nothing ran, no invocation is there',
    () => {
      assert.equal(body['would'], 'run', JSON.stringify(body));
      assert.match(JSON.stringify(body['policy_decision']), /permit-what-the-token-allows/);
      const stages = body['stages'] as { stage: string; outcome: string }[];
      assert.ok(stages.some(({ stage, outcome }) => stage === 'authorize' && outcome === 'passed'));
      assert.equal(found.status, 404, JSON.stringify(found.body));
      assert.equal(runsOf('delete-page'), runs);
    },
  );
  const overMcp = await callOverMcp(parts, 'delete-page', { page: 'home' }, { 'sallyport/dry_run': true });
  const intern = await tokenFor(parts, { agent_did: 'did:example:intern' });
  const refused = await ask(parts, '/v1/dry-runs', bearer(intern), request);
  const faulty = await sallyport('invoke', 'delete-page', '{"name":"home"}', '--dry-run');
  story.holds('an MCP client gets the same, as an error, because nothing ran', () => {
    assert.equal(overMcp.isError, true);
    assert.partialDeepStrictEqual(overMcp._meta?.['sallyport/dry_run'], { would: 'run' });
    assert.equal(runsOf('delete-page'), runs);
  });
  story.holds('it says which policy would refuse, and that the arguments would not fit', () => {
    assert.equal(refused.body['would'], 'refuse');
    assert.match(JSON.stringify(refused.body), /the-intern-deletes-nothing/);
    assert.equal(faulty.code, 1);
    assert.match(faulty.stdout + faulty.stderr, /E3509/);
  });
}

/** What a person is asked before the call goes on. */
function approvalOf({ body }: Answer): PendingApproval | undefined {
  return (body as { readonly approval?: PendingApproval }).approval;
}

async function trusted(parts: TrustParts): Promise<void> {
  const { story, runsOf, notes } = parts;
  const untrusted = { trust_level: 'untrusted' as const };
  const provisional = { trust_level: 'provisional' as const, paths: [notes], mode: 'rw' as const };
  const runs = runsOf('delete-page');
  const pure = await invoke(parts, 'shout', { text: 'hi' }, {}, untrusted);
  const irreversible = await invoke(parts, 'delete-page', { page: 'home' }, {}, untrusted);
  story.holds('untrusted: a pure tool runs, an irreversible one waits for a person', () => {
    assertResult(pure, 'HI');
    assert.equal(irreversible.body['status'], 'pending_approval', JSON.stringify(irreversible.body));
    assert.equal(approvalOf(irreversible)?.reason, 'trust');
    assert.equal(runsOf('delete-page'), runs);
  });
  const note = { path: `${notes}/a.txt`, text: 'tea' };
  const idempotent = await invoke(parts, 'save-note', note, {}, provisional);
  const waits = await invoke(parts, 'delete-page', { page: 'home' }, {}, { trust_level: 'provisional' });
  const alone = await invoke(
    parts,
    'delete-page',
    { page: 'home' },
    { execution_options: { phase: 'autonomous' } },
    untrusted,
  );
  story.holds('provisional: an idempotent one runs too; where nobody can be asked, what would wait is refused', () => {
    assertResult(idempotent, `tea > ${notes}/a.txt`);
    assert.equal(approvalOf(waits)?.reason, 'trust');
    assertRefused(alone, 'E3210');
  });
}

async function quota(parts: TrustParts): Promise<void> {
  const { story, runsOf } = parts;
  const headers = bearer(await tokenFor(parts, { session_id: 'a-morning' }));
  const shout = (text: string, key?: string) => {
    const more = key === undefined ? {} : { execution_options: { idempotency_key: key } };
    return ask(parts, '/v1/invocations', headers, { tool_id: 'shout', parameters: { text }, ...more });
  };
  const runs = runsOf('shout');
  const first = [await shout('one', 'k'), await shout('one', 'k'), await shout('two'), await shout('three')];
  const fourth = await shout('four');
  const replay = await shout('one', 'k');
  const others = await invoke(parts, 'shout', { text: 'me' }, {}, { session_id: 'an-evening' });
  story.holds('three calls of a session run, the fourth is quota_blocked, and another session goes on', () => {
    assert.deepEqual(
      first.map(({ body }) => body['result']),
      ['ONE', 'ONE', 'TWO', 'THREE'],
    );
    assertRefused(fourth, 'E3211');
    assert.equal(refusalOf(fourth)?.code, 'quota_blocked');
    assertResult(others, 'ME');
  });
  story.holds('a replay of an idempotency key runs nothing and is not counted, also when nothing is left', () => {
    assertResult(replay, 'ONE');
    assert.equal(runsOf('shout'), runs + 4);
  });
}
