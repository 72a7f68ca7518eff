import type { Failure } from '@sallyport/std/error/failure';
import type { Static, TSchema } from 'typebox';
import type { CapabilityClaims, Role } from '../../api/schemas/capability-token.ts';
import type { Caller, Principal } from '../domain/principal/principal.ts';

/** Who may ask: anybody, any holder of a valid credential, or a holder of a role in {@link ROLES_FOR}. */
export type Access = 'open' | 'token' | keyof typeof ROLES_FOR;

/**
 * Roles that may use operations of each access, the weakest first (PRM-10). A viewer reads what operators may read and
 * changes nothing; an approver reads too, and decides on approvals.
 */
export const ROLES_FOR = {
  viewer: ['viewer', 'approver', 'operator', 'admin'],
  operator: ['operator', 'admin'],
  approver: ['approver', 'admin'],
  admin: ['admin'],
} as const satisfies Partial<Record<Role, readonly Role[]>>;

/** An operation as data: doors, the OpenAPI document and the remote client are made from such rows. */
export interface OperationEntry {
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /**
   * Path template; `{x}` is a member of the input. The other members are in the query for GET and DELETE, in the body
   * for POST.
   */
  readonly path: string;
  /** A second address of it over REST, which a specification has fixed; members as in `path`. */
  readonly fixedPath?: string;
  /** HTTP status of a successful answer. */
  readonly status: 200 | 201;
  readonly access: Access;
  /**
   * True when it concerns all tenants: then only tokens of the tenants that run the layer may ask, and local callers.
   */
  readonly layerWide?: true;
  readonly input: TSchema;
  readonly output: TSchema;
}

/** The identified asker of an operation. */
export interface Asker {
  readonly principal: Principal;
  /** Absent for a local caller and for an open operation: then only the tenant narrows what the asker sees. */
  readonly claims?: CapabilityClaims;
  readonly caller: Caller;
}

/** Runs one operation. The input was checked against its schema, the asker against its access. */
export type Run<Input extends TSchema, Output extends TSchema> = (
  input: Static<Input>,
  asker: Asker,
) => Static<Output> | Failure | Promise<Static<Output> | Failure>;

/** One thing that a caller can ask of any door: its row, and the function that runs it with the parts that it names. */
export interface Operation<Name extends string, Input extends TSchema, Output extends TSchema, Parts>
  extends OperationEntry {
  /** `<plural noun>.<verb or noun>` in kebab-case. */
  readonly name: Name;
  readonly input: Input;
  readonly output: Output;
  readonly run: (parts: Parts) => Run<Input, Output>;
}

/** Defines an operation: the types of its input and answer follow from the schemas. */
export function operation<const Name extends string, Input extends TSchema, Output extends TSchema, Parts>(
  described: Operation<Name, Input, Output, Parts>,
): Operation<Name, Input, Output, Parts> {
  return described;
}
