import type { Failure } from '@sallyport/std/error/failure';
import type { Static, TSchema } from 'typebox';
import type { CapabilityClaims, Role } from '../../api/schemas/capability-token.ts';
import type { Caller, Principal } from '../domain/principal/principal.ts';

/** Who may ask: anyone, whoever shows a valid credential, or who has a role that {@link ROLES_FOR} names. */
export type Access = 'open' | 'token' | keyof typeof ROLES_FOR;

/**
 * Roles that may use operations of an access, the least of them first (PRM-10). A viewer reads what operators may read
 * and changes nothing; an approver reads too, and decides on approvals.
 */
export const ROLES_FOR = {
  viewer: ['viewer', 'approver', 'operator', 'admin'],
  operator: ['operator', 'admin'],
  approver: ['approver', 'admin'],
  admin: ['admin'],
} as const satisfies Partial<Record<Role, readonly Role[]>>;

/** What can be asked of the layer, as data: doors, the OpenAPI document and the remote client are made from such rows. */
export interface OperationEntry {
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path template; `{x}` is a member of the input. Of GET and DELETE the other members travel in the query, of POST in the body. */
  readonly path: string;
  /** HTTP status of a happy answer. */
  readonly status: 200 | 201;
  readonly access: Access;
  /** It concerns all tenants: only tokens of the tenants that the layer is run by may ask, and local callers. */
  readonly layerWide?: true;
  readonly input: TSchema;
  readonly output: TSchema;
}

/** Who asked for an operation, once that is known. */
export interface Asker {
  readonly principal: Principal;
  /** Absent for a local caller and for an open operation: nothing but the tenant narrows what they see. */
  readonly claims?: CapabilityClaims;
  readonly caller: Caller;
}

/** Does what one operation promises. Input was checked against its schema, the asker against its access. */
export type Run<Input extends TSchema, Output extends TSchema> = (
  input: Static<Input>,
  asker: Asker,
) => Static<Output> | Failure | Promise<Static<Output> | Failure>;

/** One thing that a caller can ask of any door: its row, and what does it with the parts that it names. */
export interface Operation<Name extends string, Input extends TSchema, Output extends TSchema, Parts>
  extends OperationEntry {
  /** `<plural noun>.<verb or noun>` in kebab-case. */
  readonly name: Name;
  readonly input: Input;
  readonly output: Output;
  readonly run: (parts: Parts) => Run<Input, Output>;
}

/** Makes an operation: what its run takes and answers with follows from the schemas beside it. */
export function operation<const Name extends string, Input extends TSchema, Output extends TSchema, Parts>(
  described: Operation<Name, Input, Output, Parts>,
): Operation<Name, Input, Output, Parts> {
  return described;
}
