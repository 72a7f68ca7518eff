import type { Clock } from '@sallyport/std/clock';
import type { Anchor } from '../../../api/schemas/audit.ts';
import { type CheckpointSigner, isAuthentic } from '../checkpoint.ts';
import type { ChainCheckpoint, LedgerStore } from '../ledger-store.port.ts';
import { anchorOf } from './anchor.ts';
import { faultOfAnchor } from './fault-of-anchor.ts';

/**
 * Signed heads of chains, kept by an instance outside the reach of anybody who can only write to the tables (AUD-07).
 */
export interface KeptHeads {
  /** When the first head was kept, and how many events the instance's chain had then: 0 on a fresh data folder. */
  readonly begun: { readonly time: string; readonly events: number };
  /** The newest head of each chain; before it, as proofs that the chain was cut, older heads that it no longer had. */
  readonly heads: readonly Anchor[];
}

/** The place where heads are kept. */
export interface HeadsPlace {
  /**
   * undefined when nothing is kept there yet.
   * @throws when the content cannot be read
   */
  read(): Promise<KeptHeads | undefined>;
  /** Atomic: writes everything or nothing, synced to the disk when it resolves. */
  write(kept: KeptHeads): Promise<void>;
}

/** Keeps the newest signed heads. */
export interface HeadsKeeper {
  /**
   * Records when the keeping of heads began, unless that is recorded already, and keeps heads signed before the last
   * end.
   */
  begin(): Promise<void>;
  /** Keeps a head of the instance's own chain, and the newest signed heads of all other chains. */
  keep(checkpoint: ChainCheckpoint): Promise<void>;
}

/** Dependencies of the keeper. */
export interface HeadsKeeperParts {
  readonly place: HeadsPlace;
  readonly store: LedgerStore;
  readonly signer: CheckpointSigner;
  /** The chain of this instance. */
  readonly chainId: string;
  readonly clock: Clock;
}

/** Heads of one chain that are kept at most: its newest, and proofs that it was cut or rewritten. */
const OF_A_CHAIN_MAX = 100;

/** Creates a keeper; it reads and writes nothing until it is called. */
export function createHeadsKeeper(parts: HeadsKeeperParts): HeadsKeeper {
  const { place, store, signer, chainId } = parts;
  const newestOf = async (id: string): Promise<readonly ChainCheckpoint[]> => {
    const newest = await store.newestCheckpoint(id);
    return newest !== undefined && (await isAuthentic(signer, newest)) ? [newest] : [];
  };
  return {
    async begin() {
      const kept = (await place.read()) ?? (await nothingKept(parts));
      await place.write(await withHeads(parts, kept, await newestOf(chainId)));
    },
    async keep(checkpoint) {
      const kept = (await place.read()) ?? (await nothingKept(parts));
      const others = (await store.chainIds()).filter((id) => id !== chainId);
      const newest = (await Promise.all(others.map(newestOf))).flat();
      await place.write(await withHeads(parts, kept, [checkpoint, ...newest]));
    },
  };
}

async function nothingKept({ store, chainId, clock }: HeadsKeeperParts): Promise<KeptHeads> {
  const head = await store.chainHead(chainId);
  return { begun: { time: new Date(clock.now()).toISOString(), events: head?.seq ?? 0 }, heads: [] };
}

async function withHeads(
  parts: HeadsKeeperParts,
  kept: KeptHeads,
  checkpoints: readonly ChainCheckpoint[],
): Promise<KeptHeads> {
  let { heads } = kept;
  for (const checkpoint of checkpoints) heads = await withHead(parts, heads, checkpoint);
  return { ...kept, heads };
}

/** A head replaces the one before, unless the chain no longer has that one: then both are kept. */
async function withHead(
  { store, signer }: HeadsKeeperParts,
  heads: readonly Anchor[],
  checkpoint: ChainCheckpoint,
): Promise<readonly Anchor[]> {
  const own = heads.filter(({ chain_id }) => chain_id === checkpoint.chainId);
  const last = own.at(-1);
  if (last !== undefined && last.seq >= checkpoint.seq) return heads;
  const isProof = last !== undefined && (await faultOfAnchor(store, signer, last)) !== undefined;
  const replaced = isProof && own.length < OF_A_CHAIN_MAX ? undefined : last;
  return [...heads.filter((head) => head !== replaced), anchorOf(checkpoint)];
}
