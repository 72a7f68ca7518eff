import { isSecret } from '../danger/paths.ts';
import { RULES } from '../danger/rules.ts';
import { EMPTY_STREAM, type Field, joinStreams, lineOf, restOf, type Stream, unknownStream } from '../field.ts';
import { outputOf } from '../outputs/known-output.ts';
import { doubtOf } from '../read-only/reads-only.ts';
import type { Judgement } from '../report.ts';
import { type Context, isAnswered, type Shell } from '../shell.ts';
import { BUILTINS } from './builtins.ts';
import { CARRIERS } from './carriers.ts';
import { isInterpreter, runCode } from './interpreters.ts';
import { noteLeftFiles } from './left-files.ts';
import { isInstalled, isPattern, plainLook, programName, programsLike } from './names.ts';
import { contentOf, runShell, runStream, SHELLS } from './shells.ts';
import { noteTails } from './tails.ts';
import { runWindowsShell, WINDOWS_SHELLS } from './windows-shells.ts';
import { WRAPPERS } from './wrapper-table.ts';
import { unwrap } from './wrappers.ts';
import { runXargs } from './xargs.ts';

const UNKNOWN_COMMAND: Judgement = {
  rule: 'unknown-command',
  why: 'which program it runs is only known then',
  verdict: 'ask',
};
const ELSEWHERE: Judgement = {
  rule: 'unknown-program',
  why: 'it lies in no folder of installed programs',
  verdict: 'ask',
};
const LOOKS_ALIKE: Judgement = {
  rule: 'look-alike',
  why: 'its name only looks like that of a program',
  verdict: 'blocked',
};

/** Judges one command by its words: what it is, what it may run, and what it writes into the next. */
export function judgeCommand(shell: Shell, fields: readonly Field[], context: Context): Stream {
  const [first, ...args] = fields;
  const { report, policy } = shell;
  if (first === undefined || report.isSpent || !report.spend(fields.length * WORD_COST)) return EMPTY_STREAM;
  report.found(fields, shell.depth, context.viaProgram ? undefined : context.position);
  const entry = policy.blocked.match(fields, false);
  if (entry !== undefined) {
    const why = `the policy blocks ${entry}`;
    report.add({ rule: 'blocked-by-policy', why, verdict: 'blocked', severe: true }, fields);
  }
  noteName(shell, first, fields);
  if (!context.viaProgram) {
    const called = callOwn(shell, first, args, context);
    if (called !== undefined) return called;
  }
  let output = EMPTY_STREAM;
  for (const name of namesOf(first)) output = joinStreams(output, runProgram({ shell, name, fields, args, context }));
  return output;
}

/** What a word counts against the work of a check, in characters. */
const WORD_COST = 8;

/** One program that is about to be judged. */
interface Run {
  readonly shell: Shell;
  readonly name: string;
  readonly fields: readonly Field[];
  readonly args: readonly Field[];
  readonly context: Context;
}

function runProgram(run: Run): Stream {
  const { shell, name, args, context } = run;
  const builtin = BUILTINS.get(name);
  if (builtin !== undefined && (name !== 'printf' || args[0]?.text === '-v')) return builtin(shell, args, context);
  const isJudged = applyRules(run);
  CARRIERS.get(name)?.(shell, args, context);
  const left = runOther(run);
  if (left !== undefined) return left;
  if (!isJudged) judgeReading(run);
  const output = outputOf(name, args, restOf(context.input), shell);
  noteLeftFiles(shell, name, args, output);
  return output.secret || !readsSecrets(run) ? output : { ...output, secret: true };
}

function readsSecrets({ shell, name, args }: Run): boolean {
  if (name === 'printenv' || (name === 'env' && args.length === 0)) return true;
  return args.some(({ text }) => isSecret(text, shell.folder));
}

/** Wrappers, shells, interpreters and files that the script wrote: what they run is judged in their place. */
function runOther(run: Run): Stream | undefined {
  const { shell, name, fields, args, context } = run;
  if (SHELLS.has(name)) return runShell(shell, name, args, context);
  if (WINDOWS_SHELLS.has(name)) return runWindowsShell(shell, name, args, context);
  if (name === 'xargs') return runXargs(shell, args, context);
  if (isInterpreter(name)) return runCode(shell, name, args, context);
  const wrapper = WRAPPERS.get(name);
  if (wrapper !== undefined && !(name === 'command' && /^-[vV]$/.test(args[0]?.text ?? ''))) {
    const { output, runs } = unwrap(shell, wrapper, args, context);
    if (runs && wrapper.asks !== undefined)
      askUnlessAllowed(run, { rule: 'wrapper', why: wrapper.asks, verdict: 'ask' });
    if (runs) return output;
  }
  const [first] = fields;
  const content = first?.text.includes('/') === true ? contentOf(shell, first) : undefined;
  return content === undefined ? undefined : runStream(shell, content, lineOf(fields));
}

function applyRules({ shell, name, fields, args, context }: Run): boolean {
  const rules = RULES.get(name) ?? RULES.get(name.toLowerCase());
  if (rules === undefined) return false;
  const { report, folder } = shell;
  const input = restOf(context.input);
  let isJudged = false;
  for (const rule of rules) {
    const judgement = rule({ name, args, input, folder, writes: (target) => report.writesTo(target) });
    if (judgement === undefined) continue;
    isJudged = true;
    report.add(judgement, fields);
  }
  return isJudged;
}

function judgeReading(run: Run): void {
  const { shell, name, fields, args } = run;
  const doubt = doubtOf(name, args, shell.folder);
  if (doubt === undefined) {
    // Where only what is listed may run, reading is no excuse; builtins that touch nothing are.
    if (!shell.policy.isStrict || TOUCHES_NOTHING.has(name)) return;
    askUnlessAllowed(run, { rule: 'not-allowed', why: 'the policy does not list it', verdict: 'ask' });
    return;
  }
  if (fields.length > 1) noteTails(shell, name, args);
  const isUnknown = doubt.rule === 'unknown-program';
  const finding = isUnknown && RULES.has(name) ? EFFECT : doubt;
  if (isUnknown && isAnsweredHere(run, finding.rule)) return;
  askUnlessAllowed(run, { ...finding, verdict: 'ask' });
}

/** Words before it may make something else of a program, so only the first word of the command is answered for. */
const isAnsweredHere = ({ shell, fields }: Pick<Run, 'shell' | 'fields'>, rule: string): boolean =>
  fields[0] !== undefined && fields[0] === shell.declared[0] && isAnswered(shell, fields[0], rule);

const EFFECT = { rule: 'has-effect', why: 'it may change files, the machine or what others have' } as const;

function askUnlessAllowed({ shell, fields }: Run, judgement: Judgement): void {
  if (shell.policy.allowed.match(fields, true) === undefined) shell.report.add(judgement, fields);
}

/** Programs that neither read nor write anything but the shell they run in. */
const TOUCHES_NOTHING = new Set(
  'true false : test [ cd exit return break continue wait shift set unset export local read let umask'.split(' '),
);

function noteName(shell: Shell, first: Field, line: readonly Field[]): void {
  const { report } = shell;
  if (first.origin === 'network')
    report.add({ rule: 'remote-script', why: 'it runs what it fetched', verdict: 'blocked', severe: true }, line);
  else if (first.origin === 'decoder') {
    const why = 'its name is hidden in another form';
    report.add({ rule: 'decoded-script', why, verdict: 'blocked', severe: true }, line);
  } else if (!first.certain || isPattern(first)) report.add(UNKNOWN_COMMAND, line);
  if (!isInstalled(first.text) && !isAnsweredHere({ shell, fields: line }, ELSEWHERE.rule)) report.add(ELSEWHERE, line);
  const plain = plainLook(programName(first.text));
  if (plain !== undefined)
    report.add(RULES.has(plain) || SHELLS.has(plain) ? LOOKS_ALIKE : { ...LOOKS_ALIKE, verdict: 'ask' }, line);
}

const DANGEROUS = [
  ...RULES.keys(),
  ...SHELLS,
  'python3',
  'python',
  'perl',
  'node',
  'cat',
  'eval',
  'sudo',
  'env',
  'xargs',
  'base64',
];

/** The program, or those that a pattern may stand for. */
function namesOf(first: Field): readonly string[] {
  const name = programName(first.text);
  if (isPattern(first)) {
    const like = programsLike(name, DANGEROUS);
    return like.length > 0 ? like : [name];
  }
  return [plainLook(name) ?? name];
}

/** Functions and aliases of the script. */
function callOwn(shell: Shell, first: Field, args: readonly Field[], context: Context): Stream | undefined {
  const alias = shell.aliases.get(first.text);
  if (alias !== undefined && !shell.calls.includes(`alias ${first.text}`)) {
    shell.calls.push(`alias ${first.text}`);
    const words = alias
      .split(/\s+/)
      .map((text): Field => ({ text, certain: false, blank: false, glob: false, origin: 'text' }));
    const output = shell.run.command(shell, [...words, ...args], context);
    shell.calls.pop();
    return output;
  }
  const bodies = shell.functions.get(first.text);
  if (bodies === undefined) return undefined;
  if (shell.calls.includes(first.text)) {
    shell.report.add({ rule: 'recursion', why: 'a function calls itself', verdict: 'ask' }, first.text);
    return unknownStream();
  }
  const outer = shell.positional;
  let output = EMPTY_STREAM;
  shell.calls.push(first.text);
  for (const body of bodies) {
    shell.positional = args;
    output = joinStreams(output, shell.run.call(shell, body, context.input));
  }
  shell.calls.pop();
  shell.positional = outer;
  return output;
}
