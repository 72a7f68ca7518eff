import type { Function as FunctionNode, ParsedScript, Redirection } from 'unbash';
import { SHELL_SCREEN_BOUNDS } from './bounds.ts';
import { type Field, type Input, literal, type Origin, type Stream, unknownField } from './field.ts';
import { changesPrograms } from './program-variables.ts';
import type { Report } from './report.ts';

/** A shell variable, as far as known. */
export interface Variable {
  /** One text, or the elements of an array. */
  readonly values: readonly string[];
  readonly certain: boolean;
  readonly blank: boolean;
  readonly origin: Origin;
}

/** Context of a command. */
export interface Context {
  readonly input: Input | undefined;
  /** Names of variables that are set for this command only. */
  readonly assigned: readonly string[];
  readonly redirects: readonly Redirection[];
  /** True when its output goes into another command. */
  readonly piped: boolean;
  /** Its position among the commands found: before those in its own words. */
  readonly position?: number;
  /** True when another program runs it, which knows no functions and aliases. */
  readonly viaProgram: boolean;
}

/** The mutually recursive parts, bound once per check. */
export interface Runner {
  /** Follows a parsed script and returns its output. */
  script(shell: Shell, script: ParsedScript, input?: Input): Stream;
  /** Parses a text and follows it. */
  text(shell: Shell, text: string, input?: Input): Stream;
  /** Judges one simple command by its words and returns its output. */
  command(shell: Shell, fields: readonly Field[], context: Context): Stream;
  /** Follows the body of a function. */
  call(shell: Shell, body: FunctionNode['body'], input?: Input): Stream;
}

/** An operator's additions to the rules. */
export interface PolicyMatchers {
  readonly blocked: CommandMatcher;
  readonly allowed: CommandMatcher;
  /** Rules that only ask. */
  readonly lowered: ReadonlySet<string>;
  /** True when only allowed commands may run. */
  readonly isStrict: boolean;
}

/** Tests whether a command begins with the words of an entry. */
export interface CommandMatcher {
  /** The matching entry; `certainly` excludes guessed words. */
  match(fields: readonly Field[], certainly: boolean): string | undefined;
}

/** State of the followed shell, without a process. */
export interface Shell {
  readonly run: Runner;
  readonly report: Report;
  readonly policy: PolicyMatchers;
  /** The leading words of the command that the definition of a tool fixes, the program first; empty for a script. */
  readonly declared: readonly Field[];
  readonly variables: Map<string, Variable>;
  /** Bodies of functions: several when it is uncertain which one applies. */
  readonly functions: Map<string, readonly FunctionNode['body'][]>;
  readonly aliases: Map<string, string>;
  /** Content that the script wrote into files, by path. */
  readonly files: Map<string, Stream>;
  /** Scripts that read the output of the next command: `>(…)`. */
  readonly sinks: ParsedScript[];
  /** Names of the functions being followed. */
  readonly calls: string[];
  /** `$1`, `$2` …; undefined when unknown. */
  positional: readonly Field[] | undefined;
  /** Above 0 when it is uncertain that a command runs at all, or in this shell. */
  conditional: number;
  /** Scripts within scripts. */
  depth: number;
  /** Last folder of `cd`; undefined when unknown. */
  folder: string | undefined;
}

/** A shell in its initial state. */
export function createShell(run: Runner, policy: PolicyMatchers, report: Report, declared: readonly Field[]): Shell {
  return {
    run,
    policy,
    declared,
    report,
    variables: new Map(),
    functions: new Map(),
    aliases: new Map(),
    files: new Map(),
    sinks: [],
    calls: [],
    positional: [],
    conditional: 0,
    depth: 0,
    folder: undefined,
  };
}

/**
 * Whether the definition of the tool answers a rule that only says "not known" about one word of its command: the person
 * who registered the tool named this program or file, and said what it leaves behind. Never under an allowlist, nor for a
 * rule that the policy wants asked about.
 */
export function isAnswered({ declared, policy }: Shell, word: Field, rule: string): boolean {
  return !policy.isStrict && !policy.lowered.has(rule) && declared.includes(word);
}

/** Whether code may run without a question: its file is one that the tool names, or the policy allows the command that runs it. */
export function mayRunCode(shell: Shell, file: Field | undefined, rule: string, command: readonly Field[]): boolean {
  if (file !== undefined && isAnswered(shell, file, rule)) return true;
  return !shell.policy.isStrict && shell.policy.allowed.match(command, true) !== undefined;
}

/** Usual initial values. Used to follow tricks such as `${PATH:0:1}`, never to call something safe. */
const USUAL: ReadonlyMap<string, string> = new Map([
  ['HOME', '/home/user'],
  ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
  ['PWD', '/home/user/project'],
  ['OLDPWD', '/home/user'],
  ['SHELL', '/bin/bash'],
  ['BASH', '/bin/bash'],
  ['USER', 'user'],
  ['LOGNAME', 'user'],
  ['TERM', 'xterm-256color'],
  ['LANG', 'en_US.UTF-8'],
  ['OSTYPE', 'linux-gnu'],
  ['MACHTYPE', 'x86_64-pc-linux-gnu'],
  ['HOSTTYPE', 'x86_64'],
  ['SHLVL', '1'],
  ['PS1', '$ '],
  ['PS2', '> '],
  ['PS4', '+ '],
  ['BASHOPTS', 'cmdhist:complete_fullquote:extquote:force_fignore:globasciiranges:hostcomplete:interactive_comments'],
  ['SHELLOPTS', 'braceexpand:hashall:interactive-comments'],
  ['TMPDIR', '/tmp'],
  ['0', 'bash'],
  ['-', 'hBc'],
  ['?', '0'],
  ['_', '/usr/bin/bash'],
  ['#', '0'],
]);
const DEFAULT_IFS = ' \t\n';

/** The variable of that name; a guess when the script has not set it. */
export function variableOf(shell: Shell, name: string): Variable {
  const set = shell.variables.get(name);
  if (set !== undefined) return set;
  if (name === 'IFS') return { values: [DEFAULT_IFS], certain: true, blank: false, origin: 'text' };
  if (name === '@' || name === '*' || /^[1-9]\d*$/.test(name)) return positionalOf(shell, name);
  if (name === '#') return scalar(String(shell.positional?.length ?? 0), shell.positional !== undefined);
  const usual = USUAL.get(name);
  if (usual !== undefined) return scalar(usual, false);
  return { values: [], certain: false, blank: true, origin: 'unknown' };
}

/** Sets a variable. When the assignment may not be reached, the value is a guess from now on. */
export function assign(shell: Shell, name: string, fields: readonly Field[]): void {
  if (changesPrograms(name))
    shell.report.add({ rule: 'sets-variable', why: `${name} changes what programs run`, verdict: 'ask' }, `${name}=`);
  const origin = fields.find((field) => field.origin !== 'text')?.origin ?? 'text';
  if (fields.length > SHELL_SCREEN_BOUNDS.fieldsMax) {
    shell.variables.set(name, { values: [], certain: false, blank: true, origin });
    return;
  }
  shell.variables.set(name, {
    values: fields.map(({ text }) => text),
    certain: shell.conditional === 0 && fields.every(({ certain }) => certain),
    blank: fields.some(({ blank }) => blank),
    origin,
  });
}

function scalar(text: string, certain: boolean): Variable {
  return { values: [text], certain, blank: false, origin: 'text' };
}

function positionalOf({ positional }: Shell, name: string): Variable {
  if (positional === undefined) return { values: [], certain: false, blank: true, origin: 'unknown' };
  const all = positional;
  const chosen = name === '@' || name === '*' ? all : [all[Number(name) - 1] ?? literal('')];
  return {
    values: chosen.map(({ text }) => text),
    certain: chosen.every(({ certain }) => certain),
    blank: chosen.some(({ blank }) => blank),
    origin: chosen.find(({ origin }) => origin !== 'text')?.origin ?? 'text',
  };
}

/** The whole variable as one word. */
export function wholeOf({ values, certain, blank, origin }: Variable): Field {
  if (values.length === 0 && blank) return unknownField(origin);
  return { text: values.join(' '), certain, blank, glob: false, origin };
}
