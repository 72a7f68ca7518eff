import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { RestoredCheckpoint } from '../domain/checkpoint/checkpoint.ts';
import { isOwner } from '../domain/invocation/call-owner.ts';
import type { CheckpointFacts, CheckpointLine, StoredCheckpoint } from './checkpoint-store.port.ts';
import type { CheckpointedRun, CheckpointParts, Continuation, OpenRun } from './run/checkpointed-run.ts';
import { continuesFrom } from './run/continues-from.ts';
import { openRun } from './run/open-run.ts';
import { plainState } from './state/plain-state.ts';
import { heldState, readObject } from './state/state-objects.ts';

export type { CheckpointedRun, CheckpointParts, Continuation, OpenRun };

/** A run that continues earlier work. */
export type ResumedRun = Pick<CheckpointedRun, 'invocationId' | 'owner' | 'toolId' | 'toolVersion'>;

/** Checkpoints of the runs of tools, and work that continues from them (STA-01, STA-02). */
export interface Checkpoints {
  /** The checkpoints of a run that begins, or continues from `from`. Nothing is read or stored before the tool saves. */
  ofRun(run: CheckpointedRun, from?: Continuation): OpenRun;
  /**
   * Where an interrupted call continues; undefined when it has saved nothing.
   * @throws E3812 while the store cannot be reached
   */
  continuing(run: ResumedRun): Promise<Continuation | undefined>;
  /**
   * Takes over the work of an earlier call at one of its checkpoints; when that one is damaged, at the newest valid one
   * before it.
   * @param isOver whether a call has ended
   * @throws E3702 for a checkpoint that is unknown, another owner's or another tool's; E3707 for an expired one; E3703
   *   when neither it nor one before it is readable, or a version of the tool saved it whose states this one may not
   *   understand; E3704 while another call does its work
   */
  resume(
    run: ResumedRun,
    checkpointId: string,
    isOver: (invocationId: string) => Promise<boolean>,
  ): Promise<Continuation>;
  /** Facts of a checkpoint, an expired one included; undefined for an unknown one. */
  find(tenantId: string, checkpointId: string): Promise<CheckpointFacts | undefined>;
  /** Facts of the checkpoints of a call and of the calls whose work it continued, newest first. */
  list(tenantId: string, invocationId: string, limit: number, before?: number): Promise<readonly CheckpointFacts[]>;
  /**
   * A checkpoint with its plain state.
   * @throws E3702, E3703, E3707
   */
  read(tenantId: string, checkpointId: string): Promise<{ facts: CheckpointFacts; state: Uint8Array }>;
  /**
   * Brings the state of a checkpoint back from the archive, for as long as milestones are kept in the database. One that is not
   * in the archive stays as it is.
   * @returns its facts
   * @throws ToolLayerError E3708 until the archive gives it: ask again; E3702, E3703, E3707, E3823
   */
  restore(tenantId: string, checkpointId: string): Promise<CheckpointFacts>;
  /** @returns false when there is none */
  remove(tenantId: string, checkpointId: string): Promise<boolean>;
  /** Reports what this instance had not reported when it last ended (STA-04). Never rejects. */
  reportLeft(): Promise<void>;
  /** A call is over: after a success its micro checkpoints go, after a failure the others stay a limited time. */
  ended(tenantId: string, invocationId: string, hasSucceeded: boolean): Promise<void>;
}

/** Most checkpoints that are passed over as damaged. */
const DAMAGED_MAX = 50;
/** Most checkpoints that are reported after a start. */
const LEFT_MAX = 1_000;

/** Builds the checkpoints over a store. */
export function createCheckpoints(parts: CheckpointParts): Checkpoints {
  const { store, clock, settings } = parts;
  return {
    ofRun: (run, from) => openRun(parts, run, from),
    continuing: async (run) => {
      const line = await store.lineOf(run.owner.tenantId, run.invocationId);
      return line === undefined ? undefined : newestValid(parts, run, line, line.newest);
    },
    resume: (run, checkpointId, isOver) => resume(parts, run, checkpointId, isOver),
    find: (tenantId, checkpointId) => store.find(tenantId, checkpointId),
    list: async (tenantId, invocationId, limit, before) => {
      const line = await store.lineOf(tenantId, invocationId);
      return line === undefined ? [] : store.list(tenantId, line.lineId, limit, before);
    },
    read: async (tenantId, checkpointId) => {
      const stored = await findUsable(parts, tenantId, checkpointId);
      const { packed: _packed, ...facts } = stored;
      return { facts, state: await readState(parts, stored) };
    },
    restore: (tenantId, checkpointId) => restore(parts, tenantId, checkpointId),
    remove: (tenantId, checkpointId) => store.remove(tenantId, checkpointId),
    reportLeft: () => reportLeft(parts),
    ended: async (tenantId, invocationId, hasSucceeded) => {
      const line = await store.lineOf(tenantId, invocationId);
      if (line === undefined || line.holder !== invocationId) return;
      const until = hasSucceeded ? undefined : clock.now() + settings.failedKeptMs;
      await store.lineEnded(tenantId, line.lineId, until);
    },
  };
}

/** Of each work its milestones and named checkpoints, and its newest state. What cannot be read is left. */
async function reportLeft(parts: CheckpointParts): Promise<void> {
  const { store, listener, log } = parts;
  try {
    const left = await store.unreported(listener.instanceId, LEFT_MAX);
    const newest = new Map(left.map((one) => [JSON.stringify([one.owner.tenantId, one.lineId]), one]));
    const wanted = left.filter((one) => one.type !== 'micro' || [...newest.values()].includes(one));
    for (const { owner, checkpointId } of wanted) {
      const stored = await store.find(owner.tenantId, checkpointId);
      if (stored?.packed !== undefined) listener.saved(stored, await plainState(parts, stored));
    }
  } catch (thrown) {
    log.warn('checkpoints-not-reported', { reason: failureOf(thrown).message });
  }
}

/** @throws ToolLayerError E3702 for an unknown one, E3707 for an expired one */
async function findUsable({ store, clock }: CheckpointParts, tenantId: string, checkpointId: string): Promise<Usable> {
  const stored = await store.find(tenantId, checkpointId);
  if (stored === undefined) throw unknown(checkpointId);
  const { packed, expiresAt = Number.POSITIVE_INFINITY } = stored;
  if (packed === undefined || expiresAt <= clock.now()) throw expired(checkpointId);
  return { ...stored, packed };
}

type Usable = StoredCheckpoint & { readonly packed: NonNullable<StoredCheckpoint['packed']> };

async function restore(parts: CheckpointParts, tenantId: string, checkpointId: string): Promise<CheckpointFacts> {
  const { archive, objects, clock, settings } = parts;
  const { packed, archivedAt, ...facts } = await findUsable(parts, tenantId, checkpointId);
  if (archivedAt === undefined) return facts;
  if ('object' in packed && (await objects.bringBack(packed.object.name)) === 'pending') throw onItsWay(checkpointId);
  const state = await readObject(objects, checkpointId, packed);
  const archiveAt = clock.now() + settings.macroKeptMs;
  if (!(await archive.move(tenantId, checkpointId, await heldState(parts, tenantId, state), { archiveAt })))
    throw expired(checkpointId);
  return { ...facts, archiveAt };
}

/** The plain state of a checkpoint; a micro one is kept longer from now on. */
async function readState(parts: CheckpointParts, stored: StoredCheckpoint): Promise<Uint8Array> {
  const { store, clock, settings } = parts;
  const { type, owner, checkpointId } = stored;
  const state = await plainState(parts, stored);
  if (type === 'micro') await store.keepUntil(owner.tenantId, checkpointId, clock.now() + settings.microTtlMs);
  return state;
}

async function resume(
  parts: CheckpointParts,
  run: ResumedRun,
  checkpointId: string,
  isOver: (invocationId: string) => Promise<boolean>,
): Promise<Continuation> {
  const { store } = parts;
  const { invocationId, owner } = run;
  const { tenantId } = owner;
  const stored = await findUsable(parts, tenantId, checkpointId);
  if (!isOwner(owner, stored.owner) || stored.toolId !== run.toolId) throw unknown(checkpointId);
  if (!continuesFrom(run.toolVersion, stored.toolVersion)) throw otherStates(run, stored);
  const line = await store.line(tenantId, stored.lineId);
  if (line === undefined) throw unknown(checkpointId);
  if (!(await isOver(line.holder))) throw stillRunning(checkpointId, line.holder);
  const continuation = await newestValid(parts, run, line, stored.sequence);
  if (continuation.restored === undefined) throw unreadable(checkpointId);
  const isTaken = await store.take(tenantId, line.lineId, line.holder, invocationId);
  if (!isTaken) throw stillRunning(checkpointId, 'another call');
  const { checkpointId: from, type } = continuation.restored;
  parts.listener.resumed({ ...stored, checkpointId: from, type });
  return { ...continuation, line: { ...line, holder: invocationId } };
}

/** The newest checkpoint of a line that can be read, up to a sequence. */
async function newestValid(
  parts: CheckpointParts,
  run: ResumedRun,
  line: CheckpointLine,
  upTo: number,
): Promise<Continuation> {
  const { tenantId } = run.owner;
  const damaged: string[] = [];
  for (const facts of await parts.store.list(tenantId, line.lineId, DAMAGED_MAX, upTo + 1)) {
    const { checkpointId } = facts;
    try {
      if (!continuesFrom(run.toolVersion, facts.toolVersion)) throw otherStates(run, facts);
      const bytes = await readState(parts, await findUsable(parts, tenantId, checkpointId));
      return { line, restored: restoredOf(facts, bytes), damaged };
    } catch (thrown) {
      if (!(thrown instanceof ToolLayerError) || !UNREADABLE.has(thrown.code)) throw thrown;
      damaged.push(checkpointId);
      parts.log.warn('checkpoint-damaged', { checkpoint: checkpointId, line: line.lineId, code: thrown.code });
    }
  }
  return { line, restored: undefined, damaged };
}

/** Codes of a checkpoint that is passed over for the one before it. */
const UNREADABLE: ReadonlySet<string> = new Set(['E3702', 'E3703', 'E3707']);

function restoredOf(facts: CheckpointFacts, bytes: Uint8Array): RestoredCheckpoint {
  const { checkpointId, type, toolVersion, savedAt, phase, progressPercent } = facts;
  return {
    checkpointId,
    type,
    toolVersion,
    savedAt,
    ...(phase === undefined ? {} : { phase }),
    ...(progressPercent === undefined ? {} : { progressPercent }),
    bytes,
  };
}

const detailsOf = (checkpointId: string) => ({ details: { checkpoint_id: checkpointId.slice(0, 128) } });

const unknown = (checkpointId: string): ToolLayerError =>
  new ToolLayerError(
    'E3702',
    'There is no such checkpoint of this tool and agent. List the checkpoints of the call, or call without one.',
    detailsOf(checkpointId),
  );

const expired = (checkpointId: string): ToolLayerError =>
  new ToolLayerError(
    'E3707',
    'The checkpoint has expired. Resume from a newer one, or call without one.',
    detailsOf(checkpointId),
  );

const onItsWay = (checkpointId: string): ToolLayerError =>
  new ToolLayerError(
    'E3708',
    'The archive is bringing the state of the checkpoint back, which can take hours. Ask for it again until that succeeds.',
    detailsOf(checkpointId),
  );

const unreadable = (checkpointId: string): ToolLayerError =>
  new ToolLayerError(
    'E3703',
    'The checkpoint is damaged, and so are those before it. Call without one.',
    detailsOf(checkpointId),
  );

const otherStates = (
  { toolVersion }: ResumedRun,
  { checkpointId, toolVersion: saving }: CheckpointFacts,
): ToolLayerError =>
  new ToolLayerError(
    'E3703',
    `Version ${saving} of the tool saved the checkpoint, and ${toolVersion} may have other states. Call version ${saving}, or call without a checkpoint.`,
    detailsOf(checkpointId),
  );

const stillRunning = (checkpointId: string, holder: string): ToolLayerError =>
  new ToolLayerError(
    'E3704',
    `The work of this checkpoint is done by ${holder} at present. Wait for its end, or cancel it, before you resume.`,
    detailsOf(checkpointId),
  );
