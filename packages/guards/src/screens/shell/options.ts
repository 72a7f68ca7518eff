import type { Field } from './field.ts';

/** Options and operands of a command, read as getopt does: options may come after operands, `--` ends them. */
export interface Options {
  /** Whether an option was given: `-f` alone or in a bundle, `--force` whole or shortened. */
  has(...names: readonly string[]): boolean;
  /** The value of the last such option: `-o x`, `-ox`, `--output x`, `--output=x`. */
  value(...names: readonly string[]): Field | undefined;
  readonly operands: readonly Field[];
  /** Index of the first operand in the arguments; their number when there is none. */
  readonly firstOperand: number;
}

/** Which options take a value, and whether options end at the first operand. */
export interface OptionShape {
  /** Letters of short options that take a value. */
  readonly valued?: string;
  /** Long options that take the next word as value when they have no `=`. */
  readonly longValued?: readonly string[];
  /** Options end at the first operand, as for wrappers. */
  readonly stopsAtOperand?: true;
}

interface Found {
  readonly name: string;
  readonly value: Field | undefined;
}

/** Reads the arguments of a program. */
export function readOptions(args: readonly Field[], shape: OptionShape = {}): Options {
  const found: Found[] = [];
  const operands: Field[] = [];
  let firstOperand = args.length;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as Field;
    if (arg.text === '--') {
      if (firstOperand === args.length) firstOperand = at + 1;
      operands.push(...args.slice(at + 1));
      break;
    }
    if (!arg.text.startsWith('-') || arg.text === '-') {
      if (firstOperand === args.length) firstOperand = at;
      operands.push(arg);
      if (shape.stopsAtOperand !== true) continue;
      operands.push(...args.slice(at + 1));
      break;
    }
    at += arg.text.startsWith('--')
      ? readLong(arg, args[at + 1], shape, found)
      : readShort(arg, args[at + 1], shape, found);
  }
  return {
    has: (...names) => found.some((option) => names.some((name) => isCalled(option.name, name))),
    value: (...names) => found.findLast((option) => names.some((name) => isCalled(option.name, name)))?.value,
    operands,
    firstOperand,
  };
}

/** `--forc` is `--force` to GNU programs; two letters at least keep `--` and `-f` apart. */
function isCalled(given: string, name: string): boolean {
  return (
    given === name || (name.startsWith('--') && given.length > 3 && given.startsWith('--') && name.startsWith(given))
  );
}

function readLong(arg: Field, next: Field | undefined, shape: OptionShape, found: Found[]): number {
  const equals = arg.text.indexOf('=');
  if (equals > 0) {
    found.push({ name: arg.text.slice(0, equals), value: { ...arg, text: arg.text.slice(equals + 1) } });
    return 0;
  }
  const takesNext = shape.longValued?.includes(arg.text) === true;
  found.push({ name: arg.text, value: takesNext ? next : undefined });
  return takesNext ? 1 : 0;
}

function readShort(arg: Field, next: Field | undefined, { valued = '' }: OptionShape, found: Found[]): number {
  for (let at = 1; at < arg.text.length; at += 1) {
    const letter = arg.text.charAt(at);
    if (!valued.includes(letter)) {
      found.push({ name: `-${letter}`, value: undefined });
      continue;
    }
    const rest = arg.text.slice(at + 1);
    found.push({ name: `-${letter}`, value: rest === '' ? next : { ...arg, text: rest } });
    return rest === '' ? 1 : 0;
  }
  return 0;
}
