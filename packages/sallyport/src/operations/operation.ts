import type { Failure } from '@sallyport/std/error/failure';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import type { Caller, Principal } from '../domain/principal/principal.ts';
import type { OperationInput, OperationName, OperationOutput } from './catalogue.ts';

/** Who asked for an operation, once that is known. */
export interface Asker {
  readonly principal: Principal;
  /** Absent for a local caller and for an open operation: nothing but the tenant narrows what they see. */
  readonly claims?: CapabilityClaims;
  readonly caller: Caller;
}

/** Does what one operation promises. Input was checked against its schema, the asker against its access. */
export type Run<N extends OperationName> = (
  input: OperationInput<N>,
  asker: Asker,
) => OperationOutput<N> | Failure | Promise<OperationOutput<N> | Failure>;

/** Every operation with what does it. */
export type Operations = { readonly [N in OperationName]: Run<N> };

/** Those of one part of the catalogue. */
export type OperationsOf<Part> = Pick<Operations, keyof Part & OperationName>;
