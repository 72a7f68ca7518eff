import { isObject } from '../domain/shape/is-object.ts';
import { errorAnswer, type Params, RPC, type RpcAnswer, type RpcId } from './json-rpc.ts';

/** Identifier of the tasks extension of 2026-07-28. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** `_meta` key under which a message of 2025-11-25 names its task. */
export const META_RELATED_TASK = 'io.modelcontextprotocol/related-task';

const REQUIRED = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };

/** True when a client of 2026-07-28 declares the tasks extension with its request. */
export function declaresTasks(can: Params | undefined): boolean {
  const extensions = can?.['extensions'];
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}

/** Refuses a request that only clients with the tasks extension may send (2026-07-28, missing required capabilities). */
export function tasksMissing(id: RpcId, what: string): RpcAnswer {
  const message = `${what} needs a client that declares the extension ${TASKS_EXTENSION}.`;
  return errorAnswer(id, RPC.missingCapability, message, REQUIRED, 400);
}
