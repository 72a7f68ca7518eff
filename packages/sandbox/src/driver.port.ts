import type { Readable, Writable } from 'node:stream';
import {
  type FilesystemPermission,
  ISOLATION_LEVELS,
  type IsolationLevel,
  type NetworkPermission,
} from '@sallyport/std/permissions';
import type { EgressUsage } from './egress-gate.ts';

export { ISOLATION_LEVELS, type IsolationLevel };

/** How urgent the run of a sandbox is. */
export type SandboxPriority = 'low' | 'normal' | 'high';

/** Limits of one sandbox. */
export interface SandboxLimits {
  readonly cpuMillicores: number;
  readonly memoryMb: number;
  readonly processesMax: number;
  /** Size of the writable scratch space, tmpfs; also the largest file that may be written anywhere. */
  readonly diskMb: number;
  /** CPU time after which a process of the sandbox is ended, whole seconds; default: no limit. */
  readonly cpuSecondsMax?: number;
  /** Megabits a second in both directions together, on average; default: no limit. */
  readonly networkBandwidthMbps?: number;
  /**
   * Decides which sandbox gets more of the processor and keeps more of its memory when there is too little for all;
   * `normal` by default. Only with control groups; elsewhere all are equal.
   */
  readonly priority?: SandboxPriority;
}

/**
 * Limits that a driver or its machine may not enforce in full, as each driver reports: memory and cpu may be exceeded
 * for a moment or by a share, processes may be more, usage may show too little, and the total of all files may exceed
 * the disk.
 */
export const LIMIT_NAMES = ['memory', 'cpu', 'processes', 'usage', 'disk'] as const;
/** One of them. */
export type LimitName = (typeof LIMIT_NAMES)[number];

/** What runs in a sandbox, and everything it can see. */
export interface SandboxSpec {
  /** Shown in the driver's messages; untrusted. */
  readonly label: string;
  /** Program and arguments; the program is an absolute path or is looked up in the sandbox's PATH. */
  readonly command: readonly [string, ...string[]];
  /** The whole environment; nothing is inherited. Secrets travel here or on stdin, never in `command`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Working directory inside; default `/tmp`. */
  readonly workingDirectory?: string;
  /** Host paths visible inside under the same name, beside the driver's read-only base system. */
  readonly mounts: readonly FilesystemPermission[];
  /**
   * Folders of the layer's own that are also mounted, read-only: the files of a skill. `mounts` may not name them,
   * whoever requested those.
   */
  readonly own?: readonly string[];
  /**
   * Reachable addresses, under their own names and ports and without any configuration inside. Exact hosts; `*.name`,
   * `*` and port 0 (any) are reachable only for clients that use a proxy. A driver without `supports.egress` refuses a
   * spec with addresses.
   */
  readonly network: readonly NetworkPermission[];
  readonly limits: SandboxLimits;
  /** Least isolation between the tool and the host. Default: that of the driver. */
  readonly isolation?: IsolationLevel;
}

/** How a sandbox ended. */
export interface SandboxExit {
  /** Exit code of the tool; undefined when it ended by a signal. */
  readonly code?: number;
  readonly signal?: string;
  /** The limit that ended it, when one did. */
  readonly violation?: 'memory' | 'processes' | 'disk' | 'cpu';
  /** Set when the sandbox failed before the tool began, so that nothing of it ran; stderr says why. */
  readonly notStarted?: true;
  /**
   * Set when the sandbox was lost after the tool may have begun, so that its effects are unknown: its host died or
   * cannot be reached. `code` and `signal` are then absent. It is E3107, and never safe to repeat automatically.
   */
  readonly lost?: true;
  readonly cpuMs: number;
  readonly memoryPeakMb: number;
  /** Limits that were weaker than requested; absent when all were enforced in full. */
  readonly weakerLimits?: readonly LimitName[];
  /** Network traffic; present when the spec named addresses. */
  readonly network?: EgressUsage;
}

/** A running sandbox. Closed by `kill` or by its own end; after `exited` none of its processes remains. */
export interface SandboxProcess extends AsyncDisposable {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once, when every process of the sandbox is gone. Never rejects. */
  readonly exited: Promise<SandboxExit>;
  /** SIGTERM to the tool, SIGKILL to the whole sandbox after `graceMs` (default 0: at once). Idempotent. */
  kill(graceMs?: number): void;
}

/** A published vulnerability of a driver's program, or the fact that its version is unknown. */
export interface Hole {
  /** Description, and what to install. */
  readonly text: string;
  /** True when it affects the layer's sandboxes, or the machine; when not, the text says why. */
  readonly isReached: boolean;
}

/** Whether a driver works on this machine, and what to do when not. */
export interface DriverProbe {
  readonly works: boolean;
  readonly version?: string;
  /** One sentence for people: what is missing and what to type. Present when it does not work. */
  readonly problem?: string;
  /** Limits that this machine cannot enforce, each in one sentence. */
  readonly weaknesses: readonly string[];
  /** Names of the limits that are weaker on this machine; absent when none is. */
  readonly weakerLimits?: readonly LimitName[];
  /** Limits that are weaker only for a tool with a writable host folder; absent when none is. */
  readonly weakerWithFolders?: readonly LimitName[];
  /** Known holes of the driver's program; absent where it has none. */
  readonly holes?: readonly Hole[];
}

/** Capabilities of a driver beyond running a program without access to anything. */
export interface DriverSupport {
  readonly egress: boolean;
  readonly mounts: boolean;
  /**
   * Programs that `command` may name: those of the host's base system; those of an image that the driver runs; or
   * JavaScript, as `js` and a script with its arguments, for drivers that are an interpreter.
   */
  readonly programs: 'host' | 'image' | 'javascript';
}

/** Runs untrusted programs within limits. A capability not claimed in `supports` is refused, never ignored. */
export interface SandboxDriver {
  readonly name: string;
  /** Least isolation of its sandboxes. */
  readonly isolation: IsolationLevel;
  readonly supports: DriverSupport;
  /** Examined once; later calls return the cached result. Never throws. */
  probe(): Promise<DriverProbe>;
  /**
   * Starts the command.
   * @throws E3101 when no sandbox can be made, or none of the isolation that the spec asks for, saying what to install;
   *   E3104 for network it cannot grant; E3105 for a mount that does not exist, is reached through a link, or is one of
   *   the layer's private places
   */
  start(spec: SandboxSpec): Promise<SandboxProcess>;
}
