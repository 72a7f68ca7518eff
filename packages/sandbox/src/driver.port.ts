import type { Readable, Writable } from 'node:stream';
import {
  type FilesystemPermission,
  ISOLATION_LEVELS,
  type IsolationLevel,
  type NetworkPermission,
} from '@sallyport/std/permissions';
import type { EgressUsage } from './egress-gate.ts';

export { ISOLATION_LEVELS, type IsolationLevel };

/** Bounds of one sandbox. */
export interface SandboxLimits {
  readonly cpuMillicores: number;
  readonly memoryMb: number;
  readonly processesMax: number;
  /** Size of the writable scratch space, tmpfs; also the largest file that may be written anywhere. */
  readonly diskMb: number;
  /** CPU time after which a process of the sandbox is ended, whole seconds; unbounded when absent. */
  readonly cpuSecondsMax?: number;
  /** Megabits a second to and from the outside together, on average; unbounded when absent. */
  readonly networkBandwidthMbps?: number;
}

/**
 * Limits that a driver or its machine may be too weak to keep in full, so that each driver says which: memory and cpu may be passed for
 * a moment or as a share, processes may be more, usage may show too little, and all that is written may be more than the disk.
 */
export const LIMIT_NAMES = ['memory', 'cpu', 'processes', 'usage', 'disk'] as const;
/** One of them. */
export type LimitName = (typeof LIMIT_NAMES)[number];

/** What runs in a sandbox, and all it can see. */
export interface SandboxSpec {
  /** Shown in the driver's messages; never trusted. */
  readonly label: string;
  /** Program and arguments; the program is an absolute path or is looked up in the sandbox's PATH. */
  readonly command: readonly [string, ...string[]];
  /** The whole environment; nothing is inherited. Secrets travel here or on stdin, never in `command`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Working directory inside; `/tmp` when absent. */
  readonly workingDirectory?: string;
  /** Host paths visible inside under the same name, beside the driver's read-only base system. */
  readonly mounts: readonly FilesystemPermission[];
  /**
   * Folders of the layer's own that are mounted too, read-only: the files of a skill. `mounts` may not name them, whoever asked
   * for those.
   */
  readonly own?: readonly string[];
  /**
   * Reachable addresses, under their own names and ports and without any setting inside. Exact hosts; `*.name`, `*` and
   * port 0 (any) reach clients that use a proxy only. A driver without `supports.egress` refuses a spec that names any.
   */
  readonly network: readonly NetworkPermission[];
  readonly limits: SandboxLimits;
  /** The least that must stand between the tool and the host. Absent: what the driver that is asked has. */
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
   * Set when the sandbox was lost after the tool may have begun, so that nobody knows what it did: its host died or cannot be
   * reached. `code` and `signal` are then absent. It is E3107, and never safe to repeat by itself.
   */
  readonly lost?: true;
  readonly cpuMs: number;
  readonly memoryPeakMb: number;
  /** Limits that were weaker than asked; absent when all were kept in full. */
  readonly weakerLimits?: readonly LimitName[];
  /** What went in and out; present when the spec named addresses. */
  readonly network?: EgressUsage;
}

/** A running sandbox. Closed by `kill` or by its own end; after `exited` no process of it remains. */
export interface SandboxProcess extends AsyncDisposable {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once, when every process of the sandbox is gone. Never rejects. */
  readonly exited: Promise<SandboxExit>;
  /** SIGTERM to the tool, SIGKILL to the whole sandbox after `graceMs` (default 0: at once). Idempotent. */
  kill(graceMs?: number): void;
}

/** Something that is published against the program behind a driver, or that nothing is known of it. */
export interface Hole {
  /** What it is, and what to install. */
  readonly text: string;
  /** Whether it reaches sandboxes of the layer, or the machine; when not, the text says why. */
  readonly isReached: boolean;
}

/** Whether a driver works on this machine, and what to do when not. */
export interface DriverProbe {
  readonly works: boolean;
  readonly version?: string;
  /** One sentence for a person: what is missing and what to type. Present when it does not work. */
  readonly problem?: string;
  /** Limits that this machine cannot enforce, each in one sentence. */
  readonly weaknesses: readonly string[];
  /** Names of the limits that are weaker here; absent when none is. */
  readonly weakerLimits?: readonly LimitName[];
  /** Those that are weaker only for a tool with a writable folder of the host; absent when none is. */
  readonly weakerWithFolders?: readonly LimitName[];
  /** Known holes of the driver's program; absent where it has none. */
  readonly holes?: readonly Hole[];
}

/** What a driver can do beside running a program with nothing. */
export interface DriverSupport {
  readonly egress: boolean;
  readonly mounts: boolean;
  /**
   * What `command` may name: programs of the host's own base system; programs of an image that the driver runs; or
   * JavaScript, as `js` and a script with its arguments, for drivers that are an interpreter.
   */
  readonly programs: 'host' | 'image' | 'javascript';
}

/** Runs untrusted programs in bounds. A capability that is not claimed in `supports` is refused, never ignored. */
export interface SandboxDriver {
  readonly name: string;
  /** What its sandboxes are at least. */
  readonly isolation: IsolationLevel;
  readonly supports: DriverSupport;
  /** Looked up once; later calls answer from memory. Never throws. */
  probe(): Promise<DriverProbe>;
  /**
   * Starts the command.
   * @throws E3101 when no sandbox can be made, or none of the isolation that the spec asks for, saying what to install; E3104 for network it cannot grant; E3105 for a
   *   mount that does not exist, is reached through a link, or is a place of the layer's own
   */
  start(spec: SandboxSpec): Promise<SandboxProcess>;
}
