import type { TSchema } from 'typebox';
import type { Role } from '../../../api/schemas/capability-token.ts';

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

/** What can be asked of the layer, as data: doors, the OpenAPI document and the remote client are made from this table. */
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
