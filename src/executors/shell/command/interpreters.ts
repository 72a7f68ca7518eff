import { basename } from 'node:path';
import { fixedText, type Template } from './argument-template.ts';

/** A program that runs a text as code. */
interface Interpreter {
  readonly program: RegExp;
  /** Options whose next operand is code, or that hold it themselves. */
  readonly evaluates: RegExp;
  /** Options whose next argument is a plain value. */
  readonly valued: RegExp;
  /** Whether the first operand is code, as of awk, and not the name of a script. */
  readonly operandIsCode?: true;
  /** Whether it reads code from its input when it has no operand. */
  readonly readsInput?: true;
}

const INTERPRETERS: readonly Interpreter[] = [
  {
    program: /^(?:ba|da|z|k|mk|a|fi|c|tc|r|ya)?sh$/,
    evaluates: /^-[A-Za-z]*c|^--command(?:=|$)/,
    valued: /^(?:[-+]O|[-+]o|--rcfile|--init-file)$/,
    readsInput: true,
  },
  { program: /^(?:python|pypy)[0-9.]*$/, evaluates: /^-[A-Za-z]*c/, valued: /^-[WX]$/ },
  {
    program: /^(?:node|nodejs|bun|deno|tsx)$/,
    evaluates: /^(?:-[a-z]*[ep]|--eval|--print|eval)(?:=|$)/,
    valued: /^(?:-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file)$/,
  },
  { program: /^perl[0-9.]*$/, evaluates: /^-[A-Za-z0-9]*[eE]/, valued: /^-I$/ },
  {
    program: /^(?:ruby[0-9.]*|lua[0-9.]*|osascript|R|Rscript|julia|elixir|guile)$/,
    evaluates: /^(?:-[A-Za-z]*[eE]|--eval)/,
    valued: /^-[IrlL]$/,
  },
  { program: /^php[0-9.]*$/, evaluates: /^-[rBRE]/, valued: /^-[cd]$/ },
  { program: /^(?:g|m|n)?awk$/, evaluates: /^(?:-e|--source)/, valued: /^-[Fvfil]$/, operandIsCode: true },
  { program: /^g?sed$/, evaluates: /^(?:-[A-Za-z]*e|--expression)/, valued: /^-[fl]$/, operandIsCode: true },
];

/** An operand that names a script; what follows belongs to the script. `-m` of python does the same. */
const SCRIPT = /^(?!-).*(?:\/|\.[A-Za-z]{1,4}$)|^-m$/;

/**
 * Arguments in which a parameter would become code. Wrappers such as env, xargs or timeout need no list of their own:
 * interpreters are looked for in every place.
 * @returns indices into the command, ascending
 */
export function codeArguments(command: readonly Template[]): number[] {
  const found = interpretersIn(command).flatMap(([at, interpreter]) => codeAfter(at, interpreter, command));
  return [...new Set(found)].sort((a, b) => a - b);
}

function codeAfter(at: number, interpreter: Interpreter, command: readonly Template[]): number[] {
  const found: number[] = [];
  let codeComes = interpreter.operandIsCode === true;
  for (let index = at + 1; index < command.length; index += 1) {
    const template = command[index];
    const text = template?.literals[0] ?? '';
    const evaluates = interpreter.evaluates.test(text);
    if ((codeComes || evaluates) && template !== undefined && template.names.length > 0) found.push(index);
    if (evaluates) codeComes = true;
    else if (interpreter.valued.test(text)) index += 1;
    else if (codeComes && !text.startsWith('-')) codeComes = false;
    else if (!codeComes && interpreter.operandIsCode !== true && SCRIPT.test(text)) break;
  }
  return found;
}

/** Whether the command holds a shell that takes its script from its input. */
export function readsScriptFromInput(command: readonly Template[]): boolean {
  return interpretersIn(command).some(([at, { readsInput, evaluates }]) => {
    const rest = command
      .slice(at + 1)
      .map(({ literals, names }) => (names.length > 0 ? 'operand' : (literals[0] ?? '')));
    if (readsInput !== true || rest.some((text) => evaluates.test(text))) return false;
    return rest.includes('-s') || rest.every((text) => /^[-+]/.test(text));
  });
}

function interpretersIn(command: readonly Template[]): [number, Interpreter][] {
  return command.flatMap((template, index): [number, Interpreter][] => {
    const name = basename(fixedText(template) ?? '');
    const interpreter = INTERPRETERS.find(({ program }) => program.test(name));
    return interpreter === undefined ? [] : [[index, interpreter]];
  });
}
