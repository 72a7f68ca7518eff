/** Typical errors of programs that miss something their sandbox hides, each with the option that grants it. */
const HINTS: readonly (readonly [RegExp, (found: readonly (string | undefined)[]) => string])[] = [
  [
    /(?:EROFS|EACCES|Read-only file system|Permission denied)[^/\n]{0,80}?['"]?(\/[^'"\s:,)]+)/,
    ([path]) => `To let it write there, give --mount ${path}:rw (in a definition "mounts").`,
  ],
  [
    /(?:ENOENT|No such file or directory|not found|does not exist|cannot find)[^/\n]{0,80}?['"]?(\/[^'"\s:,)]+)/i,
    ([path]) =>
      `A sandbox sees no folder that was not named: if it needs that one, give --mount ${path} (in a definition "mounts").`,
  ],
  [
    /(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH)\s+([A-Za-z0-9][A-Za-z0-9.-]*)(?::(\d{1,5}))?/,
    ([host, port = '443']) => network(host, port),
  ],
  [/host='([^']+)',\s*port=(\d{1,5})/, ([host, port]) => network(host, port)],
  [/Failed to resolve '([^']+)'/, ([host]) => network(host, '443')],
  [
    /\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b[^\n]{0,60}?(?:required|not set|missing|must be set|undefined)/,
    ([name]) => variable(name),
  ],
  [
    /(?:required|not set|missing|[Ee]nvironment variable)[^\n]{0,60}?\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b/,
    ([name]) => variable(name),
  ],
];

const network = (host = '', port = ''): string =>
  `A sandbox has no network that was not named: give --network ${host}:${port} (in a definition "network").`;
const variable = (name = ''): string => `Give it with --env ${name}=VALUE, or --env ${name}={{${name}}} for a secret.`;

/**
 * The option to give a server that ended for lack of something its sandbox hides, judged by its own output; empty when
 * the output does not show that. A guess from untrusted text: it says what to type and changes nothing.
 */
export function optionHint(words: string): string {
  for (const [pattern, hint] of HINTS) {
    const found = pattern.exec(words);
    if (found !== null) return ` ${hint(found.slice(1))}`;
  }
  return '';
}
