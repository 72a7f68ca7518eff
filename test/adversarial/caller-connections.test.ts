import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type EchoingServer,
  echoingServer,
} from '../../packages/sallyport/src/mcp-servers/connection/per-caller/echoing-server.fixture.ts';
import {
  type Fixture,
  failureOf,
  fixture,
  TENANT,
  textOf,
} from '../../packages/sallyport/src/mcp-servers/test-servers/upstreams.fixture.ts';

const USERS = 200;
const CALLS_EACH = 3;
const CONNECTIONS_MAX = 16;
/** A limit generous enough for a busy machine; no test waits until it passes. */
const PATIENCE_MS = 100_000;

let server: EchoingServer;
let layer: Fixture;

beforeAll(async () => {
  server = await echoingServer('crowded');
  layer = fixture(createBubblewrapDriver(), {
    secrets: { read: async () => new Map([['KEY', 'of-the-operator']]) },
    settings: { callerConnectionsMax: CONNECTIONS_MAX, connectTimeoutMs: PATIENCE_MS },
  });
  await layer.upstreams.add(TENANT, server.definition);
});
afterAll(async () => {
  await layer.upstreams.close();
  expect(server.open.size).toBe(0);
  await server[Symbol.asyncDispose]();
});

/**
 * The credential of a user for a turn: for the last call every seventh user has a new one; the credential of every
 * eleventh user is refused.
 */
const keyOf = (user: number, turn: number): string =>
  `key-of-${user}-${user % 7 === 0 && turn === CALLS_EACH - 1 ? 'new' : 'first'}`;
const isRefused = (user: number): boolean => user % 11 === 0;

function call(user: number, turn: number, signal?: AbortSignal): Promise<string> {
  const caller = {
    principal: { tenantId: TENANT, agentDid: 'did:example:agent', userDid: `did:example:${user}` },
    secrets: new Map([['KEY', keyOf(user, turn)]]),
  };
  const options = { timeoutMs: PATIENCE_MS, caller, ...(signal === undefined ? {} : { signal }) };
  return layer.upstreams.call(TENANT, 'crowded', 'who', { user, turn }, options).then(textOf);
}

test(
  'PRM-11.5 200 users through 16 connections, with lost sessions, changed and refused credentials: each is himself in every call',
  async () => {
    const users = Array.from({ length: USERS }, (_, user) => user);
    for (const user of users.filter(isRefused)) {
      for (const turn of [0, CALLS_EACH - 1]) server.refused.add(`Bearer ${keyOf(user, turn)}`);
    }
    const turns = Array.from({ length: CALLS_EACH }, (_, turn) => turn);
    const ends = await Promise.all(
      turns.flatMap((turn) =>
        users.map(async (user) => {
          if (isRefused(user)) return { user, turn, said: (await failureOf(call(user, turn))).code };
          // Some users give up while they wait; the calls that they leave must not harm others.
          if (user % 5 === 0) void call(user, turn, AbortSignal.timeout(user)).catch(() => {});
          const said = await call(user, turn);
          // Now and then the server forgets a session of some user.
          if (user % 13 === 0) server.open.delete([...server.open][0] ?? '');
          return { user, turn, said };
        }),
      ),
    );
    expect(ends).toHaveLength(USERS * CALLS_EACH);
    const wrong = ends.filter(({ user, turn, said }) => {
      return said !== (isRefused(user) ? 'E3307' : `Bearer ${keyOf(user, turn)}`);
    });
    expect(wrong).toEqual([]);
    expect(server.mixed).toEqual([]);
    const misled = server.calls.filter(({ authorization, args }) => {
      return authorization !== `Bearer ${keyOf(Number(args['user']), Number(args['turn']))}`;
    });
    expect(misled).toEqual([]);
    expect(server.openMax()).toBeLessThanOrEqual(CONNECTIONS_MAX);
  },
  PATIENCE_MS,
);
