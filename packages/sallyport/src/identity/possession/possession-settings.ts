import { boolean, seconds } from '../../domain/settings/rows.ts';

/** Settings of proofs that a sender holds the key of its token. */
export const POSSESSION_SETTINGS = {
  isRequired: boolean('dpop.required', {
    default: false,
    sentence:
      'Accepts access tokens of an authorization server only when they are bound to a key (DPoP, RFC 9449). A token that is bound is never accepted without proof, whatever this says.',
  }),
  asksNonce: boolean('dpop.nonces', {
    default: true,
    sentence:
      'Accepts a proof only with a nonce that the layer gave within the last minutes, so that none can be made ahead. Each answer to a request with a proof brings one.',
  }),
  proofMs: seconds('dpop.proof_seconds', {
    whole: true,
    minimum: 1,
    maximum: 300,
    default: 60,
    sentence: 'How old a proof may be, by its own clock. Each is accepted once.',
  }),
};
