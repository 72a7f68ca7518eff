import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AGENT, invoke, type TrustParts, tokenFor, until } from '../trust-story.ts';

const ADDRESS = 'ann.lee@example.org';
const SOURCE = 'mail of ann.lee@example.org, telephone 415-555-2671';

/** What is on record of all this, and what is not. */
export async function recordChapter(parts: TrustParts): Promise<void> {
  const { story, folder, sallyport, reading } = parts;
  story.step('The record');
  const planted = `ghp_${randomBytes(18).toString('hex')}`;
  const password = randomBytes(9).toString('hex');
  const execution_options = { claim_source: SOURCE };
  const called = await invoke(
    parts,
    'shout',
    { text: 'x' },
    { execution_options },
    { session_id: `desk of ${ADDRESS}` },
  );
  const reason = `leaked with password=${password} and ${planted}`;
  const token = await tokenFor(parts);
  for (const done of [
    await reading(token, 'token', 'revoke', '--reason', reason),
    await sallyport('activations', 'set', AGENT, 'order', '--disable', '--reason', `asked for by ${ADDRESS}`),
    await sallyport('api-keys', 'create', `laptop of ${ADDRESS}`, '--expires', '1h'),
  ]) {
    assert.equal(done.code, 0, done.stderr);
  }
  const written = () => readFile(join(folder, 'audit.jsonl'), 'utf8');
  await until('the file has it all', async () => /laptop of/.test(await written()));
  const file = await written();
  story.holds(
    'the audit file has the call, the revocation and the rest, and that something was taken out of each',
    () => {
      assert.ok(file.includes(String(called.body['invocation_id'])));
      assert.match(file, /desk of \[REDACTED:email\]/);
      assert.match(file, /asked for by \[REDACTED:email\]/);
      assert.match(file, /laptop of \[REDACTED:email\]/);
      assert.match(file, /leaked with password=\[REDACTED:password\] and \[REDACTED:token\]/);
    },
  );
  story.holds('neither the address, nor the number, nor the password, nor the token is in it', () => {
    for (const secret of [ADDRESS, '415-555-2671', password, planted]) assert.ok(!file.includes(secret), secret);
  });
  const { code, stdout, stderr } = await sallyport('audit', 'verify');
  story.holds('audit verify says that nothing was changed, added or left out', () => assert.equal(code, 0, stderr));
  console.log(`      ${stdout.trim().split('\n').join('\n      ')}`);
}
