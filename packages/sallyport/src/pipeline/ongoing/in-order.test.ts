import { describe, expect, expectTypeOf, test } from 'vitest';
import type { CallRequest, Executed, Validated } from '../call.ts';
import type { Stage } from '../stage.ts';
import { inOrder, type Ordered } from './in-order.ts';

type Start = { readonly start: true };
type First = Stage<Start, { readonly one: 1 }>;
type Second = Stage<{ readonly one: 1 }, { readonly two: 2 }>;
type Execute = Stage<CallRequest & Validated, Executed>;

const first: First = { name: 'first', run: async () => ({ one: 1 }) };
const second: Second = { name: 'second', run: async ({ one }) => ({ two: (one + 1) as 2 }) };

describe('a list of stages', () => {
  test('PIPE-02 holds the stages as they were given', () => {
    expect(inOrder<Start>()(first, second).map(({ name }) => name)).toEqual(['first', 'second']);
  });

  test('PIPE-02.1 does not take a stage before what it needs', () => {
    expectTypeOf<Ordered<Start, readonly [First, Second]>>().toEqualTypeOf<readonly [First, Second]>();
    expectTypeOf<Ordered<Start, readonly [Second, First]>[0]>().toEqualTypeOf<{ readonly standsTooEarly: 'one' }>();
    expectTypeOf<readonly [Second, First]>().not.toExtend<Ordered<Start, readonly [Second, First]>>();
    expectTypeOf<readonly [Execute]>().not.toExtend<Ordered<CallRequest, readonly [Execute]>>();
  });
});
