import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import type { ContinueParts } from './continue-rollbacks.ts';
import { retryRollbacks } from './retry-rollbacks.ts';

test('PIPE-03 a store that was away does not put off the rollbacks that are left', async () => {
  let tries = 0;
  const journal = {
    async open() {
      tries += 1;
      if (tries <= 16) throw new ToolLayerError('E3812', 'The database is away.');
      return [];
    },
  };
  const log = { info: () => undefined, warn: () => undefined };
  await using _retries = retryRollbacks({ transactions: { journal }, log } as unknown as ContinueParts, 'one', 5);
  // With pauses that double, the seventeenth try would come after five minutes.
  await expect.poll(() => tries).toBeGreaterThan(16);
});
