import { eachMatch } from '../each-match.ts';
import { SIGN } from '../reading.ts';
import type { Family } from '../scan.ts';
import { isPassword } from './password.ts';
import { isExampleToken } from './placeholder.ts';
import { looksDrawn } from './randomness.ts';

const CREDENTIALS = /(?<![\w-])(?:bearer|basic)\s{1,3}([A-Za-z0-9._~+/=-]{16,4096})(?!\w)/gi;
const CREDENTIALS_CHARS_MIN = 16;
/** `--user name:password`, as on command lines. */
const USER_PAIR =
  /(?<=\s)(?:-u|--user|--proxy-user)[ =]["']?(?!\[REDACTED:)[^\s:"'$<{]{0,64}:(?!\/\/)["']?([^\s"'$<{]{1,128})/g;

/** Credentials without a name before them: `Bearer …` in a sentence, `--user name:password` in a command. */
export const authorizationFamily: Family = {
  kinds: ['token', 'password'],
  signs: [SIGN.dense, SIGN.dash | SIGN.colon],
  find({ text, reading: { signs }, add }) {
    if ((signs & SIGN.dense) !== 0) {
      eachMatch(CREDENTIALS, text, ({ index, 0: shown, 1: value = '' }) => {
        const end = index + shown.length;
        if (looksDrawn(value, CREDENTIALS_CHARS_MIN) && !isExampleToken(value)) {
          add('token', 'authorization', end - value.length, end);
        }
      });
    }
    if ((signs & SIGN.dash) === 0 || (signs & SIGN.colon) === 0 || !text.includes('-u')) return;
    eachMatch(USER_PAIR, text, ({ index, 0: shown, 1: value = '' }) => {
      const end = index + shown.length;
      if (isPassword(value, true)) add('password', 'user-password', end - value.length, end);
    });
  },
};
