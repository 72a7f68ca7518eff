import assert from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { PolicyUpdate, PolicyUpdates } from '../policy-updates.port.ts';

/** How often a case looks for an update, every 10 ms: long enough for slow machines. */
const LOOKS_MAX = 2000;

/** Conformance of every channel of policy updates. */
export function policyUpdatesConformance(test: TestCase, adapter: string, open: OpenStore<PolicyUpdates>): void {
  const check = casesOver(test, adapter, open);

  check('PRM-05.3 an update reaches every subscriber, the publisher too', async (updates) => {
    const received: PolicyUpdate[][] = [[], []];
    using _first = updates.subscribe((update) => received[0]?.push(update));
    using _second = updates.subscribe((update) => received[1]?.push(update));
    await updates.publish({ reason: 'x' });
    await until(() => received.every(({ length }) => length === 1));
    assert.deepEqual(received, [[{ reason: 'x' }], [{ reason: 'x' }]]);
  });

  check('PRM-05 each update is delivered once, in order', async (updates) => {
    const received: string[] = [];
    using _first = updates.subscribe(({ reason }) => received.push(reason));
    for (const reason of ['one', 'two', 'three']) await updates.publish({ reason });
    await until(() => received.length >= 3);
    assert.deepEqual(received, ['one', 'two', 'three']);
  });

  check('PRM-05 any text is a reason', async (updates) => {
    const received: string[] = [];
    using _first = updates.subscribe(({ reason }) => received.push(reason));
    const reasons = ['\0', '\ud800', "'; --", 'x'.repeat(10_000), ''];
    for (const reason of reasons) await updates.publish({ reason });
    await until(() => received.length === reasons.length);
  });

  check('a listener that throws keeps no update from the others; one that left gets none', async (updates) => {
    let received = 0;
    using _bad = updates.subscribe(() => {
      throw new Error('bad listener');
    });
    const gone = updates.subscribe(() => assert.fail('it left'));
    gone[Symbol.dispose]();
    using _good = updates.subscribe(() => {
      received += 1;
    });
    await updates.publish({ reason: 'x' });
    await until(() => received === 1);
  });
}

async function until(holds: () => boolean): Promise<void> {
  for (let look = 0; look < LOOKS_MAX && !holds(); look += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(holds());
}
