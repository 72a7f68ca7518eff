import type { HttpAuth, HttpOperation } from '../../../registry/http-operation.ts';
import type { ExecutorCall } from '../../executor.port.ts';
import { secretOf } from '../request/credentials.ts';
import type { AccessTokens } from './access-tokens.ts';

/** The tokens that one call sends. */
export interface Tokens {
  readonly values: ReadonlyMap<HttpAuth, string>;
  /** The same tokens with names, so that they can be hidden in answers. */
  readonly named: readonly (readonly [string, string])[];
  /** True when one of them was cached. */
  readonly areKept: boolean;
  /** Drops the cached ones. */
  forget(): void;
}

export const NO_TOKENS: Tokens = { values: new Map(), named: [], areKept: false, forget: () => {} };

/**
 * Gets the tokens that an operation needs.
 * @throws ToolLayerError E3302 for a secret that the call was not granted; the errors of `AccessTokens.tokenFor`
 */
export async function tokensOf(
  tokens: AccessTokens,
  { auth = [] }: HttpOperation,
  { principal, grant, secrets }: ExecutorCall,
  signal: AbortSignal,
): Promise<Tokens> {
  const values = new Map<HttpAuth, string>();
  const drops: (() => void)[] = [];
  for (const credential of auth) {
    if (credential.type !== 'oauth2_client_credentials') continue;
    const secret = secretOf(credential.secret, secrets);
    const owner = { tenantId: principal.tenantId, auth: credential, secret, allowed: grant.network };
    const { value, isKept } = await tokens.tokenFor(owner, signal);
    values.set(credential, value);
    if (isKept) drops.push(() => tokens.forget(owner, value));
  }
  return {
    values,
    named: [...values.values()].map((value, at) => [`access token ${at}`, value] as const),
    areKept: drops.length > 0,
    forget: () => {
      for (const drop of drops) drop();
    },
  };
}
