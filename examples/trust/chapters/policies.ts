import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assertRefused, assertResult, eventsOf, invoke, refusalOf, type TrustParts, until } from '../trust-story.ts';

const INTERN = 'did:example:intern';
const POLICY = `
@id("the-intern-deletes-nothing")
forbid (principal, action == Action::"invoke", resource)
when { principal.did == "${INTERN}" && resource.id == "delete-page" };
`;
const SHADOW = `@id("quiet")
forbid (principal, action, resource) when { resource.id == "shout" };
`;
const TESTS = `[[cases]]
name = "the intern deletes nothing"
expect = "deny"
by = "story.cedar:the-intern-deletes-nothing"
principal = { agent_did = "${INTERN}" }
tool = { tool_id = "delete-page" }

[[cases]]
name = "nobody deletes anything"
expect = "deny"
principal = { agent_did = "did:example:agent" }
tool = { tool_id = "delete-page" }
`;

const removed = (parts: TrustParts) => invoke(parts, 'delete-page', { page: 'home' }, {}, { agent_did: INTERN });

/** Policies as files: put in force, tested, explained, and tried in the shadow. */
export async function policiesChapter(parts: TrustParts): Promise<void> {
  parts.story.step('Policies');
  await inForce(parts);
  await broken(parts);
  await tested(parts);
  await inShadow(parts);
}

async function inForce(parts: TrustParts): Promise<void> {
  const { story, folder, sallyport } = parts;
  assertResult(await removed(parts), 'home is gone');
  await writeFile(join(folder, 'policies', 'story.cedar'), POLICY);
  await until('the policy is in force', async () => refusalOf(await removed(parts)) !== undefined);
  const runs = parts.runsOf('delete-page');
  const denied = await removed(parts);
  const other = await invoke(parts, 'delete-page', { page: 'home' });
  story.holds('a file that forbids one agent one tool is in force without a restart', () => {
    assertRefused(denied, 'E3210');
    assert.match(refusalOf(denied)?.message ?? '', /story\.cedar:the-intern-deletes-nothing/);
    assertResult(other, 'home is gone');
    assert.equal(parts.runsOf('delete-page'), runs + 1);
  });
  const why = await sallyport('policy', 'why', String(denied.body['invocation_id']));
  story.holds('policy why of the call names file and line, and what would have to change', () => {
    assert.equal(why.code, 0, why.stderr);
    const found = /story\.cedar:the-intern-deletes-nothing \(story\.cedar:(?<line>\d+)\)/.exec(why.stdout);
    const line = Number(found?.groups?.['line']);
    assert.ok(line === 2 || line === 3, why.stdout);
    assert.match(why.stdout, /did:example:intern/);
    assert.match(why.stdout, /^ {2}- /m);
  });
}

async function broken(parts: TrustParts): Promise<void> {
  const { story, folder, sallyport } = parts;
  const file = join(folder, 'policies', 'typo.cedar');
  await writeFile(file, 'permit (principal, action, resource) when { resource.colour == "red" };\n');
  const list = () => sallyport('policy', 'list');
  await until('the fault is reported', async () => (await list()).code === 1);
  const { stdout, stderr } = await list();
  const denied = await removed(parts);
  story.holds(
    'a set with a fault stays out, policy list says so with the line, and the one before it stays in force',
    () => {
      assert.match(stdout + stderr, /typo\.cedar, line 1/);
      assertRefused(denied, 'E3210');
    },
  );
  await rm(file);
  await until('the fault is gone', async () => (await list()).code === 0);
}

async function tested(parts: TrustParts): Promise<void> {
  const { story, folder, sallyport } = parts;
  await writeFile(join(folder, 'policies', 'story.test.toml'), TESTS);
  const { code, stdout } = await sallyport('policy', 'test');
  story.holds('policy test separates the case that holds from the one that does not, and ends with 1', () => {
    assert.equal(code, 1, stdout);
    assert.match(stdout, /nobody deletes anything/);
    assert.match(stdout, /1 passed, 1 failed/);
  });
}

async function inShadow(parts: TrustParts): Promise<void> {
  const { story, folder, sallyport } = parts;
  await writeFile(join(folder, 'policies', 'next.shadow.cedar'), SHADOW);
  const reloaded = await sallyport('policy', 'reload');
  const called = await invoke(parts, 'shout', { text: 'still' });
  const events = await eventsOf(parts, called);
  story.holds('a policy in shadow mode stops nothing, and the record says what it would have done', () => {
    assert.equal(reloaded.code, 0, reloaded.stderr);
    assertResult(called, 'STILL');
    assert.match(events, /"shadow":\{"allowed":false,"policies":\["next\.shadow\.cedar:quiet"\]/);
  });
}
