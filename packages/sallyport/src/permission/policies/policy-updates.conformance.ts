import assert from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { PolicyUpdate, PolicyUpdates } from '../policy-updates.port.ts';

/** Most polls for an update, 10 ms apart: a second in all. */
const LOOKS_MAX = 100;

/** Conformance of every channel of policy updates. */
export function policyUpdatesConformance(test: TestCase, adapter: string, open: OpenStore<PolicyUpdates>): void {
  const check = casesOver(test, adapter, open);

  check('PRM-05.3 an update reaches every subscriber within a second, the teller too', async (updates) => {
    const heard: PolicyUpdate[][] = [[], []];
    using _first = updates.subscribe((update) => heard[0]?.push(update));
    using _second = updates.subscribe((update) => heard[1]?.push(update));
    await updates.publish({ reason: 'x' });
    await until(() => heard.every(({ length }) => length === 1));
    assert.deepEqual(heard, [[{ reason: 'x' }], [{ reason: 'x' }]]);
  });

  check('a listener that throws keeps nobody from hearing; one that left hears nothing', async (updates) => {
    let heard = 0;
    using _bad = updates.subscribe(() => {
      throw new Error('bad listener');
    });
    const gone = updates.subscribe(() => assert.fail('it left'));
    gone[Symbol.dispose]();
    using _good = updates.subscribe(() => {
      heard += 1;
    });
    await updates.publish({ reason: 'x' });
    await until(() => heard === 1);
  });
}

async function until(holds: () => boolean): Promise<void> {
  for (let look = 0; look < LOOKS_MAX && !holds(); look += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(holds());
}
