import { list, oneOf, text } from '../../domain/settings/rows.ts';

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
  text('tokens.public_key_file', {
    default: '',
    sentence: "PEM or JWKS file with the public keys of a foreign issuer, accepted beside the layer's own.",
  }),
  text('tokens.jwks_url', {
    default: '',
    sentence: 'Address of the JWKS of a foreign issuer: https, or http on this machine.',
  }),
  oneOf('trust.default', ['untrusted', 'provisional', 'trusted'], {
    default: 'trusted',
    sentence: 'Trust level of agents whose token names none.',
  }),
];
