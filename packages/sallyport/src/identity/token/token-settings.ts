import { integer, list } from '../../domain/settings/rows.ts';

/** Settings for verifying capability tokens. */
export const TOKEN_SETTINGS = {
  audiences: list('tokens.audiences', {
    default: [],
    sentence: 'What this layer is called in aud. A capability token that has aud must name one of them.',
  }),
  clockSkewSeconds: integer('tokens.clock_skew_seconds', {
    unit: 'seconds',
    minimum: 0,
    default: 5,
    sentence: 'How far the clock of an issuer may be off; 300 at most.',
  }),
};
