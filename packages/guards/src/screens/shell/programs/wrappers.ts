import { type Field, literal, type Stream, unknownStream } from '../field.ts';
import { readOptions } from '../options.ts';
import type { Context, Shell } from '../shell.ts';
import { noteAssignment } from './assignments.ts';
import type { Wrapper } from './wrapper-table.ts';

const ASSIGNMENT = /^([A-Za-z_]\w*)=([\s\S]*)$/;

/** What a wrapper leads to. */
export interface Unwrapped {
  readonly output: Stream;
  /** Whether it runs anything; otherwise it is a program like others. */
  readonly runs: boolean;
}

/** Follows what a wrapper runs: its operands, or a text that one of its options holds. */
export function unwrap(shell: Shell, wrapper: Wrapper, args: readonly Field[], context: Context): Unwrapped {
  const { after, joins = false } = wrapper;
  const from = after === undefined ? 0 : args.findIndex(({ text }) => after.includes(text)) + 1;
  if (after !== undefined && from === 0) return { output: unknownStream(), runs: false };
  const inner = innerOf(shell, wrapper, args.slice(from));
  // What stands before the command belongs to the wrapper.
  const code = codeOf(wrapper, args.slice(0, args.length - inner.length), args);
  if (code !== undefined) return { output: follow(shell, code, context, true), runs: true };
  if (inner.length === 0) return { output: unknownStream(), runs: false };
  return { output: follow(shell, inner, context, joins), runs: true };
}

/** The text that an option of the wrapper holds; `env -S` goes on with what follows it. */
function codeOf({ code = [] }: Wrapper, own: readonly Field[], args: readonly Field[]): readonly Field[] | undefined {
  for (const [index, field] of own.entries()) {
    const { text } = field;
    const option = code.find(
      (name) => isCalled(text, name) || (name.startsWith('--') ? text.startsWith(`${name}=`) : isJoined(text, name)),
    );
    if (option === undefined) continue;
    const isNext = isCalled(text, option);
    const value = isNext ? args[index + 1] : valueIn(field, option);
    if (value === undefined) continue;
    return option === '-S' ? [value, ...args.slice(isNext ? index + 2 : index + 1)] : [value];
  }
  return undefined;
}

/** `-qc` is `-q -c`. */
function isCalled(text: string, name: string): boolean {
  return text === name || (name.length === 2 && /^-[A-Za-z]+$/.test(text) && text.endsWith(name.charAt(1)));
}

function isJoined(text: string, name: string): boolean {
  return name.length === 2 && text.length > 2 && text.startsWith(name) && !text.startsWith('--');
}

function valueIn(field: Field, option: string): Field {
  const text = field.text.slice(option.length);
  return { ...field, text: text.startsWith('=') ? text.slice(1) : text };
}

function innerOf(shell: Shell, wrapper: Wrapper, args: readonly Field[]): readonly Field[] {
  const { valued = '', longValued = [], operands = 0, assigns } = wrapper;
  const options = readOptions(args, { valued, longValued, stopsAtOperand: true });
  let at = options.firstOperand + operands;
  if (args[at]?.text === '--') at += 1;
  for (let field = args[at]; assigns === true && field !== undefined; at += 1, field = args[at]) {
    const found = ASSIGNMENT.exec(field.text);
    if (found === null) break;
    const [, name = '', value = ''] = found;
    noteAssignment(name, [{ ...field, text: value }], shell, true);
  }
  // `chroot / -- command`, `flock file -c`: options of the wrapper may follow its operand.
  while (operands > 0 && args[at]?.text.startsWith('-') === true) at += 1;
  return args.slice(at);
}

function follow(shell: Shell, fields: readonly Field[], context: Context, asText: boolean): Stream {
  if (!asText) return shell.run.command(shell, fields, { ...context, assigned: [], viaProgram: true });
  const [first = literal('')] = fields;
  const text = fields.map((field) => field.text).join(' ');
  shell.conditional += 1;
  if (fields.some(({ certain }) => !certain)) {
    const why = 'what it runs is only known then';
    shell.report.add({ rule: 'unknown-script', why, verdict: 'ask' }, text.slice(0, 200));
  }
  if (first.origin === 'network' || first.origin === 'decoder') {
    const why = 'it runs a text that is fetched or hidden';
    shell.report.add({ rule: 'decoded-script', why, verdict: 'blocked', severe: true }, text.slice(0, 200));
  }
  const output = shell.run.text(shell, text, context.input);
  shell.conditional -= 1;
  return output;
}
