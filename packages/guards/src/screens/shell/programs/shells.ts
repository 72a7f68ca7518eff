import { isSocket } from '../danger/paths.ts';
import {
  EMPTY_STREAM,
  type Field,
  type Input,
  lineOf,
  literal,
  type Origin,
  restOf,
  type Stream,
  unknownStream,
} from '../field.ts';
import type { Judgement } from '../report.ts';
import { assign, type Context, mayRunCode, type Shell } from '../shell.ts';
import { LANGUAGE_ROWS } from '../table/language-rows.ts';

/** Shells whose language is read as that of bash. */
export const SHELLS: ReadonlySet<string> = new Set(
  Object.entries(LANGUAGE_ROWS).flatMap(([name, { language }]) => (language === 'shell' ? [name] : [])),
);

const VALUED = /^(?:[-+][A-Za-z]*[oO]|--rcfile|--init-file|--init-command|-C)$/;

const REMOTE: Judgement = { rule: 'remote-script', why: 'it runs what it fetched', verdict: 'blocked', severe: true };
const DECODED: Judgement = {
  rule: 'decoded-script',
  why: 'it runs a script that is hidden in another form',
  verdict: 'blocked',
  severe: true,
};
const SOCKET: Judgement = {
  rule: 'reverse-shell',
  why: 'it gives a shell to a connection',
  verdict: 'blocked',
  severe: true,
};
const UNKNOWN: Judgement = { rule: 'unknown-script', why: 'what it runs is only known then', verdict: 'ask' };
const FILE: Judgement = { rule: 'runs-file', why: 'it runs a script whose content is not known', verdict: 'ask' };
const PIPED: Judgement = { rule: 'piped-script', why: 'it runs its input as a script', verdict: 'ask' };
const OTHER_LANGUAGE: Judgement = { rule: 'other-shell', why: 'its language is read only in part', verdict: 'ask' };
const READ_AS_BASH = /^(?:r?bash|sh|dash|r?zsh|ash|m?ksh(?:93)?|pdksh|yash|osh|posh)$/;
const LOGIN: Judgement = { rule: 'interactive-shell', why: 'it opens a shell', verdict: 'ask' };

/** Follows `sh -c text`, `sh file` and `… | sh`. */
export function runShell(shell: Shell, name: string, args: readonly Field[], { input, redirects }: Context): Stream {
  const words = lineOf([literal(name), ...args]);
  const parts = partsOf(args);
  const startup = args.findIndex(({ text }) => /^--(?:rcfile|init-file)$/.test(text));
  const startupFile = startup < 0 ? undefined : args[startup + 1];
  if (startupFile !== undefined) runScriptFile(shell, startupFile, undefined);
  const isFed = input !== undefined;
  if (!READ_AS_BASH.test(name)) shell.report.add(OTHER_LANGUAGE, words);
  if (redirects.some((each) => each.type === 'Redirect' && isSocket(each.target?.value ?? '')))
    shell.report.add(SOCKET, words);
  if (parts.script !== undefined)
    return asChild(shell, parts.rest, () => runScriptText(shell, parts.script as Field, input, words));
  const [file] = parts.rest;
  if (file !== undefined && !parts.readsInput)
    return asChild(shell, parts.rest, () => runScriptFile(shell, file, input, [literal(name), ...args]));
  if (!isFed) {
    if (!parts.asksForVersion) shell.report.add(LOGIN, words);
    return unknownStream();
  }
  shell.report.add(PIPED, words);
  return asChild(shell, [literal('bash'), ...parts.rest], () => runStream(shell, restOf(input) ?? EMPTY_STREAM, words));
}

interface ShellParts {
  readonly script: Field | undefined;
  readonly rest: readonly Field[];
  readonly readsInput: boolean;
  readonly asksForVersion: boolean;
}

function partsOf(args: readonly Field[]): ShellParts {
  let takesText = false;
  let readsInput = false;
  let at = 0;
  for (; at < args.length; at += 1) {
    const text = args[at]?.text ?? '';
    if (text === '--' || text === '-') {
      at += 1;
      break;
    }
    if (!/^[-+]/.test(text)) break;
    if (/^-[A-Za-z]*c/.test(text) || text === '--command') takesText = true;
    if (/^--command=/.test(text))
      return { script: { ...literal(text.slice(10)), certain: false }, rest: [], readsInput, asksForVersion: false };
    if (/^-[A-Za-z]*s/.test(text)) readsInput = true;
    if (VALUED.test(text)) at += 1;
  }
  const rest = args.slice(at);
  const asksForVersion = args.length === 1 && /^--(?:version|help)$/.test(args[0]?.text ?? '');
  return takesText
    ? { script: rest[0] ?? literal(''), rest: rest.slice(1), readsInput, asksForVersion }
    : { script: undefined, rest, readsInput, asksForVersion };
}

/** In a child, what is assigned does not come back, and its effect on certain values is unknown. */
function asChild(shell: Shell, [name, ...positional]: readonly Field[], follow: () => Stream): Stream {
  const outer = shell.positional;
  shell.positional = positional;
  const outerName = shell.variables.get('0');
  if (name !== undefined) assign(shell, '0', [name]);
  shell.conditional += 1;
  const stream = follow();
  shell.conditional -= 1;
  shell.positional = outer;
  if (outerName === undefined) shell.variables.delete('0');
  else shell.variables.set('0', outerName);
  return stream;
}

/** Runs the text of one word. */
export function runScriptText(shell: Shell, script: Field, input: Input | undefined, words: string): Stream {
  noteOrigin(shell, script.origin, script.certain, words);
  return shell.run.text(shell, script.text, input);
}

/** Runs a file, of which something is known when the script wrote it. */
export function runScriptFile(
  shell: Shell,
  file: Field,
  input: Input | undefined,
  command: readonly Field[] = [],
): Stream {
  const words = lineOf([literal('source'), file]);
  if (/^\/dev\/stdin$|^\/proc\/self\/fd\/0$|^\/dev\/fd\/0$/.test(file.text)) {
    shell.report.add(PIPED, words);
    return runStream(shell, restOf(input) ?? unknownStream(), words);
  }
  const content = contentOf(shell, file);
  if (content === undefined) {
    noteOrigin(shell, file.origin, true, words);
    if (!mayRunCode(shell, file, FILE.rule, command)) shell.report.add(FILE, words);
    return unknownStream(file.origin);
  }
  shell.report.add(FILE, words);
  return runStream(shell, content, words);
}

/** What the script itself put into a file. */
export function contentOf(shell: Shell, { text }: Field): Stream | undefined {
  return shell.files.get(text) ?? shell.files.get(text.replace(/^\.\//, ''));
}

/** Runs what flows out of a command or file. */
export function runStream(shell: Shell, stream: Stream, words: string): Stream {
  noteOrigin(shell, stream.origin, stream.certain && stream.text !== undefined, words);
  if (stream.text !== undefined) return shell.run.text(shell, stream.text);
  return { ...unknownStream(stream.origin), fromShell: true };
}

function noteOrigin({ report }: Shell, origin: Origin, certain: boolean, words: string): void {
  if (origin === 'network') report.add(REMOTE, words);
  else if (origin === 'decoder') report.add(DECODED, words);
  else if (!certain) report.add(UNKNOWN, words);
}
