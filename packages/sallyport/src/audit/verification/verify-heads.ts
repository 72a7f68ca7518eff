import { messageOf } from '@sallyport/std/error/message-of';
import type { ChainReport, HeadsReport } from '../../../api/schemas/audit.ts';
import { faultAtHead, faultOfAnchor } from '../anchoring/fault-of-anchor.ts';
import type { HeadsPlace, KeptHeads } from '../anchoring/kept-heads.ts';
import type { ChainHead } from '../chain.ts';
import type { CheckpointSigner } from '../checkpoint.ts';
import type { LedgerStore } from '../ledger-store.port.ts';
import type { KeysToVerify } from './verify-keys.ts';

/** What the layer knows of its chain from outside the tables. */
export interface OutsideKnowledge {
  readonly chainId: string;
  readonly place: Pick<HeadsPlace, 'read'>;
  /** The newest event that this process has written. */
  head(): ChainHead;
  /** How often heads are signed, ms. */
  readonly everyMs: number;
  /** The idempotency keys that calls hold. */
  readonly keys: Omit<KeysToVerify, 'now'>;
  /** Epoch ms. */
  now(): number;
}

/** What the heads prove, and what they cannot. */
interface VerifiedHeads extends HeadsReport {
  readonly warnings: string[];
}

/** Turns of signing that an event may lack a signed head. */
const TURNS_LATE = 2;

/**
 * Compares the chains with the heads that are kept outside the tables (AUD-07). An attacker with write access only to
 * the tables can cut a chain, delete it, rewrite it and delete its signed heads, but cannot change the heads kept
 * elsewhere.
 * @param outside with `last`, which is {@link OutsideKnowledge.head} before the chains were read, and when that was
 */
export async function verifyHeads(
  store: LedgerStore,
  signer: CheckpointSigner,
  outside: OutsideKnowledge & { readonly last: ChainHead; readonly begunAt: number },
  chains: readonly ChainReport[],
): Promise<VerifiedHeads> {
  const { chainId, last } = outside;
  const faults: HeadsReport['faults'] = [];
  const warnings = unsigned(outside, chains);
  const written = last.seq === 0 ? undefined : await faultAtHead(store, chainId, last, WRITTEN_LAST);
  if (written !== undefined) faults.push({ chain_id: chainId, seq: last.seq, reason: written });
  const kept = await readKept(outside);
  if (typeof kept === 'string') faults.push({ chain_id: chainId, seq: 0, reason: kept });
  if (kept === undefined) warnings.push('No heads are kept outside the tables: the file audit-heads.json is missing.');
  if (typeof kept !== 'object') return { checked: 0, faults, warnings };
  const { begun, heads } = kept;
  if (begun.events > 0)
    warnings.push(
      `Heads are kept outside the tables since ${begun.time}, when the chain of this instance had ${begun.events} events: ` +
        'what was changed before that is not seen by them.',
    );
  for (const head of heads) {
    const reason = (await faultOfAnchor(store, signer, head)) ?? (await deleted(store, head));
    if (reason !== undefined) faults.push({ chain_id: head.chain_id, seq: head.seq, reason });
  }
  return { checked: heads.length, faults, warnings };
}

const WRITTEN_LAST = 'this layer wrote last';

async function readKept({ place }: OutsideKnowledge): Promise<KeptHeads | string | undefined> {
  try {
    return await place.read();
  } catch (cause) {
    return `the file audit-heads.json cannot be read: ${messageOf(cause)}`;
  }
}

async function deleted(store: LedgerStore, head: KeptHeads['heads'][number]): Promise<string | undefined> {
  const standing = await store.checkpoints(head.chain_id);
  if (standing.some(({ seq, hash }) => seq === head.seq && hash === head.hash)) return undefined;
  return `the signed head of ${head.time} was deleted from the table`;
}

/**
 * Chains with old events after their last signed head: left by a killed instance until its next start, or by deleted
 * heads. They are as old as they were when the reading began, since heads that were signed meanwhile were not read.
 */
function unsigned(
  { everyMs, begunAt }: { readonly everyMs: number; readonly begunAt: number },
  chains: readonly ChainReport[],
): string[] {
  return chains.flatMap(({ chain_id, unsigned_since: since }) =>
    since === undefined || begunAt - Date.parse(since) < TURNS_LATE * everyMs
      ? []
      : [`The events of chain ${chain_id} since ${since} are covered by no signed head of the table.`],
  );
}
