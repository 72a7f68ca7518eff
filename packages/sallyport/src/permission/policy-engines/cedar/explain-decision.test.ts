import { describe, expect, test } from 'vitest';
import { policyQuestion } from '../../policies/policy.fixture.ts';
import type { PolicyQuestion } from '../../policy-engine.port.ts';
import { createCedarPolicyEngine } from './cedar-policy-engine.ts';

const PERMIT = 'permit (principal, action, resource);\n';
/** Fails while it judges: the product is larger than a number of Cedar. */
const FAILING = 'when { context.memoryMb * 9223372036854775807 > 0 };';

const explain = async (text: string, over: Partial<PolicyQuestion> = {}, name = 'a.cedar') =>
  (await createCedarPolicyEngine({ files: [{ name, text }] })).explain(policyQuestion(over));

describe('a permission', () => {
  test('PRM-04.2 is explained with the policies that permit, their conditions, and what remains without them', async () => {
    const rule =
      '@id("own")\npermit (principal in Tenant::"acme", action, resource is Tool) when { resource.id like "files*" } unless { context.trust == "untrusted" && context has phase };';
    expect(await explain(`${rule}\npermit (principal == Agent::"did:b", action, resource);`)).toEqual({
      engine: 'cedar',
      mode: 'enforce',
      allowed: true,
      decided: [
        {
          name: 'a.cedar:own',
          effect: 'allow',
          mode: 'enforce',
          file: 'a.cedar',
          line: 1,
          text: rule,
          held: [
            'principal in Tenant::"acme"',
            'resource is Tool',
            'resource.id like "files*"',
            'not ((context.trust == "untrusted") && (context has phase))',
          ],
          unmet: [],
        },
      ],
      nearest: [],
      changes: ['Without a.cedar:own the call needs another policy that permits it.'],
    });
  });

  test('PRM-04.2 of a policy without conditions has none', async () => {
    const { decided, changes } = await explain(PERMIT + PERMIT);
    expect(decided.map(({ name, held, unmet }) => [name, held, unmet])).toEqual([
      ['a.cedar:1', [], []],
      ['a.cedar:2', [], []],
    ]);
    expect(changes).toHaveLength(2);
  });
});

describe('a denial', () => {
  test('PRM-04.2 is explained with the policies that forbid and the conditions that held', async () => {
    const rule =
      '@id("night")\nforbid (principal, action, resource in Source::"files")\nwhen { resource.executor == "mcp" && !principal.roles.contains("operator") };';
    const explained = await explain(PERMIT + rule);
    expect(explained).toMatchObject({ engine: 'cedar', allowed: false, nearest: [] });
    expect(explained.decided).toEqual([
      {
        name: 'a.cedar:night',
        effect: 'deny',
        mode: 'enforce',
        file: 'a.cedar',
        line: 2,
        text: rule,
        held: ['resource in Source::"files"', 'resource.executor == "mcp"', '!principal.roles.contains("operator")'],
        unmet: [],
      },
    ]);
    expect(explained.changes).toEqual([
      'a.cedar:night must no longer match: change one of resource in Source::"files"; resource.executor == "mcp"; !principal.roles.contains("operator").',
    ]);
  });

  test('PRM-04.2 of every call says so', async () => {
    const { changes } = await explain(`${PERMIT}forbid (principal, action, resource);`);
    expect(changes).toEqual(['a.cedar:2 forbids every call. Remove it or give it a condition.']);
  });

  test('PRM-04.2 for want of a permit names the nearest with what they lack, fewest first', async () => {
    const { decided, nearest, changes } = await explain(
      `permit (principal == Agent::"did:b", action, resource) when { context.memoryMb < 10 };
       permit (principal is Agent in Tenant::"acme", action, resource) unless { resource.tags.contains("disk") };
       forbid (principal == Agent::"did:c", action, resource);
       @mode("shadow") permit (principal, action, resource);`,
    );
    expect(decided).toEqual([]);
    expect(nearest.map(({ name, held, unmet }) => [name, held, unmet])).toEqual([
      ['a.cedar:2', ['principal is Agent in Tenant::"acme"'], ['not (resource.tags.contains("disk"))']],
      ['a.cedar:1', [], ['principal == Agent::"did:b"', 'context.memoryMb < 10']],
    ]);
    expect(changes).toEqual([
      'a.cedar:2 would permit it if this held: not (resource.tags.contains("disk")).',
      'a.cedar:1 would permit it if this held: principal == Agent::"did:b"; context.memoryMb < 10.',
    ]);
  });

  test.each([
    ['principal in User::"u", action, resource', 'principal in User::"u"'],
    ['principal is Agent in User::"u", action, resource', 'principal is Agent in User::"u"'],
    ['principal, action, resource == Tool::"t"', 'resource == Tool::"t"'],
    ['principal, action, resource in Server::"s"', 'resource in Server::"s"'],
    ['principal, action, resource is Tool in Source::"s"', 'resource is Tool in Source::"s"'],
  ])('PRM-04.2 names the head (%s) as a condition', async (head, unmet) => {
    const { nearest } = await explain(`permit (${head});`);
    expect(nearest.map((each) => [each.held, each.unmet])).toEqual([[[], [unmet]]]);
  });

  test('PRM-04.2 names five permits at most, of the first hundred', async () => {
    const near = (at: number) => `permit (principal == Agent::"n${at}", action, resource);\n`;
    const far = 'permit (principal == Agent::"f", action, resource == Tool::"f");\n'.repeat(96);
    const all = far + [97, 98, 99, 100, 101, 102].map(near).join('');
    const { nearest } = await explain(all);
    expect(nearest.map(({ name }) => name)).toEqual([97, 98, 99, 100, 1].map((at) => `a.cedar:${at}`));
  });

  test('PRM-04.2 without any permit says that one is needed', async () => {
    const { changes } = await explain('forbid (principal == Agent::"did:b", action, resource);');
    expect(changes).toEqual(['No policy permits anything. Add one that permits this call.']);
  });

  test('PRM-04.2 takes a condition that fails by itself for one that does not hold', async () => {
    const { nearest } = await explain(`permit (principal == Agent::"did:b", action, resource) ${FAILING}`);
    expect(nearest[0]).toMatchObject({ held: [], unmet: [expect.any(String), expect.stringContaining('9223372')] });
  });
});

test('PRM-04 a policy that fails while it judges is named, denies, and is to be mended', async () => {
  expect(await explain(`${PERMIT}forbid (principal, action, resource) ${FAILING}`)).toEqual({
    engine: 'cedar',
    mode: 'enforce',
    allowed: false,
    error: expect.stringMatching(/^The policy "a\.cedar:2" failed, so the call is denied\. integer overflow/),
    decided: [],
    nearest: [],
    changes: ['Mend the policy that fails: a policy that cannot be judged denies.'],
  });
});

test('PIPE-15 a policy in shadow mode decides nothing in an explanation', async () => {
  const explained = await explain(`${PERMIT}@mode("shadow") forbid (principal, action, resource);`);
  expect(explained).toMatchObject({ allowed: true, decided: [{ name: 'a.cedar:1', mode: 'enforce' }] });
});
