import type { CollectedOutput, SandboxExit, SandboxLimits } from '@sallyport/sandbox';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { MODULE_BOUNDS } from './settings.ts';

/** How a run ended, and its output without secrets. */
export interface ModuleEnd {
  readonly toolId: string;
  readonly exit: SandboxExit;
  readonly output: CollectedOutput;
  readonly limits: SandboxLimits;
}

/** Exit code of both programs when the function waits for something that never happens. */
const NEVER_SETTLED = 13;
/** Characters removed from messages: line ends would make one look like several. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/**
 * The result of a run.
 * @throws E3101 when the function never ran; E3102 when a limit ended it; E3501 for a result that is too long; E3108
 *   with the message of its exception; E3107 when the sandbox ended midway
 */
export function moduleResultOf(end: ModuleEnd): unknown {
  const { toolId, exit, output } = end;
  if (exit.notStarted === true) {
    throw new ToolLayerError('E3101', 'The sandbox of the function could not be set up, so it did not run.', {
      cause: new Error(output.stderr),
    });
  }
  if (exit.lost === true) {
    throw new ToolLayerError('E3107', `The sandbox of ${toolId} was lost while the function ran.`, {
      details: { reached: true },
    });
  }
  checkLimits(end);
  const details = consoleOf(output);
  if (exit.code === NEVER_SETTLED) {
    const message = `The function of ${toolId} waits for a promise that nothing will settle. There are no timers and no network in it.`;
    throw new ToolLayerError('E3108', message, { details });
  }
  if (exit.signal !== undefined || exit.code !== 0) {
    const how = exit.signal === undefined ? `exit code ${exit.code ?? 'unknown'}` : `signal ${exit.signal}`;
    throw new ToolLayerError('E3107', `The sandbox of ${toolId} ended with ${how} before the function did.`, {
      details,
    });
  }
  return answerOf(end, details);
}

function checkLimits({ exit, output, limits }: ModuleEnd): void {
  const limit = output.flooded ? 'output' : exit.violation;
  if (limit === undefined) return;
  const bounds: Readonly<Record<typeof limit, string>> = {
    memory: `${limits.memoryMb} MB of memory`,
    processes: `${limits.processesMax} threads`,
    disk: `${limits.diskMb} MB in one file`,
    cpu: `${limits.cpuSecondsMax} s of processor time`,
    output: 'more output than is read',
  };
  const message = `The function was stopped at its limit: ${bounds[limit]}. Ask for less work at once.`;
  throw new ToolLayerError('E3102', message, { details: { limit, ...consoleOf(output) } });
}

/** The function's console output; reported only with a failure. */
const consoleOf = ({ stderr }: CollectedOutput): { readonly console?: string } =>
  stderr === '' ? {} : { console: stderr };

/** Written by our own program, but in a sandbox with foreign code: validated like foreign data. */
function answerOf({ toolId, output }: ModuleEnd, details: { readonly console?: string }): unknown {
  const answer = parsed(toolId, output);
  if (Object.hasOwn(answer, 'result')) return answer['result'];
  const [kind, value] = Object.entries(answer)[0] ?? [];
  const thrown = thrownOf(value);
  if (kind === 'missing') {
    const message = `The module of ${toolId} gives ${thrown.message} in place of a function. Name what it exports in executor.config.export.`;
    throw new ToolLayerError('E3901', message, { details });
  }
  const what = thrown.name === '' ? thrown.message : `${thrown.name}: ${thrown.message}`;
  const place = thrown.stack[0] === undefined ? '' : ` (${thrown.stack[0]})`;
  throw new ToolLayerError('E3108', `The function of ${toolId} failed with ${what}${place}.`, {
    details: { error: thrown, ...details },
  });
}

function parsed(toolId: string, { stdout, truncated }: CollectedOutput): Readonly<Record<string, unknown>> {
  try {
    const answer: unknown = JSON.parse(stdout);
    if (typeof answer === 'object' && answer !== null) return answer as Readonly<Record<string, unknown>>;
  } catch (cause) {
    // A cut answer lacks its last brace.
    if (truncated)
      throw new ToolLayerError('E3501', `The result of ${toolId} is longer than the call may give.`, { cause });
    throw new ToolLayerError('E3107', `The sandbox of ${toolId} gave no answer.`, { cause });
  }
  throw new ToolLayerError('E3107', `The sandbox of ${toolId} gave no answer.`);
}

interface Thrown {
  readonly name: string;
  readonly message: string;
  /** Places in the module, innermost first, such as `total line 3`. */
  readonly stack: readonly string[];
}

function thrownOf(value: unknown): Thrown {
  const { name, message, stack } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  const lines = Array.isArray(stack) ? stack.slice(0, MODULE_BOUNDS.stackLinesMax) : [];
  return { name: plain(name), message: plain(message), stack: lines.map(plain) };
}

function plain(text: unknown): string {
  if (typeof text !== 'string') return '';
  const short = text.length > MODULE_BOUNDS.messageMax ? `${text.slice(0, MODULE_BOUNDS.messageMax)}…` : text;
  return short.replace(CONTROLS, ' ').toWellFormed();
}
