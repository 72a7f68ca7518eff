import type { TSchema } from 'typebox';
import type { Role } from '../../../api/schemas/capability-token.ts';

/** Who may ask: anyone, any valid capability token, or a token (or local caller) with the operator's role. */
export type Access = 'open' | 'token' | Extract<Role, 'operator'>;

/** What can be asked of the layer, as data: doors, the OpenAPI document and the remote client are made from this table. */
export interface OperationEntry {
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path template; `{x}` is a member of the input. Of GET and DELETE the other members travel in the query, of POST in the body. */
  readonly path: string;
  /** HTTP status of a happy answer. */
  readonly status: 200 | 201;
  readonly access: Access;
  readonly input: TSchema;
  readonly output: TSchema;
}
