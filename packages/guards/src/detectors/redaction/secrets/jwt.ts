import { eachMatch } from '../each-match.ts';
import { SIGN } from '../reading.ts';
import type { Family } from '../scan.ts';
import { isPlaceholder } from './placeholder.ts';

const SHAPE = /(?<![\w-])eyJ[\w-]{6,2000}\.eyJ[\w-]{4,8000}(?:\.[\w-]{0,2000})?/g;

/** JSON web tokens (RFC 7519): two parts or three, of which the first is a header. */
export const jwtFamily: Family = {
  kinds: ['token'],
  signs: [SIGN.dot | SIGN.dense],
  find({ text, add }) {
    // Searches start from the first character of the needle: an `e` would be far too frequent.
    if (!text.includes('yJ')) return;
    eachMatch(SHAPE, text, ({ index, 0: shown }) => {
      const [header = '', payload = '', signature = ''] = shown.split('.');
      if (isHeader(header) && !isDocumented(payload) && !isPlaceholder(signature))
        add('token', 'jwt', index, index + shown.length);
    });
  },
};

/** John Doe of jwt.io, and the claims of the examples in RFC 7515 and RFC 7519. */
function isDocumented(payload: string): boolean {
  const claims = Buffer.from(payload, 'base64url').toString('utf8');
  return (
    (claims.includes('"1234567890"') && claims.includes('"John Doe"')) || /"joe",\s*"exp":\s*1300819380/.test(claims)
  );
}

function isHeader(part: string): boolean {
  if (part.length % 4 === 1) return false;
  try {
    const header: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof header === 'object' && header !== null && ('alg' in header || 'typ' in header || 'enc' in header);
  } catch {
    return false;
  }
}
