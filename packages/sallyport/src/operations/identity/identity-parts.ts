import type { TokenMintRequest, TokenMintResponse } from '../../../api/schemas/capability-token.ts';
import type { ApiKeys } from '../../identity/api-keys.ts';
import type { Authenticator } from '../../identity/authenticator.ts';
import type { KeyRing } from '../../identity/key-ring.ts';
import type { KeySource } from '../../identity/key-source.ts';
import type { Granted } from '../../identity/mint-token.ts';
import type { Revocations } from '../../identity/revocations.ts';

/** Dependencies of the operations on identities. */
export interface IdentityOperationParts {
  /** Signs a token; `issuer` and defaults come from the layer. */
  readonly mintToken: (
    request: Granted<TokenMintRequest> & { readonly tenant_id: string },
  ) => Promise<TokenMintResponse>;
  /** Verifies the credential of a caller. */
  readonly authenticator: Authenticator;
  readonly revocations: Revocations;
  readonly apiKeys: ApiKeys;
  /** The layer's own keys. */
  readonly keyRing: KeyRing;
  /** Public keys of other issuers whose tokens are accepted. */
  readonly foreignKeys: KeySource;
  /** How long tokens of a replaced key are accepted by default. */
  readonly keyOverlapMs: number;
  /** Default agent of API keys. */
  readonly defaultAgent: string;
}
