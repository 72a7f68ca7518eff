/** Path prefix of everything but the metadata, which is at the root as the issuer has no path (RFC 8414 §3). */
export const AUTHORIZATION_PATH = '/auth';
