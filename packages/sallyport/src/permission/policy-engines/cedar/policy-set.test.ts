import { beforeAll, describe, expect, test } from 'vitest';
import { type Cedar, loadCedar } from './cedar-module.ts';
import { inOurNames, joined, parsePolicies, placeOf } from './policy-set.ts';

let cedar: Cedar;
beforeAll(async () => {
  cedar = await loadCedar();
});

const PERMIT = 'permit (principal, action, resource);';
const UNKNOWN = 'permit (principal, action, resource) when { resource.nme == "x" };';
type Files = readonly (readonly [name: string, text: string])[];
const parsed = (...files: Files) =>
  parsePolicies(
    cedar,
    files.map(([name, text]) => ({ name, text })),
  );

describe('a fault', () => {
  test.each<[files: Files, file: string, line: number, what: string]>([
    [[['a.cedar', 'rubbish']], 'a.cedar', 1, 'unexpected end of input (expected `(`).'],
    [
      [['a.cedar', '// é\npermit (principal, action, resource)\nwhen { resource.id == };']],
      'a.cedar',
      3,
      'unexpected token `}` (expected `!`, `(`, `-`, `[`, `{`, `false`, identifier, `if`, number, `?principal`, `?resource`, string literal, or `true`).',
    ],
    [
      [['a.cedar', `${PERMIT}\npermit (principl, action, resource);`]],
      'a.cedar',
      2,
      'found an invalid variable in the policy scope: principl. policy scopes must contain a `principal`, `action`, and `resource` element in that order',
    ],
    [
      [['a.cedar', `${PERMIT}\n// é é é\n\n${UNKNOWN}`]],
      'a.cedar',
      4,
      'for policy "a.cedar:2", attribute `nme` on entity type `Tool` not found. did you mean `id`?',
    ],
    [
      [
        ['a.cedar', `// éééé\n${PERMIT}\n`],
        ['b.cedar', `// ü\n${PERMIT}\n@id("own")\npermit (principal, action, resource)\nwhen { 1 };`],
      ],
      'b.cedar',
      5,
      'for policy "b.cedar:own", unexpected type: expected Bool but saw Long.',
    ],
    [
      [['a.cedar', `${PERMIT}\n\n// é\npermit (principal == ?principal, action, resource);`]],
      'a.cedar',
      4,
      'templates are not supported. Name the entities.',
    ],
    [
      [['a.cedar', `@id("x")\n${PERMIT}\n@id("x")\n${PERMIT}`]],
      'a.cedar',
      3,
      'the name "a.cedar:x" is used twice. Change its @id.',
    ],
    [
      [['a.cedar', `${PERMIT}\n@mode("x")\n${PERMIT}`]],
      'a.cedar',
      2,
      '@mode("x") is not known. Write "shadow" or "enforce".',
    ],
    [
      [['a.cedar', `${PERMIT}\npermit (principal, action, resource) when { resource.sideEffect == "x" };`]],
      'a.cedar',
      2,
      'resource.sideEffect is never "x"; it is one of pure, idempotent, compensatable, irreversible.',
    ],
  ])('PRM-04.2 of %j is in %s, line %i', (files, file, line, what) => {
    expect(() => parsed(...files)).toThrow(
      expect.objectContaining({
        code: 'E3214',
        message: `Policy file ${file}, line ${line}: ${what}`,
        failure: expect.objectContaining({ details: { file, line } }),
      }),
    );
  });

  test('PIPE-15 of policies in shadow mode leaves them out, each with its place, and no other', () => {
    const { policies, leftOut } = parsed(
      ['a.cedar', PERMIT],
      ['b.shadow.cedar', `@id("x")${PERMIT}\n@id("x")\n${PERMIT}\n${UNKNOWN}\n`],
      ['c.shadow.cedar', 'rubbish'],
      ['d.cedar', `@mode("shadow")\n${UNKNOWN}\n${PERMIT}`],
    );
    expect(policies.map(({ name }) => name)).toEqual(['a.cedar:1', 'b.shadow.cedar:x', 'd.cedar:2']);
    const unknown = (name: string) =>
      `for policy "${name}", attribute \`nme\` on entity type \`Tool\` not found. did you mean \`id\`?`;
    expect(leftOut).toEqual([
      {
        message: 'Policy file b.shadow.cedar, line 2: the name "b.shadow.cedar:x" is used twice. Change its @id.',
        file: 'b.shadow.cedar',
        line: 2,
      },
      {
        message: 'Policy file c.shadow.cedar, line 1: unexpected end of input (expected `(`).',
        file: 'c.shadow.cedar',
        line: 1,
      },
      {
        message: `Policy file b.shadow.cedar, line 4: ${unknown('b.shadow.cedar:3')}`,
        file: 'b.shadow.cedar',
        line: 4,
      },
      { message: `Policy file d.cedar, line 2: ${unknown('d.cedar:1')}`, file: 'd.cedar', line: 2 },
    ]);
  });
});

test('PRM-04.2 a policy has a name, a place, an effect and a mode; names are those of their file', () => {
  const { policies, leftOut } = parsed(
    ['a.cedar', `@id("x")\n${PERMIT}\n\nforbid (principal, action, resource);`],
    ['b.shadow.cedar', `// é\n@mode("enforce")\n${PERMIT}`],
    ['c.cedar', `@id("x") @mode("shadow")${PERMIT}@mode("enforce")${PERMIT}`],
  );
  expect(leftOut).toEqual([]);
  expect(policies).toEqual([
    { name: 'a.cedar:x', text: `@id("x")\n${PERMIT}`, effect: 'allow', file: 'a.cedar', line: 1, shadow: false },
    {
      name: 'a.cedar:2',
      text: 'forbid (principal, action, resource);',
      effect: 'deny',
      file: 'a.cedar',
      line: 4,
      shadow: false,
    },
    {
      name: 'b.shadow.cedar:1',
      text: `@mode("enforce")\n${PERMIT}`,
      effect: 'allow',
      file: 'b.shadow.cedar',
      line: 2,
      shadow: true,
    },
    {
      name: 'c.cedar:x',
      text: `@id("x") @mode("shadow")${PERMIT}`,
      effect: 'allow',
      file: 'c.cedar',
      line: 1,
      shadow: true,
    },
    {
      name: 'c.cedar:2',
      text: `@mode("enforce")${PERMIT}`,
      effect: 'allow',
      file: 'c.cedar',
      line: 1,
      shadow: false,
    },
  ]);
});

test('PRM-04.2 policies beyond ten, and policies that are alike, keep their order and their lines', () => {
  const forbid = (at: number) => `forbid (principal == Agent::"d${at}", action, resource);`;
  const texts = [PERMIT, PERMIT, ...Array.from({ length: 10 }, (_, at) => forbid(at)), PERMIT];
  const { policies } = parsed(['a.cedar', texts.join('\n')]);
  expect(policies.map(({ name, line, text }) => [name, line, text])).toEqual(
    texts.map((text, at) => [`a.cedar:${at + 1}`, at + 1, text]),
  );
});

test('PRM-04 names of the module are replaced by ours, where there is one', () => {
  const nameOf = (place: number) => (place === 3 ? undefined : `a:${place}`);
  expect(inOurNames('`policy0`, policy12 and `policy3`, policies, policy4x', nameOf)).toBe(
    '"a:0", "a:12" and `policy3`, policies, policy4x',
  );
  expect([placeOf('policy0'), placeOf('policy17')]).toEqual([0, 17]);
  expect(joined([{ text: 'a' }, { text: 'b' }])).toBe('a\nb');
});
