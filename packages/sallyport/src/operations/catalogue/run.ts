import type { Failure } from '@sallyport/std/error/failure';
import type { OperationInput, OperationName, OperationOutput } from '../catalogue.ts';
import type { Asker } from '../operation.ts';

/** Does what one operation promises. Input was checked against its schema, the asker against its access. */
export type Run<N extends OperationName> = (
  input: OperationInput<N>,
  asker: Asker,
) => OperationOutput<N> | Failure | Promise<OperationOutput<N> | Failure>;

/** Every operation with what does it. */
export type Operations = { readonly [N in OperationName]: Run<N> };

/** Those of one part of the catalogue. */
export type OperationsOf<Part> = Pick<Operations, keyof Part & OperationName>;
