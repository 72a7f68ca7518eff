import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PolicyServer, policyQuestion, policyServer, sendJson } from '../../policies/policy.fixture.ts';
import { policyEngineConformance } from '../../policies/policy-engine.conformance.ts';
import { createAbacPolicyEngine } from './abac-policy-engine.ts';

// A stand-in for the data layer of 000 §4.2.2, with the policy that the conformance suite requires.
const asDataLayer: PolicyServer['reply'] = (response, body) => {
  const { resource_id, context } = body as { resource_id: string; context: Record<string, string> };
  const { tenant_id, side_effect, phase, trust } = context;
  const denied = side_effect === 'irreversible' || phase === 'planner' || trust === 'untrusted';
  const allowed = resource_id === 'files__read' && tenant_id === 'acme' && !denied;
  sendJson(response, { allowed, reason: allowed ? 'policy-7' : null, cache_ttl_seconds: 60 });
};

let server: PolicyServer;
beforeAll(async () => {
  server = await policyServer(asDataLayer);
});
afterAll(() => server[Symbol.asyncDispose]());

const engineAt = (base = '') => createAbacPolicyEngine({ endpoint: `${server.url}${base}`, timeoutMs: 5000 });

policyEngineConformance(
  test,
  'abac',
  async () => {
    server.reply = asDataLayer;
    return { store: engineAt(), close: async () => undefined };
  },
  policyQuestion,
);

test('PRM-04.4 the request and the answer are those of 000 §4.2.2', async () => {
  server.reply = asDataLayer;
  const decision = await engineAt('/behind/a/proxy').decide(policyQuestion({ phase: 'executor' }));
  expect(decision).toEqual({
    allowed: true,
    policies: ['abac:check-permission'],
    reasons: ['policy-7'],
    cacheTtlSeconds: 60,
  });
  expect(server.requests.at(-1)).toMatchObject({
    method: 'POST',
    path: '/behind/a/proxy/api/v1/abac/check-permission',
    body: {
      agent_id: 'did:a',
      resource_type: 'tool',
      resource_id: 'files__read',
      action: 'execute',
      context: {
        tenant_id: 'acme',
        phase: 'executor',
        filesystem: [{ path: '/work', mode: 'rw' }],
        credentials: ['key'],
      },
    },
  });
});

test('PRM-04.4 the request carries the names of 003, task 2, beside those of 000', async () => {
  server.reply = asDataLayer;
  const network = [
    { host: 'api.example.com', port: 443 },
    { host: 'plain.example.com', port: 80 },
    { host: 'api.example.com', port: 8443 },
    { host: '::1', port: 443 },
  ];
  const { grant } = policyQuestion();
  await engineAt().decide(policyQuestion({ grant: { ...grant, network } }));
  expect(server.requests.at(-1)?.body).toMatchObject({
    context: {
      filesystem_paths: ['/work'],
      network_endpoints: [
        'https://api.example.com',
        'http://plain.example.com',
        'https://api.example.com:8443',
        'https://[::1]',
      ],
      credentials: ['key'],
      network,
    },
  });
});

test('PRM-04.4 the request names the user, the session and the document, where there are such', async () => {
  server.reply = asDataLayer;
  const { trust: _unknown, ...principal } = policyQuestion().principal;
  const document = { id: 'plan', mode: 'write' as const };
  await engineAt('/').decide(
    policyQuestion({ principal: { ...principal, userDid: 'did:u', sessionId: 's' }, document }),
  );
  expect(server.requests.at(-1)).toMatchObject({
    path: '/api/v1/abac/check-permission',
    body: {
      agent_id: 'did:a',
      resource_type: 'document',
      resource_id: 'plan',
      action: 'write',
      context: {
        user_did: 'did:u',
        session_id: 's',
        roles: ['agent'],
        trust_level: 'untrusted',
        tool_id: 'files__read',
        tool_version: '1.0.0',
      },
    },
  });
  await engineAt().decide(policyQuestion());
  const { body } = server.requests.at(-1) ?? {};
  for (const member of ['user_did', 'session_id', 'tool_id']) expect(body).not.toHaveProperty(['context', member]);
});

test('PRM-04.4 an answer without a reason and a lifetime has neither', async () => {
  server.reply = (response) => sendJson(response, { allowed: false, reason: '', cache_ttl_seconds: 'long' });
  expect(await engineAt().decide(policyQuestion())).toEqual({ allowed: false, policies: ['abac:check-permission'] });
});

test.each<[string, unknown]>([
  ['nothing', {}],
  ['null', null],
  ['a list', [true]],
  ['a text for allowed', { allowed: 'true' }],
  ['rubbish', 'yes'],
])('PRM-04 %s for an answer is E3206', async (_name, value) => {
  server.reply = (response) => sendJson(response, value);
  await expect(engineAt().decide(policyQuestion())).rejects.toMatchObject({
    code: 'E3206',
    message: expect.stringMatching(
      /^The policy engine abac .+, so the call is denied\. The operator checks the server\.$/,
    ),
  });
});

test('PRM-04 an answer that never comes is E3206 when the time is over', async () => {
  server.reply = () => undefined;
  const engine = createAbacPolicyEngine({ endpoint: server.url, timeoutMs: 50 });
  await expect(engine.decide(policyQuestion())).rejects.toMatchObject({
    code: 'E3206',
    message: expect.stringContaining('50 ms'),
  });
});

test('what is no address is refused at once', () => {
  expect(() => createAbacPolicyEngine({ endpoint: '', timeoutMs: 50 })).toThrow('permission.abac_endpoint');
});
