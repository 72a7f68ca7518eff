import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PolicyServer, policyQuestion, policyServer, sendJson } from '../../policies/policy.fixture.ts';
import { policyEngineConformance } from '../../policies/policy-engine.conformance.ts';
import { createOpaPolicyEngine } from './opa-policy-engine.ts';

// A stand-in that follows OPA's documentation of POST /v1/data/{path}, with the policy that the conformance suite
// requires.
const asOpa: PolicyServer['reply'] = (response, body) => {
  const { input } = body as { input: Record<string, string> };
  const { source, tenant_id, side_effect, phase, trust } = input;
  const denied = side_effect === 'irreversible' || phase === 'planner' || trust === 'untrusted';
  sendJson(response, { result: source === 'files' && tenant_id === 'acme' && !denied });
};

let server: PolicyServer;
beforeAll(async () => {
  server = await policyServer(asOpa);
});
afterAll(() => server[Symbol.asyncDispose]());

const PATH = '/v1/data/tool_execution/allow';
const engineAt = (timeoutMs = 5000) => createOpaPolicyEngine({ endpoint: `${server.url}${PATH}`, timeoutMs });
const decide = (reply: PolicyServer['reply'], timeoutMs?: number) => {
  server.reply = reply;
  return engineAt(timeoutMs).decide(policyQuestion());
};

policyEngineConformance(
  test,
  'opa',
  async () => {
    server.reply = asOpa;
    return { store: engineAt(), close: async () => undefined };
  },
  policyQuestion,
);

test('PRM-04.3 the question goes to the endpoint as the input document', async () => {
  await decide(asOpa);
  expect(server.requests.at(-1)).toEqual({
    method: 'POST',
    path: PATH,
    body: {
      input: {
        agent_did: 'did:a',
        tenant_id: 'acme',
        roles: ['agent'],
        trust_level: 'trusted',
        tool_id: 'files__read',
        tool_version: '1.0.0',
        operation: 'execute',
        content_hash: 'h',
        source: 'files',
        executor: 'mcp',
        category: 'file_system',
        tags: ['disk'],
        side_effect: 'pure',
        trust: 'trusted',
        argument_findings: [],
        filesystem: [{ path: '/work', mode: 'rw' }],
        network: [{ host: 'api.example.com', port: 443 }],
        credentials: ['key'],
        limits: { timeout_ms: 1000, cpu_millicores: 500, memory_mb: 64, output_bytes_max: 1 },
      },
    },
  });
});

describe('answers', () => {
  test.each<[string, unknown, object]>([
    ['true', true, { allowed: true, policies: ['opa:tool_execution/allow'] }],
    ['false', false, { allowed: false, policies: ['opa:tool_execution/allow'] }],
    [
      'an object with reasons',
      { allow: false, reasons: ['too late', 7, 'x'.repeat(1000)], cache_ttl_seconds: 3 },
      {
        allowed: false,
        policies: ['opa:tool_execution/allow'],
        reasons: ['too late', 'x'.repeat(300)],
        cacheTtlSeconds: 3,
      },
    ],
    [
      'an object with one reason',
      { allow: false, reason: 'too late', cache_ttl_seconds: 0 },
      { allowed: false, policies: ['opa:tool_execution/allow'], reasons: ['too late'], cacheTtlSeconds: 0 },
    ],
    [
      'an object with eleven reasons',
      { allow: false, reasons: ['', ...'abcdefghijk'] },
      { allowed: false, policies: ['opa:tool_execution/allow'], reasons: [...'abcdefghij'] },
    ],
    [
      'an object with a bad lifetime',
      { allow: true, cache_ttl_seconds: -1 },
      { allowed: true, policies: ['opa:tool_execution/allow'] },
    ],
  ])('%s', async (_name, result, decision) => {
    expect(await decide((response) => sendJson(response, { result }))).toEqual(decision);
  });

  test('PRM-05.2 a lifetime without end is none', async () => {
    const decision = await decide((response) => response.end('{"result":{"allow":true,"cache_ttl_seconds":1e999}}'));
    expect(decision).toEqual({ allowed: true, policies: ['opa:tool_execution/allow'] });
  });

  test('PRM-04 no result means that the policy is not defined: denied, and asked again soon', async () => {
    const decision = await decide((response) => sendJson(response, {}));
    expect(decision).toEqual({
      allowed: false,
      policies: [],
      reasons: ['opa:tool_execution/allow is not defined'],
      cacheTtlSeconds: 5,
    });
  });

  test.each<[string, PolicyServer['reply'], string]>([
    ['a text for a result', (response) => sendJson(response, { result: 'true' }), 'neither true nor false'],
    ['a number for a result', (response) => sendJson(response, { result: 1 }), 'neither true nor false'],
    ['null for a result', (response) => sendJson(response, { result: null }), 'neither true nor false'],
    ['a list for a result', (response) => sendJson(response, { result: [true] }), 'neither true nor false'],
    ['a text for allow', (response) => sendJson(response, { result: { allow: 'yes' } }), 'neither true nor false'],
    ['a list', (response) => sendJson(response, [true]), 'sent no object'],
    ['null', (response) => sendJson(response, null), 'sent no object'],
    ['a number', (response) => sendJson(response, 7), 'sent no object'],
    ['no JSON', (response) => response.end('<html>'), 'sent no JSON'],
    ['nothing', (response) => response.end(), 'sent no JSON'],
    ['an error', (response) => response.writeHead(500).end('{"result":true}'), 'status 500'],
    ['a redirect', (response) => response.writeHead(302, { location: '/v1/data/open' }).end(), 'status 302'],
    ['no content', (response) => response.writeHead(204).end(), 'status 204'],
    ['too much', (response) => response.end(`{"result":true,"x":"${'x'.repeat(70_000)}"}`), 'more than 65536 bytes'],
    [
      'half an answer',
      (response) => response.writeHead(200, { 'content-length': 50 }).write('{"res', () => response.destroy()),
      'cannot be reached',
    ],
  ])('PRM-04 %s is E3206', async (_name, reply, said) => {
    await expect(decide(reply)).rejects.toMatchObject({ code: 'E3206', message: expect.stringContaining(said) });
    await expect(decide(reply)).rejects.toThrow(/^The policy engine opa .+, so the call is denied\./);
    server.reply = asOpa;
  });

  test.each<[string, PolicyServer['reply']]>([
    ['never', () => undefined],
    ['drop by drop', (response) => void response.writeHead(200).write('{"result":')],
  ])('PRM-04 an answer that comes %s is E3206 when the time is over', async (_name, reply) => {
    await expect(decide(reply, 50)).rejects.toMatchObject({ code: 'E3206', message: expect.stringContaining('50 ms') });
  });

  test('PRM-04 a server that is not there is E3206', async () => {
    const engine = createOpaPolicyEngine({ endpoint: 'http://127.0.0.1:9/v1/data/x', timeoutMs: 5000 });
    await expect(engine.decide(policyQuestion())).rejects.toMatchObject({ code: 'E3206' });
  });

  test.each(['', 'localhost:8181', 'file:///etc/passwd'])('%j is no endpoint', (endpoint) => {
    expect(() => createOpaPolicyEngine({ endpoint, timeoutMs: 50 })).toThrow('permission.opa_endpoint');
  });
});
