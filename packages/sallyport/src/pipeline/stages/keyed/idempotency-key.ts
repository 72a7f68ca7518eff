import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { type CallOwner, ownerNames } from '../../../domain/invocation/call-owner.ts';
import type { CallRequest, Resolved, Validated } from '../../call.ts';

/** Hex digits of the hash that stands for arguments without key fields (004 §7.2). */
const HASH_DIGITS = 16;
/** Longest business key, in characters; a longer one is told by its hash. */
const BUSINESS_KEY_MAX = 512;
/** What keys of turn groups begin with, so that none is taken for a key that a caller chose (004 §9). */
const TURN_GROUP_PREFIX = 'tool_idem';

/** Under which key a call runs once. */
export interface IdempotencyKey {
  /** As it is shown. */
  readonly key: string;
  /** As it is claimed: of one owner, and told apart from every other. Its tenant stands beside it. */
  readonly scoped: string;
  /** The key is of the turn group, not the caller's own. */
  readonly ofTurnGroup: boolean;
}

/** The caller's own key, or that of the turn group; undefined when the call names neither (PIPE-09, VIS-04). */
export function idempotencyKeyOf(call: CallRequest & Resolved & Validated): IdempotencyKey | undefined {
  const { request, principal, compensates, tool } = call;
  const options = request.execution_options;
  const own = options?.idempotency_key;
  if (own !== undefined) {
    // Whoever asks for it, one call is taken back once.
    const scoped = compensates === undefined ? scopedKey(principal, own) : lengthPrefixed('compensation', [''], own);
    return { key: own, scoped, ofTurnGroup: false };
  }
  const turnGroup = options?.turn_group_id;
  if (turnGroup === undefined) return undefined;
  const key = `${tool.manifest.tool_id}:${businessKey(tool.manifest, call)}:turn_group:${turnGroup}`;
  return { key, scoped: lengthPrefixed(TURN_GROUP_PREFIX, ownerNames(principal), key), ofTurnGroup: true };
}

/**
 * A caller's key within its owner: nobody reads another agent's or user's answer by guessing the key. The short form is that
 * of keys which are stored already, of agents without a user; an agent whose name holds a line break has the other, since its
 * name and key could be parted in two ways.
 */
export function scopedKey(owner: Omit<CallOwner, 'tenantId'>, key: string): string {
  const names = ownerNames(owner);
  const [agent] = names;
  return names.length > 1 || agent?.includes('\n') ? lengthPrefixed('key', names, key) : `${agent}\n${key}`;
}

/** Begins with a line break, as no short form does: no agent's name is empty. The kind says how many names follow. */
const lengthPrefixed = (kind: string, names: readonly string[], key: string): string =>
  `\n${names.length > 1 ? 'user_' : ''}${kind}:${names.map((name) => `${name.length}:${name}`).join('')}${key}`;

/**
 * What makes two calls the same business: the values of `idempotency_key_fields`, or the first 16 hex digits of the hash
 * over all arguments. A value's own colons are written as %3A, so that two lists of values never read the same.
 */
function businessKey(
  { idempotency_key_fields: fields = [] }: ToolManifest,
  { parameters, inputHash }: Validated,
): string {
  if (fields.length === 0) return inputHash.slice(0, HASH_DIGITS);
  const values = fields.map((field) => {
    const value = Object.hasOwn(parameters, field) ? parameters[field] : '';
    const text = typeof value === 'string' ? value : canonicalJson(value);
    return text.replaceAll('%', '%25').replaceAll(':', '%3A');
  });
  const key = values.join(':');
  return key.length <= BUSINESS_KEY_MAX ? key : sha256(key);
}
