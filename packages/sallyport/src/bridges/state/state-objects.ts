import { createHash, randomUUID } from 'node:crypto';
import { MiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CheckpointArchive } from '../checkpoint-archive.port.ts';
import { IN_ARCHIVE, type ObjectStore, type ObjectUse } from '../object-store.port.ts';
import { hashInTurns } from './hash-in-turns.ts';
import type { PackedState, StateElsewhere } from './packed-state.ts';

/** Packed states from this size on are objects (003, task 5). */
export const OBJECT_BYTES_MIN = MiB;
/** How long an object may take from its announcement until its checkpoint has it, in ms. */
const WRITING_MS = 3_600_000;

/** Where states are that their rows do not hold. */
export interface StateObjects {
  readonly archive: CheckpointArchive;
  readonly objects: ObjectStore;
  readonly clock: Clock;
}

/** A state as its row will hold it: a large one is written to the object store first. @throws ToolLayerError E3812, E3823 */
export async function heldState(parts: StateObjects, tenantId: string, packed: PackedState): Promise<StoredState> {
  return packed.bytes.length < OBJECT_BYTES_MIN ? packed : writeObject(parts, tenantId, packed, 'kept');
}

type StoredState = PackedState | StateElsewhere;

/** Writes the bytes of a state as a new object. @throws ToolLayerError E3812, E3823 */
export async function writeObject(
  { archive, objects, clock }: StateObjects,
  tenantId: string,
  { bytes, ...packed }: PackedState,
  use: ObjectUse,
): Promise<StateElsewhere> {
  const name = `${folderOf(tenantId)}/${randomUUID()}`;
  await archive.announce({ tenantId, name }, clock.now() + WRITING_MS);
  await objects.put(name, bytes, use);
  return { ...packed, object: { name, size: bytes.length, sha256: await hashInTurns(bytes) } };
}

/**
 * The state of a checkpoint with its bytes.
 * @throws ToolLayerError E3703 when its object is missing or was changed, E3708 while the archive does not give it, E3823
 */
export async function readObject(
  objects: ObjectStore,
  checkpointId: string,
  packed: StoredState,
): Promise<PackedState> {
  if (!('object' in packed)) return packed;
  const { object, ...rest } = packed;
  const bytes = await objects.get(object.name, object.size);
  if (bytes === IN_ARCHIVE) throw inArchive(checkpointId);
  if (bytes === undefined || (await hashInTurns(bytes)) !== object.sha256) throw damaged(checkpointId);
  return { ...rest, bytes };
}

/** The first segment of the names of a tenant's objects. */
const folderOf = (tenantId: string): string =>
  /^[A-Za-z0-9-]{1,64}$/.test(tenantId)
    ? tenantId
    : `_${createHash('sha256').update(tenantId).digest('hex').slice(0, 40)}`;

const damaged = (checkpointId: string): ToolLayerError =>
  new ToolLayerError('E3703', 'The checkpoint is damaged: the object that holds its state is missing or was changed.', {
    details: { checkpoint_id: checkpointId },
  });

/** The state is in the archive, and somebody has to ask for it, or has asked. */
export const inArchive = (checkpointId: string): ToolLayerError =>
  new ToolLayerError(
    'E3708',
    'The state of the checkpoint is in the archive. Restore it (checkpoints.restore), and resume once that has succeeded; it can take hours.',
    { details: { checkpoint_id: checkpointId } },
  );
