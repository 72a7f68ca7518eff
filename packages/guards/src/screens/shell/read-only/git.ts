import type { Field } from '../field.ts';

/** Read-only subcommands, with their options that write, run something or open an editor. */
const READING: ReadonlyMap<string, RegExp> = new Map([
  ...'status log diff show shortlog blame annotate ls-files ls-tree rev-parse rev-list describe merge-base name-rev cherry whatchanged show-ref show-branch count-objects check-ignore check-attr diff-tree diff-index diff-files for-each-ref range-diff var'
    .split(' ')
    .map((name): [string, RegExp] => [name, /^$/]),
  ['grep', /^(?:-O|--open-files-in-pager)/],
  ['cat-file', /^--(?:textconv|filters)/],
  ['version', /^$/],
]);

/** Options of any subcommand that write a file or run a program. */
const HARMFUL =
  /^--(?:o(?:u|ut|utp|utpu|utput)?(?:=|$)|output-directory|ext-diff?|textconv|exec|upload-pack|receive-pack|open-files|contents|filters|show-signature|edit)/;
/** Options before the subcommand that do not affect what is run. */
const NEUTRAL = new Set([
  '--no-pager',
  '--no-optional-locks',
  '--literal-pathspecs',
  '--no-replace-objects',
  '--glob-pathspecs',
  '--icase-pathspecs',
]);

/** True when a git command only reads the repository. Configured programs run all the same. */
export function gitReads(args: readonly Field[]): boolean {
  let at = 0;
  for (; at < args.length; at += 1) {
    const text = args[at]?.text ?? '';
    if (text === '--version') return args.length === 1;
    if (text === '-C' && /^\.?\/?$/.test(args[at + 1]?.text ?? 'x') && args[at + 1]?.text !== '/') at += 1;
    else if (!NEUTRAL.has(text)) break;
  }
  const [subcommand, ...rest] = args.slice(at);
  if (subcommand === undefined || !subcommand.certain) return false;
  const end = rest.findIndex(({ text }) => text === '--');
  const options = end < 0 ? rest : rest.slice(0, end);
  if (options.some(({ text }) => HARMFUL.test(text))) return false;
  const harmful = READING.get(subcommand.text);
  if (harmful !== undefined) return !options.some(({ text }) => harmful.source !== '^$' && harmful.test(text));
  const words = rest.map(({ text }) => text);
  return LISTS.get(subcommand.text)?.(words) ?? false;
}

const only =
  (allowed: RegExp) =>
  (words: readonly string[]): boolean =>
    words.every((word) => allowed.test(word));

/** Subcommands that read in some of their forms. */
const LISTS: ReadonlyMap<string, (words: readonly string[]) => boolean> = new Map([
  ['branch', listsBranches],
  [
    'tag',
    (words) =>
      words.length === 0 ||
      (/^(?:-l|--list|-n\d*)$/.test(words[0] ?? '') &&
        only(/^(?!-[adsufmFe]|--(?:delete|force|annotate|sign|message|file|edit|local-user|create-reflog|cleanup))/)(
          words,
        )),
  ],
  [
    'remote',
    (words) => words.length === 0 || only(/^(?:-v|--verbose)$/)(words) || (words[0] === 'get-url' && words.length >= 2),
  ],
  ['stash', (words) => words[0] === 'list' || words[0] === 'show'],
  [
    'config',
    (words) =>
      /^(?:--get|--get-all|--get-regexp|--list|-l)$/.test(
        words.find((word) => !/^--(?:global|local|system)$/.test(word)) ?? '',
      ) && !words.some((word) => /token|password|credential|helper|extraheader/i.test(word)),
  ],
  ['reflog', (words) => words.length === 0 || words[0] === 'show'],
  ['worktree', (words) => words[0] === 'list'],
  ['submodule', (words) => words[0] === 'status' && words.length === 1],
  ['bisect', (words) => words[0] === 'log' || words[0] === 'view'],
  ['notes', (words) => words[0] === 'list' || words[0] === 'show'],
]);

const BRANCH_FLAGS =
  /^(?:-a|--all|-r|--remotes|-v|-vv|--verbose|-l|--list|--show-current|-i|--ignore-case|--no-color|--color(?:=\w+)?|--no-column|--no-abbrev|--abbrev=\d+|--sort=\S+|--format=.*|--(?:no-)?(?:contains|merged)(?:=\S+)?|--points-at=\S+)$/;

/** A name without `--list` or a filter would make a branch. */
function listsBranches(words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const names = words.filter((word) => !word.startsWith('-'));
  if (!words.every((word) => !word.startsWith('-') || BRANCH_FLAGS.test(word))) return false;
  if (names.length === 0) return true;
  return words.some((word) => /^(?:-l|--list|--contains|--no-contains|--merged|--no-merged)$/.test(word));
}
