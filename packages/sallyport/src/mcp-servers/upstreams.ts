import type { UpstreamDefinition, UpstreamPlan, UpstreamStatus } from '../../api/schemas/upstream.ts';
import type { ServerTask } from '../domain/invocation/tasks/server-task.ts';
import { keptIn } from '../domain/shape/kept-in.ts';
import { closedDown, tooManyUpstreams, unknownUpstream } from './connection/call-failures.ts';
import type { UpstreamCalls } from './connection/calls/upstream-calls.ts';
import { embeddedServer } from './connection/embedded-link.ts';
import { makeUpstream, type SharedByUpstreams } from './connection/keeping/make-upstream.ts';
import { createOutliving, type OutlivingByUpstream } from './connection/keeping/outliving.ts';
import { followUpstreams, isSameDefinition } from './connection/keeping/stored-elsewhere.ts';
import type { UpstreamCallResult } from './connection/link.ts';
import { createListeners } from './connection/listing/listeners.ts';
import { notifyOfTools } from './connection/listing/notify-of-tools.ts';
import { checkPrompt } from './connection/offers/held-offers.ts';
import type { Follower } from './connection/pacing/follow-prints.ts';
import { createStartSlots } from './connection/pacing/start-slots.ts';
import { createTurns } from './connection/pacing/turns.ts';
import { callerCredentials, checkListCredentials } from './connection/per-caller/caller-credentials.ts';
import type { KeptUpstream } from './connection/per-caller/keep-upstream.ts';
import { isListedByOperator, type UpstreamOperator } from './connection/per-caller/own-listing.ts';
import { literalSecrets, secretArgument, secretNameOf, withReferences } from './connection/secrets/literal-secrets.ts';
import { UPSTREAM_DEFAULTS, type UpstreamSettings } from './connection/settings.ts';
import type { UpstreamCallOptions } from './connection/supervised-parts.ts';
import type { UpstreamsParts } from './connection/upstreams-parts.ts';
import { withLogin } from './incoming/with-login.ts';
import {
  type AddedUpstream,
  type CurrentUpstream,
  NO_OFFERS,
  type OfferingUpstream,
  type OffersHeldAt,
  type ToolsChanged,
  type UpstreamCaller,
  type UpstreamLogged,
  type UpstreamOffers,
  type UpstreamSwitch,
} from './known-upstream.ts';
import { withPackage } from './packages/with-package.ts';
import { planOf } from './stdio/plan-of.ts';
import type { StderrLog } from './stdio/stderr-log.ts';

export type {
  AddedUpstream,
  CurrentUpstream,
  OfferingUpstream,
  ToolsChanged,
  UpstreamCaller,
  UpstreamCallOptions,
  UpstreamCallResult,
  UpstreamSettings,
  UpstreamsParts,
};
export { callerCredentials, literalSecrets, secretArgument, secretNameOf, withReferences };

/** The MCP servers that the layer is a client of. A failure of one does not affect the others (EXE-11). */
export interface Upstreams extends UpstreamCalls, UpstreamOffers {
  /** Loads the stored upstreams and starts them in the background; resolves before any is connected. */
  start(): Promise<void>;
  /**
   * Brings the upstreams to what other instances stored, every `intervalMs` until disposed (`Follower.follow`): what was
   * removed or disabled there ends here, so do connections of ended logins, and what was added or changed starts.
   */
  followStore(intervalMs: number): AsyncDisposable;
  /** How it runs here, against what is stored: another instance may have changed or removed it. */
  standing(tenantId: string, name: string): Promise<'as-stored' | 'changed' | 'removed'>;
  /**
   * Installs the package that a definition's command needs, when missing on this machine, and names it in the
   * definition, so that the upstream runs exactly this version. An earlier installation is reused.
   * @throws E3801 with `details.install` when an installation is needed but not allowed; what `Packages.install`
   *   throws; E3210 E3105 E3104 for what the operator of the machine does not allow
   */
  prepare(tenantId: string, definition: UpstreamDefinition, mayInstall: boolean): Promise<UpstreamDefinition>;
  /** What adding it needs first; nothing is started, installed or written. Never throws. */
  plan(tenantId: string, definition: UpstreamDefinition): UpstreamPlan;
  /**
   * Connects, lists the tools, and only then stores the definition; replaces an upstream of the same name. A disabled
   * one is stored unconnected.
   * @param operator who adds it; when connections are per caller and the definition has no `list_credentials`, the
   *   tools are listed with the operator's credentials
   * @throws E3801 E3105 E3302 for things the definition names that are missing on this machine; E3101 E3104 of the
   *   sandbox driver; E3108 when the server ended, E3306 when it did not answer, E3308 when it broke the protocol;
   *   E3304 E3307 E3309 E3310 of an HTTP server; E3102 when the tenant has as many as it may. Nothing is stored then.
   */
  add(tenantId: string, definition: UpstreamDefinition, operator?: UpstreamOperator): Promise<AddedUpstream>;
  /**
   * Stores an upstream that cannot be connected now, and keeps trying in the background. An existing one of the same
   * name is unchanged.
   * @returns false when one of that name exists
   * @throws E3102 when the tenant has as many as it may
   */
  keep(tenantId: string, definition: UpstreamDefinition, events?: UpstreamSwitch['events']): Promise<boolean>;
  /**
   * Ends it, and unless it is disabled starts it again in the background.
   * @returns undefined when none of that name exists
   */
  restart(tenantId: string, name: string, to?: UpstreamSwitch): Promise<UpstreamStatus | undefined>;
  /** Its standard error after the line `after`; undefined when there is no such upstream. */
  logs(tenantId: string, name: string, after: number): ReturnType<StderrLog['read']> | undefined;
  /** Ends the connections of a holder whose authorization ended, after their calls; without a holder makes it anew. */
  endLogin(tenantId: string, name: string, holder: string | undefined): Promise<void>;
  /** Stops and deletes it. False when there was none. */
  remove(tenantId: string, name: string, events?: UpstreamSwitch['events']): Promise<boolean>;
  /** States of one tenant's upstreams, by name. */
  statuses(tenantId: string): readonly UpstreamStatus[];
  /** Undefined when there is no such upstream. */
  current(tenantId: string, name: string): CurrentUpstream | undefined;
  /** The definition alone, without the cost of `current`. Undefined when there is no such upstream. */
  definition(tenantId: string, name: string): UpstreamDefinition | undefined;
  /** The listener is called at once for upstreams that are connected already. @returns a function that removes it */
  onToolsChanged(listener: ToolsChanged): () => void;
  /** Notifies of log messages that belong to no call. @returns a function that removes the listener */
  onLogged(listener: UpstreamLogged): () => void;
  /** Stops all; no process remains. Idempotent. */
  close(): Promise<void>;
}

/** Makes the upstreams; none runs until `start` or `add`. */
export const createUpstreams = (parts: UpstreamsParts): Upstreams => new OwnUpstreams(parts);

class OwnUpstreams implements Upstreams {
  readonly #parts: UpstreamsParts;
  readonly #settings: UpstreamSettings;
  readonly #shared: SharedByUpstreams;
  readonly #inTurn = createTurns();
  readonly #tenants = new Map<string, Map<string, KeptUpstream>>();
  /** Upstreams that may have something running, those being added included. */
  readonly #alive = new Set<KeptUpstream>();
  readonly #listeners = new Set<ToolsChanged>();
  readonly #offersChanged = createListeners<[]>();
  readonly #offersHeld = createListeners<Parameters<OffersHeldAt>>();
  readonly #logged = createListeners<Parameters<UpstreamLogged>>();
  readonly onOffersChanged = this.#offersChanged.add;
  readonly onOffersHeld = this.#offersHeld.add;
  readonly onLogged = this.#logged.add;
  readonly #outliving: OutlivingByUpstream;
  readonly #follower: Follower;
  #closed = false;

  constructor(parts: UpstreamsParts) {
    this.#parts = parts;
    this.#settings = { ...UPSTREAM_DEFAULTS, ...parts.settings };
    this.#outliving = createOutliving(parts.log);
    const [agree, endLogin] = [this.#agree.bind(this), this.endLogin.bind(this)];
    this.#follower = followUpstreams(parts, { tenants: this.#tenants, agree, endLogin });
    this.#shared = {
      parts,
      settings: this.#settings,
      startSlots: createStartSlots(this.#settings.startsAtOnce, this.#settings.startHoldMs),
      toolListeners: this.#listeners,
      offersChanged: this.#offersChanged.notify,
      offersHeld: this.#offersHeld.notify,
      logged: this.#logged.notify,
    };
  }

  async start(): Promise<void> {
    const prints = await this.#parts.store.prints();
    for (const { tenantId, definition } of await this.#parts.store.loadAll())
      if (!this.#closed && !this.#ofTenant(tenantId).has(definition.name)) this.#begin(tenantId, definition);
    this.#follower.agreed(prints);
  }

  followStore(intervalMs: number): AsyncDisposable {
    return this.#follower.follow(intervalMs);
  }

  async standing(tenantId: string, name: string): Promise<'as-stored' | 'changed' | 'removed'> {
    const stored = await this.#parts.store.find(tenantId, name);
    if (stored === undefined) return 'removed';
    return isSameDefinition(stored, this.definition(tenantId, name)) ? 'as-stored' : 'changed';
  }

  async prepare(tenantId: string, definition: UpstreamDefinition, mayInstall: boolean): Promise<UpstreamDefinition> {
    this.#parts.checkDefinition(tenantId, definition);
    return withPackage(this.#parts.packages, definition, mayInstall);
  }

  plan(tenantId: string, definition: UpstreamDefinition): UpstreamPlan {
    return planOf(this.#parts, tenantId, definition);
  }

  add(tenantId: string, definition: UpstreamDefinition, operator: UpstreamOperator = {}): Promise<AddedUpstream> {
    return this.#inTurn(turnOf(tenantId, definition.name), async () => {
      checkListCredentials(definition);
      if (this.#closed) throw closedDown();
      const known = this.#ofTenant(tenantId);
      const { name } = definition;
      if (!known.has(name)) this.#checkRoom(known);
      const upstream = this.#make(tenantId, definition);
      try {
        const listing = definition.disabled === true ? NO_TOOLS : await upstream.connect(operator);
        if (this.#closed) throw closedDown();
        await this.#parts.store.put({ tenantId, definition }, operator.events);
        const old = known.get(name);
        known.set(name, upstream);
        if (old !== undefined) await this.#end(old);
        return { status: this.#statusOf(tenantId, upstream), ...listing, serverVersion: upstream.serverVersion() };
      } catch (thrown) {
        await this.#end(upstream);
        throw this.#closed ? closedDown() : thrown;
      }
    });
  }

  keep(tenantId: string, definition: UpstreamDefinition, events?: UpstreamSwitch['events']): Promise<boolean> {
    return this.#inTurn(turnOf(tenantId, definition.name), async () => {
      if (this.#closed) throw closedDown();
      const known = this.#ofTenant(tenantId);
      if (known.has(definition.name)) return false;
      this.#checkRoom(known);
      await this.#parts.store.put({ tenantId, definition }, events);
      this.#begin(tenantId, definition);
      return true;
    });
  }

  restart(tenantId: string, name: string, to?: UpstreamSwitch): Promise<UpstreamStatus | undefined> {
    return this.#inTurn(turnOf(tenantId, name), async () => {
      const old = this.#tenants.get(tenantId)?.get(name);
      if (old === undefined) return undefined;
      const { disabled: was = false, ...rest } = old.definition();
      const definition = (to?.disabled ?? was) ? { ...rest, disabled: true } : rest;
      if (to !== undefined) await this.#parts.store.put({ tenantId, definition }, to.events);
      await this.#end(old);
      if (this.#closed) throw closedDown();
      return this.#statusOf(tenantId, this.#begin(tenantId, definition));
    });
  }

  logs(tenantId: string, name: string, after: number): ReturnType<StderrLog['read']> | undefined {
    if (this.#tenants.get(tenantId)?.has(name) !== true) return undefined;
    return this.#outliving.of(tenantId, name).stderrLog.read(after);
  }

  remove(tenantId: string, name: string, events?: UpstreamSwitch['events']): Promise<boolean> {
    return this.#inTurn(turnOf(tenantId, name), async () => {
      const wasStored = await this.#parts.store.remove(tenantId, name, events);
      return (await this.#drop(tenantId, name)) || wasStored;
    });
  }

  statuses(tenantId: string): readonly UpstreamStatus[] {
    const known = this.#tenants.get(tenantId)?.values().toArray() ?? [];
    const statuses = known.map((upstream) => this.#statusOf(tenantId, upstream));
    return statuses.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  definition(tenantId: string, name: string): UpstreamDefinition | undefined {
    return this.#tenants.get(tenantId)?.get(name)?.definition();
  }

  current(tenantId: string, name: string): CurrentUpstream | undefined {
    const upstream = this.#tenants.get(tenantId)?.get(name);
    if (upstream === undefined) return undefined;
    return {
      status: this.#statusOf(tenantId, upstream),
      definition: upstream.definition(),
      tools: upstream.tools(),
      serverVersion: upstream.serverVersion(),
      malformed: upstream.malformed(),
    };
  }

  call(
    tenantId: string,
    name: string,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: UpstreamCallOptions,
  ): Promise<UpstreamCallResult> {
    return this.#askingForLogin(tenantId, name, options, async (upstream, asking) => {
      if (tool === 'prompts/get') checkPrompt(this.#parts.quarantine, tenantId, name, args['name']);
      return upstream.call(tool, args, asking);
    });
  }

  follow(tenantId: string, name: string, task: ServerTask, options: UpstreamCallOptions): Promise<UpstreamCallResult> {
    return this.#askingForLogin(tenantId, name, options, (upstream, asking) => upstream.follow(task, asking));
  }

  cancelTask(tenantId: string, name: string, task: ServerTask, options: UpstreamCallOptions): Promise<void> {
    return this.#of(tenantId, name, options, (upstream, asking) => upstream.cancelTask(task, asking));
  }

  #askingForLogin<Result>(
    tenantId: string,
    name: string,
    options: UpstreamCallOptions,
    work: Work<Result>,
  ): Promise<Result> {
    return this.#of(tenantId, name, options, (upstream, asking) => {
      const called = { tenantId, definition: upstream.definition() };
      return withLogin(this.#parts, called, asking, () => work(upstream, asking));
    });
  }

  #of<Result>(tenantId: string, name: string, options: UpstreamCallOptions, work: Work<Result>): Promise<Result> {
    const upstream = this.#tenants.get(tenantId)?.get(name);
    if (upstream === undefined) return Promise.reject(unknownUpstream(name));
    const { invocationId } = options;
    const client = invocationId === undefined ? undefined : this.#parts.clients.clientOf(tenantId, invocationId);
    return work(upstream, client === undefined ? options : { ...options, client });
  }

  onToolsChanged(listener: ToolsChanged): () => void {
    this.#listeners.add(listener);
    for (const [tenantId, known] of this.#tenants) {
      for (const [name, upstream] of known) {
        // Upstreams that only an operator can list are skipped: a listing by an operator is taken over when it is made.
        if (upstream.status().state !== 'ready' || isListedByOperator(upstream.definition())) continue;
        notifyOfTools(listener, this.#parts.log, tenantId, name, upstream.tools(), upstream.serverVersion());
      }
    }
    return () => this.#listeners.delete(listener);
  }

  async offers(tenantId: string, name: string, caller?: UpstreamCaller): Promise<OfferingUpstream | undefined> {
    const upstream = this.#tenants.get(tenantId)?.get(name);
    return upstream && { serverVersion: upstream.serverVersion(), offers: await upstream.offersTo(caller) };
  }

  async watchResource(...[tenantId, name, wanted, listener]: WatchArguments): Promise<Disposable> {
    const upstream = this.#tenants.get(tenantId)?.get(name);
    if (upstream === undefined) throw unknownUpstream(name);
    const { transport } = upstream.definition();
    if (transport.type === 'embedded')
      return embeddedServer(this.#parts.embedded, transport).watch(wanted.tenantId, wanted.uri, listener.onUpdated);
    return upstream.watchResource(wanted.uri, listener, wanted.caller);
  }

  async endLogin(tenantId: string, name: string, holder: string | undefined): Promise<void> {
    if (holder === undefined) await this.restart(tenantId, name);
    else this.#tenants.get(tenantId)?.get(name)?.endLogin(holder);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#alive].map((upstream) => this.#end(upstream)));
  }

  /** Brings one upstream to what another instance stored. */
  #agree(tenantId: string, name: string): Promise<void> {
    return this.#inTurn(turnOf(tenantId, name), async () => {
      const definition = await this.#parts.store.find(tenantId, name);
      const old = this.#tenants.get(tenantId)?.get(name);
      if (this.#closed || isSameDefinition(definition, old?.definition())) return;
      this.#parts.log.info('upstream-changed-elsewhere', { upstream: name, removed: definition === undefined });
      if (definition === undefined) await this.#drop(tenantId, name);
      else if (old !== undefined) await this.#end(old);
      if (definition !== undefined && !this.#closed) this.#begin(tenantId, definition);
    });
  }

  /** Ends and forgets it. @returns false when it was not here */
  async #drop(tenantId: string, name: string): Promise<boolean> {
    const known = this.#tenants.get(tenantId);
    const upstream = known?.get(name);
    known?.delete(name);
    this.#outliving.forget(tenantId, name);
    if (upstream !== undefined) await this.#end(upstream);
    return upstream !== undefined;
  }

  #begin(tenantId: string, definition: UpstreamDefinition): KeptUpstream {
    const upstream = this.#make(tenantId, definition);
    this.#ofTenant(tenantId).set(definition.name, upstream);
    if (definition.disabled !== true) upstream.startTrying();
    return upstream;
  }

  #statusOf(tenantId: string, upstream: KeptUpstream): UpstreamStatus {
    const own = upstream.status();
    return { ...own, quarantined_count: this.#parts.quarantine.waitingAt(tenantId, own.name) };
  }

  #checkRoom({ size }: Map<string, KeptUpstream>): void {
    const { perTenantMax } = this.#settings;
    if (size >= perTenantMax) throw tooManyUpstreams(perTenantMax);
  }

  #ofTenant(tenantId: string): Map<string, KeptUpstream> {
    return keptIn(this.#tenants, tenantId, () => new Map());
  }

  #make(tenantId: string, definition: UpstreamDefinition): KeptUpstream {
    const upstream = makeUpstream(this.#shared, tenantId, definition, this.#outliving.of(tenantId, definition.name));
    this.#alive.add(upstream);
    return upstream;
  }

  async #end(upstream: KeptUpstream): Promise<void> {
    await upstream.close();
    this.#alive.delete(upstream);
    if (upstream.offers() !== NO_OFFERS) this.#offersChanged.notify();
  }
}

type Work<Result> = (upstream: KeptUpstream, asking: UpstreamCallOptions) => Promise<Result>;
type WatchArguments = Parameters<UpstreamOffers['watchResource']>;
const NO_TOOLS = { tools: [], malformed: [] };
const turnOf = (tenantId: string, name: string): string => `${name} ${tenantId}`;
