import { Compile } from 'typebox/compile';
import { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import { type Failure, failure } from '../../domain/error/failure.ts';

/** Claims without which a capability token says nothing (000 §4.1.1). */
const REQUIRED = ['tool_id', 'agent_did', 'tenant_id', 'allowed_operations', 'exp', 'iat', 'iss'] as const;
/** Faulty claims that a message names. */
const NAMED_MAX = 8;

const shape = Compile(CapabilityClaims);

/** The claims in a verified payload: E3201 when they have the wrong form, E3207 with all that are missing. */
export function readClaims(payload: Uint8Array): CapabilityClaims | Failure {
  const claims = parse(payload);
  if (claims === undefined) return failure('E3201', "The capability token's payload is not a JSON object.");
  const missing = REQUIRED.filter((name) => !Object.hasOwn(claims, name));
  if (missing.length > 0)
    return failure('E3207', `The capability token lacks ${missing.join(', ')}. Ask its issuer for a complete one.`, {
      details: { missing },
    });
  const nbf = claims['nbf'];
  if (shape.Check(claims) && (nbf === undefined || typeof nbf === 'number')) return freeze(claims);
  const faulty = [...new Set(shape.Errors(claims).map(({ instancePath }) => instancePath.split('/')[1] ?? ''))];
  const names = (faulty.length > 0 ? faulty : ['nbf']).slice(0, NAMED_MAX);
  return failure('E3201', `The capability token has claims of the wrong form: ${names.join(', ')}.`, {
    details: { claims: names },
  });
}

function parse(payload: Uint8Array): Record<string, unknown> | undefined {
  try {
    const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) return undefined;
    return claims as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** The claims are shared by all calls with the token. */
function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}
