import { integer, list, oneOf, text } from '../../domain/settings/rows.ts';

/** Who may ask: tokens and keys. */
export const IDENTITY_ROWS = [
  oneOf('tokens.mode', ['required', 'optional', 'development'], {
    default: 'required',
    sentence:
      'required: every call carries a token or API key. optional: calls without one are an untrusted agent that may touch nothing. development: they may do anything. The last two on loopback only, and loudly.',
  }),
  list('tokens.issuers', {
    default: ['sallyport'],
    sentence: "Issuers whose tokens are accepted. The layer's own are accepted in any case, by its own keys alone.",
  }),
  list('tokens.algorithms', {
    default: ['RS256'],
    sentence: 'Signatures that are accepted: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA.',
  }),
  list('tokens.audiences', {
    default: [],
    sentence: 'What this layer is called in aud. A capability token that has aud must name one of them.',
  }),
  text('tokens.public_key_file', {
    default: '',
    sentence: "PEM or JWKS file with the public keys of a foreign issuer, accepted beside the layer's own.",
  }),
  text('tokens.jwks_url', {
    default: '',
    sentence: 'Address of the JWKS of a foreign issuer: https, or http on this machine.',
  }),
  integer('tokens.jwks_refresh_seconds', {
    unit: 'seconds',
    minimum: 1,
    default: 300,
    sentence: 'How often key files and key sets are read again; a token with an unknown key has it done sooner.',
  }),
  integer('tokens.jwks_max_age_seconds', {
    unit: 'seconds',
    minimum: 1,
    default: 86_400,
    sentence: 'How long keys are accepted after their source was read last; then their tokens are refused with E3206.',
  }),
  integer('tokens.key_overlap_seconds', {
    unit: 'seconds',
    minimum: 0,
    default: 3600,
    sentence: 'How long a key is accepted after it was replaced here, or vanished from its file or key set.',
  }),
  integer('tokens.clock_skew_seconds', {
    unit: 'seconds',
    minimum: 0,
    default: 5,
    sentence: 'How far the clock of an issuer may be off; 300 at most.',
  }),
  oneOf('trust.default', ['untrusted', 'provisional', 'trusted'], {
    default: 'trusted',
    sentence: 'Trust level of agents whose token names none.',
  }),
];
