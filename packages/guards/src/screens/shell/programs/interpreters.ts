import { harmOfCode, textsIn } from '../danger/code.ts';
import { type Field, knownStream, lineOf, literal, restOf, type Stream, unknownStream } from '../field.ts';
import { type Context, mayRunCode, type Shell } from '../shell.ts';
import { LANGUAGE_ROWS } from '../table/language-rows.ts';
import { codePattern, unversioned } from '../table/program-row.ts';
import { contentOf } from './shells.ts';

interface Interpreter {
  /** Options that hold code, joined to them or next. */
  readonly code: RegExp;
  /** The first operand is code. */
  readonly operandIsCode: boolean;
}

const INTERPRETERS = new Map<string, Interpreter>();
for (const [name, row] of Object.entries(LANGUAGE_ROWS)) {
  if (row.language !== 'code') continue;
  INTERPRETERS.set(name, { code: codePattern(row), operandIsCode: row.operands?.[0] === 'code' });
}

/** The interpreter of that name or one of its versions, for a language that is no shell. */
function interpreterOf(name: string): Interpreter | undefined {
  return INTERPRETERS.get(name) ?? INTERPRETERS.get(unversioned(name));
}

/** Whether a program runs code in a language that is no shell's. */
export function isInterpreter(name: string): boolean {
  return interpreterOf(name) !== undefined;
}

/** Looks for harm in code for an interpreter; whatever it finds, only a person can judge what code does. */
export function runCode(shell: Shell, name: string, args: readonly Field[], { input }: Context): Stream {
  const interpreter = interpreterOf(name);
  if (interpreter === undefined) return unknownStream();
  const words = `${name} ${lineOf(args)}`;
  const codes = codesOf(interpreter, args);
  const operands = args.filter(({ text }) => !text.startsWith('-') || text === '-');
  const file = operands[0] === undefined ? undefined : contentOf(shell, operands[0]);
  const fed = codes.length === 0 && (operands.length === 0 || operands[0]?.text === '-') ? restOf(input) : undefined;
  const why =
    codes.length > 0 || fed !== undefined
      ? 'it runs code in another language'
      : 'it runs a program whose content is not known';
  // Code among the words is asked about, although the tool fixes them: only a person can judge what it does.
  const program = codes.length > 0 ? undefined : operands.slice(0, 1).find(({ text }) => isFile(text));
  const isAsked = !mayRunCode(shell, program, 'runs-code', [literal(name), ...args]);
  if (isAsked && !/^-{1,2}(?:[vV]|version|help|h)$/.test(args.map(({ text }) => text).join(' '))) {
    shell.report.add({ rule: 'runs-code', why, verdict: 'ask' }, words.slice(0, 200));
  }
  const origin =
    fed?.origin ?? file?.origin ?? [...codes, ...operands.slice(0, 1)].find((field) => field.origin !== 'text')?.origin;
  if (origin === 'network' || origin === 'decoder') {
    const reason = origin === 'network' ? 'it runs what it fetched' : 'it runs code that is hidden in another form';
    const rule = origin === 'network' ? 'remote-script' : 'decoded-script';
    shell.report.add({ rule, why: reason, verdict: 'blocked', severe: true }, words.slice(0, 200));
  }
  const texts = [...codes.map(({ text }) => text), fed?.text, file?.text].filter((text) => text !== undefined);
  for (const text of texts) harmOfCode(text, shell, words.slice(0, 200));
  const written = writtenBy(name, texts, restOf(input));
  return written ?? unknownStream(origin ?? 'unknown', restOf(input)?.secret === true);
}

/** `-`, files that stand for the input, and words such as `run` name no program that the tool could know. */
const isFile = (text: string): boolean => /[./]/.test(text) && !/^\/(?:dev|proc)\//.test(text);

const PICKS = /^\s*\{\s*print\s+\$(\d+)\s*;?\s*\}\s*$/;

/** A guess at what code writes: the fields that awk picks, or the texts that it holds. */
function writtenBy(name: string, codes: readonly string[], input: Stream | undefined): Stream | undefined {
  const [code] = codes;
  if (code === undefined) return undefined;
  const picked = name.endsWith('awk') ? PICKS.exec(code)?.[1] : undefined;
  if (picked !== undefined && input?.text !== undefined) {
    const lines = input.text.split('\n').map((line) => line.trim().split(/\s+/)[Number(picked) - 1] ?? '');
    return { ...input, text: lines.join('\n') };
  }
  const texts = codes.flatMap(textsIn);
  return texts.length === 0 ? undefined : knownStream(texts.join('\n'), false, 'unknown');
}

function codesOf({ code, operandIsCode }: Interpreter, args: readonly Field[]): Field[] {
  const found: Field[] = [];
  for (const [index, field] of args.entries()) {
    const option = code.exec(field.text);
    if (option === null) continue;
    const joined = field.text.slice(option[0].length).replace(/^=/, '');
    const next = args[index + 1];
    if (joined !== '' && !/^[a-z]{1,3}$/i.test(joined)) found.push({ ...field, text: joined });
    else if (next !== undefined) found.push(next);
  }
  const first = args.find(({ text }) => !text.startsWith('-'));
  if (operandIsCode && found.length === 0 && first !== undefined) found.push(first);
  return found;
}
