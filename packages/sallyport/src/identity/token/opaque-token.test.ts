import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import { fixedKeys } from '../key-source.ts';
import { ACCESS_RULES, verifierWith } from './verifier.fixture.ts';

const ISSUER = 'https://id.example';
const START = 1_800_000_000_000;

function verifierFor(answer: object | undefined) {
  const time = { now: START };
  const said = {
    current: answer as Readonly<Record<string, unknown>> | undefined,
    asked: 0,
    fault: undefined as Error | undefined,
  };
  const verifier = verifierWith({
    clock: { now: () => time.now, monotonic: () => time.now },
    accessTokens: {
      ...ACCESS_RULES,
      issuer: ISSUER,
      keys: fixedKeys([]),
      audiences: ['tools'],
      roles: { 'tools:call': 'agent' },
      tenantId: 'default',
      introspect: async () => {
        said.asked += 1;
        if (said.fault !== undefined) throw said.fault;
        return said.current;
      },
    },
  });
  return { time, said, explain: verifier.explain, verify: async () => verifier.verify('opaque') };
}

const ACTIVE = { active: true, client_id: 'desk', sub: 'u', aud: 'tools', scope: 'tools:call' };

test('PRM-10.2 an answer counts for thirty seconds: a token that was withdrawn is refused after that', async () => {
  const { time, said, verify } = verifierFor(ACTIVE);
  expect(await verify()).toMatchObject({ agent_did: 'oauth:desk', user_did: 'oauth:u', roles: ['agent'] });
  said.current = undefined;
  time.now = START + 29_999;
  expect(isFailure(await verify())).toBe(false);
  expect(said.asked).toBe(1);
  time.now = START + 30_000;
  expect(await verify()).toMatchObject({ code: 'E3201' });
  expect(said.asked).toBe(2);
});

test.each([
  ['no audience', { aud: undefined }, 'E3207'],
  ['another audience', { aud: ['other'] }, 'E3201'],
  ['another issuer', { iss: 'https://other.example' }, 'E3201'],
  ['an end that is over', { exp: START / 1000 - 60 }, 'E3202'],
  ['nobody', { client_id: undefined, sub: undefined }, 'E3207'],
  ['a claim of a wrong type', { scope: 1 }, 'E3201'],
])('PRM-10.2 an answer that names %s is refused', async (_what, more, code) => {
  const given = Object.fromEntries(Object.entries({ ...ACTIVE, ...more }).filter(([, value]) => value !== undefined));
  expect(await verifierFor(given).verify()).toMatchObject({ code });
});

test('PRM-10.2 an answer that is refused is not kept: the server is asked again each time', async () => {
  const { said, verify } = verifierFor({ ...ACTIVE, aud: 'other' });
  for (const asked of [1, 2]) {
    expect(await verify()).toMatchObject({ code: 'E3201' });
    expect(said.asked).toBe(asked);
  }
});

test('PRM-10.2 an opaque token is explained by what its server says of it', async () => {
  const { explain, said, time } = verifierFor(ACTIVE);
  const accepted = await explain('opaque');
  expect(accepted).toMatchObject({ kind: 'access_token', accepted: true, reasons: [] });
  expect(accepted.claims.map(({ name }) => name)).toEqual(expect.arrayContaining(['agent_did', 'user_did']));
  said.current = { ...ACTIVE, exp: START / 1000 - 60 };
  time.now += 30_000;
  const expired = await explain('opaque');
  expect(expired).toMatchObject({ accepted: false, reasons: [{ e_code: 'E3202' }] });
  said.current = undefined;
  expect(await explain('another')).toMatchObject({ accepted: false, claims: [], reasons: [{ e_code: 'E3201' }] });
  said.current = ACTIVE;
  expect(await explain('x'.repeat(16_384))).toMatchObject({ accepted: true });
  const long = await explain('x'.repeat(16_385));
  const tooLong = { e_code: 'E3201', message: expect.stringContaining('longer than 16384') };
  expect(long).toMatchObject({ accepted: false, reasons: [tooLong] });
});

test('PRM-10.2 what the answer leaves out is filled in: the client stands for the subject', async () => {
  const { sub: _sub, ...clientAlone } = ACTIVE;
  expect(await verifierFor(clientAlone).verify()).toMatchObject({
    ...{ agent_did: 'oauth:desk', iss: ISSUER, iat: START / 1000, exp: START / 1000 + 30 },
  });
});

test('PRM-10.2 a token is not accepted while its server cannot be asked, and is asked about again', async () => {
  const { said, verify } = verifierFor(ACTIVE);
  said.fault = new Error('the server is away');
  expect(await verify()).toMatchObject({ code: 'E3206', retryAfterMs: 5_000, cause: said.fault });
  said.fault = undefined;
  expect(isFailure(await verify())).toBe(false);
});
