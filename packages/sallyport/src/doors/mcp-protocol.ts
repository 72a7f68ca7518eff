import type { Params } from './json-rpc.ts';

/** Versions with an `initialize` handshake, newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** Versions that every request states for itself. */
export const MODERN_VERSIONS = ['2026-07-28'] as const;
/** Every version that is spoken, newest first. */
export const ALL_VERSIONS: readonly string[] = [...MODERN_VERSIONS, ...LEGACY_VERSIONS];

/** `legacy`: an initialize handshake, then sessions; `modern`: each request stands alone (2026-07-28). */
export type Era = 'legacy' | 'modern';

/** Key of `_meta` under which a request states its version (2026-07-28, as the following). */
export const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
/** Key of `_meta` under which a request states what its client can do. */
export const META_CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
/** Key of `_meta` under which a result says which server gave it. */
export const META_SERVER = 'io.modelcontextprotocol/serverInfo';
/** Key of `_meta` under which a notification names the subscription that it belongs to. */
export const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** `_meta` of a request; empty when it has none. */
export function metaOf(params: Params): Params {
  const meta = params['_meta'];
  return typeof meta === 'object' && meta !== null ? (meta as Params) : NONE;
}

const NONE: Params = {};

/** The version of a handshake: the client's own when it is spoken here, otherwise the newest. */
export function negotiate(requested: unknown): string {
  return LEGACY_VERSIONS.find((version) => version === requested) ?? LEGACY_VERSIONS[0];
}

/** Whether it is a version with sessions. */
export function isLegacyVersion(version: unknown): boolean {
  return LEGACY_VERSIONS.some((known) => known === version);
}

/** Whether it is a version whose requests stand alone. */
export function isModernVersion(version: unknown): boolean {
  return MODERN_VERSIONS.some((known) => known === version);
}

/** Lists may change at any time and belong to one token: nothing may be kept without asking again (2026-07-28, caching). */
export const CACHE_HINTS = { ttlMs: 0, cacheScope: 'private' } as const;

/** What a session of the 2025 era is told of without asking, as 2026-07-28 would ask for it. */
export const SESSION_WISH: Params = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };
