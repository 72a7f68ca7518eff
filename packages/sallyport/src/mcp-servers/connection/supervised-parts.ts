import type { Clock } from '@sallyport/std/clock';
import type { Failure } from '@sallyport/std/error/failure';
import type { UpstreamDefinition, UpstreamStatus } from '../../../api/schemas/upstream.ts';
import { ownerNames } from '../../domain/invocation/call-owner.ts';
import type { Principal, Progress } from '../../domain/principal/principal.ts';
import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { AskedClient } from '../elicitation.port.ts';
import type { Asker } from '../incoming/asker.ts';
import type { StartSlots } from '../pacing/start-slots.ts';
import type { Link, OpenOptions } from './link.ts';
import type { UpstreamSettings } from './settings.ts';

/** Whose call it is, and what it was granted. */
export interface UpstreamCaller {
  readonly principal: Pick<Principal, 'agentDid' | 'userDid'>;
  /** Values of the credentials of this call, by name. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** How one call is made. */
export interface UpstreamCallOptions {
  readonly signal?: AbortSignal;
  /** Absolute, ms, the wait for a start included. None when absent. */
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** So that questions of the server can be told to belong to it. */
  readonly invocationId?: string;
  /** The client whose user the server may ask; nobody is asked when absent. */
  readonly client?: AskedClient | undefined;
  /** What waits for that user is done inside of it. */
  readonly whileAsking?: Asker['whileAsking'];
  /** Told why a question that may belong to this call was shown to nobody. */
  readonly onUnasked?: Asker['onUnasked'];
  /** The tool may leave something behind: what the server lists at this moment is compared before the call leaves. */
  readonly leavesTraces?: boolean;
  /** Upstreams whose connections are per caller refuse a call without it; others pass over it. */
  readonly caller?: UpstreamCaller;
}

/**
 * The client that a call is made by, the same for all its calls: one session, or, of requests without a session, one agent and user.
 * Undefined when nobody can be asked there.
 */
export function clientName({ client, caller, invocationId }: UpstreamCallOptions): string | undefined {
  if (client === undefined) return undefined;
  if (client.session !== undefined) return `session ${client.session}`;
  return caller === undefined ? `call ${invocationId}` : `owner ${JSON.stringify(ownerNames(caller.principal))}`;
}

/** The call as it concerns questions of its server. */
export function askerOf(options: UpstreamCallOptions): Asker | undefined {
  const { invocationId, whileAsking, onUnasked } = options;
  if (invocationId === undefined) return undefined;
  return {
    invocationId,
    client: clientName(options),
    ...(whileAsking === undefined ? {} : { whileAsking }),
    ...(onUnasked === undefined ? {} : { onUnasked }),
  };
}

/** What an upstream is supervised with. */
export interface SupervisedParts {
  readonly definition: UpstreamDefinition;
  open(options: OpenOptions & { readonly timeoutMs: number }): Promise<Link>;
  readonly settings: UpstreamSettings;
  readonly startSlots: StartSlots;
  readonly clock: Clock;
  readonly log: Log;
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** Told when the list of tools differs from the last one known; not by `connect`. */
  onTools(tools: readonly ListedMcpTool[], serverVersion: string): void;
  /** Why a tool may not run as it is listed now; the hash is undefined when it is not listed. */
  refusal?(tool: string, servedHash: string | undefined): Failure | undefined;
}

/** What is known of an upstream without asking anybody else. */
export type OwnStatus = Omit<UpstreamStatus, 'quarantined_count'>;
