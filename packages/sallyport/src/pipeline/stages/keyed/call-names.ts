import { type Failure, failure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import { ownerNames } from '../../../domain/invocation/call-owner.ts';
import type { CallRequest, Resolved, Validated } from '../../call.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';

/** A name by which a caller may repeat its request: an invocation id or an idempotency key. */
export interface CallName {
  readonly kind: 'id' | 'key' | 'turn-group';
  /** As the caller knows it. */
  readonly shown: string;
  /** As it is claimed: distinct from every other name of the tenant. */
  readonly claimed: string;
  /** SHA-256 over what the caller asks for. */
  readonly requestHash: string;
}

/**
 * The names of a call, in the order in which they are claimed: its id first, since that decides which row the call is
 * recorded under. Empty when the caller chose none.
 */
export function callNames(call: CallRequest & Resolved & Validated): readonly CallName[] {
  const { request, principal, tool, inputHash } = call;
  const id = request.invocation_id;
  const key = idempotencyKeyOf(call);
  if (id === undefined && key === undefined) return NONE;
  const names: CallName[] = [];
  const asked = [tool.manifest.tool_id, request.tool_version ?? 'latest', inputHash];
  if (id !== undefined) {
    // Ids belong to the tenant, not to one caller: another caller's request with the same id is another request.
    const requestHash = hashOf([...asked, key?.scoped ?? null, ...ownerNames(principal)]);
    names.push({ kind: 'id', shown: id, claimed: `\nid:${id}`, requestHash });
  }
  if (key !== undefined) {
    const kind = key.ofTurnGroup ? 'turn-group' : 'key';
    names.push({ kind, shown: key.key, claimed: key.scoped, requestHash: hashOf(asked) });
  }
  return names;
}

const NONE: readonly CallName[] = [];
const hashOf = (asked: readonly (string | null)[]): string => sha256(canonicalJson(asked));

/** E3802: the name stands for another request. */
export function nameTaken({ kind, shown }: CallName): Failure {
  switch (kind) {
    case 'id':
      return failure(
        'E3802',
        `The invocation id ${shown} was used before. Leave it out, or make a new one for each call.`,
      );
    case 'key':
      return failure(
        'E3802',
        'This idempotency key was used with another tool, version or arguments, or with other documents. Take a new key for a new request.',
      );
    case 'turn-group':
      return failure(
        'E3802',
        'The tool ran for this business in this turn group already, with other arguments. Begin a new turn group to run it anew.',
      );
  }
}
