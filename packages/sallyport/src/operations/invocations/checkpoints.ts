import { type Failure, failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isoTime } from '@sallyport/std/iso-time';
import {
  type Checkpoint,
  CheckpointDiffRequest,
  CheckpointDiffResponse,
  CheckpointGetRequest,
  CheckpointListRequest,
  CheckpointListResponse,
  CheckpointRemoveResponse,
  CheckpointRestoreResponse,
  CheckpointWithState,
} from '../../../api/schemas/calls/checkpoint.ts';
import type { CheckpointFacts } from '../../bridges/checkpoint-store.port.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { mayReach, type Reach } from './may-reach.ts';
import { changesBetween } from './state-changes.ts';

/** Default number of checkpoints on one page. */
const PAGE = 50;
/** Most changes of a comparison that are shown. */
const CHANGES_MAX = 500;

type Parts = Pick<OperationParts, 'checkpoints'>;

/** Checkpoints of a call, and of the calls whose work it continued. */
export const listCheckpoints = operation({
  name: 'checkpoints.list',
  summary: 'List the checkpoints of a call, and of the calls whose work it continued, newest first',
  method: 'GET',
  path: '/v1/checkpoints',
  status: 200,
  access: 'token',
  input: CheckpointListRequest,
  output: CheckpointListResponse,
  run:
    ({ checkpoints }: Parts) =>
    async ({ invocation_id, before, limit = PAGE }, asker) => {
      const found = await checkpoints.list(asker.principal.tenantId, invocation_id, limit, before);
      return { checkpoints: found.filter(({ owner }) => mayReach(asker, owner, 'viewer')).map(shown) };
    },
});

/** One checkpoint with its state. */
export const getCheckpoint = operation({
  name: 'checkpoints.get',
  summary: 'One checkpoint with its state',
  method: 'GET',
  path: '/v1/checkpoints/{checkpoint_id}',
  status: 200,
  access: 'token',
  input: CheckpointGetRequest,
  output: CheckpointWithState,
  run:
    ({ checkpoints }: Parts) =>
    async ({ checkpoint_id }, asker) => {
      const { facts, state } = await readOwn(checkpoints, checkpoint_id, asker, 'viewer');
      const value = parsed(state);
      if (value === undefined) return { checkpoint: shown(facts), state_base64: Buffer.from(state).toString('base64') };
      return { checkpoint: shown(facts), state: value.json };
    },
});

/** What changed between the states of two checkpoints. */
export const diffCheckpoints = operation({
  name: 'checkpoints.diff',
  summary: 'What changed from the state of one checkpoint to that of another',
  method: 'GET',
  path: '/v1/checkpoints/{checkpoint_id}/diff',
  status: 200,
  access: 'token',
  input: CheckpointDiffRequest,
  output: CheckpointDiffResponse,
  run:
    ({ checkpoints }: Parts) =>
    async (request, asker) => {
      const before = parsed((await readOwn(checkpoints, request.checkpoint_id, asker, 'viewer')).state);
      const after = parsed((await readOwn(checkpoints, request.with, asker, 'viewer')).state);
      if (before === undefined || after === undefined)
        return failure('E3801', 'Only states that are JSON can be compared. Show the checkpoints one by one.');
      const changes = changesBetween(before.json, after.json, CHANGES_MAX + 1);
      return { changes: changes.slice(0, CHANGES_MAX), truncated: changes.length > CHANGES_MAX };
    },
});

/** Brings the state of a checkpoint back from the archive. */
export const restoreCheckpoint = operation({
  name: 'checkpoints.restore',
  summary: 'Bring the state of a checkpoint back from the archive; E3708 until it is there: ask again',
  method: 'POST',
  path: '/v1/checkpoints/{checkpoint_id}/restore',
  status: 200,
  access: 'token',
  input: CheckpointGetRequest,
  output: CheckpointRestoreResponse,
  run:
    ({ checkpoints }: Parts) =>
    async ({ checkpoint_id }, asker) => {
      await findOwn(checkpoints, checkpoint_id, asker, 'operator');
      return { checkpoint: shown(await checkpoints.restore(asker.principal.tenantId, checkpoint_id)) };
    },
});

/** Removes a checkpoint, and those stored as the difference from it. */
export const removeCheckpoint = operation({
  name: 'checkpoints.remove',
  summary: 'Remove a checkpoint, and micro checkpoints stored as the difference from it',
  method: 'DELETE',
  path: '/v1/checkpoints/{checkpoint_id}',
  status: 200,
  access: 'token',
  input: CheckpointGetRequest,
  output: CheckpointRemoveResponse,
  run:
    ({ checkpoints }: Parts) =>
    async ({ checkpoint_id }, asker) => {
      const { tenantId } = asker.principal;
      await findOwn(checkpoints, checkpoint_id, asker, 'operator');
      return (await checkpoints.remove(tenantId, checkpoint_id)) ? { checkpoint_id } : noSuchCheckpoint();
    },
});

async function readOwn(checkpoints: Parts['checkpoints'], checkpointId: string, asker: Asker, reach: Reach) {
  await findOwn(checkpoints, checkpointId, asker, reach);
  return checkpoints.read(asker.principal.tenantId, checkpointId);
}

/** @throws ToolLayerError E3702 for a checkpoint that the asker may not reach */
async function findOwn(
  checkpoints: Parts['checkpoints'],
  checkpointId: string,
  asker: Asker,
  reach: Reach,
): Promise<void> {
  const facts = await checkpoints.find(asker.principal.tenantId, checkpointId);
  if (facts === undefined || !mayReach(asker, facts.owner, reach)) throw ToolLayerError.of(noSuchCheckpoint());
}

/** Undefined for bytes that are no JSON text. */
function parsed(state: Uint8Array): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(state)) as unknown };
  } catch {
    return undefined;
  }
}

function shown(facts: CheckpointFacts): Checkpoint {
  const { label, phase, progressPercent, parentId, archivedAt, expiresAt, owner } = facts;
  return {
    checkpoint_id: facts.checkpointId,
    checkpoint_type: facts.type,
    ...(label === undefined ? {} : { label }),
    invocation_id: facts.invocationId,
    tool_id: facts.toolId,
    tool_version: facts.toolVersion,
    agent_did: owner.agentDid,
    ...(owner.userDid === undefined ? {} : { user_did: owner.userDid }),
    sequence: facts.sequence,
    ...(phase === undefined ? {} : { current_phase: phase }),
    ...(progressPercent === undefined ? {} : { progress_percent: progressPercent }),
    schema_version: facts.schemaVersion,
    state_bytes: facts.size,
    state_sha256: facts.sha256,
    ...(parentId === undefined ? {} : { parent_checkpoint_id: parentId }),
    timestamp: isoTime(facts.savedAt),
    ...(archivedAt === undefined ? {} : { archived_at: isoTime(archivedAt) }),
    ...(expiresAt === undefined ? {} : { expires_at: isoTime(expiresAt) }),
  };
}

/** The same answer for a checkpoint that does not exist and for one that is not the asker's. */
const noSuchCheckpoint = (): Failure => failure('E3702', 'There is no checkpoint of that id that you may see.');
