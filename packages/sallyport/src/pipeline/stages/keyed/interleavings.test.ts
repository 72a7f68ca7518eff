import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryIdempotencyStore } from '../../../../test/stores/calls/memory-idempotency-store.ts';
import { memoryLedgerStore } from '../../../../test/stores/memory-ledger-store.ts';
import type { Ledger } from '../../../audit/ledger.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

/** One request: what is asked, at which instance, and after how many turns of the event loop. */
const caller = fc.record({
  n: fc.integer({ min: 1, max: 2 }),
  on: fc.integer({ min: 0, max: 1 }),
  after: fc.integer({ min: 0, max: 3 }),
  turn: fc.constantFrom('t-1', 't-2'),
  note: fc.constantFrom('a', 'b'),
});

const schema = {
  type: 'object',
  properties: { n: { type: 'integer' }, note: { type: 'string' }, turn: { type: 'string' } },
};

test('VIS-04 duplicates and conflicts in any order, on two instances, run each business once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(caller, { minLength: 1, maxLength: 8 }),
      fc.constantFrom('pure' as const, 'irreversible' as const),
      async (callers, policy) => {
        const store = memoryLedgerStore();
        const idempotency = memoryIdempotencyStore();
        const ran: string[] = [];
        const instance = async (instanceId: string, ledger?: Ledger) => {
          const made = await pipeline({ store, idempotency, instanceId, ...(ledger === undefined ? {} : { ledger }) });
          const tool = { side_effect_policy: policy, parameters_schema: schema, idempotency_key_fields: ['n'] };
          await made.add(manifest('pay', tool), async ({ n, note, turn }) => {
            ran.push(`${turn} ${n}`);
            await wait(2);
            return { n, note };
          });
          return made;
        };
        const first = await instance('one');
        const second = await instance('two', first.parts.ledger);
        const records = await Promise.all(
          callers.map(async ({ n, on, after, turn, note }) => {
            await wait(after);
            const request = {
              tool_id: 'pay',
              parameters: { n, note, turn },
              execution_options: { turn_group_id: turn },
            };
            return (on === 0 ? first : second).call(request);
          }),
        );
        expect(new Set(ran).size).toBe(ran.length);
        for (const [at, { failure, result }] of records.entries()) {
          const asked = callers[at];
          // The same key and `n` with another note is another request: it is refused, never answered with the first
          // result.
          if (failure === undefined) expect(result).toEqual({ n: asked?.n, note: asked?.note });
          else expect(failure.code).toMatch(/^(?:E3802|E3106)$/);
        }
      },
    ),
    { numRuns: 40 },
  );
});
