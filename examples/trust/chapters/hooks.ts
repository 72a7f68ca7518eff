import assert from 'node:assert/strict';
import { assertRefused, assertResult, eventsOf, invoke, refusalOf, type TrustParts } from '../trust-story.ts';

/** An operator's own code before calls: in this process, and called through a signed webhook. */
export async function hooksChapter(parts: TrustParts): Promise<void> {
  parts.story.step('Hooks');
  await inProcess(parts);
  await webhook(parts);
}

async function inProcess(parts: TrustParts): Promise<void> {
  const { story, notes, runsOf } = parts;
  const save = (text: string) =>
    invoke(parts, 'save-note', { path: `${notes}/plan.txt`, text }, {}, { paths: [notes], mode: 'rw' });
  const filed = await save('file me');
  const events = await eventsOf(parts, filed);
  story.holds('a hook in this process rewrites an argument, and the record says so without the value', () => {
    assertResult(filed, `file me > ${notes}/inbox/plan.txt`);
    assert.match(events, /"id":"one-folder"/);
    assert.match(events, /"outcome":"rewrite"/);
    assert.ok(!events.includes('plan.txt'));
  });
  const runs = runsOf('save-note');
  const outside = await save('hook: leave the grant');
  const misshapen = await save('hook: break the schema');
  story.holds('what it writes is validated and authorised as if the caller had sent it', () => {
    assert.equal(outside.body['status'], 'permission_denied', JSON.stringify(outside.body));
    assertRefused(outside, 'E3203');
    assertRefused(misshapen, 'E3509');
    assert.equal(runsOf('save-note'), runs);
  });
}

async function webhook(parts: TrustParts): Promise<void> {
  const { story, post, runsOf } = parts;
  const say = (text: string) => invoke(parts, 'post-message', { text });
  const allowed = await say('Lunch is ready.');
  const refused = await say('Our best customer is ill.');
  story.holds('a signed webhook lets one message go and refuses another, with its reason', () => {
    assertResult(allowed, 'posted: Lunch is ready.');
    assertRefused(refused, 'E3815');
    assert.match(refusalOf(refused)?.message ?? '', /It names a customer/);
    assert.deepEqual(
      post.asked.map(({ type }) => type),
      ['call.before', 'call.before'],
    );
  });
  const runs = runsOf('post-message');
  post.signs = false;
  const unsigned = await say('Lunch is ready.');
  post.signs = true;
  story.holds('an answer that is not signed counts for nothing: the call is refused', () => {
    assertRefused(unsigned, 'E3816');
    assert.equal(runsOf('post-message'), runs);
  });
}
