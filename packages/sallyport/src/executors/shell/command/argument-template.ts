import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { pointerTo } from '@sallyport/std/json/json-pointer';

/** A text with placeholders for parameters. */
export interface Template {
  /** Literal texts with parameter names in between: `literals[0] names[0] literals[1] …`. */
  readonly literals: readonly string[];
  readonly names: readonly string[];
}

const PLACE = /\{\{([A-Za-z_][A-Za-z0-9_.-]*)\}\}|\{([A-Za-z_][A-Za-z0-9_.-]*)\}/g;

/** Parses `{name}` as a placeholder and `{{name}}` as the text `{name}`. */
export function parseTemplate(text: string): Template {
  const literals = [''];
  const names: string[] = [];
  const append = (more: string): void => {
    literals[literals.length - 1] += more;
  };
  let end = 0;
  for (const found of text.matchAll(PLACE)) {
    append(text.slice(end, found.index));
    end = found.index + found[0].length;
    const [, quoted, name] = found;
    if (quoted !== undefined) append(`{${quoted}}`);
    if (name === undefined) continue;
    names.push(name);
    literals.push('');
  }
  append(text.slice(end));
  return { literals, names };
}

/** The argument of a template without placeholders; undefined when it has some. */
export function fixedText({ literals, names }: Template): string | undefined {
  return names.length === 0 ? literals[0] : undefined;
}

/**
 * Fills a command. An argument is left out when one of its parameters was not given.
 * @param allowDash true when values may look like options
 * @throws E3505 for a value with a NUL character, one that would be read as an option, one longer than 128 KiB, and
 *   more than 1 MiB of arguments
 */
export function fillCommand(
  templates: readonly Template[],
  parameters: Readonly<Record<string, unknown>>,
  allowDash: boolean,
): string[] {
  const command: string[] = [];
  let dashIsText = allowDash;
  for (const template of templates) {
    const fixed = fixedText(template);
    if (fixed !== undefined) {
      dashIsText ||= fixed === '--' && command.length > 0;
      command.push(fixed);
      continue;
    }
    for (const argument of fill(template, parameters)) {
      checkLength(argument, template.names);
      if (!dashIsText && looksLikeOption(argument, template)) throw refusedDash(template.names[0] ?? '');
      command.push(argument);
    }
  }
  checkTotal(command, templates);
  return command;
}

/**
 * Most bytes of one argument: Linux does not start a program with a longer one (MAX_ARG_STRLEN, 32 pages with the NUL
 * at its end).
 */
const ARGUMENT_BYTES_MAX = 128 * KiB - 1;

/**
 * Most bytes of all arguments together: half of Linux's limit (ARG_MAX), since variables and the sandbox need room too.
 */
const COMMAND_BYTES_MAX = 1024 * KiB;

/** @throws E3505 for an argument too long for Linux; its length counts in bytes of UTF-8 */
function checkLength(argument: string, [name = '']: readonly string[]): void {
  // A UTF-16 unit takes 3 bytes at most.
  if (argument.length * 3 <= ARGUMENT_BYTES_MAX) return;
  const bytes = Buffer.byteLength(argument);
  if (bytes <= ARGUMENT_BYTES_MAX) return;
  const message = `makes an argument of ${bytes} bytes, and a program takes ${ARGUMENT_BYTES_MAX} in one`;
  throw refused(name, message, 'Make it shorter, or let the tool read it from its input (stdin) or a file.');
}

/** @throws E3505 for more arguments than Linux allows */
function checkTotal(command: readonly string[], templates: readonly Template[]): void {
  let bytes = 0;
  for (const argument of command) bytes += Buffer.byteLength(argument) + 1;
  if (bytes <= COMMAND_BYTES_MAX) return;
  const [name = ''] = templates.flatMap(({ names }) => names);
  const message = `and the others make a command of ${bytes} bytes, and a program takes ${COMMAND_BYTES_MAX}`;
  throw refused(name, message, 'Ask for less at once, or let the tool read it from its input (stdin) or a file.');
}

/** The text of a parameter: a string as it is, anything else as JSON. Undefined when it was not given or is null. */
export function parameterText(name: string, parameters: Readonly<Record<string, unknown>>): string | undefined {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  return value === undefined || value === null ? undefined : textOf(name, value);
}

function fill({ literals, names }: Template, parameters: Readonly<Record<string, unknown>>): readonly string[] {
  const [name = ''] = names;
  const alone = names.length === 1 && literals.every((literal) => literal === '');
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (alone && Array.isArray(value)) return value.map((item: unknown) => textOf(name, item));
  let text = literals[0] ?? '';
  for (const [index, each] of names.entries()) {
    const part = parameterText(each, parameters);
    if (part === undefined) return [];
    text += part + literals[index + 1];
  }
  return [text];
}

function textOf(name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.includes('\0')) throw refused(name, 'holds a NUL character, which no argument can', 'Remove it.');
  return text;
}

/** A leading dash in the template itself is intended. */
function looksLikeOption(argument: string, { literals }: Template): boolean {
  return argument.startsWith('-') && literals[0] === '';
}

function refusedDash(name: string): ToolLayerError {
  return refused(
    name,
    'begins with a dash and would be read as an option',
    'Write it in another way, such as ./-name.',
  );
}

function refused(name: string, message: string, hint: string): ToolLayerError {
  return new ToolLayerError('E3505', `The parameter ${name} ${message}. ${hint}`, {
    details: { faults: [{ path: pointerTo('', name), code: 'E3505', keyword: 'command', message, hint }] },
  });
}
