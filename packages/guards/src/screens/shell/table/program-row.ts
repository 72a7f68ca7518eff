/**
 * What an operand of a program is. `plain`: it runs nothing; `code`: a text that is run; `text`: so is what follows, joined to
 * it; `script`: a file that is run, to which what follows belongs; `program`: a program, with its arguments after it; `open`: it
 * may lead to any of these.
 */
export type Operand = 'plain' | 'code' | 'text' | 'script' | 'program' | 'open';

/**
 * The arguments of one program. Options are written as words between spaces: letters of short ones (`xzf`), `--long`
 * ones, and single-dash options that are one word (`-exec`). A `*` at the end of an option matches any ending.
 */
export interface ProgramRow {
  /** Options that take a command or the name of a program. */
  readonly commands?: string;
  /** Options that take code in the program's own language. */
  readonly code?: string;
  /** Options that take what may lead to code: a file or library that is loaded, a file that is written. */
  readonly asks?: string;
  /** Of all these, options that replace the code operand. */
  readonly gives?: string;
  /** Of these, those after whose value everything belongs to the code: `python -m module`. */
  readonly ends?: string;
  /** Options that take a value which runs nothing. */
  readonly takes?: string;
  /** Options without a value. */
  readonly flags?: string;
  /** Options that a command follows, up to `;` or `+`: `find -exec`. */
  readonly exec?: string;
  /** Names, in lower case, before a `=` whose values run nothing, where an option for code takes settings: `-c user.name=value`. */
  readonly keys?: string;
  /** Operands in their order; the last stands for all that follow. `plain` when absent. */
  readonly operands?: readonly Operand[];
  /** Rows after a word; the word `*` stands for unlisted words. */
  readonly subcommands?: Readonly<Record<string, ProgramRow>>;
  /** `NAME=value` may stand before its operands. */
  readonly assigns?: true;
  /** After `--` a word may still be an option. */
  readonly ignoresDashes?: true;
  /** Its first operand may be letters of options without a dash, whose values follow in turn: `tar czf`. */
  readonly bareLetters?: true;
  /** Options may begin with `+`. */
  readonly plus?: true;
  /** Its options are whole words: `-name value`, never bundles of letters. */
  readonly wholeWords?: true;
  /** It runs code in a language of its own, wherever its name stands in a command; `editing` is that of sed. */
  readonly language?: 'shell' | 'code' | 'editing';
  /** It executes its standard input, when there is nothing else to run. */
  readonly readsInput?: true;
}

/** How an option uses its value. */
export type OptionKind = 'commands' | 'code' | 'asks' | 'exec' | 'takes' | 'flags';

/** Worst first: an option in two lists counts as the first. */
const KINDS: readonly OptionKind[] = ['commands', 'code', 'exec', 'asks', 'takes', 'flags'];

/** Words of a list of options, as they are written in a command. */
export function optionWords(list = ''): string[] {
  return list
    .split(' ')
    .flatMap((word) => (word.startsWith('-') || word === '' ? [word] : [...word].map((letter) => `-${letter}`)))
    .filter((word) => word !== '');
}

/** Whether a list of options has this one, which is `-x` or `--long`. */
export function lists(list: string | undefined, option: string): boolean {
  return optionWords(list).some((word) =>
    word.endsWith('*') ? option.startsWith(word.slice(0, -1)) : word === option,
  );
}

/** How the program uses an option's value; undefined for an option that the row does not know. */
export function kindOf(row: ProgramRow, option: string): OptionKind | undefined {
  const known = KINDS.find((kind) => lists(row[kind], option));
  if (known !== undefined || !option.startsWith('--') || option.length < 4) return known;
  // Programs take `--checkpoint-act` for `--checkpoint-action`.
  return KINDS.slice(0, -2).find((kind) => optionWords(row[kind]).some((word) => word.startsWith(option)));
}

/** Options of a row that hold code, as they begin: alone, in a bundle, with their value joined to them. */
export function codePattern({ code, gives, wholeWords }: ProgramRow): RegExp {
  const words = optionWords(code).filter((word) => lists(gives, word));
  const letters = words.filter((word) => word.length === 2 && wholeWords !== true).map((word) => word.charAt(1));
  const longs = words.filter((word) => word.length > 2 || wholeWords === true);
  const parts = [...(letters.length > 0 ? [`-[A-Za-z0-9]*[${letters.join('')}]`] : []), ...longs];
  return new RegExp(`^(?:${parts.join('|') || '(?!)'})`);
}

/** No file has a longer name, in characters. */
const NAME_CHARS_MAX = 255;

/** A name without the version at its end: `python3.11` is `python`. */
export function unversioned(name: string): string {
  return name.length > NAME_CHARS_MAX ? name : name.replace(/[-.]?\d[\d.]*$/, '');
}
