import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import { createOpenRegister, holderIn } from './open-register.ts';

const holder = (tenant_id: string, agent_did: string, user_did?: string) =>
  holderIn({ tenant_id, agent_did, roles: [], ...(user_did === undefined ? {} : { user_did }) });
const A = holder('acme', 'a');
const B = holder('acme', 'b');
const FAR = holder('globex', 'a');

function register(bounds = { perHolderMax: 2, perTenantMax: 3, max: 4 }) {
  const made = createOpenRegister('streams', bounds);
  const ended: string[] = [];
  const add = (who: typeof A, name: string) => made.add(who, () => ended.push(name));
  const entry = (who: typeof A, name: string) => {
    const added = add(who, name);
    if (isFailure(added)) throw new Error(added.message);
    return added;
  };
  return { made, ended, add, entry };
}

test('PRM-10 one agent is another holder for another user, and in another tenant', () => {
  const names = [A, B, FAR, holder('acme', 'a', 'u'), holder('acme', 'a', 'v')].map(({ name }) => name);
  expect(new Set(names).size).toBe(5);
});

test('API-03 a holder at its bound ends its own oldest, by use and not by age', () => {
  const { made, ended, entry } = register();
  const first = entry(A, 'first');
  entry(A, 'second');
  first.touch();
  entry(A, 'third');
  expect([ended, made.size]).toEqual([['second'], 2]);
  entry(A, 'fourth');
  expect([ended, made.size]).toEqual([['second', 'first'], 2]);
  // An ended entry is not counted any more; disposing of it later changes nothing.
  first[Symbol.dispose]();
  first.touch();
  expect(made.size).toBe(2);
});

test.each([
  ['its tenant is at its share', [A, A, B], holder('acme', 'c'), /^Your tenant has 3 streams open already/],
  ['everything is full', [A, A, FAR, FAR], holder('initech', 'c'), /^4 streams are open already/],
])(
  'API-03 a holder that has nothing is refused where %s, and replaces its own where it has some',
  (_what, open, other, message) => {
    const { made, ended, add } = register();
    for (const [at, who] of open.entries()) add(who, String(at));
    expect(add(other, 'other')).toMatchObject({ code: 'E3803', message: expect.stringMatching(message) });
    expect([ended, made.size]).toEqual([[], open.length]);
    add(A, 'replacement');
    expect([ended, made.size]).toEqual([['0'], open.length]);
  },
);

test('API-03 what has no end is never ended: one more is refused', () => {
  const { made } = register({ perHolderMax: 1, perTenantMax: 3, max: 4 });
  const first = made.add(A);
  expect(made.add(A)).toMatchObject({ code: 'E3803', message: expect.stringMatching(/^You have 1 streams/) });
  if (!isFailure(first)) first[Symbol.dispose]();
  expect(isFailure(made.add(A))).toBe(false);
});
