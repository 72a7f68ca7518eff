import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError } from '@modelcontextprotocol/client';
import { redact } from '@sallyport/guards';
import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamDefinition, UpstreamState } from '../../../api/schemas/upstream.ts';
import type { ServerTask } from '../../domain/invocation/tasks/server-task.ts';
import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { ServerOffers } from '../known-upstream.ts';
import { callFailure, neverLeft, notConnected, stopped } from './call-failures.ts';
import { callChecked } from './calls/checked-call.ts';
import type { Link, ServerIdentity, ToolListing, UpstreamCallResult } from './link.ts';
import { createCurrentListing } from './listing/current-listing.ts';
import { listFirst } from './listing/first-listing.ts';
import { createFreshListing } from './listing/fresh-listing.ts';
import { type CurrentOffers, createCurrentOffers } from './offers/current-offers.ts';
import { backoffMs } from './pacing/backoff.ts';
import { createPendingWork } from './pacing/pending-work.ts';
import { createRelist } from './pacing/relist.ts';
import { createStaleWatch, type StaleWatch } from './pacing/stale-watch.ts';
import { createWaiters, type Waiters } from './pacing/waiters.ts';
import type { RequestOptions } from './request-table.ts';
import { withoutSecrets } from './secrets/without-secrets.ts';
import {
  countOfTools,
  type OwnStatus,
  requestOptionsOf,
  type SupervisedParts,
  type UpstreamCallOptions,
} from './supervised-parts.ts';

const LAST_ERROR_CHARS_MAX = 2_000;

/** One upstream that is kept running: when it ends, it is restarted with growing pauses. */
export class Supervised {
  readonly #parts: SupervisedParts;
  readonly #name: string;
  readonly #closing = new AbortController();
  readonly #pending = createPendingWork();
  readonly #waiters: Waiters;
  readonly #relist: () => void;
  readonly #relistOffers: () => void;
  readonly #offers: CurrentOffers;
  readonly #stale: StaleWatch;

  #link: Link | undefined;
  #identity: ServerIdentity = {};
  readonly #listing = createCurrentListing();
  readonly #listFresh = createFreshListing(() => this.#listNow());
  #state: UpstreamState;
  #changedAt: number;
  #lastError: string | undefined;
  /** Set while waiting does not help: somebody has to log in first. */
  #loginNeeded: ToolLayerError | undefined;
  #restarts = 0;
  /** Starts that failed, or did not last, since it was last stable. */
  #failures = 0;
  #readySince = 0;
  /** On the monotonic clock; infinite while a start is under way or none is planned. */
  #nextTryAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #olderProtocolOnly = false;
  #pinging = false;

  constructor(parts: SupervisedParts) {
    this.#parts = parts;
    this.#name = parts.definition.name;
    this.#state = parts.definition.disabled === true ? 'stopped' : 'starting';
    this.#changedAt = parts.clock.now();
    this.#waiters = createWaiters(this.#name);
    this.#relist = createRelist(parts.settings.relistIntervalMs, this.#closing.signal, () => this.#listAgain());
    const { settings, log } = parts;
    this.#offers = createCurrentOffers({
      upstream: this.#name,
      log,
      judge: parts.judgeOffers,
      held: parts.heldOffers,
      onChanged: parts.onOffers,
    });
    this.#relistOffers = createRelist(settings.relistIntervalMs, this.#closing.signal, () => this.#listOffers());
    this.#stale = createStaleWatch(settings.staleListingMs, parts.random, () => {
      this.#relist();
      this.#relistOffers();
    });
  }

  /** Connects now and throws the failure, without retries. */
  connect(): Promise<ToolListing> {
    return this.#pending.add(this.#open(true));
  }

  /** Connects in the background, and retries until `close`. */
  startTrying(): void {
    this.#nextTryAt = Number.POSITIVE_INFINITY;
    const { startSlots, log } = this.#parts;
    const attempt = startSlots(async () => {
      if (!this.#closing.signal.aborted) await this.#open(false);
    });
    this.#pending.add(attempt).catch((thrown: unknown) => {
      if (this.#closing.signal.aborted) return;
      this.#become('degraded', messageOf(thrown));
      if (thrown instanceof ToolLayerError && thrown.code === 'E3311') this.#loginNeeded = thrown;
      log.warn('upstream-not-started', { upstream: this.#name, error: messageOf(thrown) });
      this.#tryLater();
    });
  }

  tools(): readonly ListedMcpTool[] {
    return this.#listing.tools();
  }

  malformed(): ToolListing['malformed'] {
    return this.#listing.malformed();
  }

  definition(): UpstreamDefinition {
    return this.#parts.definition;
  }

  /** What it offers beside its tools; nothing before the first connection. */
  offers(): ServerOffers {
    return this.#offers.now();
  }

  /** See `WatchedResources.add`. */
  watchResource(uri: string, onUpdated: () => void): Promise<Disposable> {
    return this.#parts.watched.add(uri, onUpdated);
  }

  /** The server's version as it states it; empty when it states none. */
  serverVersion(): string {
    return this.#identity.server?.version ?? '';
  }

  status(): OwnStatus {
    const { protocolVersion, server, capabilities = [] } = this.#identity;
    return {
      name: this.#name,
      state: this.#state,
      transport: this.#parts.definition.transport.type,
      ...(protocolVersion === undefined ? {} : { protocol_version: protocolVersion }),
      ...(server === undefined ? {} : { server }),
      capabilities: [...capabilities],
      tool_count: countOfTools(this.#listing.tools()),
      malformed_count: this.#listing.malformed().length,
      restart_count: this.#restarts,
      ...(this.#lastError === undefined ? {} : { last_error: this.#lastError }),
      changed_at: new Date(this.#changedAt).toISOString(),
    };
  }

  /** Calls a tool; while not connected, waits for a connection. */
  call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: UpstreamCallOptions,
  ): Promise<UpstreamCallResult> {
    return this.#onLink(options, (link, rest) => this.#callOn(link, tool, args, rest));
  }

  /** Follows a task that its server began for a call. */
  follow(task: ServerTask, options: UpstreamCallOptions): Promise<UpstreamCallResult> {
    return this.#onLink(options, (link, rest) => link.follow(task, this.#requestOptions(rest)));
  }

  /** Has the server give a task up. */
  cancelTask(task: ServerTask, options: UpstreamCallOptions): Promise<void> {
    return this.#onLink(options, (link, rest) => link.cancelTask(task, this.#requestOptions(rest)));
  }

  #requestOptions(options: UpstreamCallOptions): RequestOptions {
    return requestOptionsOf(options, this.#parts.definition.request_timeout_ms);
  }

  async #onLink<Result>(
    options: UpstreamCallOptions,
    work: (link: Link, rest: UpstreamCallOptions) => Promise<Result>,
  ): Promise<Result> {
    const startedAt = this.#parts.clock.monotonic();
    const rest = (): UpstreamCallOptions => {
      if (options.timeoutMs === undefined) return options;
      return { ...options, timeoutMs: Math.max(1, options.timeoutMs - (this.#parts.clock.monotonic() - startedAt)) };
    };
    try {
      // Fast path: it is connected.
      if (this.#link !== undefined) {
        try {
          return await work(this.#link, options);
        } catch (thrown) {
          if (!neverLeft(thrown)) throw thrown;
        }
      }
      const link = await this.#waitForLink(rest());
      return await work(link, rest());
    } catch (thrown) {
      throw callFailure(this.#name, thrown, options.signal);
    }
  }

  /** Ends it permanently and waits until nothing of it runs. Idempotent. */
  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) {
      this.#become('stopped');
      this.#closing.abort(stopped(this.#name));
      clearTimeout(this.#timer);
      this.#stale.stop();
      this.#waiters.refuse(Number.POSITIVE_INFINITY, () => stopped(this.#name));
      const last = this.#link;
      this.#link = undefined;
      if (last !== undefined) void this.#pending.add(last.close());
    }
    await this.#pending.done();
  }

  #become(state: UpstreamState, error?: string): void {
    this.#state = state;
    this.#changedAt = this.#parts.clock.now();
    // Redacted before cutting: half a secret would not be recognised.
    if (error !== undefined) this.#lastError = String(redact(error).value).slice(0, LAST_ERROR_CHARS_MAX);
  }

  /** @param isAdded an operator just asked for it */
  async #open(isAdded: boolean): Promise<ToolListing> {
    const { settings, log, clock } = this.#parts;
    this.#become('starting');
    this.#loginNeeded = undefined;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(settings.connectTimeoutMs)]);
    const link = await this.#parts.open({
      signal,
      timeoutMs: settings.connectTimeoutMs,
      olderProtocolOnly: this.#olderProtocolOnly,
      onToolsChanged: this.#relist,
      onOffersChanged: this.#relistOffers,
      onResourceUpdated: (uri) => this.#parts.watched.updated(uri),
      onLog: this.#parts.onLog,
    });
    const opened = withoutSecrets(link);
    const listing = await listFirst(this.#name, opened, signal);
    if (this.#closing.signal.aborted) {
      await opened.close();
      throw stopped(this.#name);
    }
    this.#link = opened;
    this.#identity = opened.identity;
    this.#olderProtocolOnly = opened.olderProtocolOnly;
    this.#readySince = clock.monotonic();
    this.#become('ready');
    const { protocolVersion } = opened.identity;
    log.info('upstream-ready', { upstream: this.#name, tools: listing.tools.length, protocol: protocolVersion });
    this.#adopt(listing, !isAdded);
    void opened.ended.then((reason) => this.#drop(opened, reason));
    this.#waiters.serve(opened);
    this.#parts.watched.bind(opened);
    await Promise.race([this.#listOffers(isAdded), sleep(settings.offersPatienceMs, undefined, { ref: false })]);
    return listing;
  }

  #adopt(listing: ToolListing, notifies: boolean): void {
    this.#stale.fresh();
    for (const { place, reason } of listing.malformed) {
      this.#parts.log.warn('upstream-tool-malformed', { upstream: this.#name, place, reason });
    }
    const differs = this.#listing.adopt(listing);
    if (differs && notifies) this.#parts.onTools(listing.tools, this.serverVersion());
  }

  async #listAgain(): Promise<void> {
    const link = this.#link;
    if (link === undefined) return;
    try {
      await this.#listNow();
      if (this.#link === link && this.#state === 'degraded') this.#become('ready');
    } catch (thrown) {
      if (this.#link !== link) return;
      this.#parts.log.warn('upstream-listing-failed', { upstream: this.#name, error: messageOf(thrown) });
      this.#become('degraded', messageOf(thrown));
      // It may hang even when nobody calls it.
      if (!(thrown instanceof ProtocolError)) this.#suspect(link);
      this.#relist();
    }
  }

  /** Drops a connection that ended or became unusable, and plans the next one. */
  #drop(link: Link, reason: string): void {
    if (this.#link !== link) return;
    const { clock, settings, log } = this.#parts;
    this.#link = undefined;
    this.#parts.watched.bind(undefined);
    this.#stale.stop();
    void this.#pending.add(link.close());
    this.#become('degraded', reason);
    log.warn('upstream-ended', { upstream: this.#name, reason });
    this.#restarts += 1;
    if (clock.monotonic() - this.#readySince > settings.stableMs) this.#failures = 0;
    this.#tryLater();
  }

  #tryLater(): void {
    const { settings, clock, random } = this.#parts;
    const pause = backoffMs(this.#failures, { firstMs: settings.firstBackoffMs, maxMs: settings.maxBackoffMs }, random);
    this.#failures += 1;
    this.#nextTryAt = clock.monotonic() + pause;
    this.#timer = setTimeout(() => this.startTrying(), pause);
    const until = this.#loginNeeded === undefined ? this.#nextTryAt : Number.POSITIVE_INFINITY;
    this.#waiters.refuse(until, () => this.#unavailable());
  }

  #waitForLink({ timeoutMs, signal }: UpstreamCallOptions): Promise<Link> {
    const { settings, clock } = this.#parts;
    if (this.#link !== undefined) return Promise.resolve(this.#link);
    const ms = Math.min(timeoutMs ?? settings.connectTimeoutMs, settings.connectTimeoutMs);
    const deadline = clock.monotonic() + ms;
    const inVain = Number.isFinite(this.#nextTryAt) && this.#nextTryAt > deadline;
    if (this.#state === 'stopped' || inVain || this.#loginNeeded !== undefined)
      return Promise.reject(this.#unavailable());
    return this.#waiters.wait(deadline, ms, signal, () => this.#unavailable());
  }

  #unavailable(): ToolLayerError {
    if (this.#state === 'stopped') return stopped(this.#name, this.#parts.definition.disabled);
    if (this.#loginNeeded !== undefined) return this.#loginNeeded;
    const why = this.#lastError === undefined ? 'It is still starting.' : `Its last fault: ${this.#lastError}`;
    const pause = Math.max(0, this.#nextTryAt - this.#parts.clock.monotonic());
    return new ToolLayerError('E3310', `The upstream '${this.#name}' is not running. ${why}`, {
      details: { reached: false },
      ...(Number.isFinite(pause) ? { retryAfterMs: pause } : {}),
    });
  }

  async #callOn(
    link: Link,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: UpstreamCallOptions,
  ): Promise<UpstreamCallResult> {
    const listed = { link, hashOf: this.#listing.hashOf, listFresh: this.#listFresh };
    try {
      return await callChecked(this.#parts, listed, tool, args, options);
    } catch (thrown) {
      if (neverLeft(thrown)) this.#drop(link, messageOf(thrown));
      if (thrown instanceof ToolLayerError && thrown.code === 'E3103') this.#suspect(link);
      throw thrown;
    }
  }

  async #listNow(): Promise<void> {
    const link = this.#link;
    if (link === undefined) throw notConnected(this.#name);
    const late = AbortSignal.timeout(this.#parts.settings.connectTimeoutMs);
    const listing = await link.listTools(AbortSignal.any([this.#closing.signal, late]));
    if (this.#link === link) this.#adopt(listing, true);
  }

  async #listOffers(isAdded = false): Promise<void> {
    if (this.#link === undefined) return;
    const late = AbortSignal.timeout(this.#parts.settings.connectTimeoutMs);
    await this.#offers.list(this.#link, AbortSignal.any([this.#closing.signal, late]), isAdded);
  }

  /** A server that let a call time out may hang permanently, so it is pinged. */
  #suspect(link: Link): void {
    if (this.#pinging || this.#link !== link) return;
    this.#pinging = true;
    const { pingTimeoutMs } = this.#parts.settings;
    void link
      .ping(pingTimeoutMs)
      .catch(() => this.#drop(link, `It no longer answers: no sign of life within ${pingTimeoutMs} ms.`))
      .finally(() => {
        this.#pinging = false;
      });
  }
}
