import { generateKeyPairSync } from 'node:crypto';
import { systemClock } from '@sallyport/std/clock';
import { jwtVerify, SignJWT } from 'jose';
import type { CapabilityClaims } from '../../../packages/sallyport/api/schemas/capability-token.ts';
import { createApiKeys } from '../../../packages/sallyport/src/identity/api-keys.ts';
import { createTokenMint } from '../../../packages/sallyport/src/identity/mint-token.ts';
import type { StoredRevocation } from '../../../packages/sallyport/src/identity/revocations.port.ts';
import { createRevocations } from '../../../packages/sallyport/src/identity/revocations.ts';
import { verifierWith } from '../../../packages/sallyport/src/identity/token/verifier.fixture.ts';
import { silentLog } from '../../../packages/sallyport/src/telemetry/log.ts';
import { memoryApiKeyStore } from '../../../packages/sallyport/test/stores/memory-api-key-store.ts';
import { memoryRevocationStore } from '../../../packages/sallyport/test/stores/memory-revocation-store.ts';
import { ROUNDS } from '../../report/benchmark.ts';
import { besidePeer, type Figure, figureOf } from '../../report/figure.ts';
import { median } from '../../report/statistics.ts';

const TENANT = 'bench';
const REVOKED = 100_000;
/** Tokens that take turns, so that no single one stays in the processor's caches. */
const TOKENS = 500;
/** Repetitions between two looks at the clock. */
const BATCH = 50;

/** What tokens cost with 100 000 of them revoked; in µs of CPU, so that other work on the machine counts less. */
export async function measureCost(seconds: number): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const parts = { clock: systemClock, log: silentLog, onLook: () => {} };
  const revocations = stack.use(createRevocations({ store: await revokedStore(), ...parts }));
  await revocations.start();
  const { isRevoked } = revocations;
  const apiKeys = stack.use(createApiKeys({ store: memoryApiKeyStore(), isRevoked, ...parts }));
  await apiKeys.start();
  const keys = { kid: 'bench', privateKey, publicKey };
  const mint = createTokenMint({
    ...{ keys: () => keys, issuer: 'bench', tenantId: TENANT, agentDid: 'did:bench:agent' },
    ...{ revokedBefore: revocations.issuedBefore, clock: systemClock },
  });
  const minted = await Promise.all(Array.from({ length: TOKENS }, () => mint.mint(GRANTS)));
  const tokens = minted.map(({ capability_token }) => capability_token);
  const claims = minted.map((each) => each.claims);
  const verifying = { kid: 'bench', key: publicKey };
  const known = verifierWith({ keys: [verifying], issuers: ['bench'], isRevoked });
  // Its key is over the moment it was used, so nothing that was verified counts the next time.
  const forgetful = verifierWith({
    keys: [{ ...verifying, goodUntil: () => 0 }],
    issuers: ['bench'],
    isRevoked,
  });
  await Promise.all(tokens.map((token) => known.verify(token)));
  const made = await apiKeys.create({ name: 'bench', claims: claimsOf(claims[0]), by: 'bench' });
  const token = (at: number): string => copied(tokens[at % TOKENS]);
  const cpu = await inTurns(seconds, {
    uncached: (at) => forgetful.verify(token(at)),
    peerVerify: (at) => jwtVerify(token(at), publicKey, { algorithms: ['RS256'], issuer: 'bench' }),
    cached: (at) => known.verify(token(at)),
    mint: () => mint.mint(GRANTS),
    peerSign: (at) =>
      new SignJWT(claims[at % TOKENS] ?? {}).setProtectedHeader({ alg: 'RS256', kid: 'bench' }).sign(privateKey),
    revocation: (at) => isRevoked(claims[at % TOKENS] as CapabilityClaims),
    apiKey: () => apiKeys.identify(copied(made.key)),
  });
  const count = REVOKED.toLocaleString('en').replaceAll(',', ' ');
  return [
    besidePeer(
      figureOf('token verified, not seen before', 'µs CPU', cpu.uncached, { atMost: 100 }),
      'jose alone',
      cpu.peerVerify,
    ),
    figureOf('token verified, seen before', 'µs CPU', cpu.cached, { atMost: 5 }),
    besidePeer(figureOf('token minted', 'µs CPU', cpu.mint), 'jose alone', cpu.peerSign),
    figureOf(`revocation asked for, ${count} revoked`, 'µs CPU', cpu.revocation),
    figureOf('API key identified', 'µs CPU', cpu.apiKey, { atMost: 5 }),
  ];
}

const GRANTS = { tool_id: '*', paths: ['/srv/work'], hosts: ['api.example.com'], roles: ['agent' as const] };

/** A request brings its token as a new string each time: what V8 remembers of a string is not counted for us. */
const copied = (text = ''): string => Buffer.from(text, 'latin1').toString('latin1');

function claimsOf(claims: CapabilityClaims | undefined) {
  if (claims === undefined) throw new Error('no token was minted');
  const { exp: _exp, iat: _iat, iss: _iss, jti: _jti, ...granted } = claims;
  return granted;
}

async function revokedStore() {
  const store = memoryRevocationStore();
  const now = Date.now();
  for (let at = 0; at < REVOKED; at += 1) {
    const revocation: StoredRevocation = {
      id: `r${at}`,
      tenantId: TENANT,
      kind: 'token',
      subject: `token-${at}`,
      expiresAt: now + 3_600_000,
      revokedAt: now,
      revokedBy: 'bench',
    };
    await store.put(revocation);
  }
  return store;
}

type Work = (at: number) => unknown;

/** CPU time of one piece of each work, in µs, of the whole process: the median over rounds that they take turns in. */
async function inTurns<Names extends string>(
  seconds: number,
  works: Readonly<Record<Names, Work>>,
): Promise<Record<Names, number | undefined>> {
  const roundMs = (seconds * 1000) / ROUNDS;
  const named = Object.entries<Work>(works) as [Names, Work][];
  const rounds = Object.fromEntries(named.map(([name]) => [name, []])) as unknown as Record<Names, number[]>;
  for (const [, work] of named) await round(work, roundMs);
  for (let at = 0; at < ROUNDS; at += 1)
    for (const [name, work] of named) rounds[name].push(await round(work, roundMs));
  return Object.fromEntries(named.map(([name]) => [name, median(rounds[name])])) as Record<Names, number | undefined>;
}

async function round(work: Work, forMs: number): Promise<number> {
  const before = process.cpuUsage();
  const end = performance.now() + forMs;
  let count = 0;
  while (performance.now() < end) {
    for (let at = 0; at < BATCH; at += 1) {
      const answer = work(count);
      if (answer instanceof Promise) await answer;
      count += 1;
    }
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
