import { type Failure, failure } from '@sallyport/std/error/failure';
import { Compile } from 'typebox/compile';
import { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import { strictObject } from './strict-json.ts';

/** Most faulty claims named in a message. */
const NAMED_MAX = 8;

const shape = Compile(CapabilityClaims);

/** The refusal of a capability token by another issuer. */
export const FOREIGN_ISSUER = failure('E3201', 'The issuer of the capability token is not accepted here.');

/** The claims in a verified payload; else the first of {@link claimFaults}, or E3201 when it holds no claims at all. */
export function readClaims(payload: Uint8Array): CapabilityClaims | Failure {
  const claims = parse(payload);
  if (claims === undefined)
    return failure('E3201', "The capability token's payload is not a JSON object, or has a member twice.");
  const [fault] = claimFaults(claims);
  return fault ?? frozen(claims as CapabilityClaims);
}

/** What is wrong with the form of claims (000 §4.1.1): E3207 naming all missing ones, E3201 naming the malformed. */
export function claimFaults(claims: Record<string, unknown>): readonly Failure[] {
  if (shape.Check(claims)) return [];
  const missing = CapabilityClaims.required.filter((name) => !Object.hasOwn(claims, name));
  const paths = shape.Errors(claims).map(({ instancePath }) => instancePath);
  const malformed = paths.filter((path) => path !== '').map((path) => path.split('/')[1]);
  const faults = missing.length === 0 ? [] : [lacks(missing)];
  if (missing.length > 0 && malformed.length === 0) return faults;
  return [...faults, areMalformed([...new Set(malformed)].slice(0, NAMED_MAX))];
}

const lacks = (missing: readonly string[]): Failure =>
  failure('E3207', `The capability token lacks ${missing.join(', ')}. Ask its issuer for a complete one.`, {
    details: { missing },
  });

const areMalformed = (claims: readonly unknown[]): Failure =>
  failure('E3201', `The capability token has claims of the wrong form: ${claims.join(', ')}.`, { details: { claims } });

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
