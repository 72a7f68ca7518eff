import type { AuditVerification } from '../../api/schemas/audit.ts';
import type { CheckpointSigner } from './checkpoint.ts';
import type { LedgerStore } from './ledger-store.port.ts';
import { createCallVerification } from './verification/verify-calls.ts';
import { verifyChains } from './verification/verify-chains.ts';
import { type OutsideKnowledge, verifyHeads } from './verification/verify-heads.ts';
import { createKeyVerification } from './verification/verify-keys.ts';

export { gapOf } from './verification/call-gap.ts';
export type { OutsideKnowledge } from './verification/verify-heads.ts';

const NO_HEADS = { checked: 0, faults: [], warnings: [] };

/**
 * Verifies the whole record: each chain (AUD-03), whether rows and chains agree on the calls, and whether the chains
 * have the heads known outside the tables (AUD-07).
 * @param outside absent when nothing is known outside
 */
export async function verifyLedger(
  store: LedgerStore,
  signer: CheckpointSigner,
  outside?: OutsideKnowledge,
): Promise<AuditVerification> {
  const known = outside && { ...outside, last: outside.head(), begunAt: outside.now() };
  const verification = createCallVerification(store);
  const chains = await verifyChains(store, signer, verification.read);
  const { warnings, ...heads } = known === undefined ? NO_HEADS : await verifyHeads(store, signer, known, chains);
  const keys = outside && createKeyVerification({ ...outside.keys, now: outside.now });
  const calls = await verification.finish(keys?.read);
  return {
    whole: calls.gaps === 0 && heads.faults.length === 0 && chains.every(({ whole }) => whole),
    events: chains.reduce((sum, { events }) => sum + events, 0),
    chains: [...chains],
    calls,
    heads,
    warnings: [...warnings, ...((await keys?.finish()) ?? [])],
  };
}
