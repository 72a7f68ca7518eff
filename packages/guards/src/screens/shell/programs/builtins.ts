import {
  EMPTY_STREAM,
  type Field,
  type Input,
  knownStream,
  lineOf,
  literal,
  restOf,
  type Stream,
  unknownField,
  unknownStream,
} from '../field.ts';
import { readOptions } from '../options.ts';
import { formatText } from '../outputs/print-text.ts';
import type { Judgement } from '../report.ts';
import { assign, type Context, type Shell, variableOf } from '../shell.ts';
import { noteAssignment } from './assignments.ts';
import { runScriptFile } from './shells.ts';

/** What a builtin does to the shell that is followed; it reports what it finds. */
type Builtin = (shell: Shell, args: readonly Field[], context: Context) => Stream;

const ASSIGNMENT = /^([A-Za-z_]\w*)(\+?)=([\s\S]*)$/;
const NAME = /^[A-Za-z_]\w*$/;

const TRACES = (why: string): Judgement => ({ rule: 'erases-traces', why, verdict: 'blocked' });
const asks = (rule: string, why: string): Judgement => ({ rule, why, verdict: 'ask' });

/** Builtins that change the shell, or that run texts. */
export const BUILTINS: ReadonlyMap<string, Builtin> = new Map(
  Object.entries<Builtin>({
    cd: changeFolder,
    pushd: changeFolder,
    popd: changeFolder,
    export: declare,
    declare,
    typeset: declare,
    local: declare,
    readonly: declare,
    set: setOptions,
    shift(shell, args) {
      const count = Number(args[0]?.text ?? '1');
      shell.positional =
        shell.conditional > 0 ? undefined : shell.positional?.slice(Number.isInteger(count) ? count : 1);
      return EMPTY_STREAM;
    },
    unset(shell, args) {
      for (const { text } of args) {
        if (/^HIST(?:FILE|SIZE)$/.test(text))
          shell.report.add(TRACES('it keeps commands out of the history'), `unset ${text}`);
        shell.variables.delete(text);
        shell.functions.delete(text);
      }
      return EMPTY_STREAM;
    },
    read,
    mapfile: readLines,
    readarray: readLines,
    printf(shell, args, { input }) {
      if (args[0]?.text !== '-v') return unknownPrintf(shell, args, input);
      const text = formatText(args.slice(2).map((field) => field.text));
      const certain = args.every((field) => field.certain);
      if (args[1] !== undefined)
        assign(shell, args[1].text, [text === undefined ? unknownField() : { ...literal(text), certain }]);
      return EMPTY_STREAM;
    },
    eval(shell, args, { input }) {
      const origin = args.find((field) => field.origin !== 'text')?.origin;
      shell.report.add(asks('eval', 'it runs a text as a script'), lineOf([literal('eval'), ...args]));
      return runText(shell, args, origin, input);
    },
    source: sourceFile,
    '.': sourceFile,
    trap(shell, args) {
      const [code] = args.filter(({ text }) => text !== '--');
      if (code !== undefined && args.length > 1 && code.text !== '-' && !code.text.startsWith('-')) later(shell, code);
      return EMPTY_STREAM;
    },
    alias(shell, args) {
      for (const field of args) {
        const { text } = field;
        const [, name, , value] = ASSIGNMENT.exec(text) ?? /^([^=]+)()=([\s\S]*)$/.exec(text) ?? [];
        if (name === undefined || value === undefined) continue;
        shell.report.add(asks('alias', 'it gives a command another meaning'), `alias ${text}`);
        shell.aliases.set(name, value);
        later(shell, { ...field, text: value });
      }
      return EMPTY_STREAM;
    },
    unalias: (shell, args) => {
      for (const { text } of args) shell.aliases.delete(text);
      return EMPTY_STREAM;
    },
    history(shell, args) {
      const options = readOptions(args);
      if (options.has('-c', '-d', '-w', '-r'))
        shell.report.add(TRACES('it erases the history of commands'), 'history -c');
      else shell.report.add(asks('history', 'it shows commands that were typed before'), 'history');
      return unknownStream();
    },
    complete: codeOption('-C'),
    compgen: codeOption('-C'),
    bind: codeOption('-x'),
    enable: codeOption('-f'),
  }),
);

function changeFolder(shell: Shell, args: readonly Field[]): Stream {
  const [target] = readOptions(args).operands;
  const text = target?.text ?? '~';
  shell.folder = target?.blank === true ? undefined : /^[/~]/.test(text) ? text : joined(shell.folder, text);
  return EMPTY_STREAM;
}

function joined(folder: string | undefined, text: string): string | undefined {
  return folder === undefined || text === '-' ? undefined : `${folder}/${text}`;
}

function declare(shell: Shell, args: readonly Field[]): Stream {
  const isLocal = shell.calls.length > 0;
  if (isLocal) shell.conditional += 1;
  for (const field of args) {
    const [, name, append, value] = ASSIGNMENT.exec(field.text) ?? [];
    if (name === undefined || value === undefined) continue;
    const before = append === '+' ? variableOf(shell, name).values.join(' ') : '';
    const unquoted = /^\((.*)\)$/s.exec(value)?.[1];
    const values = unquoted === undefined ? [before + value] : unquoted.trim().split(/\s+/);
    const fields = values.map(
      (text): Field => ({ ...field, text, certain: field.certain && append === '' && unquoted === undefined }),
    );
    noteAssignment(name, fields, shell);
    assign(shell, name, fields);
  }
  if (isLocal) shell.conditional -= 1;
  return EMPTY_STREAM;
}

function setOptions(shell: Shell, args: readonly Field[]): Stream {
  const line = lineOf(args);
  if (/(?:^|\s)\+o history\b/.test(line))
    shell.report.add(TRACES('it keeps commands out of the history'), `set ${line}`);
  const from = args.findIndex(({ text }) => text === '--' || !/^[-+]/.test(text));
  const first = args[from];
  if (from < 0 || first === undefined || /^[-+]o$/.test(args[from - 1]?.text ?? '')) return EMPTY_STREAM;
  const positional = args.slice(first.text === '--' ? from + 1 : from);
  shell.positional = shell.conditional > 0 ? positional.map((field) => ({ ...field, certain: false })) : positional;
  return EMPTY_STREAM;
}

function read(shell: Shell, args: readonly Field[], { input }: Context): Stream {
  const options = readOptions(args, { valued: 'adinNptu' });
  const array = options.value('-a');
  const names = options.operands.map(({ text }) => text).filter((text) => NAME.test(text));
  const line = takeLine(input);
  if (line === undefined) {
    const origin = input?.stream.origin ?? 'unknown';
    for (const name of [...names, array?.text ?? 'REPLY']) assign(shell, name, [unknownField(origin)]);
    return EMPTY_STREAM;
  }
  const { text, certain, origin } = line;
  const separators = variableOf(shell, 'IFS').values.join('');
  const words = text
    .split(new RegExp(`[${separators.replace(/[\\\]^-]/g, '\\$&') || '\\n'}]+`))
    .filter((word) => word !== '');
  const field = (value: string): Field => ({ ...literal(value), certain: certain && shell.conditional === 0, origin });
  if (array !== undefined) assign(shell, array.text, words.map(field));
  else if (names.length === 0) assign(shell, 'REPLY', [field(text)]);
  for (const [index, name] of names.entries()) {
    assign(shell, name, [field(index < names.length - 1 ? (words[index] ?? '') : words.slice(index).join(' '))]);
  }
  return EMPTY_STREAM;
}

function takeLine(input: Input | undefined): { text: string; certain: boolean; origin: Stream['origin'] } | undefined {
  if (input?.stream.text === undefined) return undefined;
  const { text, certain, origin } = input.stream;
  const end = text.indexOf('\n', input.taken);
  const line = text.slice(input.taken, end < 0 ? undefined : end);
  input.taken = end < 0 ? text.length : end + 1;
  return { text: line.trim(), certain, origin };
}

function readLines(shell: Shell, args: readonly Field[], { input }: Context): Stream {
  const options = readOptions(args, { valued: 'dnOsuCc' });
  const code = options.value('-C');
  if (code !== undefined) later(shell, code);
  const rest = restOf(input);
  const name = options.operands[0]?.text ?? 'MAPFILE';
  const lines = rest?.text?.replace(/\n$/, '').split('\n');
  const fields = lines?.map((text): Field => ({ ...literal(text), certain: false, origin: rest?.origin ?? 'text' }));
  assign(shell, name, fields ?? [unknownField(rest?.origin)]);
  return EMPTY_STREAM;
}

function unknownPrintf(_shell: Shell, args: readonly Field[], _input: Input | undefined): Stream {
  const text = args.some(({ blank }) => blank) ? undefined : formatText(args.map((field) => field.text));
  const origin = args.find((field) => field.origin !== 'text')?.origin ?? 'text';
  return text === undefined
    ? unknownStream(origin)
    : knownStream(
        text,
        args.every(({ certain }) => certain),
        origin,
      );
}

/** Runs words as a script, as eval does. */
export function runText(
  shell: Shell,
  fields: readonly Field[],
  origin: Field['origin'] | undefined,
  input: Input | undefined,
): Stream {
  const line = lineOf(fields);
  if (origin === 'network')
    shell.report.add({ rule: 'remote-script', why: 'it runs what it fetched', verdict: 'blocked', severe: true }, line);
  else if (origin === 'decoder') {
    shell.report.add(
      {
        rule: 'decoded-script',
        why: 'it runs a script that is hidden in another form',
        verdict: 'blocked',
        severe: true,
      },
      line,
    );
  } else if (fields.some(({ certain }) => !certain))
    shell.report.add(asks('unknown-script', 'what it runs is only known then'), line);
  return shell.run.text(shell, fields.map(({ text }) => text).join(' '), input);
}

function sourceFile(shell: Shell, args: readonly Field[], { input }: Context): Stream {
  const [file] = readOptions(args).operands;
  return runScriptFile(shell, file ?? unknownField(), input);
}

/** Follows a text that runs at another time, if at all. */
function later(shell: Shell, code: Field): void {
  shell.conditional += 1;
  runText(shell, [code], code.origin === 'text' ? undefined : code.origin, undefined);
  shell.conditional -= 1;
}

function codeOption(option: string): Builtin {
  return (shell, args) => {
    const at = args.findIndex(({ text }) => text === option);
    const code = at < 0 ? undefined : args[at + 1];
    shell.report.add(asks('changes-shell', 'it changes how the shell works'), lineOf(args));
    if (code !== undefined) later(shell, { ...code, text: code.text.replace(/^"[^"]*":\s*/, '') });
    return unknownStream();
  };
}
