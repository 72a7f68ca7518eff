import type { TokenMintRequest, TokenMintResponse } from '../../../api/schemas/capability-token.ts';
import type { ApiKeys } from '../../identity/api-keys.ts';
import type { Authenticator } from '../../identity/authenticator.ts';
import type { KeyRing } from '../../identity/key-ring.ts';
import type { KeySource } from '../../identity/key-source.ts';
import type { Granted } from '../../identity/mint-token.ts';
import type { Revocations } from '../../identity/revocations.ts';

/** What the operations on identities stand on. */
export interface IdentityOperationParts {
  /** Signs a token; `issuer` and defaults are the layer's. */
  readonly mintToken: (
    request: Granted<TokenMintRequest> & { readonly tenant_id: string },
  ) => Promise<TokenMintResponse>;
  /** Judges what a caller presents. */
  readonly authenticator: Authenticator;
  readonly revocations: Revocations;
  readonly apiKeys: ApiKeys;
  /** The layer's own keys. */
  readonly keyRing: KeyRing;
  /** Keys of others whose tokens are accepted. */
  readonly foreignKeys: KeySource;
  /** How long tokens of a replaced key are accepted when nobody says. */
  readonly keyOverlapMs: number;
  /** Agent that API keys are made for when nobody says. */
  readonly defaultAgent: string;
}
