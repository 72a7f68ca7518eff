import { failure } from '@sallyport/std/error/failure';
import {
  ThreadListRequest,
  ThreadListResponse,
  ThreadRequest,
  ThreadSaved,
  ThreadSaveRequest,
  ThreadWriteRequest,
  type TypedValue,
} from '../../../api/schemas/calls/thread.ts';
import type { ThreadPlace, ThreadState, TypedBytes } from '../../bridges/threads.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Default number of states on one page. */
const PAGE = 10;

type Parts = Pick<OperationParts, 'threads'>;

/** States of the asker's own threads, with what was written on top of them. */
export const listThreads = operation({
  name: 'threads.list',
  summary: 'List the states of the own threads with the writes on top of them, newest first',
  method: 'GET',
  path: '/v1/threads',
  status: 200,
  access: 'token',
  input: ThreadListRequest,
  output: ThreadListResponse,
  run:
    ({ threads }: Parts) =>
    async (request, { principal }) => {
      const { limit = PAGE, cursor } = request;
      const after = cursor === undefined ? undefined : placeOf(cursor);
      if (cursor !== undefined && after === undefined)
        return failure('E3801', 'cursor is none of this operation. Give next_cursor of an answer, or leave it out.');
      const found = await threads.list(principal, {
        ...(request.thread_id === undefined ? {} : { threadId: request.thread_id }),
        ...(request.namespace === undefined ? {} : { namespace: request.namespace }),
        ...(request.checkpoint_id === undefined ? {} : { checkpointId: request.checkpoint_id }),
        ...(request.before === undefined ? {} : { before: request.before }),
        ...(after === undefined ? {} : { after }),
        limit,
      });
      const last = found.length < limit ? undefined : found.at(-1);
      return { states: found.map(shown), ...(last === undefined ? {} : { next_cursor: cursorOf(last) }) };
    },
});

/** Saves a state of a thread. */
export const saveThread = operation({
  name: 'threads.save',
  summary: 'Save a state of a thread, or replace the one of that id',
  method: 'POST',
  path: '/v1/threads/{thread_id}/states',
  status: 200,
  access: 'token',
  input: ThreadSaveRequest,
  output: ThreadSaved,
  run:
    ({ threads }: Parts) =>
    async ({ thread_id, namespace = '', checkpoint_id, parent_checkpoint_id, ...given }, { principal }) => {
      await threads.save(principal, {
        ...{ threadId: thread_id, namespace, checkpointId: checkpoint_id },
        ...(parent_checkpoint_id === undefined ? {} : { parentId: parent_checkpoint_id }),
        ...{ state: bytesOf(given.state), metadata: bytesOf(given.metadata), versions: given.versions },
        values: given.values.map(({ value, ...place }) => ({ ...place, value: bytesOf(value) })),
      });
      return { thread_id };
    },
});

/** Saves what a task wrote on top of a state. */
export const writeThread = operation({
  name: 'threads.write',
  summary: 'Save what a task wrote on top of a state; what is there already stays',
  method: 'POST',
  path: '/v1/threads/{thread_id}/writes',
  status: 200,
  access: 'token',
  input: ThreadWriteRequest,
  output: ThreadSaved,
  run:
    ({ threads }: Parts) =>
    async ({ thread_id, namespace = '', checkpoint_id, writes }, { principal }) => {
      const place = { threadId: thread_id, namespace, checkpointId: checkpoint_id };
      const given = writes.map(({ task_id, task_path = '', index, channel, value }) => ({
        ...{ taskId: task_id, taskPath: task_path, index, channel },
        value: bytesOf(value),
      }));
      await threads.write(principal, place, given);
      return { thread_id };
    },
});

/** Removes a thread. */
export const removeThread = operation({
  name: 'threads.remove',
  summary: 'Remove an own thread with all its states',
  method: 'DELETE',
  path: '/v1/threads/{thread_id}',
  status: 200,
  access: 'token',
  input: ThreadRequest,
  output: ThreadSaved,
  run:
    ({ threads }: Parts) =>
    async ({ thread_id }, { principal }) => {
      await threads.remove(principal, thread_id);
      return { thread_id };
    },
});

const bytesOf = ({ type, base64 }: TypedValue): TypedBytes => ({ type, bytes: Buffer.from(base64, 'base64') });

const valueWith = ({ type, bytes }: TypedBytes): TypedValue => ({
  type,
  base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
});

function shown({ parentId, ...found }: ThreadState): ThreadListResponse['states'][number] {
  return {
    ...{ thread_id: found.threadId, namespace: found.namespace, checkpoint_id: found.checkpointId },
    ...(parentId === undefined ? {} : { parent_checkpoint_id: parentId }),
    ...{ state: valueWith(found.state), metadata: valueWith(found.metadata), versions: found.versions },
    values: found.values.map(({ value, ...place }) => ({ ...place, value: valueWith(value) })),
    writes: found.writes.map(({ taskId, taskPath, index, channel, value }) => ({
      ...{ task_id: taskId, task_path: taskPath, index, channel },
      value: valueWith(value),
    })),
  };
}

const cursorOf = ({ threadId, namespace, checkpointId }: ThreadPlace): string =>
  Buffer.from(JSON.stringify([threadId, namespace, checkpointId])).toString('base64url');

/** Undefined for a text that is no cursor. */
function placeOf(cursor: string): ThreadPlace | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (!Array.isArray(parts) || parts.length !== 3) return undefined;
    const [threadId, namespace, checkpointId]: unknown[] = parts;
    if (typeof threadId !== 'string' || typeof namespace !== 'string' || typeof checkpointId !== 'string')
      return undefined;
    return { threadId, namespace, checkpointId };
  } catch {
    return undefined;
  }
}
