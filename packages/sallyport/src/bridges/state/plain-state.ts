import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CheckpointStore, StoredCheckpoint } from '../checkpoint-store.port.ts';
import type { ObjectStore } from '../object-store.port.ts';
import { unpackState } from './pack-state.ts';
import { readObject } from './state-objects.ts';

/** Most checkpoints that one is stored as the difference from; more are a damaged chain. */
const CHAIN_MAX = 1000;

/**
 * The plain state of a checkpoint, from the whole state at the beginning of its chain.
 * @throws ToolLayerError E3703 when a part of the chain is missing or damaged, E3708 when one is in the archive, E3823
 */
export async function plainState(
  { store, objects }: { readonly store: Pick<CheckpointStore, 'find'>; readonly objects: ObjectStore },
  checkpoint: StoredCheckpoint,
): Promise<Uint8Array> {
  const chain = [checkpoint];
  for (let last = checkpoint; last.parentId !== undefined; ) {
    const parent = await store.find(last.owner.tenantId, last.parentId);
    if (parent === undefined || chain.length >= CHAIN_MAX) throw broken();
    chain.push(parent);
    last = parent;
  }
  let state: Uint8Array | undefined;
  for (const { checkpointId, packed } of chain.toReversed()) {
    if (packed === undefined) throw broken();
    state = await unpackState(await readObject(objects, checkpointId, packed), state);
  }
  return state ?? new Uint8Array();
}

const broken = (): ToolLayerError =>
  new ToolLayerError('E3703', 'The checkpoint is the difference from another one, which is missing.');
