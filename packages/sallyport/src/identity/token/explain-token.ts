import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { CapabilityClaims, TokenExplanation } from '../../../api/schemas/capability-token.ts';
import { claimFaults, FOREIGN_ISSUER } from './claims.ts';
import { headerOf, payloadOf } from './jws.ts';
import { type CurrentOptions, currentCheck, TOKEN_BYTES_MAX, type TokenReader } from './verified-tokens.ts';

/** Rules for explaining a token. */
export interface ExplainOptions extends CurrentOptions {
  readonly kind: 'capability_token' | 'access_token';
  readonly read: TokenReader;
  readonly issuers: readonly string[];
}

/** Most claims explained; a token of 16 KiB could hold thousands. */
const CLAIMS_MAX = 100;

/** Meaning of each claim for this layer. */
const MEANINGS: Readonly<Record<string, string>> = {
  tool_id: 'tools that it may call; * stands for any run of characters',
  tool_version: 'versions of these tools',
  agent_did: 'agent that it was given to',
  tenant_id: 'tenant whose tools and data it sees',
  user_did: 'user on whose behalf the agent acts',
  session_id: 'session that it is bound to',
  allowed_operations: 'execute, or * for any',
  filesystem_permissions: 'paths that calls may touch, at most',
  network_permissions: 'hosts and ports that calls may reach, at most',
  credential_permissions: 'secrets that calls may use, at most',
  tool_scopes: 'scopes that tools are called with, and whether it has them',
  server_audiences: 'upstreams at whose own addresses alone it is accepted',
  roles: 'operations of the layer that it may ask for',
  trust_level: 'how far its issuer trusts the agent',
  root_holder: 'person to whom it goes back: who had it made, or had the credential made that it was made with',
  cnf: 'key that its sender must hold (DPoP)',
  exp: 'when it expires, seconds since 1970',
  iat: 'when it was issued, seconds since 1970',
  nbf: 'when it begins to count, seconds since 1970',
  iss: 'who signed it',
  aud: 'whom it is meant for',
  jti: 'its own id, by which it can be revoked',
  sub: 'whom the authorization server means',
  client_id: 'client of the authorization server',
  azp: 'client of the authorization server',
  scope: 'what the authorization server allowed',
  scp: 'what the authorization server allowed',
};

/** Explains a token in full: unlike verification it does not stop at the first fault. Never rejects. */
export async function explainToken(token: string, options: ExplainOptions): Promise<TokenExplanation> {
  const header = attempt(() => headerOf(token));
  const payload = attempt(() => payloadOf(token));
  const found = token.length > TOKEN_BYTES_MAX ? tooLong() : await options.read(token);
  const faults = isFailure(found)
    ? [found, ...(payload === undefined ? [NO_PAYLOAD] : claimReasons(payload, options))]
    : listed(currentCheck(options)(found.claims));
  return {
    kind: header === undefined && payload === undefined ? 'unreadable' : options.kind,
    accepted: faults.length === 0,
    ...(header === undefined ? {} : { header }),
    claims: listedClaims(payload ?? {}),
    reasons: reasonsOf(faults),
  };
}

const NO_PAYLOAD = failure('E3201', 'The payload of the token is not a JSON object, or has a member twice.');

/** Explains a token that holds nothing itself: its server says what it stands for. Never rejects. */
export async function explainOpaque(token: string, options: ExplainOptions): Promise<TokenExplanation> {
  const found = token.length > TOKEN_BYTES_MAX ? tooLong() : await options.read(token);
  const faults = isFailure(found) ? [found] : listed(currentCheck(options)(found.claims));
  return {
    kind: options.kind,
    accepted: faults.length === 0,
    claims: isFailure(found) ? [] : listedClaims(found.claims),
    reasons: reasonsOf(faults),
  };
}

/** The claims as explanations list them. */
export function listedClaims(claims: Readonly<Record<string, unknown>>): TokenExplanation['claims'] {
  return Object.entries(claims)
    .slice(0, CLAIMS_MAX)
    .map(([name, value]) => {
      const means = Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined;
      return { name, value, ...(means === undefined ? {} : { means }) };
    });
}

/** Each fault once, as explanations list them. */
export function reasonsOf(faults: readonly Failure[]): TokenExplanation['reasons'] {
  const reasons = new Map(faults.map(({ code, message }) => [`${code} ${message}`, { e_code: code, message }]));
  return [...reasons.values()];
}

/** What else is wrong with a capability token that is refused. */
function claimReasons(claims: Record<string, unknown>, options: ExplainOptions): readonly Failure[] {
  if (options.kind === 'access_token') return [];
  const ofForm = claimFaults(claims);
  const { iss } = claims;
  const isForeign = typeof iss === 'string' && !options.issuers.includes(iss);
  const faults = isForeign ? [...ofForm, FOREIGN_ISSUER] : ofForm;
  // Time and revocation can only be checked for complete claims.
  return ofForm.length > 0 ? faults : [...faults, ...listed(currentCheck(options)(claims as CapabilityClaims))];
}

const listed = (fault: Failure | undefined): readonly Failure[] => (fault === undefined ? [] : [fault]);

const tooLong = (): Failure => failure('E3201', `The capability token is longer than ${TOKEN_BYTES_MAX} bytes.`);

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
