import type { Family } from '../scan.ts';
import { isPassword } from './password.ts';
import { isPlaceholder } from './placeholder.ts';
import { looksDrawn } from './randomness.ts';

const CREDENTIALS = /(?<![\w-])(?:bearer|basic)\s{1,3}([A-Za-z0-9._~+/=-]{16,4096})(?!\w)/gi;
const CREDENTIALS_CHARS_MIN = 16;
/** `--user name:password`, as programs of the command line take it. */
const USER_PAIR = /(?<=\s)(?:-u|--user|--proxy-user)[ =]["']?[^\s:"'$<{]{1,64}:([^\s"'$<{]{1,128})/g;

/** What authorises without a name in front: `Bearer …` in a sentence, `--user name:password` of a command. */
export const authorizationFamily: Family = {
  kinds: ['token', 'password'],
  mayHold: ({ dense, colons }) => dense.length > 0 || colons,
  find({ text, traits, add }) {
    if (traits.dense.length > 0) {
      for (const match of text.matchAll(CREDENTIALS)) {
        const value = match[1] ?? '';
        const end = match.index + match[0].length;
        if (looksDrawn(value, CREDENTIALS_CHARS_MIN) && !isPlaceholder(value)) {
          add('token', 'authorization', end - value.length, end);
        }
      }
    }
    if (!text.includes('-u')) return;
    for (const match of text.matchAll(USER_PAIR)) {
      const value = match[1] ?? '';
      const end = match.index + match[0].length;
      if (isPassword(value, false)) add('password', 'user-password', end - value.length, end);
    }
  },
};
