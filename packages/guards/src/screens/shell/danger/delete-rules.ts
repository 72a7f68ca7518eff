import { readOptions } from '../options.ts';
import { harmOfWrite, isWhole, placeOf } from './paths.ts';
import { ask, block, blockHere, hasMatch, hasWord, type Invocation, isAnywhere, type RuleRows } from './rule-kit.ts';

const SYSTEM = block(
  'deletes-system',
  'it removes what must stay: a root, a home, a folder of the system, or all there is',
);

/** Whether an operand is something that must not be removed or changed as a whole. */
export function touchesWhole({ args, folder }: Pick<Invocation, 'args' | 'folder'>): boolean {
  return args.some((field) => !isAnywhere(field) && isWhole(placeOf(field.text, folder)));
}

/** Conditions of `find` that choose among files, and patterns that every name fits. */
const NARROWS = /^-(?:i?name|i?path|i?regex|mtime|mmin|atime|ctime|newer|size|empty|user|group|perm|samefile|inum)/;
const ANYTHING = /^[*?.]+$/;

/** What removes files. */
export const DELETE_RULES: RuleRows = [
  [
    'rm grm srm unlink',
    ({ args, folder }) => {
      const options = readOptions(args);
      const recursive = options.has('-r', '-R', '--recursive', '-d', '--dir');
      if (options.has('--no-preserve-root')) return SYSTEM;
      if ((recursive || options.has('-f', '--force')) && touchesWhole({ args: options.operands, folder }))
        return SYSTEM;
      if (options.has('-f', '--force')) return blockHere('deletes-by-force', 'it removes files without a question');
      return undefined;
    },
  ],
  [
    'find fd fdfind bfs',
    ({ args, folder, name }) => {
      const removes = hasWord(args, '-delete') || hasMatch(args, /^(?:\/\S*\/)?(?:rm|shred|unlink)$/);
      if (!removes) return undefined;
      const from = args.findIndex(({ text }) => /^[-(!]/.test(text));
      const places = name === 'find' || name === 'bfs' ? args.slice(0, from < 0 ? args.length : from) : [];
      const narrowed = args.some(({ text }, at) => NARROWS.test(text) && !ANYTHING.test(args[at + 1]?.text ?? ''));
      const whole = places.filter(({ text }) => text !== '.' && text !== './');
      if (touchesWhole({ args: whole, folder }) && !(narrowed && !hasWord(whole, '/'))) return SYSTEM;
      const harm = whole.map(({ text }) => harmOfWrite(text, folder)).find((each) => each !== undefined);
      return harm === undefined ? ask('deletes-found', 'it removes what it finds') : block(harm.rule, harm.why);
    },
  ],
  [
    'shred wipe scrub',
    ({ args, folder }) =>
      touchesWhole({ args: readOptions(args).operands, folder }) || hasMatch(args, /^\/dev\//) ? SYSTEM : undefined,
  ],
  [
    'mv gmv',
    ({ args, folder }) => {
      const { operands } = readOptions(args, { valued: 'tS' });
      if (operands.at(-1)?.text === '/dev/null') return block('deletes-system', 'it moves files to nowhere');
      const sources = operands
        .slice(0, -1)
        .filter(({ text }) => !/(?:^|\/)\*$|^\.{1,2}(?:\/|$)/.test(text) || /^\/\*?$/.test(text));
      return touchesWhole({ args: sources, folder }) ? SYSTEM : undefined;
    },
  ],
  [
    'rsync',
    ({ args, folder }) => {
      const options = readOptions(args);
      const target = options.operands.at(-1);
      const deletes = hasMatch(args, /^--del(?:ete\S*)?$/);
      return deletes && target !== undefined && touchesWhole({ args: [target], folder }) && !/^\.\/?$/.test(target.text)
        ? SYSTEM
        : undefined;
    },
  ],
  [
    'git',
    ({ args }) => {
      const line = args.map(({ text }) => text).join(' ');
      if (/\bpush\b.*(?:\s-[a-z]*f|--force|--mirror|--delete|\s\+\S)/.test(line))
        return ask('rewrites-history', 'it may overwrite or remove what others pushed');
      if (
        /\b(?:reset\b.*--hard|clean\b.*-[a-z]*f|checkout\b.*(?:\s-f|--force|\s\.$)|restore\b|branch\b.*\s-D|stash (?:drop|clear)|reflog expire|filter-branch|gc\b.*--prune)/.test(
          line,
        )
      ) {
        return ask('discards-work', 'it discards work that is not saved elsewhere');
      }
      return undefined;
    },
  ],
];
