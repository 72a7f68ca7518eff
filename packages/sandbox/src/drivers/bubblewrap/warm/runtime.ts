import type { SandboxSpec } from '../../../driver.port.ts';
import type { Mount } from '../../../linux/mounts.ts';
import { hasPerl, PERL } from '../../../linux/perl.ts';
import { SANDBOX_BOUNDS } from '../settings.ts';
import { NODE_STUB_AT } from './node-stub.ts';
import { PROGRAM_STUB } from './program-stub.ts';

/** A runtime that waits in a sandbox for its job. */
export interface Runtime {
  readonly kind: 'program' | 'node';
  readonly command: SandboxSpec['command'];
  /** Environment that affects its start, so that it cannot be set later. */
  readonly environment: Readonly<Record<string, string>>;
  /** Path inside of the program that it reads; undefined when it needs none. */
  readonly programAt: string | undefined;
}

/** Read by Node when it starts, harmless, and often set: language and time zone. */
const SHAPES_NODE = /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ)$/;
/** Read at start by Node or its libraries; some of them load code, which must not run before its call. */
const ONLY_AT_START = /^(?:NODE_(?!ENV$)|LD_|GLIBC_|MALLOC_|OPENSSL_|SSL_|UV_|V8_|ICU_|GCONV_|LOCPATH)/;

/** The runtime that can wait for this spec's command; undefined when none can. */
export function runtimeFor({ command, environment, limits }: SandboxSpec): Runtime | undefined {
  const [program, script] = command;
  if (program !== process.execPath) return anyProgram();
  const isScript = script !== undefined && script !== '' && !script.startsWith('-') && script !== 'inspect';
  const names = Object.keys(environment);
  if (!isScript || names.some((name) => ONLY_AT_START.test(name))) return anyProgram();
  if (limits.processesMax < SANDBOX_BOUNDS.nodeProcessesMin) return undefined;
  return {
    kind: 'node',
    command: [program, NODE_STUB_AT],
    environment: Object.fromEntries(Object.entries(environment).filter(([name]) => SHAPES_NODE.test(name))),
    programAt: NODE_STUB_AT,
  };
}

/**
 * Key of the parts of a spec that a sandbox must be made with, as text; everything else is set at the hand-off.
 * @param isCounted true when control groups enforce the limits, so that they can be set at the hand-off
 */
export function keyOf(spec: SandboxSpec, mounts: readonly Mount[], runtime: Runtime, isCounted: boolean): string {
  const { diskMb, cpuSecondsMax, networkBandwidthMbps } = spec.limits;
  return JSON.stringify([
    runtime.kind,
    Object.entries(runtime.environment).sort(),
    mounts.map(({ path, mode, identity }) => [path, mode, identity]),
    spec.network.map(({ host, port }) => `${host}:${port}`).sort(),
    // Sizes and limits of processes are set before anything runs.
    isCounted ? [diskMb, cpuSecondsMax, networkBandwidthMbps] : spec.limits,
  ]);
}

/** Determined once: every call passes here. */
let isPerlThere: boolean | undefined;

function anyProgram(): Runtime | undefined {
  isPerlThere ??= hasPerl();
  return isPerlThere
    ? { kind: 'program', command: [PERL, '-e', PROGRAM_STUB], environment: {}, programAt: undefined }
    : undefined;
}
