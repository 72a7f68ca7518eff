/** Placeholders of secrets: `<token>`, `$TOKEN`, `{{ token }}`, `%s`, `xxxx`, `process.env.TOKEN`, `getToken()`. */
const SYNTAX =
  /^(?:[<[{(%*]|\$|\\\(|#\{|@\{|\.{2,})|^(?:process\.env|os\.(?:environ|getenv)|env\.|import\.meta|System\.|config\.|settings\.|secrets?\.|vars?\.|self\.|this\.|args?\.|options?\.|params?\.|request\.|req\.|ctx\.)|[({]|\$\{|\.\.\.|^[x*.•_-]+$|^(.)\1{3,}$|x{4}|\*{3}/i;
const WORDS =
  /^(?:null|nil|none|true|false|undefined|string|str|number|int|bool(?:ean)?|any|object|required|optional|empty|n\/?a|tbd|todo|unset|redacted|masked|hidden|removed|omitted)$/i;
/** Words that only examples have. Not anchored: `your-api-key-here`, `insert_key_here`, `my_password_123`. */
const EXAMPLE =
  /(?:^|[-_.\s])(?:your|my|insert|enter|replace|change|example|sample|dummy|fake|placeholder|some|here|redacted|test)(?:$|[-_.\s])|change_?me|^(?:the_?)?(?:pass(?:word|wd|phrase)?|passwd|pwd|secret|token|api_?key|key|user(?:name)?|credentials?|auth|bearer|basic|value|login|admin|root|foo|bar|baz|abc|path|file|name|hash|salt)s?\d{0,1}$/i;

/** True when a value is only a placeholder. */
export const isPlaceholder = (value: string): boolean =>
  SYNTAX.test(value) || WORDS.test(value) || EXAMPLE.test(value) || value.includes('[REDACTED');
