import { systemClock } from '@sallyport/std/clock';
import { expect, test } from 'vitest';
import type { Ledger } from '../../audit/ledger.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { rotateKeys } from './keys.ts';

const asker: Asker = {
  caller: { door: 'library', local: true },
  principal: { tenantId: 'acme', agentDid: 'did:op', roles: ['admin'] },
};

/** Rotates the key `old`; the layer is killed at the end of the step `killedAt`. @returns the steps in their order */
async function rotated(killedAt?: string): Promise<readonly string[]> {
  const steps: string[] = [];
  const step = (name: string): void => {
    steps.push(name);
    if (name === killedAt) throw new Error('killed');
  };
  const commit: Ledger['commit'] = async ({ events }) => {
    for (const { data, subject } of events) step(`${data['change']} ${subject}`);
  };
  const keyRing = {
    current: () => ({ kid: 'old' }),
    rotate: async () => {
      step('replaced');
      return { kid: 'new' };
    },
  };
  const parts = { keyRing, keyOverlapMs: 1, clock: systemClock, ledger: { commit } } as unknown as OperationParts;
  await Promise.resolve(rotateKeys.run(parts)({}, asker)).catch(() => undefined);
  return steps;
}

test('AUD-07.5 no signing key is replaced before the audit says that it is begun', async () => {
  expect(await rotated()).toEqual(['key-rotation-begun old', 'replaced', 'key-rotated new']);
  expect(await rotated('key-rotation-begun old')).toEqual(['key-rotation-begun old']);
  expect(await rotated('replaced')).toEqual(['key-rotation-begun old', 'replaced']);
});
