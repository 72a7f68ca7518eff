import type { Params } from './json-rpc.ts';

/** Versions with an `initialize` handshake, newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** Versions that every request states for itself. */
export const MODERN_VERSIONS = ['2026-07-28'] as const;
export const ALL_VERSIONS: readonly string[] = [...MODERN_VERSIONS, ...LEGACY_VERSIONS];

/** `legacy`: an initialize handshake, then sessions; `modern`: each request stands alone (2026-07-28). */
export type Era = 'legacy' | 'modern';

export const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
export const META_CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
export const META_SERVER = 'io.modelcontextprotocol/serverInfo';
export const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

export const INSTRUCTIONS =
  'Every tool call is checked, bounded and recorded. A refused call answers with a [tool_error] block: ' +
  'its suggestion says what to change, and retryable whether to try again.';

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

export function isLegacyVersion(version: unknown): boolean {
  return LEGACY_VERSIONS.some((known) => known === version);
}

export function isModernVersion(version: unknown): boolean {
  return MODERN_VERSIONS.some((known) => known === version);
}

/** Lists may change at any time and belong to one token: nothing may be kept without asking again (2026-07-28, caching). */
export const CACHE_HINTS = { ttlMs: 0, cacheScope: 'private' } as const;
