/** Token of an `Authorization: Bearer` header (RFC 6750 §2.1); undefined when there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length < 8) return undefined;
  // The scheme is case-insensitive (RFC 9110 §11.1); the usual spelling is tried first.
  if (!authorization.startsWith('Bearer ') && authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  const token = authorization.slice(7).trim();
  return token === '' ? undefined : token;
}
