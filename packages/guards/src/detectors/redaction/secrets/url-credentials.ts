import { eachMatch } from '../each-match.ts';
import { SIGN } from '../reading.ts';
import type { Family } from '../scan.ts';
import { isPlaceholder } from './placeholder.ts';

const PASSWORD = /([^\s/?#@:"'`<>\\]{0,128}):([^\s/?#"'`<>\\]{1,256})@(?=[\w[-])/y;
/** Hosts of a machine's own, with the name of the user as password: what programs come with. */
const OWN_HOST =
  /(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|0\.0\.0\.0|\[::1?\]|host\.docker\.internal|[a-z][a-z0-9_-]{0,30})(?![\w.-])/iy;
/** `AccountKey=` and the like of connection strings in `name=value;` form. */
const PAIRS = /\b(?:AccountKey|SharedAccessKey|SharedSecretIssuer|Password|Pwd)\s?=\s?([^\s;"'`<>]{4,256})/gi;
/** Other pairs that identify a connection string. */
const PAIR_BESIDE =
  /\b(?:AccountName|Endpoint|SharedAccessKeyName|Server|Data Source|Host|User ID|Uid|Initial Catalog|Database|DefaultEndpointsProtocol)\s?=/i;
const BESIDE_CHARS = 300;

/** User and password within a URL, and keys within connection strings. */
export const urlCredentialsFamily: Family = {
  kinds: ['connection_string'],
  signs: [SIGN.at | SIGN.colon, SIGN.equals],
  find({ text, reading: { signs }, add }) {
    if ((signs & SIGN.at) !== 0) {
      findInUrls(text, (start, end) => add('connection_string', 'url-credentials', start, end));
    }
    if ((signs & SIGN.equals) === 0) return;
    eachMatch(PAIRS, text, ({ index, 0: shown, 1: value = '' }) => {
      const end = index + shown.length;
      const around = text.slice(Math.max(0, index - BESIDE_CHARS), end + BESIDE_CHARS);
      if (!isPlaceholder(value) && PAIR_BESIDE.test(around)) {
        add('connection_string', 'connection-string', end - value.length, end);
      }
    });
  },
};

function findInUrls(text: string, add: (start: number, end: number) => void): void {
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    PASSWORD.lastIndex = at + 3;
    const match = PASSWORD.exec(text);
    if (match === null || isPlaceholder(match[2] ?? '')) continue;
    OWN_HOST.lastIndex = PASSWORD.lastIndex;
    if (match[1] === match[2] && OWN_HOST.test(text)) continue;
    // The user name is hidden too: it may be the key, as with access tokens.
    add(at + 3, PASSWORD.lastIndex - 1);
  }
}
