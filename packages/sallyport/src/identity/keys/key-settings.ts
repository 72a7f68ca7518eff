import { seconds } from '../../domain/settings/rows.ts';

/** Settings of how long other issuers' public keys are valid. */
export const KEY_SETTINGS = {
  refreshMs: seconds('tokens.jwks_refresh_seconds', {
    timed: true,
    whole: true,
    minimum: 1,
    default: 300,
    sentence: 'How often key files and key sets are read again; a token with an unknown key has it done sooner.',
  }),
  maxAgeMs: seconds('tokens.jwks_max_age_seconds', {
    whole: true,
    minimum: 1,
    default: 86_400,
    sentence: 'How long keys are accepted after their source was read last; then their tokens are refused with E3206.',
  }),
  overlapMs: seconds('tokens.key_overlap_seconds', {
    whole: true,
    minimum: 0,
    default: 3600,
    sentence: 'How long a key is accepted after it was replaced here, or vanished from its file or key set.',
  }),
};
