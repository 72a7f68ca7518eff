import { changesPrograms } from '../program-variables.ts';
import { isInstalled } from '../programs/names.ts';
import { kindOf, lists, type Operand, type OptionKind, type ProgramRow } from './program-row.ts';
import { both, rowOf } from './row-of.ts';

/** A word of a command that the definition of a tool holds. */
export interface TemplateWord {
  /** The word; where a parameter is in it, what stands before the first. */
  readonly text: string;
  /** Whether a parameter is in it. */
  readonly isFilled: boolean;
  /** Whether a call may leave it out, or make several words of it. */
  readonly varies?: boolean;
}

/** What a definition leaves to its callers beside words. */
export interface TemplateOptions {
  /** Whether a value may begin with a dash, wherever it stands. */
  readonly allowsDash?: boolean;
  /** Whether a parameter is what the command reads. */
  readonly fillsInput?: boolean;
}

type Place = number | 'input';

/** Parameters of a command whose values are run, by their place, and parameters whose values may be run. */
export interface Places {
  readonly runs: Map<Place, 'code' | 'program'>;
  readonly open: Set<Place>;
}

interface Template extends Places {
  readonly words: readonly TemplateWord[];
  readonly options: TemplateOptions;
}

/** Judges the program at the beginning, and each language wherever its name stands: who knows what runs it there. */
export function placesIn(words: readonly TemplateWord[], options: TemplateOptions): Places {
  const template: Template = { words, options, runs: new Map(), open: new Set() };
  const [program] = words;
  // A program of the owner's own is theirs to know.
  if (program !== undefined && isInstalled(program.text)) judgeProgram(template, 0, words.length);
  for (const [at, word] of words.entries()) {
    if (word.isFilled || rowOf(word.text)?.language === undefined) continue;
    const found: Template = { ...template, runs: new Map(), open: new Set() };
    judgeProgram(found, at, words.length);
    for (const [place, as] of found.runs) template.runs.set(place, as);
  }
  return template;
}

function judgeProgram(template: Template, at: number, end: number): void {
  const word = template.words[at];
  if (word === undefined) return;
  const row = rowOf(word.text);
  if (row !== undefined) new ProgramWalk(template, row, at + 1, end).run();
}

/** One way through the arguments of one program. */
class ProgramWalk {
  readonly #template: Template;
  readonly #end: number;
  #row: ProgramRow;
  #at: number;
  readonly #from: number;
  #operands: readonly Operand[];
  /** Whether `--` has ended the options. */
  #ended = false;
  /** Whether a `--` may be taken as a value. */
  #doubtsDashes = false;
  #readsInput: boolean;

  constructor(template: Template, row: ProgramRow, at: number, end: number) {
    this.#template = template;
    this.#row = row;
    this.#at = at;
    this.#from = at;
    this.#end = end;
    this.#operands = row.operands ?? ['plain'];
    this.#readsInput = row.readsInput === true;
  }

  run(): void {
    while (this.#at < this.#end) {
      const word = this.#template.words[this.#at] as TemplateWord;
      if (!word.isFilled && word.text === '--' && !this.#ended) {
        this.#ended = this.#row.ignoresDashes !== true && !this.#doubtsDashes;
        this.#at += 1;
      } else if (this.#isOption(word)) this.#option(word);
      else if (this.#operand(word)) return;
    }
    this.#noteInput();
  }

  #noteInput(): void {
    if (this.#template.options.fillsInput !== true || !this.#readsInput) return;
    if (this.#row.language === 'shell') this.#template.runs.set('input', 'code');
    else this.#template.open.add('input');
  }

  #isOption({ text }: TemplateWord): boolean {
    if (this.#ended || text === '') return false;
    return (text.startsWith('-') && text !== '-') || (this.#row.plus === true && text.startsWith('+'));
  }

  #option(word: TemplateWord): void {
    const { text, isFilled } = word;
    this.#at += 1;
    if (text.startsWith('+') && this.#row.language !== 'shell') {
      if (isFilled) this.#template.runs.set(this.#at - 1, 'code');
    } else if (text.startsWith('--') || this.#row.wholeWords === true || this.#known(text) !== undefined)
      this.#longOption(word);
    else this.#shortOptions(word);
  }

  /** The kind of a word that is an option as a whole. */
  #known(text: string): OptionKind | undefined {
    return text.length > 2 ? kindOf(this.#row, text) : undefined;
  }

  #longOption({ text, isFilled }: TemplateWord): void {
    const mark = text.search(/[=:]/);
    const name = mark < 0 ? text : text.slice(0, mark);
    const kind = kindOf(this.#row, name);
    // `--{name}`: which option it is, is for the caller to say.
    if (isFilled && mark < 0 && (kind === undefined || text.startsWith('--'))) this.#open(this.#at - 1);
    else if (mark >= 0 || isFilled) this.#joined(name, kind, isFilled, text.slice(mark + 1));
    else this.#separate(name, kind);
  }

  #shortOptions({ text, isFilled }: TemplateWord): void {
    for (let at = 1; at < text.length; at += 1) {
      const option = `-${text.charAt(at)}`;
      const rest = text.slice(at + 1);
      const kind = kindOf(this.#row, option);
      if (this.#row.language === 'shell' && /^-[cs]$/.test(option)) this.#shellFlag(option, isFilled);
      else if (kind === undefined && !/\d/.test(option)) {
        if (isFilled) this.#open(this.#at - 1);
        else if (rest === '') this.#separate(option, undefined);
        return;
      } else if (kind !== undefined && kind !== 'flags') {
        // `node -pe code`: one of them takes the code.
        if (kind === 'code' && rest.length === 1 && lists(this.#row.code, `-${rest}`)) continue;
        if (rest !== '' || isFilled) this.#joined(option, kind, isFilled, rest);
        else this.#separate(option, kind);
        return;
      }
    }
    // What is joined to flags is more flags.
    if (isFilled) this.#open(this.#at - 1);
  }

  /** `-c`: the first operand is code. `-s`: what comes in is. */
  #shellFlag(option: string, isFilled: boolean): void {
    this.#operands = option === '-c' ? ['code', 'plain'] : ['plain'];
    this.#readsInput = option === '-s';
    if (isFilled && option === '-c') this.#template.runs.set(this.#at - 1, 'code');
  }

  /** An option with its value in one word. */
  #joined(name: string, kind: OptionKind | undefined, isFilled: boolean, value: string): void {
    this.#note(name);
    if (isFilled) this.#value(this.#at - 1, kind, value);
    this.#leave(name, this.#at - 1, value);
  }

  /** An option that may take the next word. */
  #separate(name: string, kind: OptionKind | undefined): void {
    this.#note(name);
    const next = this.#template.words[this.#at];
    if (next === undefined || this.#at >= this.#end || kind === 'flags') return;
    if (kind === 'exec') {
      this.#inner();
      return;
    }
    if (kind === undefined) {
      // It may be the value of the option or an operand, which is looked at next.
      if (next.isFilled) {
        this.#open(this.#at);
        this.#at += 1;
      }
      return;
    }
    if (next.isFilled) {
      this.#value(this.#at, kind, next.text);
      this.#shifts(next, this.#operands);
      // Where the value is left out, `--` is taken for it.
      if (next.varies === true && this.#template.words[this.#at + 1]?.text === '--') this.#doubtsDashes = true;
    }
    this.#at += 1;
    this.#leave(name, this.#at - 1, next.isFilled ? '' : next.text);
  }

  /** A program that stands in for the operand with the code, and one to which all that follows belongs. */
  #note(name: string): void {
    if (!lists(this.#row.gives, name)) return;
    this.#operands = this.#operands.length > 1 ? this.#operands.slice(1) : ['plain'];
    this.#readsInput = false;
  }

  #leave(name: string, at: number, program: string): void {
    if (!lists(this.#row.ends, name)) return;
    if (at >= 0 && program !== '' && /^[\w.]+$/.test(program)) {
      const row = rowOf(program);
      if (row !== undefined) new ProgramWalk(this.#template, row, this.#at, this.#end).run();
    }
    this.#at = this.#end;
  }

  #value(at: number, kind: OptionKind | undefined, before: string): void {
    if (kind === 'code' || kind === 'commands') {
      const [key = '', value] = before.toLowerCase().split('=');
      if (value !== undefined && this.#row.keys?.split(' ').includes(key) === true) return;
      this.#template.runs.set(at, kind === 'code' ? 'code' : 'program');
    } else if (kind === undefined || kind === 'asks' || kind === 'exec') this.#open(at);
  }

  /** The command of an `-exec`, which ends with `;` or `+`. */
  #inner(): void {
    let stop = this.#at;
    while (stop < this.#end && !/^[;+]$/.test(this.#template.words[stop]?.text ?? '')) stop += 1;
    const first = this.#template.words[this.#at];
    if (first?.isFilled === true) this.#template.runs.set(this.#at, 'program');
    else judgeProgram(this.#template, this.#at, stop);
    this.#at = stop + 1;
  }

  /** @returns whether the rest was looked at too */
  #operand(word: TemplateWord): boolean {
    const at = this.#at;
    this.#at += 1;
    if (this.#isOpenStart(word)) this.#open(at);
    if (this.#row.assigns === true && /^[A-Za-z_]\w*=/.test(word.text)) {
      if (word.isFilled && changesPrograms(word.text.split('=')[0] ?? '')) this.#template.runs.set(at, 'code');
      return false;
    }
    if (this.#row.subcommands !== undefined) return this.#subcommand(word, at);
    if (this.#row.bareLetters === true && at === this.#from && !word.isFilled) return this.#bareLetters(word.text);
    // Options of a shell end at its first operand.
    if (this.#row.language === 'shell') this.#ended = true;
    const [kind = 'plain', ...later] = this.#operands;
    if (later.length > 0) this.#operands = later;
    this.#shifts(word, later, at);
    return this.#takes(kind, word, at);
  }

  /** Which value is whose is not worked out: one letter that takes a command leaves all of them open. */
  #bareLetters(text: string): boolean {
    const isPlain = Array.from(text, (letter) => kindOf(this.#row, `-${letter}`)).every(
      (kind) => kind === 'takes' || kind === 'flags',
    );
    return isPlain ? false : this.#openRest();
  }

  #takes(kind: Operand, word: TemplateWord, at: number): boolean {
    const { runs } = this.#template;
    if (kind === 'script' || kind === 'open') {
      if (word.isFilled) this.#open(at);
      return kind === 'script';
    }
    if (kind === 'code' && word.isFilled) runs.set(at, 'code');
    if (kind === 'plain' || kind === 'code') return false;
    if (kind === 'text') {
      for (let each = at; each < this.#end; each += 1) if (this.#template.words[each]?.isFilled) runs.set(each, 'code');
      return true;
    }
    if (word.isFilled) runs.set(at, 'program');
    else judgeProgram(this.#template, at, this.#end);
    return true;
  }

  #subcommand(word: TemplateWord, at: number): boolean {
    const { subcommands, ...rest } = this.#row;
    const known = subcommands ?? {};
    const row = word.isFilled ? undefined : known[Object.hasOwn(known, word.text) ? word.text : '*'];
    if (word.isFilled || (row === undefined && rest.operands?.[0] === 'script')) {
      this.#open(at);
      return rest.operands?.[0] === 'script' || this.#openRest();
    }
    this.#row = {
      ...both(rest, row ?? {}),
      ...(row?.subcommands === undefined ? {} : { subcommands: row.subcommands }),
    };
    this.#operands = row?.operands ?? ['plain'];
    return false;
  }

  /** What follows may be anything. */
  #openRest(): true {
    for (let at = this.#at; at < this.#end; at += 1) if (this.#template.words[at]?.isFilled) this.#open(at);
    return true;
  }

  /** A word that may be left out, or be several, moves what follows into its place. */
  #shifts(word: TemplateWord, later: readonly Operand[], at = this.#at): void {
    if (
      word.isFilled &&
      word.varies === true &&
      word.text === '' &&
      later.some((kind) => kind !== 'plain' && kind !== 'open')
    )
      this.#open(at);
  }

  /** Whether its value may be read as an option. */
  #isOpenStart({ text, isFilled }: TemplateWord): boolean {
    if (!isFilled || text !== '' || this.#ended || !this.#runsOthers()) return false;
    const { words, options } = this.#template;
    const dashIsText = words.slice(1, this.#at - 1).some((word) => !word.isFilled && word.text === '--');
    return this.#row.plus === true || options.allowsDash === true || dashIsText;
  }

  #runsOthers(): boolean {
    const { commands, code, asks, exec, language } = this.#row;
    return language !== undefined || [commands, code, asks, exec].some((list) => (list ?? '') !== '');
  }

  #open(at: number): void {
    if (this.#template.words[at]?.isFilled === true) this.#template.open.add(at);
  }
}
