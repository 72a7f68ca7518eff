import { type Failure, failure } from '@sallyport/std/error/failure';
import { Compile } from 'typebox/compile';
import { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import { strictObject } from './strict-json.ts';

/** Required claims of a capability token (000 §4.1.1). */
export const REQUIRED_CLAIMS = [
  'tool_id',
  'agent_did',
  'tenant_id',
  'allowed_operations',
  'exp',
  'iat',
  'iss',
] as const;
/** Most faulty claims named in a message. */
const NAMED_MAX = 8;

const shape = Compile(CapabilityClaims);

/** The claims in a verified payload: E3201 for malformed claims, E3207 naming all missing ones. */
export function readClaims(payload: Uint8Array): CapabilityClaims | Failure {
  const claims = parse(payload);
  if (claims === undefined)
    return failure('E3201', "The capability token's payload is not a JSON object, or has a member twice.");
  const missing = REQUIRED_CLAIMS.filter((name) => !Object.hasOwn(claims, name));
  if (missing.length > 0)
    return failure('E3207', `The capability token lacks ${missing.join(', ')}. Ask its issuer for a complete one.`, {
      details: { missing },
    });
  if (isWellFormed(claims)) return frozen(claims);
  const names = faultyClaims(claims).slice(0, NAMED_MAX);
  return failure('E3201', `The capability token has claims of the wrong form: ${names.join(', ')}.`, {
    details: { claims: names },
  });
}

/** Names of the malformed claims. */
export function faultyClaims(claims: Record<string, unknown>): readonly string[] {
  const faulty = shape.Errors(claims).map(({ instancePath }) => instancePath.split('/')[1] ?? '');
  const { nbf } = claims;
  return [...new Set([...faulty, ...(nbf === undefined || typeof nbf === 'number' ? [] : ['nbf'])])];
}

function isWellFormed(claims: Record<string, unknown>): claims is Record<string, unknown> & CapabilityClaims {
  const { nbf } = claims;
  return shape.Check(claims) && (nbf === undefined || typeof nbf === 'number');
}

function parse(payload: Uint8Array): Record<string, unknown> | undefined {
  try {
    return strictObject(payload);
  } catch {
    return undefined;
  }
}

/** All calls with the token share the claims, so they must not be changed. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}
