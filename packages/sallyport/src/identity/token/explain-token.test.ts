import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { verifierWith } from './verifier.fixture.ts';

const [own, other] = [0, 1].map(() => generateKeyPairSync('ed25519'));
const NOW = 1_800_000_000;
const CLAIMS = {
  ...{ tool_id: '*', agent_did: 'did:a', tenant_id: 'acme', allowed_operations: ['execute'] },
  ...{ iss: 'issuer', iat: NOW, exp: NOW + 60 },
};
const FORGED =
  'The capability token is not a JWT signed by a known key with EdDSA: its signature is by no key known here.';
const FOREIGN = 'The issuer of the capability token is not accepted here.';

const { explain } = verifierWith({
  keys: [{ kid: 'k', key: own?.publicKey as KeyObject }],
  issuers: ['issuer'],
  algorithms: ['EdDSA'],
  clock: { now: () => NOW * 1000, monotonic: () => 0 },
  isRevoked: ({ jti }) => jti === 'revoked',
});
const sign = (claims: object, header: object = {}, by = own) =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg: 'EdDSA', ...header }).sign(by?.privateKey as KeyObject);
/** Each reason, its code first and without the advice at its end. */
const reasons = async (token: string) =>
  (await explain(token)).reasons.map(({ e_code, message }) => `${e_code} ${message.replace(/ Ask .*/, '')}`);
const part = (text: string) => Buffer.from(text).toString('base64url');
const without = (...names: readonly string[]) =>
  Object.fromEntries(Object.entries(CLAIMS).filter(([name]) => !names.includes(name)));

test('PRM-01.5 PRM-01.9 every reason for which a token is refused is named once, the first one first', async () => {
  expect(await reasons(await sign(CLAIMS))).toEqual([]);
  const lacking = 'E3207 The capability token lacks tool_id, iss.';
  expect(await reasons(await sign(without('tool_id', 'iss')))).toEqual([lacking]);
  expect(await reasons(await sign(without('tool_id', 'iss'), {}, other))).toEqual([`E3201 ${FORGED}`, lacking]);
  const odd = 'E3201 The capability token has claims of the wrong form: agent_did, nbf.';
  const malformed = { agent_did: 7, nbf: 'soon' };
  expect(await reasons(await sign({ ...CLAIMS, ...malformed }))).toEqual([odd]);
  expect(await reasons(await sign({ ...without('tool_id', 'iss'), ...malformed, exp: 1 }, {}, other))).toEqual([
    ...[`E3201 ${FORGED}`, lacking, odd],
  ]);
  expect(await reasons(await sign({ ...CLAIMS, iss: 'stranger' }))).toEqual([`E3201 ${FOREIGN}`]);
  const expired = `E3202 The capability token expired at ${new Date((NOW - 60) * 1000).toISOString()}.`;
  const old = { ...CLAIMS, exp: NOW - 60 };
  expect(await reasons(await sign(old))).toEqual([expired]);
  expect(await reasons(await sign({ ...old, iss: 'stranger' }, {}, other))).toEqual([
    ...[`E3201 ${FORGED}`, `E3201 ${FOREIGN}`, expired],
  ]);
  const revoked = 'E3208 The capability token was revoked.';
  expect(await reasons(await sign({ ...CLAIMS, jti: 'revoked' }, {}, other))).toEqual([`E3201 ${FORGED}`, revoked]);
});

test('PRM-01.5 eight claims of the wrong form are named at most', async () => {
  const names = [
    'session_id',
    'tenant_id',
    'tool_id',
    'user_did',
    'agent_did',
    'allowed_operations',
    'jti',
    'aud',
    'exp',
  ];
  const [reason = ''] = await reasons(
    await sign({ ...CLAIMS, ...Object.fromEntries(names.map((name) => [name, {}])) }),
  );
  expect(names.filter((name) => reason.includes(name))).toHaveLength(8);
});

test('PRM-01.3 of a token that can be read in part, that part is shown', async () => {
  const [header = '', payload = '', signature = ''] = (await sign(CLAIMS, { kid: 'k', typ: 'JWT' })).split('.');
  expect(await explain(`${header}.${payload}.${signature}`)).toMatchObject({
    ...{ kind: 'capability_token', accepted: true, header: { alg: 'EdDSA', kid: 'k', typ: 'JWT' } },
  });
  expect(await reasons('x')).toEqual([
    'E3201 The capability token is not a JWT signed by a known key with EdDSA: it is no compact JWS.',
    'E3201 The payload of the token is not a JSON object, or has a member twice.',
  ]);
  for (const [odd, why] of [
    ['{"kid":"k"}', 'its header names no algorithm'],
    ['{"alg":"EdDSA","kid":1}', 'its kid is odd'],
    ['{"alg":"EdDSA","typ":1}', 'its typ is odd'],
    ['{"alg":"EdDSA","jku":"https://a.example"}', 'its header has the member jku'],
    ['[]', 'its header cannot be read: not a JSON object'],
  ] as const) {
    const explained = await explain(`${part(odd)}.${payload}.${signature}`);
    expect(explained).toMatchObject({ kind: 'capability_token', accepted: false });
    expect([explained.header, explained.claims.length]).toEqual([undefined, 7]);
    expect(explained.reasons).toEqual([{ e_code: 'E3201', message: expect.stringContaining(why) }]);
  }
  const bare = await explain(await sign(CLAIMS));
  expect(bare.header).toStrictEqual({ alg: 'EdDSA' });
});

test('PRM-01.3 of what is longer than a token may be nothing is verified, and of its claims a hundred are shown', async () => {
  const many = Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`claim ${at}`, at]));
  const { accepted, claims } = await explain(await sign({ ...CLAIMS, ...many, toString: 'x' }));
  expect([accepted, claims.length]).toEqual([true, 100]);
  const padded = async (length: number) => {
    const token = await sign(CLAIMS, { kid: 'k'.repeat(9) });
    const missing = length - token.length;
    return `${token}${'A'.repeat(missing)}`;
  };
  const longest = await reasons(await padded(16_384));
  expect(longest).toEqual([expect.stringMatching(/^E3201 .* signature/)]);
  expect(await reasons(await padded(16_385))).toEqual(['E3201 The capability token is longer than 16384 bytes.']);
});

test('PRM-01.3 what a claim means is said of those that the layer knows, and of no member of every object', async () => {
  const { claims } = await explain(await sign({ ...CLAIMS, constructor: 1, sub: 's' }));
  const known = Object.fromEntries(claims.map(({ name, means }) => [name, means]));
  expect(known).toMatchObject({ tool_id: expect.stringContaining('tools'), sub: expect.stringContaining('means') });
  expect(claims.find(({ name }) => name === 'constructor')).toStrictEqual({ name: 'constructor', value: 1 });
});
