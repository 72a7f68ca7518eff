import { systemClock } from '@sallyport/std/clock';
import { defaultsOf } from '../../domain/settings/setting.ts';
import { createTokenVerifier, type TokenVerifier, type TokenVerifierOptions } from '../capability-token.ts';
import { fixedKeys, type KeySource, type VerificationKey } from '../key-source.ts';
import { TOKEN_SETTINGS } from './token-settings.ts';

/** Options of a verifier that differ from those where nothing is set. */
export type VerifierChanges = Partial<Omit<TokenVerifierOptions, 'keys'>> & {
  readonly keys?: readonly VerificationKey[] | KeySource;
};

/** A verifier that knows no keys and issuers but the given ones, and nothing that is revoked. */
export function verifierWith({ keys = [], ...changes }: VerifierChanges): TokenVerifier {
  return createTokenVerifier({
    keys: 'lookAgain' in keys ? keys : fixedKeys(keys),
    issuers: [],
    ownIssuer: '',
    algorithms: ['RS256'],
    ...defaultsOf(TOKEN_SETTINGS),
    isRevoked: () => false,
    clock: systemClock,
    ...changes,
  });
}

/** Rules for access tokens where nothing is set, of one tenant. */
export const ACCESS_RULES = {
  serverOf: () => undefined,
  algorithms: ['RS256'],
  types: ['at+jwt'],
  toolScopes: [],
  mustBeBound: false,
  tenantId: 'acme',
} as const;
