import { type Failure, failure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import { ownerNames } from '../../../domain/invocation/call-owner.ts';
import type { AskedFor } from '../../../domain/invocation/waiting-call.ts';
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

/** The names of a call, and what they stand for. */
export interface CallNames {
  /** In the order in which they are claimed: the id first, since that decides which row the call is recorded under. */
  readonly names: readonly CallName[];
  readonly asked: AskedFor;
}

/**
 * The names of a call; undefined when its caller chose none.
 * @param before what the caller of a call that waited asked for: its version is settled since, and an approver may have
 *   changed its arguments
 */
export function callNames(call: CallRequest & Resolved & Validated, before?: AskedFor): CallNames | undefined {
  const { request, principal, tool, inputHash } = call;
  const id = request.invocation_id;
  const key = idempotencyKeyOf(call);
  if (id === undefined && key === undefined) return undefined;
  const names: CallName[] = [];
  const asked = before ?? { version: request.tool_version ?? 'latest', inputHash };
  const version = [tool.manifest.tool_id, asked.version];
  if (id !== undefined) {
    // Ids belong to the tenant, not to one caller: another caller's request with the same id is another request.
    const requestHash = hashOf([...version, asked.inputHash, key?.scoped ?? null, ...ownerNames(principal)]);
    names.push({ kind: 'id', shown: id, claimed: `\nid:${id}`, requestHash });
  }
  if (key !== undefined) {
    const kind = key.ofTurnGroup ? 'turn-group' : 'key';
    // The key of a turn group is made from the arguments that are to run.
    const requestHash = hashOf([...version, key.ofTurnGroup ? inputHash : asked.inputHash]);
    names.push({ kind, shown: key.key, claimed: key.scoped, requestHash });
  }
  return { names, asked };
}

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
