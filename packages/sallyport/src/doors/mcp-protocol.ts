import { isObject } from '../domain/shape/is-object.ts';
import { errorAnswer, type Params, RPC, type RpcAnswer, type RpcId } from './json-rpc.ts';
import type { ExactPlace } from './wire-json.ts';

/** Where a request holds the arguments of a tool. */
export const ARGUMENTS: readonly ExactPlace[] = [['params', 'arguments']];

/** Protocol versions with an `initialize` handshake, newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** Protocol versions that every request states for itself. */
export const MODERN_VERSIONS = ['2026-07-28'] as const;
/** All supported protocol versions, newest first. */
export const ALL_VERSIONS: readonly string[] = [...MODERN_VERSIONS, ...LEGACY_VERSIONS];

/** `legacy`: an initialize handshake, then sessions; `modern`: self-contained requests (2026-07-28). */
export type Era = 'legacy' | 'modern';

/** `_meta` key under which a request states its version. This and the next four keys: 2026-07-28. */
export const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
/** `_meta` key under which a request states its client's capabilities. */
export const META_CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
/** `_meta` key under which a request states from which level on it wants log messages. */
export const META_LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
/** `_meta` key under which a result names its server. */
export const META_SERVER = 'io.modelcontextprotocol/serverInfo';
/** `_meta` key under which a notification names its subscription. */
export const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** `_meta` of a request; empty when it has none. */
export function metaOf(params: Params): Params {
  const meta = params['_meta'];
  return typeof meta === 'object' && meta !== null ? (meta as Params) : NONE;
}

const NONE: Params = {};

/** The version for a handshake: the client's own when supported, otherwise the newest. */
export function negotiate(requested: unknown): string {
  return LEGACY_VERSIONS.find((version) => version === requested) ?? LEGACY_VERSIONS[0];
}

/** True for versions with sessions. */
export function isLegacyVersion(version: unknown): boolean {
  return LEGACY_VERSIONS.some((known) => known === version);
}

/** True for versions with self-contained requests. */
export function isModernVersion(version: unknown): boolean {
  return MODERN_VERSIONS.some((known) => known === version);
}

/**
 * Lists may change at any time and depend on the token: clients must not reuse one without asking again (2026-07-28,
 * caching).
 */
export const CACHE_HINTS = { ttlMs: 0, cacheScope: 'private' } as const;

/** The notifications of a 2025-era session, as a SubscriptionFilter of 2026-07-28. */
export const SESSION_WISH: Params = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };

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
