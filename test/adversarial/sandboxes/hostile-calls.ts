import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostileProgram, HostileRun } from '@sallyport/sandbox/hostile-programs';
import type {
  ToolInvokeRequest,
  ToolInvokeResponse,
  ToolStatusResponse,
} from '../../../packages/sallyport/api/schemas/invocation.ts';
import type {
  FilesystemPermission,
  IsolationLevel,
  ToolManifest,
} from '../../../packages/sallyport/api/schemas/tool-manifest.ts';

/** Limits of the layer that replace those of the hostile programs; Node needs this many threads. */
export const PROCESSES_MAX = 24;
export const DISK_MB = 8;
const MEMORY_MB = 64;
/** Long enough for programs that end by themselves on a busy machine, and short enough for programs that never end. */
const TIMEOUT_S = 25;
const ENDLESS_TIMEOUT_S = 1.5;

/** What a tool of a hostile owner may use, and how it is isolated. */
export interface HostileTool {
  readonly id: string;
  readonly folders: readonly FilesystemPermission[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly isolation?: IsolationLevel;
  readonly network?: readonly { readonly host: string; readonly port: number }[];
}

/** A shell tool that runs a script in a granted folder, so that no command check has seen the script's text. */
export function hostileManifest({ id, folders, environment, isolation, network = [] }: HostileTool): ToolManifest {
  return {
    tool_id: id,
    tool_name: id,
    version: '1.0.0',
    description: 'Runs a script.',
    side_effect_policy: 'idempotent',
    parameters_schema: {
      type: 'object',
      properties: { script: { type: 'string' }, folder: { type: 'string' } },
      required: ['script'],
    },
    permissions: { filesystem: [...folders], network: [...network] },
    execution_config: {
      default_memory_mb_limit: MEMORY_MB,
      default_timeout_seconds: TIMEOUT_S,
      default_cpu_millicore_limit: 2000,
      retry_policy: { max_attempts: 1 },
      ...(isolation === undefined ? {} : { isolation }),
    },
    executor: {
      kind: 'shell',
      config: {
        command: ['/bin/sh', '{script}', '{folder}'],
        ...(environment === undefined ? {} : { environment }),
      },
    },
  };
}

/** Lets a shell run a file that the caller names without an approval: the sandbox is tested here, not the approval. */
export const UNASKED = { 'shell.allowed': ['sh'] } as const;

let scripts = 0;

/** Writes a new script into a folder that every user may read. @returns the path of the script */
export function scriptIn(folder: string, text: string): string {
  scripts += 1;
  const path = join(folder, `${scripts}.sh`);
  writeFileSync(path, `${text}\n`, { mode: 0o644 });
  return path;
}

/** A script that runs the program, and fails unless the program left its sandbox. */
export function escapeScript({ command }: Pick<HostileProgram, 'command'>): string {
  return `said=$(exec ${quoted(command)})\nprintf '%s\\n' "$said"\ntest "$said" = ESCAPED`;
}

/** A script that replaces the shell by the program. */
export function runScript({ command }: Pick<HostileRun, 'command'>): string {
  return `exec ${quoted(command)} "$@"`;
}

/** The limits for a call that runs the program. A program that has to be stopped gets little time. */
export function limitsOf({ kill, limits, seen }: HostileRun): NonNullable<ToolInvokeRequest['resource_limits']> {
  const isEndless = kill === true || seen.violation.includes('cpu');
  return {
    memory_mb_limit: limits?.memoryMb ?? MEMORY_MB,
    timeout_seconds: isEndless ? ENDLESS_TIMEOUT_S : TIMEOUT_S,
  };
}

/** The answer of a door to one call, and the record of the call. */
export interface Told {
  readonly answer: ToolInvokeResponse;
  readonly record: ToolStatusResponse;
}

/** The end of a call: success or an E-code, and the limit that the error names. */
export interface Expected {
  readonly code: 'success' | `E3${number}`;
  readonly limit?: string;
}

/** How the end of a harmful program may be reported; one of these is expected. */
export function reportsOf({ seen, kill }: HostileRun): readonly Expected[] {
  if (seen.flooded === true) return [{ code: 'E3102', limit: 'output' }, { code: 'success' }];
  if (kill === true) return [{ code: 'E3103' }, ...limitsIn(seen)];
  const ownEnd: readonly Expected[] = seen.violation.includes(undefined)
    ? [{ code: 'success' }, { code: 'E3108' }]
    : [];
  return [...limitsIn(seen), ...ownEnd];
}

/** A program that computes for ever may reach the timeout of the call before its limit of CPU time. */
function limitsIn({ violation }: HostileRun['seen']): readonly Expected[] {
  return violation.flatMap((limit): Expected[] => {
    if (limit === undefined) return [];
    return [{ code: 'E3102', limit }, ...(limit === 'cpu' ? [{ code: 'E3103' } as const] : [])];
  });
}

/** Descriptions of everything that is wrong in answer and record; empty when nothing is. */
export function faultsOf({ answer, record }: Told, expected: readonly Expected[]): readonly string[] {
  const told = JSON.stringify(answer.error ?? answer.result ?? null).slice(0, 300);
  const isExpected = expected.some(({ code, limit }) => {
    if (code === 'success') return answer.status === 'success';
    return answer.error?.e_code === code && (limit === undefined || answer.error.details?.['limit'] === limit);
  });
  const state = answer.status === 'success' ? 'COMPLETED' : answer.status === 'timeout' ? 'ABORTED' : 'FAILED';
  return [
    ...(isExpected ? [] : [`it was reported as ${answer.error?.e_code ?? answer.status}: ${told}`]),
    ...(record.error?.e_code === answer.error?.e_code && record.status === answer.status
      ? []
      : [`the record says ${record.status} ${record.error?.e_code}, the answer ${answer.status} ${told}`]),
    ...(record.state === state ? [] : [`its state is ${record.state}: ${told}`]),
    ...(answer.execution_metadata.attempts === 1 ? [] : [`it ran ${answer.execution_metadata.attempts} times`]),
  ];
}

/** The standard output of the program, whether the call succeeded or failed. */
export function stdoutOf({ answer }: Told): string {
  const envelope = answer.result ?? answer.error?.details?.['envelope'];
  return typeof envelope === 'object' && envelope !== null && 'stdout' in envelope ? String(envelope.stdout) : '';
}

const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
