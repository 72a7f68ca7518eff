import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Ledger } from '../../audit/ledger.ts';

/**
 * Writes a row, unless another writer has ended the call meanwhile: the first end of a call wins.
 * @returns false when the row is not replaced; then nothing of the entry is written
 */
export async function commitUnlessOver(
  { commit }: Pick<Ledger, 'commit'>,
  entry: Parameters<Ledger['commit']>[0],
): Promise<boolean> {
  try {
    await commit(entry);
    return true;
  } catch (thrown) {
    if (failureOf(thrown).code !== 'E3802') throw thrown;
    return false;
  }
}
