import { eachMatch } from './each-match.ts';
import { SIGN } from './reading.ts';
import type { Family } from './scan.ts';

/** Files that hold secrets, and home folders, whose names are people's. */
const PATHS =
  /(?<![\w.])(?:~|\/(?:home|Users)\/[\w.-]{1,64}|\/root|[A-Za-z]:\\{1,2}Users\\{1,2}[\w.-]{1,64})?[\\/]{0,2}(?:\.ssh[\\/]{1,2}[\w.-]{1,64}|\.aws[\\/]{1,2}(?:credentials|config)|\.kube[\\/]{1,2}config|\.docker[\\/]{1,2}config\.json|\.gnupg[\\/]{1,2}[\w./-]{1,128}|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.env(?:\.[a-z]{2,16})?(?![\w.])|id_(?:rsa|ed25519|ecdsa|dsa)(?![\w]))|(?<![\w.])\/etc\/(?:shadow|gshadow|sudoers)(?![\w])|(?<![\w.])(?:\/(?:home|Users)\/|[A-Za-z]:\\{1,2}Users\\{1,2})[\w.-]{1,64}/g;

/** Paths of files with secrets and of home folders. Looked for only on demand. */
export const pathFamily: Family = {
  kinds: ['path'],
  signs: [SIGN.dot, SIGN.slash],
  find({ text, add }) {
    eachMatch(PATHS, text, ({ index, 0: path }) => add('path', 'sensitive-path', index, index + path.length));
  },
};
