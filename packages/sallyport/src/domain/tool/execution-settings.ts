import { MiB } from '@sallyport/std/bytes';
import { integer, seconds } from '../settings/rows.ts';

/** Limits of a call whose manifest names none (REG-01). */
export const EXECUTION_SETTINGS = {
  timeoutMs: seconds('calls.timeout_seconds', {
    timed: true,
    minimum: 0.001,
    default: 30,
    sentence: 'Timeout of a tool that names none and is none of an upstream.',
  }),
  cpuMillicores: integer('calls.cpu_millicores', {
    unit: 'millicores',
    minimum: 1,
    default: 500,
    sentence: 'CPU of a tool that names no limit.',
  }),
  memoryMb: integer('calls.memory_mb', {
    unit: 'MB',
    minimum: 1,
    default: 1024,
    sentence: 'Memory of a tool that names no limit.',
  }),
  outputBytesMax: integer('calls.output_bytes_max', {
    unit: 'bytes',
    minimum: 1,
    default: 1 * MiB,
    sentence: 'A result is cut beyond this when its tool names no limit; counted as JSON, escapes included.',
  }),
  outputTokensMax: integer('calls.output_tokens_max', {
    unit: 'tokens',
    minimum: 0,
    default: 0,
    sentence:
      'A result is cut beyond this many tokens when its tool names no limit; 0 sets no bound. The tokens are estimated, because each model counts its own.',
  }),
  processesMax: integer('calls.processes_max', {
    unit: 'processes',
    minimum: 1,
    default: 64,
    sentence: 'Processes and threads of one sandboxed tool at once; Node alone has about a dozen.',
  }),
  diskMb: integer('calls.disk_mb', {
    unit: 'MB',
    minimum: 1,
    default: 64,
    sentence:
      'Scratch space of one sandboxed tool, and the largest file that it may write anywhere. Scratch space counts as memory of the tool.',
  }),
};

/** Limits that no call exceeds. */
export const EXECUTION_MAXIMA = {
  timeoutMs: seconds('calls.timeout_seconds_max', {
    timed: true,
    minimum: 0.001,
    default: 900,
    sentence: 'Longest timeout of a synchronous call.',
  }),
  cpuMillicores: integer('agent.cpu_millicores', {
    unit: 'millicores',
    minimum: 1,
    default: 2000,
    sentence: 'Most CPU that a tool of any agent may ask for.',
  }),
  memoryMb: integer('agent.memory_mb', {
    unit: 'MB',
    minimum: 1,
    default: 4096,
    sentence: 'Most memory that a tool of any agent may ask for.',
  }),
};

/** Times for tools of upstreams. */
export const UPSTREAM_TOOL_TIMES = {
  timeoutMs: seconds('upstreams.timeout_seconds', {
    timed: true,
    minimum: 0.001,
    default: 120,
    sentence:
      'Timeout of a tool of an upstream that names none. Each report of progress, and a person whom the upstream asks, begin it anew.',
  }),
  timeoutMsMax: seconds('upstreams.timeout_seconds_max', {
    timed: true,
    minimum: 0.001,
    default: 900,
    sentence:
      'Longest time of a call of such a tool, however much progress it reports; calls.timeout_seconds_max bounds it too.',
  }),
};
