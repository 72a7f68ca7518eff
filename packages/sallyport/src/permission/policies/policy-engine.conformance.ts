import assert from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { PolicyEngine, PolicyQuestion } from '../policy-engine.port.ts';

/**
 * Conformance of every policy engine. `open` returns one with these policies: calls of tools of the source `files` for
 * the tenant `acme` are allowed, except for irreversible tools, in the phase planner, and with the trust untrusted;
 * nothing else is allowed.
 * @param question makes a question of tool `files__read`, executor `mcp`, tenant `acme`, pure and trusted, without a
 *   phase
 */
export function policyEngineConformance(
  test: TestCase,
  adapter: string,
  open: OpenStore<PolicyEngine>,
  question: (over?: Partial<PolicyQuestion>) => PolicyQuestion,
): void {
  const check = casesOver(test, adapter, open);
  const elsewhere = { principal: { tenantId: 'other', agentDid: 'did:a', roles: ['agent'] as const } };

  check('PRM-04.1 what a policy allows is allowed, and the policy is named', async (engine) => {
    const decision = await engine.decide(question());
    assert.equal(decision.allowed, true);
    assert.ok(decision.policies.length > 0);
    assert.equal(engine.name.length > 0 && engine.version().length > 0, true);
  });

  const refused: readonly [string, Partial<PolicyQuestion>][] = [
    ['another tool', { toolId: 'mail__send', source: 'mail' }],
    ['another tenant', elsewhere],
    ['an irreversible tool', { sideEffect: 'irreversible' }],
    ['PRM-09 the phase planner', { phase: 'planner' }],
    ['too little trust', { trust: 'untrusted' }],
  ];
  for (const [name, over] of refused) {
    check(`${name} is denied`, async (engine) => {
      assert.equal((await engine.decide(question(over))).allowed, false);
    });
  }

  check('another phase is allowed', async (engine) => {
    assert.equal((await engine.decide(question({ phase: 'executor' }))).allowed, true);
  });

  check('names that look like policies deny and break nothing', async (engine) => {
    const names = [
      '"); permit(principal,action,resource); //',
      'files__*',
      'x\n[[tools.policy]]\neffect = "allow"',
      '\u0000',
      '',
    ];
    for (const name of names) {
      const hostile = question({ toolId: name, source: name, tags: [name], category: name });
      assert.equal((await engine.decide(hostile)).allowed, false, JSON.stringify(name));
      const other = { ...elsewhere.principal, tenantId: name, agentDid: name };
      assert.equal((await engine.decide(question({ principal: other }))).allowed, false, JSON.stringify(name));
    }
    assert.equal((await engine.decide(question())).allowed, true);
  });

  check('the version stays while nothing changes', async (engine) => {
    const before = engine.version();
    await engine.decide(question());
    if (engine.reload !== undefined) assert.equal(await engine.reload(), false);
    assert.equal(engine.version(), before);
  });

  check('an explanation says what the decision says, and what would have to change', async (engine) => {
    if (engine.explain === undefined) {
      assert.equal(engine.policies, undefined);
      return;
    }
    for (const over of [{}, ...refused.map(([, each]) => each)]) {
      const { allowed, policies } = await engine.decide(question(over));
      const explained = await engine.explain(question(over));
      assert.equal(explained.allowed, allowed);
      assert.deepEqual(explained.decided.map(({ name }) => name).sort(), [...policies].sort());
      assert.ok(explained.changes.length > 0);
    }
    const named = new Set(engine.policies?.().map(({ name }) => name));
    for (const name of (await engine.decide(question())).policies) assert.ok(named.has(name), name);
  });
}
