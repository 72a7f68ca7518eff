import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import { ownerKey } from '../../../domain/invocation/call-owner.ts';
import type { ServerTask } from '../../../domain/invocation/tasks/server-task.ts';
import { hideInValue } from '../../../external/hide-secrets.ts';
import type { ListedMcpTool } from '../../../registry/importer.port.ts';
import { NO_OFFERS, type ResourceListener, type ServerOffers, type UpstreamCaller } from '../../known-upstream.ts';
import { callFailure, neverLeft, stopped } from '../call-failures.ts';
import { callChecked } from '../calls/checked-call.ts';
import type { Link, OpenOptions, ToolListing, UpstreamCallResult } from '../link.ts';
import type { RequestOptions } from '../request-table.ts';
import { hiding } from '../secrets/secret-values.ts';
import type { Supervised } from '../supervised.ts';
import {
  clientName,
  type OwnStatus,
  requestOptionsOf,
  type SupervisedParts,
  type UpstreamCallOptions,
} from '../supervised-parts.ts';
import type { Asking } from './asking.ts';
import { callerCredentials, callerOf, type KnownCaller } from './caller-credentials.ts';
import { openCallerLink } from './caller-link.ts';
import { CallerLinks, type LentLink } from './caller-links.ts';
import { type CallerOffers, createCallerOffers } from './caller-offers.ts';
import { type CallerWatches, createCallerWatches } from './caller-watches.ts';
import type { OwnListing, UpstreamOperator } from './own-listing.ts';

/** The share of the connections that stay open for subscriptions: the others are for calls. */
const WATCHING_SHARE = 0.5;

/** Dependencies of an upstream with per-caller connections. */
export interface PerCallerParts extends Omit<SupervisedParts, 'open' | 'startSlots' | 'onTools' | 'watched'> {
  /** Opens a connection with these secrets in place of `{{NAME}}`. */
  open(caller: KnownCaller, options: OpenOptions & { readonly timeoutMs: number }): Promise<Link>;
  /** How the layer itself lists the tools. */
  readonly listing: OwnListing;
  /**
   * The connection shared by all callers until the server asks without naming the call; then one client keeps it.
   * Absent: each caller has a connection of its own from the start.
   */
  readonly shared?: Pick<Supervised, 'call' | 'follow' | 'cancelTask' | 'watchResource'>;
  readonly asking: Asking;
}

/**
 * An upstream with a connection per caller, made with the credentials of the call (PRM-11, EXE-07). A caller's
 * connection is opened, and opened again, only by the caller's calls.
 */
export class PerCallerUpstream {
  readonly #parts: PerCallerParts;
  readonly #name: string;
  readonly #credentials: readonly string[];
  readonly #links: CallerLinks;
  readonly #offers: CallerOffers;
  readonly #watches: CallerWatches;
  readonly #isDisabled: boolean;
  /** Learnt from any caller's connection: it is a property of the server, not of the caller. */
  #olderProtocolOnly = false;

  constructor(parts: PerCallerParts) {
    const { definition, settings } = parts;
    this.#parts = parts;
    this.#name = definition.name;
    this.#credentials = callerCredentials(definition);
    this.#isDisabled = definition.disabled === true;
    const isHttp = definition.transport.type !== 'stdio';
    const connectionsMax = isHttp ? settings.callerConnectionsMax : settings.callerProcessesMax;
    this.#links = new CallerLinks({
      name: definition.name,
      bounds: {
        connectionsMax,
        connectTimeoutMs: settings.connectTimeoutMs,
        idleMs: settings.callerIdleMs,
        formerIdleMs: settings.formerCredentialsIdleMs,
      },
      open: (caller, signal) => this.#open(caller, signal),
    });
    const { clock, log, judgeOffers: judge, onOffers: onChanged } = parts;
    const callersMax = Math.max(1, Math.floor(connectionsMax * WATCHING_SHARE));
    this.#watches = createCallerWatches({ upstream: this.#name, log, callersMax, links: this.#links });
    this.#offers = createCallerOffers({
      ...{ upstream: this.#name, settings, clock, log, judge, onChanged },
      list: (caller) =>
        this.#links.use(caller, {}, ({ link }) => link.listOffers(AbortSignal.timeout(settings.connectTimeoutMs))),
    });
  }

  connect(operator: UpstreamOperator): Promise<ToolListing> {
    return this.#parts.listing.connect(operator);
  }

  startTrying(): void {
    this.#parts.listing.startTrying();
  }

  tools(): readonly ListedMcpTool[] {
    return this.#parts.listing.tools();
  }

  malformed(): ToolListing['malformed'] {
    return this.#parts.listing.malformed();
  }

  definition(): UpstreamDefinition {
    return this.#parts.definition;
  }

  serverVersion(): string {
    return this.#parts.listing.serverVersion();
  }

  /** Nothing where each caller has a connection: what one caller is offered is not for another to see. */
  offers(): ServerOffers {
    return this.#parts.shared === undefined ? NO_OFFERS : this.#parts.listing.offers();
  }

  /** What its server offers to a caller, over the caller's own connection where each has one. */
  async offersTo(caller: UpstreamCaller | undefined): Promise<ServerOffers> {
    if (this.#parts.shared !== undefined) return this.offers();
    if (caller === undefined || this.#isDisabled) return NO_OFFERS;
    if (this.#credentials.some((name) => !caller.secrets.has(name))) return NO_OFFERS;
    return this.#offers.of(callerOf(this.#name, this.#credentials, caller));
  }

  /** Over the caller's own connection where each has one. @throws see `CallerWatches.add`, `WatchedResources.add` */
  async watchResource(
    uri: string,
    listener: ResourceListener,
    caller: UpstreamCaller | undefined,
  ): Promise<Disposable> {
    const { shared } = this.#parts;
    if (shared !== undefined) return shared.watchResource(uri, listener.onUpdated);
    if (this.#isDisabled) throw stopped(this.#name, true);
    const known = callerOf(this.#name, this.#credentials, caller);
    try {
      return await this.#watches.add(known, uri, listener);
    } catch (thrown) {
      throw withoutValues(callFailure(this.#name, thrown, undefined), known);
    }
  }

  /** Whose connections are open; undefined for the one that all callers share. */
  holders(): Iterable<string | undefined> {
    return this.#parts.shared === undefined ? this.#links.holders() : [undefined];
  }

  /** Ends what the connections of a holder are used for, since its authorization has ended. */
  endLogin(holder: string): void {
    this.#links.retireAll(holder);
  }

  status(): OwnStatus {
    const size = this.#links.size();
    const isShared = this.#parts.shared !== undefined && size === 0;
    return { ...this.#parts.listing.status(), ...(isShared ? {} : { caller_connections: size }) };
  }

  /** Calls a tool over the shared connection, or the caller's own. */
  call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: UpstreamCallOptions,
  ): Promise<UpstreamCallResult> {
    return this.#over(
      options,
      (shared) => shared.call(tool, args, options),
      (lent, rest) => this.#callOn(lent, tool, args, rest),
    );
  }

  /** Follows a task that its server began for a call. */
  follow(task: ServerTask, options: UpstreamCallOptions): Promise<UpstreamCallResult> {
    return this.#over(
      options,
      (shared) => shared.follow(task, options),
      ({ link }, rest) => link.follow(task, this.#requestOptions(rest)),
    );
  }

  /** Has the server give a task up. */
  cancelTask(task: ServerTask, options: UpstreamCallOptions): Promise<void> {
    return this.#over(
      options,
      (shared) => shared.cancelTask(task, options),
      ({ link }, rest) => link.cancelTask(task, this.#requestOptions(rest)),
    );
  }

  #requestOptions(options: UpstreamCallOptions): RequestOptions {
    return requestOptionsOf(options, this.#parts.definition.request_timeout_ms);
  }

  #over<Result>(
    options: UpstreamCallOptions,
    onShared: (shared: NonNullable<PerCallerParts['shared']>) => Promise<Result>,
    onOwn: (lent: LentLink, rest: UpstreamCallOptions) => Promise<Result>,
  ): Promise<Result> {
    const { shared, asking } = this.#parts;
    const isShared = shared !== undefined && asking.sharesWith(clientName(options));
    return isShared ? onShared(shared) : this.#apart(options, onOwn);
  }

  async #apart<Result>(
    options: UpstreamCallOptions,
    work: (lent: LentLink, rest: UpstreamCallOptions) => Promise<Result>,
  ): Promise<Result> {
    if (this.#isDisabled) throw stopped(this.#name, true);
    const { shared, asking } = this.#parts;
    const known = shared === undefined ? callerOf(this.#name, this.#credentials, options.caller) : undefined;
    const caller = asking.placeOf(known, clientName(options));
    const { signal, timeoutMs } = options;
    const startedAt = this.#parts.clock.monotonic();
    const rest = (): UpstreamCallOptions => {
      if (timeoutMs === undefined) return options;
      return { ...options, timeoutMs: Math.max(1, timeoutMs - (this.#parts.clock.monotonic() - startedAt)) };
    };
    const once = (): Promise<Result> => this.#links.use(caller, rest(), (lent) => work(lent, rest()));
    try {
      return await once().catch((thrown: unknown) => (neverLeft(thrown) ? once() : Promise.reject(thrown)));
    } catch (thrown) {
      throw withoutValues(callFailure(this.#name, thrown, signal), caller);
    }
  }

  /** Ends every connection for good and waits until nothing runs. Idempotent. */
  async close(): Promise<void> {
    this.#offers.close();
    await Promise.all([this.#parts.listing.close(), this.#links.close(stopped(this.#name))]);
  }

  async #open(caller: KnownCaller, signal: AbortSignal) {
    const { open, random, settings, log, asking } = this.#parts;
    const parts = {
      name: this.#name,
      settings,
      log,
      random,
      open: (options: OpenOptions & { readonly timeoutMs: number }) =>
        open(caller, {
          ...options,
          onAsks: asking.onAsksApart,
          onOffersChanged: () => this.#offers.changed(caller),
          onResourceUpdated: (uri) => this.#watches.updated(caller, uri),
          onLog: (message) =>
            caller.owner === undefined ? undefined : this.#parts.onLog(message, ownerKey(caller.owner)),
        }),
    };
    const opened = await openCallerLink(parts, { signal, olderProtocolOnly: this.#olderProtocolOnly });
    this.#olderProtocolOnly = opened.link.olderProtocolOnly;
    this.#offers.connected(caller);
    return opened;
  }

  async #callOn(
    lent: LentLink,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: UpstreamCallOptions,
  ): Promise<UpstreamCallResult> {
    try {
      return await callChecked(this.#parts, lent, tool, args, options);
    } catch (thrown) {
      // A refused credential may be replaced by the next call; the connection keeps the old one.
      if (neverLeft(thrown) || isUnauthorized(thrown)) lent.retire();
      if (thrown instanceof ToolLayerError && thrown.code === 'E3103') lent.suspect();
      throw thrown;
    }
  }
}

/** HTTP 401; a 403 may concern one tool alone. */
function isUnauthorized(thrown: unknown): boolean {
  return thrown instanceof ToolLayerError && thrown.failure.details?.['status'] === 401;
}

/** A server's error message may quote the credential it was sent. */
function withoutValues(error: ToolLayerError, { values }: KnownCaller): ToolLayerError {
  const hide = hiding([...values.values()]);
  const shown = hide(error.message);
  const { details } = error.failure;
  // What an error says for programs is the server's own text too.
  if (details?.['rpc_data'] !== undefined)
    return new ToolLayerError(error.code, shown, { ...error.failure, details: hideInValue(details, hide) });
  return shown === error.message ? error : new ToolLayerError(error.code, shown, error.failure);
}
