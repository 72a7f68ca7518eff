/** As `URL.hostname` writes them: `localhost`, IPv4 of 127.0.0.0/8, and `[::1]`. */
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/;

/**
 * True when only this machine answers for a host, so that a plain connection to it cannot be tampered with.
 * @param hostname as in `URL.hostname`
 */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}
