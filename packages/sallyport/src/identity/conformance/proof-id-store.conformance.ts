import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { sha256 } from '@sallyport/std/sha256';
import type { ProofIdStore } from '../proof-ids.port.ts';

const LONG_MS = 600_000;

/** Requirements of every ProofIdStore. */
export function proofIdStoreConformance(test: TestCase, adapter: string, open: OpenStore<ProofIdStore>): void {
  const check = casesOver(test, adapter, open);

  check('PRM-11 a proof is taken once, and another one beside it', async (store) => {
    equal(await store.take(sha256('one'), LONG_MS), true);
    equal(await store.take(sha256('one'), LONG_MS), false);
    equal(await store.take(sha256('other'), LONG_MS), true);
  });

  check('PRM-11 a proof that is taken stays taken, however many others come and are forgotten', async (store) => {
    const proofs = Array.from({ length: 6 }, (_, at) => sha256(`kept ${at}`));
    for (const proof of proofs) equal(await store.take(proof, LONG_MS), true);
    for (let at = 0; at < 4; at += 1) equal(await store.take(sha256(`short ${at}`), 0), true);
    for (const proof of proofs) equal(await store.take(proof, LONG_MS), false);
  });

  check('PRM-11 of requests at the same moment with one proof one has it', async (store) => {
    const taken = await Promise.all(Array.from({ length: 20 }, () => store.take(sha256('raced'), LONG_MS)));
    deepEqual(
      taken.filter((each) => each),
      [true],
    );
  });

  check('PRM-11 a proof whose time is over is forgotten', async (store) => {
    equal(await store.take(sha256('short'), 0), true);
    equal(await store.take(sha256('short'), LONG_MS), true);
    equal(await store.take(sha256('short'), LONG_MS), false);
  });
}
