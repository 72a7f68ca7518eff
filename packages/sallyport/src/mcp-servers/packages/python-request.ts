import { basename } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/** The request in a command line of `uvx`, `uv tool run` or `pipx run`. */
export interface PythonRequest {
  readonly packageName: string;
  /** As pip takes it: `name`, `name==1.2.3`, `name[extra]>=1`. */
  readonly spec: string;
  /** Program within the package. */
  readonly bin: string;
  readonly args: readonly string[];
}

const RUNNERS: Readonly<Record<string, readonly string[]>> = { uvx: [], uv: ['tool', 'run'], pipx: ['run'] };
/** Options that name the package when the program has another name. */
const PACKAGE_OPTIONS = new Set(['--from', '--spec']);
/** Options without effect here, with and without a value. */
const WITH_VALUE = new Set(['--python', '-p']);
const WITHOUT_VALUE = new Set(['--isolated', '--quiet', '-q', '--refresh', '--no-cache', '-n', '--verbose', '-v']);
const SPEC =
  /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(\[[A-Za-z0-9._, -]+\])?((?:(?:===?|!=|~=|[<>]=?)\s*[A-Za-z0-9.*+_-]+(?:![A-Za-z0-9.*+_-]+)?,?\s*)*)$/;

/**
 * Reads the command line of a runner of Python packages; undefined when the command is none.
 * @throws E3801 when it names no package of an index, or has an option that would be ignored
 */
export function pythonRequest(command: string, args: readonly string[]): PythonRequest | undefined {
  const runner = basename(command);
  const words = RUNNERS[runner];
  if (words === undefined || !words.every((word, at) => args[at] === word)) return undefined;
  const given = args.slice(words.length);
  let apart: string | undefined;
  for (let at = 0; at < given.length; at += 1) {
    const arg = given[at] as string;
    const [option = arg, inline] = arg.startsWith('--') ? arg.split(/=(.*)/s) : [arg];
    if (PACKAGE_OPTIONS.has(option)) {
      apart = inline ?? given[at + 1];
      if (inline === undefined) at += 1;
    } else if (WITH_VALUE.has(option)) at += inline === undefined ? 1 : 0;
    else if (!arg.startsWith('-'))
      return requestOf(apart ?? arg, apart === undefined ? undefined : arg, given.slice(at + 1));
    else if (!WITHOUT_VALUE.has(arg)) throw notUnderstood(`The option ${option} of ${runner} is not known here`);
  }
  throw notUnderstood(`'${runner}' was given no package`);
}

function requestOf(text: string, bin: string | undefined, args: readonly string[]): PythonRequest {
  const at = text.indexOf('@');
  const version = at === -1 ? '' : text.slice(at + 1);
  const spec = at === -1 ? text : `${text.slice(0, at)}${version === 'latest' ? '' : `==${version}`}`;
  const packageName = SPEC.exec(spec)?.[1];
  if (packageName === undefined) throw notUnderstood(`'${text}' is not a package of an index`);
  return { packageName, spec, bin: bin ?? packageName, args };
}

function notUnderstood(what: string): ToolLayerError {
  return new ToolLayerError(
    'E3801',
    `${what}. Write: uvx PACKAGE[@VERSION] [ARGUMENTS], or install it and give the path of its program.`,
  );
}
