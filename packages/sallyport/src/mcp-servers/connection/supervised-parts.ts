import type { Clock } from '@sallyport/std/clock';
import type { Failure } from '@sallyport/std/error/failure';
import type { UpstreamDefinition, UpstreamStatus } from '../../../api/schemas/upstream.ts';
import { ownerKey } from '../../domain/invocation/call-owner.ts';
import type { LogListener, LogMessage } from '../../domain/invocation/log-message.ts';
import type { Progress } from '../../domain/principal/principal.ts';
import type { AskedClient } from '../../domain/questions/client-question.ts';
import { isServerMethod } from '../../domain/tool/server-methods.ts';
import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Asker } from '../incoming/asker.ts';
import type { UpstreamCaller } from '../known-upstream.ts';
import type { CallAsTask, Link, LinkCallOptions, OpenOptions } from './link.ts';
import type { JudgeOffers } from './offers/harmless-offers.ts';
import type { HeldOffers } from './offers/held-offers.ts';
import type { WatchedResources } from './offers/watched-resources.ts';
import type { StartSlots } from './pacing/start-slots.ts';
import type { RequestOptions } from './request-table.ts';
import type { UpstreamSettings } from './settings.ts';

/** Key of a request's `_meta` under which a server that may save checkpoints gets those of the call. */
const META_CHECKPOINTS = 'sallyport/checkpoints';

/** The checkpoints of a call that its server may save (STA-01). */
export interface UpstreamCheckpoints {
  /** What the server gets with the request. @throws ToolLayerError E3703 for a state that it cannot get */
  offered(): Readonly<Record<string, unknown>>;
  /** Takes a checkpoint that the server sent; undefined for one that holds a secret. Untrusted. */
  take(given: unknown): void;
}

/** Options of one call. */
export interface UpstreamCallOptions {
  readonly signal?: AbortSignal;
  /** Absolute, ms, including the wait for a start. Default: none. */
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** Receives pointers to the whole numbers of the result that were rounded; called for each answer, the last counts. */
  readonly onRounded?: (places: readonly string[]) => void;
  /** Receives the server's log messages that belong to the call. */
  readonly logs?: LogListener | undefined;
  /** Added to `_meta` of the request. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Lets a question of the server be assigned to the call. */
  readonly invocationId?: string;
  /** The client that the server may ask; absent: nobody is asked. */
  readonly client?: AskedClient | undefined;
  /** Wraps the wait for that client. */
  readonly whileAsking?: Asker['whileAsking'];
  /** Called with the reason when a question that may belong to this call was put to nobody. */
  readonly onUnasked?: Asker['onUnasked'];
  /** Used where the operator lets the server save checkpoints. */
  readonly checkpoints?: UpstreamCheckpoints;
  /** True for tools with side effects: the server's current listing is compared before the call is sent. */
  readonly leavesTraces?: boolean;
  /** Absent: the server must not answer the call with a task. */
  readonly asTask?: CallAsTask;
  /** Required by upstreams with per-caller connections, ignored by others. */
  readonly caller?: UpstreamCaller;
}

/**
 * Identifies the calling client, equal for all its calls: one session, or, for requests without a session, one agent
 * and user. Undefined when nobody can be asked there.
 */
export function clientName({ client, caller, invocationId }: UpstreamCallOptions): string | undefined {
  if (client === undefined) return undefined;
  if (client.session !== undefined) return `session ${client.session}`;
  return caller === undefined ? `call ${invocationId}` : `owner ${ownerKey(caller.principal)}`;
}

/** The call from the point of view of its server's questions and log messages. */
export function askerOf(options: UpstreamCallOptions): Asker | undefined {
  const { invocationId, client, caller, logs, whileAsking, onUnasked } = options;
  if (invocationId === undefined) return undefined;
  return {
    invocationId,
    client: clientName(options),
    can: client?.can,
    owner: caller === undefined ? undefined : ownerKey(caller.principal),
    logs,
    ...(whileAsking === undefined ? {} : { whileAsking }),
    ...(onUnasked === undefined ? {} : { onUnasked }),
  };
}

/** The part of a call's options that its requests have. */
export function requestOptionsOf(options: UpstreamCallOptions, idleMs: number | undefined): RequestOptions {
  const { signal, timeoutMs, onProgress, onRounded, meta } = options;
  return { signal, timeoutMs, idleMs, onProgress, onRounded, meta, asker: askerOf(options) };
}

/** The same for a call of a tool, in which the server may save checkpoints where the operator allows that. */
export function callRequestOptionsOf(options: UpstreamCallOptions, definition: UpstreamDefinition): LinkCallOptions {
  const { checkpoints, asTask, caller } = options;
  const asked = { ...requestOptionsOf(options, definition.request_timeout_ms), asTask, caller };
  if (definition.may_save_checkpoints !== true || checkpoints === undefined) return asked;
  const meta = { ...asked.meta, [META_CHECKPOINTS]: checkpoints.offered() };
  return { ...asked, meta, onCheckpoint: (given) => checkpoints.take(given) };
}

/** Dependencies of a supervised upstream. */
export interface SupervisedParts {
  readonly definition: UpstreamDefinition;
  open(options: OpenOptions & { readonly timeoutMs: number }): Promise<Link>;
  readonly settings: UpstreamSettings;
  readonly startSlots: StartSlots;
  readonly clock: Clock;
  readonly log: Log;
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** Called when the list of tools differs from the last known one; not by `connect`. */
  onTools(tools: readonly ListedMcpTool[], serverVersion: string): void;
  /** The resources that are watched; they outlive this upstream, which may be replaced by one of the same name. */
  readonly watched: WatchedResources;
  /** Called when what it offers beside its tools differs from before. */
  onOffers(): void;
  /**
   * Receives the server's log messages that belong to no call.
   * @param owner key of the only owner whom it may be about: the connection is its own, or its calls alone have just
   *   ended there; absent: no call has
   */
  onLog(message: LogMessage, owner?: string): void;
  /** Judges the texts of offers. */
  readonly judgeOffers: JudgeOffers;
  /** Holds changed prompts and templates back; absent: none are. */
  readonly heldOffers: HeldOffers | undefined;
  /** The reason why a tool may not run as it is listed now; the hash is undefined when it is not listed. */
  refusal(tool: string, servedHash: string | undefined): Failure | undefined;
}

/** The part of the status that an upstream knows by itself. */
export type OwnStatus = Omit<UpstreamStatus, 'quarantined_count'>;

/** Number of the tools that the server lists; the layer's own for its other requests are not counted. */
export function countOfTools(tools: readonly ListedMcpTool[]): number {
  return tools.filter(({ name }) => !isServerMethod(name)).length;
}
