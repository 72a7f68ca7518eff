import { boolean, oneOf } from '../../domain/settings/rows.ts';

/** When calls are kept away from a service that fails (CIR-01, CIR-03). Bounds are judged together, so that E3403 names the key. */
export const CIRCUIT_ROWS = [
  boolean('circuits.enabled', { default: true, sentence: 'Whether calls to services go through circuits.' }),
  oneOf('circuits.unknown_state', ['open', 'closed'], {
    default: 'open',
    sentence: 'What a circuit counts as whose state is not known: open refuses with E3402.',
  }),
];
