import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { type CallOwner, ownerNames } from '../../../domain/invocation/call-owner.ts';
import type { CallRequest, Resolved, Validated } from '../../call.ts';

/** Hex digits of the hash used for arguments without key fields (004 §7.2). */
const HASH_DIGITS = 16;
/** Longest business key, in characters; a longer one is replaced by its hash. */
const BUSINESS_KEY_MAX = 512;
/** Prefix of keys of turn groups, so that none is mistaken for a key that a caller chose (004 §9). */
const TURN_GROUP_PREFIX = 'tool_idem';

/** The key under which a call runs once. */
export interface IdempotencyKey {
  /** As the caller sees it. */
  readonly key: string;
  /** As it is claimed: bound to one owner, and distinct from every other. Its tenant is stored beside it. */
  readonly scoped: string;
  /** True when the key belongs to the turn group, false when the caller chose it. */
  readonly ofTurnGroup: boolean;
}

/** The caller's own key, or that of the turn group; undefined when the call names neither (PIPE-09, VIS-04). */
export function idempotencyKeyOf(call: CallRequest & Resolved & Validated): IdempotencyKey | undefined {
  const { request, principal, compensates, tool } = call;
  const options = request.execution_options;
  const own = options?.idempotency_key;
  if (own !== undefined) {
    // A call is taken back once, whichever owner asks for it.
    const scoped = compensates === undefined ? scopedKey(principal, own) : lengthPrefixed('compensation', [''], own);
    return { key: own, scoped, ofTurnGroup: false };
  }
  const turnGroup = options?.turn_group_id;
  if (turnGroup === undefined) return undefined;
  const key = `${tool.manifest.tool_id}:${businessKey(tool.manifest, call)}:turn_group:${turnGroup}`;
  return { key, scoped: lengthPrefixed(TURN_GROUP_PREFIX, ownerNames(principal), key), ofTurnGroup: true };
}

/**
 * A caller's key within its owner, so that nobody reads another agent's or user's answer by guessing the key. The short
 * form is kept for agents without a user, since such keys are stored already; an agent whose name holds a line break
 * gets the long form, because its name and key could be split in two ways.
 */
export function scopedKey(owner: Omit<CallOwner, 'tenantId'>, key: string): string {
  const names = ownerNames(owner);
  const [agent] = names;
  return names.length > 1 || agent?.includes('\n') ? lengthPrefixed('key', names, key) : `${agent}\n${key}`;
}

/**
 * Begins with a line break, which no short form does, since no agent's name is empty. The kind says how many names
 * follow.
 */
const lengthPrefixed = (kind: string, names: readonly string[], key: string): string =>
  `\n${names.length > 1 ? 'user_' : ''}${kind}:${names.map((name) => `${name.length}:${name}`).join('')}${key}`;

/**
 * What makes two calls the same business: the values of `idempotency_key_fields`, or the first 16 hex digits of the
 * hash over all arguments. Colons in a value are written as %3A, so that different lists of values never give the same
 * key.
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
