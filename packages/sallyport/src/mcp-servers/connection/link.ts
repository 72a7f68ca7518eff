import type { Clock } from '@sallyport/std/clock';
import type { UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import type { LogMessage } from '../../domain/invocation/log-message.ts';
import type { ServerTask } from '../../domain/invocation/tasks/server-task.ts';
import type { ClientAsker } from '../../domain/questions/client-question.ts';
import type { HideSecrets } from '../../external/hide-secrets.ts';
import type { SecretStore } from '../../external/secret-store.port.ts';
import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Askers } from '../incoming/asker.ts';
import type { OfferListing, UpstreamCaller } from '../known-upstream.ts';
import type { RequestOptions } from './request-table.ts';

/** How a server may answer a call with a task. */
export interface CallAsTask {
  /** Ask servers of 2025-11-25 for one; those of 2026-07-28 decide themselves. */
  readonly asks: boolean;
  /** Called in place of a result, which says nothing then. */
  onStarted(task: ServerTask): void;
}

/** Options of one tool call. */
export interface LinkCallOptions extends RequestOptions {
  /** Absent: the server must not answer with a task. */
  readonly asTask?: CallAsTask | undefined;
  /** Awaited before a call is repeated because the server asked for input; throws to end the call. */
  readonly beforeAgain?: (() => Promise<void> | undefined) | undefined;
  /** Whose call it is; for servers in this process, which no credential says it to. */
  readonly caller?: Pick<UpstreamCaller, 'principal' | 'checkDocument'> | undefined;
}

/** The result of `tools/call`, or of another request, as the upstream sent it. Untrusted. */
export interface UpstreamCallResult {
  /** Always a list in a result of `tools/call`. */
  readonly content?: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly [member: string]: unknown;
}

/** The tools that a server offers, limited in size and in the form that importers take. */
export interface ToolListing {
  readonly tools: readonly ListedMcpTool[];
  /** Entries that are not valid tools, with the reason. */
  readonly malformed: readonly { readonly place: string; readonly reason: string }[];
}

/** What the server said of itself in the handshake. */
export interface ServerIdentity {
  readonly protocolVersion?: string;
  readonly server?: { readonly name: string; readonly version: string };
  /** Names of the capabilities that it declares. */
  readonly capabilities?: readonly string[];
}

/** One live connection to an upstream. A link is never repaired: when it ends, a new one is made. */
export interface Link {
  readonly identity: ServerIdentity;
  /** True when the server failed at the newer protocol: the next connection starts with the older one. */
  readonly olderProtocolOnly: boolean;
  /**
   * Removes the connection's secrets from texts of the server; undefined when there are none. Listings and `identity`
   * are already clean, results are unchanged.
   */
  readonly hide?: HideSecrets | undefined;
  listTools(signal: AbortSignal): Promise<ToolListing>;
  /** What the server offers beside its tools, already without secrets. Never rejects. */
  listOffers(signal: AbortSignal): Promise<OfferListing>;
  /**
   * Subscribes to the changes of a resource, for `OpenOptions.onResourceUpdated`.
   * @throws E3809 when the server does not report them; its refusal as the layer's error
   */
  watch(uri: string): Promise<AsyncDisposable>;
  /** @throws whatever `Multiplexer.request` throws */
  call(tool: string, args: Readonly<Record<string, unknown>>, options: LinkCallOptions): Promise<UpstreamCallResult>;
  /**
   * Asks for a task that the server began for a call, until its result is there; questions of the server are put to
   * people meanwhile.
   * @throws whatever `Multiplexer.request` throws; E3308 when the server breaks the protocol
   */
  follow(task: ServerTask, options: RequestOptions): Promise<UpstreamCallResult>;
  /** Has the server give a task up. */
  cancelTask(task: ServerTask, options: RequestOptions): Promise<void>;
  /** Resolves when the server answers at all. */
  ping(timeoutMs: number): Promise<void>;
  /** Resolves with the reason, for people, once the connection ended by itself or was closed. Never rejects. */
  readonly ended: Promise<string>;
  /** Ends the connection and, for stdio, every process of the server. Idempotent. */
  close(): Promise<void>;
}

/** Dependencies of a link to a server outside this process, beside its definition. */
export interface LinkParts {
  readonly secrets: SecretStore;
  readonly clock: Clock;
  readonly log: Log;
  /** How the layer names itself. */
  readonly client: { readonly name: string; readonly version: string };
  /** Receiver of the server's questions. */
  readonly clients: ClientAsker;
  /** The questions that the operator allows it to ask. Default: elicitation alone. */
  readonly mayAsk?: UpstreamDefinition['may_ask'];
}

/** How a link is opened. */
export interface OpenOptions {
  /** Aborted when the caller no longer waits; nothing stays open then. */
  readonly signal: AbortSignal;
  /** See `Link.olderProtocolOnly`. */
  readonly olderProtocolOnly: boolean;
  /** Called when the server says that its tools changed. */
  onToolsChanged(): void;
  /** Called when the server says that its resources or prompts changed. */
  onOffersChanged?(): void;
  /** Called when the server says that a watched resource changed. */
  onResourceUpdated?(uri: string): void;
  /** Called when the server asked a person something without naming the call. */
  onAsks?(askers: Askers): void;
  /** Receives the server's log messages that belong to no call, already without secrets. */
  onLog?(message: LogMessage, owner?: string): void;
}
