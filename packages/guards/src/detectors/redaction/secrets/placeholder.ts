/** Placeholders of secrets: `<token>`, `$TOKEN`, `{{ token }}`, `%s`, `xxxx`, `process.env.TOKEN`, `getToken()`. */
const SYNTAX =
  /^(?:[<[{(%*]|\$|!\[|!(?:vault|unsafe|ref|sub|getatt|join|secret|env|env_var|include|lambda|reference|file)\b|\\\(|#\{|@\{|\.{2,})|^(?:process\.env|os\.(?:environ|getenv)|env\.|import\.meta|System\.|config\.|settings\.|secrets?\.|vars?\.|self\.|this\.|args?\.|options?\.|params?\.|request\.|req\.|ctx\.)|[({]|\$\{|\.\.\.|^[x*.•_-]+$|^(.)\1{3,}$|x{4}|\*{3}/i;
const WORDS =
  /^(?:null|nil|none|true|false|undefined|string|str|number|int|bool(?:ean)?|any|object|required|optional|empty|n\/?a|tbd|todo|unset|redacted|masked|hidden|removed|omitted)$/i;
/** Words that only examples have. Not anchored: `your-api-key-here`, `insert_key_here`, `my_password_123`. */
const EXAMPLE =
  /(?:^|[-_.\s])(?:your|my|insert|enter|replace|change|example|sample|dummy|fake|placeholder|some|here|redacted|test)(?:$|[-_.\s])|change_?me|^(?:the_?)?(?:pass(?:word|wd|phrase)?|passwd|pwd|secret|token|api_?key|key|user(?:name)?|credentials?|auth|bearer|basic|value|signature|login|admin|root|foo|bar|baz|abc|path|file|name|hash|salt)s?\d{0,1}$/i;

/** The end of the keys in the documentation of AWS. */
const DOCUMENTED_END = /EXAMPLE(?:KEY)?$/;

/** True when a value is only a placeholder, or an example that everybody knows. */
export const isPlaceholder = (value: string): boolean =>
  SYNTAX.test(value) ||
  WORDS.test(value) ||
  EXAMPLE.test(value) ||
  value.includes('[REDACTED') ||
  DOCUMENTED_END.test(value) ||
  DOCUMENTED.has(value.slice(0, DOCUMENTED_CHARS));

/** Words of examples, wherever they are in a value: long enough not to occur by chance. */
const SPELT =
  /example|placeholder|dummy|sample|redacted|change_?me|insert|replace|your[-_]?(?:[a-z]{2,10}[-_]?)?(?:key|token|secret|api|id)|(?:key|token|secret)[-_]?here|deadbeef|(?:[Pp]ersonal|[Aa]ccess|[Rr]efresh|[Aa]uth|[Ss]ecret)(?:[Aa]ccess)?Token|x{6}|\.{3}|\*{3}/i;
/** Different characters that the shortest real value has at least. */
const DIFFERENT_MIN = 4;
/** Shortest row of neighbours that counts, as in `abcd` and `5678`, in characters. */
const ROW_MIN = 4;

/** True when a value with a maker's form is an example: of its words, of one character, or of the alphabet in order. */
export function isExampleToken(value: string): boolean {
  if (isPlaceholder(value) || SPELT.test(value)) return true;
  return new Set(value).size < DIFFERENT_MIN || inRows(value) * 2 > value.length;
}

/** Characters that belong to rows like `1234567890` and `abcdef`. */
function inRows(value: string): number {
  let inside = 0;
  let row = 1;
  for (let at = 1; at <= value.length; at += 1) {
    const step = value.charCodeAt(at) - value.charCodeAt(at - 1);
    if (step === 1 || (step === -9 && value[at] === '0')) row += 1;
    else {
      if (row >= ROW_MIN) inside += row;
      row = 1;
    }
  }
  return inside;
}

/** Characters of a documented value that are compared. */
const DOCUMENTED_CHARS = 24;
/** Beginnings of values that their makers publish for tests and documents, without the prefix of their form. */
const DOCUMENTED: ReadonlySet<string> = new Set(
  [
    // Stripe's test keys.
    '4eC39HqLyjWDarjtT1zdp7dc BQokikJOvBiI2HlWgH4olfQ2 26PHem9AhJZvU623DfE1x4sd',
    // GitHub, on the form of its tokens.
    '16C7e42F292c6912E7710c838347Ae178B4a',
    // Slack, on its kinds of tokens.
    '17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy',
    // The emulators of storage and of the database of Azure.
    'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
    'C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==',
    // RFC 7617 §2 and RFC 6750 §2.1.
    'QWxhZGRpbjpvcGVuIHNlc2FtZQ== mF_9.B5f-4.1JqM',
    // The key of one-time passwords in most documents.
    'JBSWY3DPEHPK3PXP',
  ].flatMap((values) => values.split(' ').map((value) => value.slice(0, DOCUMENTED_CHARS))),
);
