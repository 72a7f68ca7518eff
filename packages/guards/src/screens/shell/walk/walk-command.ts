import type { Assignment, Command, Redirect, Redirection } from 'unbash';
import { harmOfWrite, isNowhere, isSecret, isSocket } from '../danger/paths.ts';
import {
  EMPTY_STREAM,
  type Field,
  type Input,
  joinStreams,
  knownStream,
  literal,
  type Stream,
  unknownField,
  unknownStream,
} from '../field.ts';
import { noteAssignment } from '../programs/assignments.ts';
import { assign, type Shell, type Variable, variableOf } from '../shell.ts';
import { evaluateParts, evaluateText, evaluateWord } from '../words/evaluate-word.ts';

/** Follows one simple command: its assignments, words and redirections, then what it runs. */
export function walkCommand(node: Command, shell: Shell, input: Input | undefined, piped: boolean): Stream {
  const assignments = node.prefix.filter((part): part is Assignment => part.type === 'Assignment');
  const position = shell.report.commands.length;
  const sinks = shell.sinks.splice(0);
  const fields = fieldsOf(node, shell);
  if (fields.length === 0) {
    for (const each of assignments) setVariable(each, shell);
    const from = redirect(node.redirects, shell, input);
    fill(shell, EMPTY_STREAM);
    shell.sinks.push(...sinks);
    // `$(<file)` is the content of the file.
    return from.keep(from.input !== input && from.input !== undefined ? from.input.stream : EMPTY_STREAM);
  }
  const before = assignments.map(({ name }): [string, Variable | undefined] => [name, shell.variables.get(name)]);
  for (const each of assignments) setVariable(each, shell, true);
  const from = redirect(node.redirects, shell, input);
  const assigned = assignments.map(({ name }) => name);
  const output = shell.run.command(shell, fields, {
    input: from.input,
    assigned,
    redirects: node.redirects,
    piped,
    viaProgram: false,
    position,
  });
  for (const [name, variable] of before) {
    if (variable === undefined) shell.variables.delete(name);
    else shell.variables.set(name, variable);
  }
  fill(shell, output);
  shell.sinks.push(...sinks);
  return from.keep(output);
}

/** Gives what a command writes to the scripts that read it through `>(…)`. */
function fill(shell: Shell, output: Stream): void {
  shell.conditional += 1;
  for (const script of shell.sinks.splice(0)) shell.run.script(shell, script, { stream: output, taken: 0 });
  shell.conditional -= 1;
}

/** Words that vanish before the command are dropped: what follows them is run. */
function fieldsOf({ name, suffix }: Command, shell: Shell): readonly Field[] {
  const fields: Field[] = name === undefined ? [] : [...evaluateWord(name, shell)];
  for (const part of suffix) {
    if (part.type === 'Word') fields.push(...evaluateWord(part, shell));
    else if (part.type === 'Assignment') fields.push(assignmentField(part, shell));
  }
  let dropped = 0;
  while (dropped < fields.length - 1 && fields[dropped]?.text === '' && fields[dropped]?.blank === true) dropped += 1;
  const [first, ...rest] = fields.slice(dropped);
  if (first === undefined) return fields;
  return dropped === 0 ? fields : [{ ...first, certain: false }, ...rest];
}

/** The key of an element, as in `([key]=value)`. */
const KEY = /^\[[^\]]*\]=/;

/** `declare x=y` and, to other programs, a plain word. */
function assignmentField(part: Assignment, shell: Shell): Field {
  if (part.value.type === 'ArrayValue') {
    const elements = part.value.elements.flatMap((word) => evaluateWord(word, shell));
    return { ...unknownField(), text: `${part.name}=(${elements.map(({ text }) => text.replace(KEY, '')).join(' ')})` };
  }
  const value = evaluateText(part.value, shell);
  return { ...value, text: `${part.name}${part.append === true ? '+' : ''}=${value.text}` };
}

function setVariable(part: Assignment, shell: Shell, temporary = false): void {
  const values =
    part.value.type === 'ArrayValue'
      ? part.value.elements
          .flatMap((word) => evaluateWord(word, shell))
          .map((field) => ({ ...field, text: field.text.replace(KEY, '') }))
      : [evaluateText(part.value, shell)];
  if (part.index !== undefined) evaluateText(part.index, shell);
  noteAssignment(part.name, values, shell, temporary);
  assign(shell, part.name, appended(part, values, shell));
}

function appended(
  { name, append, index, value }: Assignment,
  values: readonly Field[],
  shell: Shell,
): readonly Field[] {
  const before = variableOf(shell, name);
  const old = before.values.map((text): Field => ({ ...literal(text), certain: before.certain, blank: before.blank }));
  if (index !== undefined) {
    const at = Number(index.value);
    if (!Number.isInteger(at) || at < 0 || at > old.length) return [...old, ...values].map(unsure);
    return [...old.slice(0, at), ...values, ...old.slice(at + 1)];
  }
  if (append !== true) return values;
  if (value.type === 'ArrayValue') return [...old, ...values];
  const [first = literal('')] = old;
  const [more = literal('')] = values;
  return [{ ...more, text: first.text + more.text, certain: first.certain && more.certain }, ...old.slice(1)];
}

const unsure = (field: Field): Field => ({ ...field, certain: false });

/** Where a command reads from and what becomes of what it writes. */
export interface Redirected {
  readonly input: Input | undefined;
  /** What of its output flows on. */
  keep(output: Stream): Stream;
}

/** Follows redirections in order and reports what they write. */
export function redirect(redirects: readonly Redirection[], shell: Shell, input: Input | undefined): Redirected {
  if (redirects.length === 0) return { input, keep: (output) => output };
  let from = input;
  const into: { path: string; append: boolean }[] = [];
  for (const each of redirects) {
    if (each.type === 'Redirect') {
      const target = evaluateText(each.target, shell);
      from = follow(each, target, shell) ?? from;
      if (takesOutput(each, target)) into.push({ path: target.text, append: each.operator.endsWith('>>') });
    } else from = { stream: hereText(each, shell), taken: 0 };
  }
  return {
    input: from,
    keep(output) {
      for (const { path, append } of into) {
        const before = append ? (shell.files.get(path) ?? unknownStream('file')) : EMPTY_STREAM;
        shell.files.set(path, joinStreams(before, output));
      }
      return into.length === 0 ? output : EMPTY_STREAM;
    },
  };
}

const WRITES = new Set(['>', '>>', '>|', '&>', '&>>', '<>', '>&']);

function follow(
  { operator, text }: { operator: Redirect['operator']; text?: string },
  target: Field,
  shell: Shell,
): Input | undefined {
  if (isSocket(target.text)) {
    const why = 'it opens a connection as if it were a file';
    shell.report.add(
      { rule: 'raw-socket', why, verdict: 'blocked', severe: true },
      text ?? `${operator} ${target.text}`,
    );
  }
  const isDescriptor = operator.endsWith('&') && /^\d*-?$/.test(target.text);
  if (isDescriptor && !target.blank) return operator === '<&' ? { stream: unknownStream(), taken: 0 } : undefined;
  if (WRITES.has(operator)) noteWrite(target, operator, shell);
  if (!operator.startsWith('<')) return undefined;
  const known = shell.files.get(target.text);
  const origin = isSocket(target.text) ? 'network' : 'file';
  return { stream: known ?? unknownStream(origin, isSecret(target.text, shell.folder)), taken: 0 };
}

function takesOutput({ operator, descriptor }: Redirect, target: Field): boolean {
  if (!WRITES.has(operator) || operator === '<>') return false;
  if (operator === '>&' && /^\d*-?$/.test(target.text)) return false;
  return descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 1);
}

function noteWrite(target: Field, operator: string, shell: Shell): void {
  if (isNowhere(target.text)) return;
  shell.report.writesTo(target.text);
  const command = `${operator} ${target.text}`;
  const harm = target.blank && target.text.startsWith('/') ? undefined : harmOfWrite(target.text, shell.folder);
  if (harm !== undefined) shell.report.add({ ...harm, verdict: 'blocked', severe: true }, command);
  else shell.report.add({ rule: 'writes-file', why: 'it writes a file', verdict: 'ask' }, command);
}

function hereText(node: Exclude<Redirection, Redirect>, shell: Shell): Stream {
  if (node.type === 'HereString') {
    const { text, certain, blank, origin } = evaluateText(node.target, shell);
    return blank ? unknownStream(origin) : knownStream(`${text}\n`, certain, origin);
  }
  const { body, operator } = node;
  const { text, certain, origin } =
    body.parts === undefined ? { ...literal(body.text) } : evaluateParts(body.parts, shell);
  return knownStream(operator === '<<-' ? text.replace(/^\t+/gm, '') : text, certain, origin);
}
