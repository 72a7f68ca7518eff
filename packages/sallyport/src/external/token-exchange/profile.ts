import { type Static, Type } from 'typebox';

const Text = Type.String({ minLength: 1, maxLength: 2_048 });

/** One table of the file of exchanges, under the name of the secret that tools ask for. */
export const ExchangeTable = Type.Object(
  {
    endpoint: Text,
    client_id: Type.Optional(Text),
    client_secret: Type.Optional(Text),
    audience: Type.Optional(Text),
    resource: Type.Optional(Text),
    scope: Type.Optional(Text),
    subject_token_type: Type.Optional(Type.Enum(['access_token', 'jwt'])),
  },
  { additionalProperties: false },
);
export type ExchangeTable = Static<typeof ExchangeTable>;

/** How a caller's token is exchanged for one of another service (RFC 8693). */
export interface ExchangeProfile {
  /** Name of the secret that tools ask for. */
  readonly name: string;
  /** Token endpoint of the authorization server: https, or http on this machine. */
  readonly endpoint: string;
  /** Client id of the layer there; absent for a server that does not ask. */
  readonly clientId?: string;
  /** Name of the secret that authenticates the layer. */
  readonly clientSecret?: string;
  /** Logical name of the service that the new token is for (§2.1 `audience`). */
  readonly audience?: string;
  /** Address of that service (§2.1 `resource`). */
  readonly resource?: string;
  /** Scopes of the new token, with blanks between. */
  readonly scope?: string;
  /** Declared type of the caller's token; default `access_token`. */
  readonly subjectTokenType?: 'access_token' | 'jwt';
}
