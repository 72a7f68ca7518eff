import type { SandboxExit, SandboxLimits, SandboxSpec } from '../driver.port.ts';

/** A program that harms rather than escapes: it takes too much, or does not end. Its expected outcome is part of it. */
export interface HostileRun {
  readonly name: string;
  readonly command: SandboxSpec['command'];
  readonly environment?: Readonly<Record<string, string>>;
  /** Differences from the common limits: 64 MB, 16 processes, 8 MB of disk, two seconds of processor time. */
  readonly limits?: Partial<SandboxLimits>;
  /** Whether it gets a writable folder of the host, as `$1` of a shell, `$ARGV[0]` of perl. */
  readonly folder?: true;
  /** Ends it from outside, with a short grace, once it wrote something. */
  readonly kill?: true;
  /** Expected end. */
  readonly seen: {
    /** One of these limits, or none of them where `undefined` is among them. */
    readonly violation: readonly SandboxExit['violation'][];
    readonly stdout?: RegExp;
    readonly signal?: string;
    readonly code?: number;
    /** True when the collector ended it for its output. */
    readonly flooded?: boolean;
  };
}

export const HOSTILE_LIMITS: SandboxLimits = {
  cpuMillicores: 2000,
  memoryMb: 64,
  processesMax: 16,
  diskMb: 8,
  cpuSecondsMax: 2,
};

export const shell = (script: string): SandboxSpec['command'] => ['/bin/sh', '-c', script, 'sh'];
export const perlCode = (code: string): SandboxSpec['command'] => ['/usr/bin/perl', '-e', code];
