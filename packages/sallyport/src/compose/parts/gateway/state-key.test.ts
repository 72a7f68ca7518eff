import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { stateKeyOf } from './state-key.ts';

test('the key of carried state is the same for the same keys, and another for others', () => {
  const [one, other] = [1, 2].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }));
  if (one === undefined || other === undefined) throw new Error('no keys');
  expect(stateKeyOf(one)).toHaveLength(32);
  expect(stateKeyOf(one)).toEqual(stateKeyOf(one));
  expect(stateKeyOf(one)).not.toEqual(stateKeyOf(other));
});
