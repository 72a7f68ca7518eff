import assert from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { PolicyUpdate, PolicyUpdates } from '../policy-updates.port.ts';

/** How often a case looks for an update, every 10 ms: long enough for slow machines. */
const LOOKS_MAX = 2000;

/** Conformance of every channel of policy updates. */
export function policyUpdatesConformance(test: TestCase, adapter: string, open: OpenStore<PolicyUpdates>): void {
  const check = casesOver(test, adapter, open);

  check('PRM-05.3 an update reaches every subscriber, the publisher too', async (updates) => {
    const heard: PolicyUpdate[][] = [[], []];
    using _first = updates.subscribe((update) => heard[0]?.push(update));
    using _second = updates.subscribe((update) => heard[1]?.push(update));
    await updates.publish({ reason: 'x' });
    await until(() => heard.every(({ length }) => length === 1));
    assert.deepEqual(heard, [[{ reason: 'x' }], [{ reason: 'x' }]]);
  });

  check('PRM-05 each update is delivered once, in order', async (updates) => {
    const heard: string[] = [];
    using _first = updates.subscribe(({ reason }) => heard.push(reason));
    for (const reason of ['one', 'two', 'three']) await updates.publish({ reason });
    await until(() => heard.length >= 3);
    assert.deepEqual(heard, ['one', 'two', 'three']);
  });

  check('PRM-05 any text is a reason', async (updates) => {
    const heard: string[] = [];
    using _first = updates.subscribe(({ reason }) => heard.push(reason));
    const reasons = ['\0', '\ud800', "'; --", 'x'.repeat(10_000), ''];
    for (const reason of reasons) await updates.publish({ reason });
    await until(() => heard.length === reasons.length);
  });

  check('a listener that throws keeps no update from the others; one that left gets none', async (updates) => {
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
