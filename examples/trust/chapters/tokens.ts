import assert from 'node:assert/strict';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { ask, assertRefused, assertResult, bearer, type TrustParts, tokenFor } from '../trust-story.ts';

const SHOUT = { tool_id: 'shout', parameters: { text: 'hello' } };
const OTHER = { tool_id: 'order', parameters: { article: 'paper', pieces: 1 } };

/** A token, an API key and a signing key, from their beginning to their end. */
export async function tokensChapter(parts: TrustParts): Promise<void> {
  parts.story.step('A capability token');
  await token(parts);
  parts.story.step('An API key');
  await apiKey(parts);
  parts.story.step('The keys that tokens are signed with');
  await keys(parts);
}

async function token(parts: TrustParts): Promise<void> {
  const { story, sallyport, reading } = parts;
  const minted = await sallyport(
    'token',
    'mint',
    '--tool',
    'shout',
    '--agent',
    'did:example:singer',
    '--expires',
    '15m',
  );
  const token = minted.stdout.trim();
  const inspected = await reading(token, 'token', 'inspect');
  story.holds('token inspect explains it claim by claim, and does not repeat it', () => {
    assert.equal(inspected.code, 0, inspected.stderr);
    assert.match(inspected.stdout, /^A capability token, accepted$/m);
    assert.match(inspected.stdout, /^tool_id +shout/m);
    assert.match(inspected.stdout, /^agent_did +did:example:singer/m);
    assert.ok(!(inspected.stdout + inspected.stderr).includes(token));
  });
  const called = await ask(parts, '/v1/invocations', bearer(token), SHOUT);
  const other = await ask(parts, '/v1/invocations', bearer(token), OTHER);
  const none = await ask(parts, '/v1/invocations', {}, SHOUT);
  story.holds('it opens the tool that it is for, no other, and without one nothing is open', () => {
    assertResult(called, 'HELLO');
    assertRefused(other, 'E3209');
    assertRefused(none, 'E3212');
  });
  const revoked = await reading(token, 'token', 'revoke', '--reason', 'laptop lost');
  const after = await ask(parts, '/v1/invocations', bearer(token), SHOUT);
  const explained = await reading(token, 'token', 'inspect');
  story.holds('once it is revoked, the next call is refused, and inspect says why', () => {
    assert.equal(revoked.code, 0, revoked.stderr);
    assert.equal(after.status, 401);
    assertRefused(after, 'E3208');
    assert.equal(explained.code, 1);
    assert.match(explained.stdout + explained.stderr, /E3208/);
  });
}

async function apiKey(parts: TrustParts): Promise<void> {
  const { story, sallyport } = parts;
  const grant = ['--agent', 'did:example:build', '--tool', 'sh*', '--expires', '90d'];
  const created = await sallyport('api-keys', 'create', 'build', ...grant, '--json');
  assert.equal(created.code, 0, created.stderr);
  const { api_key, key } = JSON.parse(created.stdout) as { api_key: string; key: { key_id: string } };
  const called = await ask(parts, '/v1/invocations', { 'x-api-key': api_key }, SHOUT);
  const asBearer = await ask(parts, '/v1/tokens/current', bearer(api_key));
  const other = await ask(parts, '/v1/invocations', { 'x-api-key': api_key }, OTHER);
  story.holds('it is presented as X-API-Key or as a bearer, and allows what it was made for', () => {
    assert.match(api_key, /^sp_/);
    assertResult(called, 'HELLO');
    assert.equal(asBearer.body['agent_did'], 'did:example:build');
    assertRefused(other, 'E3209');
  });
  const listed = await sallyport('api-keys', 'list', '--json');
  const revoked = await sallyport('api-keys', 'revoke', key.key_id);
  const after = await ask(parts, '/v1/invocations', { 'x-api-key': api_key }, SHOUT);
  story.holds('it is listed without its secret, and revoked at once', () => {
    assert.match(listed.stdout, new RegExp(key.key_id));
    assert.ok(!listed.stdout.includes(api_key));
    assert.equal(revoked.code, 0, revoked.stderr);
    assert.equal(after.status, 401);
    assertRefused(after, 'E3208');
  });
}

async function keys(parts: TrustParts): Promise<void> {
  const { story, sallyport } = parts;
  const old = await tokenFor(parts);
  const rotated = await sallyport('keys', 'rotate', '--overlap', '1h', '--json');
  const fresh = await tokenFor(parts);
  const { kid, replaced_kid } = JSON.parse(rotated.stdout) as { kid: string; replaced_kid: string };
  const answers = [await ask(parts, '/v1/invocations', bearer(old), SHOUT)];
  answers.push(await ask(parts, '/v1/invocations', bearer(fresh), SHOUT));
  story.holds('after a rotation new tokens are signed with the new key, and old ones are still good', () => {
    assert.deepEqual(
      [old, fresh].map((one) => decodeProtectedHeader(one).kid),
      [replaced_kid, kid],
    );
    for (const answer of answers) assertResult(answer, 'HELLO');
  });
  const { body } = await ask(parts, '/.well-known/jwks.json', {});
  const published = createLocalJWKSet(body as unknown as JSONWebKeySet);
  const read = await Promise.all([old, fresh].map((one) => jwtVerify(one, published, { algorithms: ['RS256'] })));
  story.holds('anybody can verify both with the keys at /.well-known/jwks.json, which holds no private part', () => {
    assert.deepEqual(
      read.map(({ payload }) => payload['tool_id']),
      ['*', '*'],
    );
    assert.doesNotMatch(JSON.stringify(body), /"(?:d|p|q|dp|dq|qi)":/);
  });
}
