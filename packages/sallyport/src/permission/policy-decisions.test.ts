import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { describe, expect, test } from 'vitest';
import type { Grant } from '../domain/invocation/grant.ts';
import { decisionsOf } from './gates/gates.fixture.ts';
import { type MadeDecision, recordedDecision } from './policy-decisions.ts';
import type { PolicyDecision, PolicyQuestion } from './policy-engine.port.ts';

const question = (over: Partial<PolicyQuestion> = {}): PolicyQuestion => ({
  principal: { tenantId: 't', agentDid: 'a', roles: [] },
  toolId: 'tool',
  toolVersion: '1.0.0',
  contentHash: 'h',
  source: '',
  executor: 'native',
  category: '',
  tags: [],
  sideEffect: 'pure',
  argumentFindings: [],
  trust: 'trusted',
  grant: {
    filesystem: [],
    network: [],
    credentials: [],
    limits: { timeoutMs: 1, cpuMillicores: 1, memoryMb: 1, outputBytesMax: 1 },
  },
  ...over,
});

const fixture = (answer: () => PolicyDecision | Promise<PolicyDecision>) => {
  const state = { asked: 0, version: '1', now: 0 };
  const engine = {
    name: 'counting',
    version: () => state.version,
    decide: () => {
      state.asked += 1;
      return answer();
    },
  };
  const clock = { now: () => 0, monotonic: () => state.now };
  return { state, decisions: decisionsOf(engine, { clock }) };
};
const ALLOW: PolicyDecision = { allowed: true, policies: ['p'] };
const MADE = { ...ALLOW, engine: 'counting', version: '1' };

describe('createPolicyDecisions', () => {
  test('PRM-05.1 the same question is asked once in 300 s', () => {
    const { state, decisions } = fixture(() => ALLOW);
    for (const now of [0, 299_999]) {
      state.now = now;
      expect(decisions.decide(question())).toEqual(MADE);
    }
    expect(state.asked).toBe(1);
    state.now = 300_000;
    decisions.decide(question());
    expect(state.asked).toBe(2);
  });

  test.each<[string, Partial<PolicyQuestion>]>([
    ['tenant', { principal: { tenantId: 'u', agentDid: 'a', roles: [] } }],
    ['agent', { principal: { tenantId: 't', agentDid: 'b', roles: [] } }],
    ['user', { principal: { tenantId: 't', agentDid: 'a', userDid: 'x', roles: [] } }],
    ['session', { principal: { tenantId: 't', agentDid: 'a', sessionId: 'x', roles: [] } }],
    ['roles', { principal: { tenantId: 't', agentDid: 'a', roles: ['operator'] } }],
    ['tool content', { contentHash: 'i' }],
    ['phase', { phase: 'planner' }],
    ['trust', { trust: 'provisional' }],
    ['finding in the arguments', { argumentFindings: ['xss'] }],
    ["principal's own trust", { principal: { ...question().principal, trust: 'trusted' } }],
    ['grant', { grant: { ...question().grant, credentials: ['s'] } }],
    ['tool', { toolId: 'other' }],
    ['version of a tool', { toolVersion: '1.0.1' }],
    ['source', { source: 'files' }],
    ['document', { document: { id: 'a', mode: 'read' } }],
    ['time', { grant: { ...question().grant, limits: { ...question().grant.limits, timeoutMs: 2 } } }],
    ['processor', { grant: { ...question().grant, limits: { ...question().grant.limits, cpuMillicores: 2 } } }],
    ['output', { grant: { ...question().grant, limits: { ...question().grant.limits, outputBytesMax: 2 } } }],
    ['limits', { grant: { ...question().grant, limits: { ...question().grant.limits, memoryMb: 2 } } }],
  ])('PRM-05.5 another %s is another question', (_name, over) => {
    const { state, decisions } = fixture(() => ALLOW);
    decisions.decide(question());
    decisions.decide(question(over));
    expect(state.asked).toBe(2);
  });

  test('PRM-05.5 another document, and another access to it, is another question', () => {
    const { state, decisions } = fixture(() => ALLOW);
    for (const document of [
      { id: 'a', mode: 'read' as const },
      { id: 'a', mode: 'write' as const },
      { id: 'b', mode: 'read' as const },
      { id: 'a\n', mode: 'read' as const },
    ])
      for (const _twice of [1, 2]) decisions.decide(question({ document }));
    expect(state.asked).toBe(4);
  });

  test('PRM-05 the same principal and grant in other objects is the same question', () => {
    const { state, decisions } = fixture(() => ALLOW);
    const asked = question();
    for (const again of [asked, asked, structuredClone(asked)]) decisions.decide(again);
    expect(state.asked).toBe(1);
  });

  test('PRM-05.1 as many decisions are kept as there is room for, for as long as is set, and for an hour at most', () => {
    const asked = (options: object, ...turns: readonly (readonly [now: number, toolId: string])[]) => {
      let [count, now] = [0, 0];
      const decide = () => {
        count += 1;
        return { ...ALLOW, cacheTtlSeconds: 7200 };
      };
      const engine = { name: 'e', version: () => '1', decide };
      const decisions = decisionsOf(engine, { clock: { now: () => 0, monotonic: () => now }, ...options });
      for (const [at, toolId] of turns) {
        now = at;
        decisions.decide(question({ toolId }));
      }
      return count;
    };
    expect(asked({}, [0, 'a'], [3_599_999, 'a'])).toBe(1);
    expect(asked({}, [0, 'a'], [3_600_000, 'a'])).toBe(2);
    expect(asked({ decisionsMax: 2 }, [0, 'a'], [0, 'b'], [0, 'a'], [0, 'b'])).toBe(2);
    expect(asked({ decisionsMax: 1 }, [0, 'a'], [0, 'b'], [0, 'a'])).toBe(3);
    const names = ['1', '2'].values();
    const decide = () => ({ ...ALLOW, policies: [String(names.next().value)] });
    const brief = decisionsOf({ name: 'e', version: () => '1', decide }, { ttlSeconds: 0 });
    expect([1, 2].map(() => brief.decide(question()))).toMatchObject([{ policies: ['1'] }, { policies: ['2'] }]);
  });

  test('PRM-04.8 an engine that fails says so by its name, and its detail stays with the operator', async () => {
    const cause = new Error('secret');
    const failing = { name: 'opa', version: () => '1', decide: () => Promise.reject(cause) };
    const message = 'The policy engine opa gave no answer, so the call is denied. Try again later.';
    expect(await decisionsOf(failing).decide(question())).toMatchObject({ message, cause });
    const missing = { ...failing, decide: () => Promise.reject(undefined) };
    expect(await decisionsOf(missing).decide(question())).toMatchObject({ message });
    const other = new ToolLayerError('E3900', 'other');
    const odd = { ...failing, decide: () => Promise.reject(other) };
    expect(await decisionsOf(odd).decide(question())).toMatchObject({ code: 'E3206', message });
  });

  test.each<[string, Partial<Grant>, Partial<Grant>]>([
    ['path', { filesystem: [{ path: '/a', mode: 'ro' }] }, { filesystem: [{ path: '/b', mode: 'ro' }] }],
    ['mode', { filesystem: [{ path: '/a', mode: 'ro' }] }, { filesystem: [{ path: '/a', mode: 'rw' }] }],
    ['host', { network: [{ host: 'a.example', port: 443 }] }, { network: [{ host: 'b.example', port: 443 }] }],
    ['port', { network: [{ host: 'a.example', port: 443 }] }, { network: [{ host: 'a.example', port: 80 }] }],
  ])('PRM-05 the same call with another %s in its grant is another question', (_name, one, other) => {
    const { state, decisions } = fixture(() => ALLOW);
    const { grant } = question();
    decisions.decide(question({ grant: { ...grant, ...one } }));
    decisions.decide(question({ grant: { ...grant, ...other } }));
    expect(state.asked).toBe(2);
  });

  test('names with separators in them do not meet', () => {
    const { state, decisions } = fixture(() => ALLOW);
    decisions.decide(question({ principal: { tenantId: 't","a', agentDid: 'b', roles: [] } }));
    decisions.decide(question({ principal: { tenantId: 't', agentDid: 'a","b', roles: [] } }));
    expect(state.asked).toBe(2);
  });

  test("PRM-05.2 the engine's own time wins, and 0 keeps nothing", () => {
    const { state, decisions } = fixture(() => ({ ...ALLOW, cacheTtlSeconds: 0 }));
    decisions.decide(question());
    decisions.decide(question());
    expect(state.asked).toBe(2);
    for (const cacheTtlSeconds of [Number.NaN, Number.POSITIVE_INFINITY, -1]) {
      const odd = fixture(() => ({ ...ALLOW, cacheTtlSeconds }));
      odd.decisions.decide(question());
      odd.decisions.decide(question());
      expect(odd.state.asked).toBe(2);
    }
    const brief = fixture(() => ({ ...ALLOW, cacheTtlSeconds: 1 }));
    for (const now of [0, 999, 1000]) {
      brief.state.now = now;
      brief.decisions.decide(question());
    }
    expect(brief.state.asked).toBe(2);
  });

  test('PRM-05 a new version of the policies, or clear, asks again', () => {
    const { state, decisions } = fixture(() => ALLOW);
    decisions.decide(question());
    state.version = '2';
    decisions.decide(question());
    decisions.clear();
    decisions.decide(question());
    expect(state.asked).toBe(3);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
  ])('an engine that %s denies with E3206, and that is not kept', async (_name, answer) => {
    const { state, decisions } = fixture(answer);
    for (const asked of [1, 2]) {
      const failed = await decisions.decide(question());
      expect(isFailure(failed) && failed.code).toBe('E3206');
      expect(state.asked).toBe(asked);
    }
  });

  test('an engine that says what is wrong is quoted', async () => {
    const { decisions } = fixture(() => Promise.reject(new ToolLayerError('E3206', 'opa answered with status 500.')));
    expect(await decisions.decide(question())).toMatchObject({ message: 'opa answered with status 500.' });
  });

  test('the same question is asked once while the engine thinks', async () => {
    const { state, decisions } = fixture(() => Promise.resolve(ALLOW));
    const answers = await Promise.all([decisions.decide(question()), decisions.decide(question())]);
    expect(answers).toEqual([MADE, MADE]);
    expect(state.asked).toBe(1);
  });

  test.each<[string, (state: { version: string }, clear: () => void) => void]>([
    ['clear', (_state, clear) => clear()],
    ['another version', (state) => Object.assign(state, { version: '2' })],
  ])('PRM-05 an answer that was asked for before %s is not remembered', async (_name, change) => {
    const { promise, resolve } = Promise.withResolvers<PolicyDecision>();
    const { state, decisions } = fixture(() => (state.asked === 1 ? promise : { ...ALLOW, allowed: false }));
    const first = decisions.decide(question());
    change(state, decisions.clear);
    expect(decisions.decide(question())).toMatchObject({ allowed: false });
    resolve(ALLOW);
    expect(await first).toEqual(MADE);
    expect(decisions.decide(question())).toMatchObject({ allowed: false });
    state.version = '1';
    expect(decisions.decide(question())).toMatchObject({ allowed: false });
  });

  test('a decision on record says who decided and what shadow policies would have done, not the words of an engine', () => {
    const { decisions } = fixture(() => ({
      ...ALLOW,
      reasons: ['foreign'],
      shadow: { allowed: false, policies: ['s'] },
    }));
    const made = decisions.decide(question()) as MadeDecision;
    const text =
      '{"allowed":true,"engine":"counting","policies":["p"],"shadow":{"allowed":false,"policies":["s"]},"version":"1"}';
    expect(canonicalJson(recordedDecision(made))).toBe(text);
    expect(recordedDecision(made)).toEqual(JSON.parse(text));
  });

  test('a decision on record says that a person is to be asked, and of shadow policies that they failed', () => {
    const made = { ...MADE, allowed: false, ask: true as const, shadow: { allowed: false, policies: [], error: 'x' } };
    expect(recordedDecision(made)).toEqual(made);
    expect(Object.keys(recordedDecision(MADE))).toEqual(['allowed', 'engine', 'policies', 'version']);
  });

  test('a denial is kept like a permission, and a later answer of a promise too', async () => {
    const { state, decisions } = fixture(() => Promise.resolve({ allowed: false, policies: [] }));
    expect(await decisions.decide(question())).toMatchObject({ allowed: false });
    expect(decisions.decide(question())).toMatchObject({ allowed: false });
    expect(state.asked).toBe(1);
  });
});
