import type { ChainReport } from '../../../api/schemas/audit.ts';
import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import { type ChainHead, EMPTY_CHAIN, flawOf, headOf } from '../chain.ts';
import { type CheckpointSigner, isAuthentic } from '../checkpoint.ts';
import type { ChainCheckpoint, LedgerStore } from '../ledger-store.port.ts';

/** Events read at once; bounds the memory of a verification. */
const PAGE_EVENTS = 1000;

/** Called with the verified events of a chain, page by page. */
export type Reader = (events: readonly CloudEvent[]) => Promise<void>;

/** Reads every chain from its start and names the first broken entry of each (AUD-03). */
export async function verifyChains(
  store: LedgerStore,
  signer: CheckpointSigner,
  read: Reader,
): Promise<readonly ChainReport[]> {
  const chains: ChainReport[] = [];
  for (const chainId of await store.chainIds()) chains.push(await verifyChain(store, signer, chainId, read));
  return chains;
}

interface Flaw {
  readonly seq: number;
  readonly event_id?: string;
  readonly reason: string;
}

async function verifyChain(
  store: LedgerStore,
  signer: CheckpointSigner,
  chainId: string,
  read: Reader,
): Promise<ChainReport> {
  const checkpoints = await store.checkpoints(chainId);
  const forged = await firstForged(signer, checkpoints);
  const walked = await walk(store, chainId, checkpoints, read);
  const flaws = [forged, walked.flaw, cutOff(walked.head, walked.flaw, checkpoints)].filter(
    (flaw) => flaw !== undefined,
  );
  const first = flaws.sort((a, b) => a.seq - b.seq)[0];
  return {
    chain_id: chainId,
    events: walked.events,
    checkpoints: checkpoints.length,
    ...(walked.unsignedSince === undefined ? {} : { unsigned_since: walked.unsignedSince }),
    whole: first === undefined,
    ...(first === undefined ? {} : { first_broken: first }),
  };
}

async function firstForged(
  signer: CheckpointSigner,
  checkpoints: readonly ChainCheckpoint[],
): Promise<Flaw | undefined> {
  for (const checkpoint of checkpoints) {
    if (await isAuthentic(signer, checkpoint)) continue;
    return {
      seq: checkpoint.seq,
      reason: `the checkpoint of ${checkpoint.time} is not signed by a known key of this instance; instances share the folder keys/`,
    };
  }
  return undefined;
}

interface Walked {
  readonly head: ChainHead;
  readonly events: number;
  /** Time of the first event after the last signed head. */
  readonly unsignedSince?: string;
  readonly flaw?: Flaw;
}

async function walk(
  store: LedgerStore,
  chainId: string,
  checkpoints: readonly ChainCheckpoint[],
  read: Reader,
): Promise<Walked> {
  const signed = new Map(checkpoints.map((point) => [point.seq, point]));
  let head = EMPTY_CHAIN;
  let events = 0;
  const lastSigned = checkpoints.at(-1)?.seq ?? 0;
  let unsigned: { unsignedSince?: string } = {};
  for (;;) {
    const page = await store.chainEvents(chainId, head.seq, PAGE_EVENTS);
    for (const event of page) {
      const reason = flawOf(event, head) ?? flawAtCheckpoint(event, signed.get(event.chainseq));
      if (reason !== undefined)
        return { head, events, ...unsigned, flaw: { seq: event.chainseq, event_id: event.id, reason } };
      head = headOf(event);
      if (head.seq === lastSigned + 1) unsigned = { unsignedSince: event.time };
      events += 1;
    }
    await read(page);
    if (page.length < PAGE_EVENTS) return { head, events, ...unsigned };
  }
}

function flawAtCheckpoint(event: CloudEvent, checkpoint: ChainCheckpoint | undefined): string | undefined {
  if (checkpoint === undefined || checkpoint.hash === event.chainhash) return undefined;
  return `the signed checkpoint of ${checkpoint.time} has another hash for it`;
}

/** Events cut off at the end leave no broken link; a signed checkpoint beyond the end reveals it. */
function cutOff(head: ChainHead, flaw: Flaw | undefined, checkpoints: readonly ChainCheckpoint[]): Flaw | undefined {
  const last = checkpoints.at(-1);
  if (flaw !== undefined || last === undefined || last.seq <= head.seq) return undefined;
  return {
    seq: head.seq + 1,
    reason: `events ${head.seq + 1} to ${last.seq} are gone; a signed checkpoint names the last`,
  };
}
