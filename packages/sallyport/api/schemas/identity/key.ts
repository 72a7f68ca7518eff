import { type Static, Type } from 'typebox';
import { Timestamp } from '../identifiers.ts';

/** One of the layer's own keys for capability tokens. */
export const OwnKey = Type.Object(
  {
    kid: Type.String({ description: 'RFC 7638 thumbprint, SHA-256.' }),
    algorithm: Type.Literal('RS256'),
    state: Type.Enum(['signing', 'accepted', 'retired'], {
      description: 'signing: new tokens are signed with it. accepted: replaced, its tokens count until accepted_until.',
    }),
    retired_at: Type.Optional(Timestamp),
    accepted_until: Type.Optional(Timestamp),
  },
  { additionalProperties: false },
);
export type OwnKey = Static<typeof OwnKey>;

/** A key of somebody else whose tokens are accepted. */
export const ForeignKey = Type.Object(
  {
    kid: Type.String(),
    issuers: Type.Array(Type.String(), { description: 'Issuers that it speaks for; empty for each accepted one.' }),
    algorithm: Type.Optional(Type.String({ description: 'Absent: any configured one that fits the key.' })),
    accepted_until: Type.Optional(Type.String({ description: 'ISO 8601; moves on with each look at its source.' })),
  },
  { additionalProperties: false },
);
export type ForeignKey = Static<typeof ForeignKey>;

export const KeyListResponse = Type.Object(
  { own: Type.Array(OwnKey), foreign: Type.Array(ForeignKey), problems: Type.Array(Type.String()) },
  { additionalProperties: false },
);
export type KeyListResponse = Static<typeof KeyListResponse>;

export const KeyRotateRequest = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 31_536_000,
        description: 'How long tokens of the old key are accepted; tokens.key_overlap_seconds when absent.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type KeyRotateRequest = Static<typeof KeyRotateRequest>;

export const KeyRotateResponse = Type.Object(
  { kid: Type.String(), replaced_kid: Type.String(), accepted_until: Timestamp },
  { additionalProperties: false },
);
export type KeyRotateResponse = Static<typeof KeyRotateResponse>;

/** A public RSA key, RFC 7517 and RFC 7518 §6.3. */
export const JsonWebKey = Type.Object(
  {
    kty: Type.Literal('RSA'),
    n: Type.String(),
    e: Type.String(),
    kid: Type.String(),
    use: Type.Literal('sig'),
    alg: Type.Literal('RS256'),
  },
  { additionalProperties: false },
);

/** The layer's public keys, for others who verify its tokens (RFC 7517 §5). */
export const JsonWebKeySet = Type.Object({ keys: Type.Array(JsonWebKey) }, { additionalProperties: false });
export type JsonWebKeySet = Static<typeof JsonWebKeySet>;
