import type { Setting } from './setting.ts';

/** Who may ask: tokens and keys. */
export const IDENTITY_SETTINGS = [
  {
    key: 'tokens.mode',
    variable: 'SALLYPORT_TOKENS',
    type: 'string',
    oneOf: ['required', 'development'],
    default: 'required',
    sentence:
      'required: every call carries a capability token. development: calls without one may do anything; loopback only, and loudly.',
  },
  {
    key: 'tokens.issuers',
    variable: 'SALLYPORT_TOKEN_ISSUERS',
    type: 'list',
    default: ['sallyport'],
    sentence: 'Issuers whose tokens are accepted.',
  },
  {
    key: 'tokens.public_key_file',
    variable: 'SALLYPORT_TOKEN_PUBLIC_KEY_FILE',
    type: 'string',
    default: '',
    sentence: "PEM file with the RSA public key of a foreign issuer, accepted beside the layer's own key.",
  },
  {
    key: 'tokens.clock_skew_seconds',
    variable: 'SALLYPORT_TOKEN_CLOCK_SKEW_SECONDS',
    type: 'integer',
    unit: 'seconds',
    minimum: 0,
    default: 5,
    sentence: 'How far the clock of an issuer may be off.',
  },
] as const satisfies readonly Setting[];
