import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Desk, openDesk, TOOLS } from '../../e2e/calls/desk.fixture.ts';

/** For sessions and for streams each: 2 for one holder, 3 for one tenant, 5 in all. */
const BOUNDS = {
  'server.sessions_per_holder_max': 2,
  'server.sessions_per_tenant_max': 3,
  'server.sessions_max': 5,
  'server.streams_per_holder_max': 2,
  'server.streams_per_tenant_max': 3,
  'server.streams_max': 5,
};

let desk: Desk;
const tokens = new Map<string, string>();
const opened: AbortController[] = [];
beforeAll(async () => {
  desk = await openDesk({ settings: BOUNDS });
  const [pay] = TOOLS;
  for (const tenantId of ['acme', 'globex', 'initech'])
    await desk.layer.ask('tools.register', { manifest: { ...pay } }, { door: 'library', local: true, tenantId });
});
afterEach(() => {
  for (const each of opened.splice(0)) each.abort();
});
afterAll(() => desk[Symbol.asyncDispose]());

/** A token of an agent; `who` is written as tenant/agent. */
async function tokenOf(who: string): Promise<string> {
  const known = tokens.get(who);
  if (known !== undefined) return known;
  const [tenant_id = '', name = ''] = who.split('/');
  const made = await desk.token({ tenant_id, agent_did: `did:agent:${name}`, trust_level: 'trusted' });
  tokens.set(who, made);
  return made;
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const asOf = async (who: string) => ({ ...HEADERS, authorization: `Bearer ${await tokenOf(who)}` });

async function rpc(who: string, method: string, params: object, more: Record<string, string> = {}): Promise<Response> {
  const stop = new AbortController();
  opened.push(stop);
  return fetch(`${desk.server.url}/mcp`, {
    method: 'POST',
    headers: { ...(await asOf(who)), ...more },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: stop.signal,
  });
}

interface Session {
  readonly who: string;
  readonly status: number;
  readonly id: string;
}

async function openSession(who: string): Promise<Session> {
  const answer = await rpc(who, 'initialize', { protocolVersion: '2025-11-25' });
  await answer.body?.cancel();
  return { who, status: answer.status, id: answer.headers.get('mcp-session-id') ?? '' };
}
const isOpen = async ({ who, id }: Session): Promise<boolean> =>
  (await rpc(who, 'ping', {}, { 'mcp-session-id': id })).status === 200;
const endSession = async ({ who, id }: Session): Promise<void> => {
  const headers = { ...(await asOf(who)), 'mcp-session-id': id };
  await (await fetch(`${desk.server.url}/mcp`, { method: 'DELETE', headers })).body?.cancel();
};

describe('sessions', () => {
  test('API-03 PRM-10 a holder that opens many ends its own, and a tenant takes no more than its share', async () => {
    const bystander = await openSession('globex/b');
    const greedy: Session[] = [];
    for (let at = 0; at < 8; at += 1) greedy.push(await openSession('acme/a'));
    expect(greedy.map(({ status }) => status)).toEqual(greedy.map(() => 200));
    expect(await Promise.all(greedy.map(isOpen))).toEqual([...Array(6).fill(false), true, true]);
    const others = [await openSession('acme/c'), await openSession('acme/d')];
    expect(others.map(({ status }) => status)).toEqual([200, 503]);
    expect(await isOpen(bystander)).toBe(true);
    // A holder whose tenant has reached its limit can still replace a session of their own.
    expect((await openSession('acme/c')).status).toBe(200);
    const second = await openSession('globex/e');
    expect(second.status).toBe(200);
    const all = await openSession('initech/f');
    expect([all.status, await isOpen(bystander)]).toEqual([503, true]);
    for (const each of [...greedy.slice(6), second, bystander]) await endSession(each);
    expect((await openSession('initech/f')).status).toBe(200);
  });
});

/** An event stream: its status, and whether it is open. */
interface Stream {
  readonly status: number;
  readonly ended: () => boolean;
}

function following(answer: Response): Stream {
  let ended = false;
  const read = async (): Promise<void> => {
    const reader = answer.body?.getReader();
    while ((await reader?.read())?.done === false);
    ended = true;
  };
  void read().catch(() => {
    ended = true;
  });
  return { status: answer.status, ended: () => ended };
}

async function waiting(who: string): Promise<string> {
  const { body } = await desk.invoke('pay', 1, {}, await tokenOf(who));
  expect(body).toMatchObject({ status: 'pending_approval' });
  return String(body['invocation_id']);
}

describe.each<[string, (who: string) => Promise<Stream>]>([
  [
    'subscriptions of MCP 2026-07-28',
    async (who) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const params = { _meta, notifications: { toolsListChanged: true } };
      const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
      return following(await rpc(who, 'subscriptions/listen', params, headers));
    },
  ],
  [
    'streams of calls over REST',
    async (who) => {
      const stop = new AbortController();
      opened.push(stop);
      const url = `${desk.server.url}/v1/invocations/${await waiting(who)}/events`;
      return following(await fetch(url, { headers: await asOf(who), signal: stop.signal }));
    },
  ],
])('%s', (_what, open) => {
  test('API-03 PRM-10 a holder that opens many ends its own, and those of other tenants stay open', async () => {
    const bystander = await open('globex/b');
    const greedy: Stream[] = [];
    for (let at = 0; at < 6; at += 1) greedy.push(await open('acme/a'));
    expect(greedy.map(({ status }) => status)).toEqual(greedy.map(() => 200));
    await expect.poll(() => greedy.map(({ ended }) => ended())).toEqual([true, true, true, true, false, false]);
    expect((await open('acme/c')).status).toBe(200);
    expect((await open('acme/d')).status).toBe(503);
    expect((await open('globex/e')).status).toBe(200);
    expect((await open('initech/f')).status).toBe(503);
    expect([bystander.status, bystander.ended()]).toEqual([200, false]);
  });
});
