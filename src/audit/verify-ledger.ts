import type { AuditVerification } from '../../api/schemas/audit.ts';
import type { CheckpointSigner } from './checkpoint.ts';
import type { LedgerStore } from './ledger-store.port.ts';
import { createCallVerification } from './verification/verify-calls.ts';
import { verifyChains } from './verification/verify-chains.ts';

/** Reads all that is on record: each chain (AUD-03), and whether rows and chains tell of the same calls (AUD-07). */
export async function verifyLedger(store: LedgerStore, signer: CheckpointSigner): Promise<AuditVerification> {
  const verification = createCallVerification(store);
  const chains = await verifyChains(store, signer, verification.read);
  const calls = await verification.finish();
  return {
    whole: calls.gaps === 0 && chains.every(({ whole }) => whole),
    events: chains.reduce((sum, { events }) => sum + events, 0),
    chains: [...chains],
    calls,
  };
}
