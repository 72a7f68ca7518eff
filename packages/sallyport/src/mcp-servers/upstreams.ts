import type { SandboxDriver } from '@sallyport/sandbox';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamDefinition, UpstreamPlan, UpstreamStatus } from '../../api/schemas/upstream.ts';
import type { OutboundHttp } from '../external/outbound-http.ts';
import type { SecretCaller, SecretStore } from '../external/secret-store.port.ts';
import type { ListedMcpTool } from '../registry/importer.port.ts';
import type { Log } from '../telemetry/log.ts';
import type { UpstreamCallResult } from './connection/link.ts';
import { callerCredentials, checkListCredentials } from './connection/per-caller/caller-credentials.ts';
import { type KeptUpstream, keepUpstream, type UpstreamChecks } from './connection/per-caller/keep-upstream.ts';
import { isListedByOperator } from './connection/per-caller/own-listing.ts';
import { literalSecrets, secretArgument, secretNameOf, withReferences } from './connection/secrets/literal-secrets.ts';
import { UPSTREAM_DEFAULTS, type UpstreamSettings } from './connection/settings.ts';
import type { UpstreamCaller, UpstreamCallOptions } from './connection/supervised-parts.ts';
import type { ElicitationAsker } from './elicitation.port.ts';
import { createStartSlots, type StartSlots } from './pacing/start-slots.ts';
import { createTurns } from './pacing/turns.ts';
import { withPackage } from './packages/with-package.ts';
import type { Packages } from './packages.ts';
import type { Quarantine } from './quarantine.ts';
import { planOf } from './stdio/plan-of.ts';
import { createStderrLog, type StderrLog } from './stdio/stderr-log.ts';
import type { UpstreamStore } from './upstream-store.port.ts';

export type { ElicitationAsker, Packages, UpstreamCaller, UpstreamCallOptions, UpstreamCallResult, UpstreamSettings };
export { callerCredentials, literalSecrets, secretArgument, secretNameOf, withReferences };

/** What came of adding an upstream. */
export interface AddedUpstream {
  readonly status: UpstreamStatus;
  /** Its tools as it lists them; empty for one that is disabled. */
  readonly tools: readonly ListedMcpTool[];
  /** As the server says; empty when it says nothing. */
  readonly serverVersion: string;
  /** Entries of its list that are no tools, with the reason. */
  readonly malformed: readonly { readonly place: string; readonly reason: string }[];
}

/** An upstream as it is now. */
export interface CurrentUpstream {
  readonly status: UpstreamStatus;
  readonly definition: UpstreamDefinition;
  /** The list last known. */
  readonly tools: readonly ListedMcpTool[];
  /** As the server says; empty when it says nothing, and before the first connection. */
  readonly serverVersion: string;
  /** Entries of its list that are no tools, with the reason; the first hundred. */
  readonly malformed: AddedUpstream['malformed'];
}

/** Told when the tools of an upstream differ from the last list known in this process; never for `add`. */
export type ToolsChanged = (
  tenantId: string,
  name: string,
  tools: readonly ListedMcpTool[],
  serverVersion: string,
) => void;

/** The MCP servers that the layer is a client of. Each lives and dies by itself (EXE-11). */
export interface Upstreams {
  /** Loads what is stored and starts it in the background; resolves before any of it is connected. */
  start(): Promise<void>;
  /**
   * Installs what the command of a definition needs, where that is not on this machine, and names it in the definition, so
   * that the upstream runs this and nothing newer. What an earlier call installed is taken again.
   * @throws E3801 with `details.install` when something has to be installed and may not be; what `Packages.install` throws;
   *   E3210 E3105 E3104 for what the operator of the machine does not allow
   */
  prepare(tenantId: string, definition: UpstreamDefinition, mayInstall: boolean): Promise<UpstreamDefinition>;
  /** What adding it needs first; nothing is started, installed or written. Never throws. */
  plan(tenantId: string, definition: UpstreamDefinition): UpstreamPlan;
  /**
   * Connects, lists the tools, and only then stores the definition; replaces an upstream of the same name. A disabled one
   * is stored unconnected.
   * @param operator who adds it; with his credentials the tools are listed where the connections are per caller and the
   *   definition has no `list_credentials`
   * @throws E3801 E3105 E3302 for what the definition names and this machine has not; E3101 E3104 of the sandbox driver;
   *   E3108 when the server ended, E3306 when it did not answer, E3308 when it broke the protocol; E3304 E3307 E3309 E3310
   *   of an HTTP server; E3102 when the tenant has as many as it may. Nothing is stored then.
   */
  add(tenantId: string, definition: UpstreamDefinition, operator?: SecretCaller): Promise<AddedUpstream>;
  /**
   * Stores one that cannot be connected at the moment, and tries it in the background. One of the same name stays as it is.
   * @returns false when there is one of that name
   * @throws E3102 when the tenant has as many as it may
   */
  keep(tenantId: string, definition: UpstreamDefinition): Promise<boolean>;
  /**
   * Ends it, and unless it is disabled starts it anew in the background.
   * @param disabled what it is from now on, also after a restart of the layer; as it was when absent
   * @returns undefined when there is none of that name
   */
  restart(tenantId: string, name: string, disabled?: boolean): Promise<UpstreamStatus | undefined>;
  /** What it wrote on its standard error, after the line `after`; undefined when there is no such upstream. */
  logs(tenantId: string, name: string, after: number): ReturnType<StderrLog['read']> | undefined;
  /** Stops it and forgets it. False when there was none. */
  remove(tenantId: string, name: string): Promise<boolean>;
  /** Of one tenant, by name. */
  statuses(tenantId: string): readonly UpstreamStatus[];
  /** Undefined when there is no such upstream. */
  current(tenantId: string, name: string): CurrentUpstream | undefined;
  /**
   * Calls a tool by the upstream's own name for it. One that is not running is waited for, within the call's time.
   * @throws ToolLayerError; `details.reached` says whether the server may have acted: E3809 for no such upstream; E3813 when
   *   the tool is in quarantine, E3001 when the server no longer lists one that was accepted; E3310 when
   *   it is not running; E3107 when it ended during the call; E3103 out of time; E3805 cancelled; E3309 refused; E3109
   *   reported an error; E3308 unreadable; E3803 too many in flight; E3303 E3304 E3307 of an HTTP server;
   *   where connections are per caller also E3302 when the call was not granted what they are made with, E3803 when there is
   *   no room for one more, and what `add` throws when the server does not take this caller
   */
  call(
    tenantId: string,
    name: string,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: UpstreamCallOptions,
  ): Promise<UpstreamCallResult>;
  /** The listener is told at once of those that are connected already. @returns a function that stops it */
  onToolsChanged(listener: ToolsChanged): () => void;
  /** Stops all; no process remains. Idempotent. */
  close(): Promise<void>;
}

/** What the upstreams stand on. */
export interface UpstreamsParts extends UpstreamChecks {
  /** Starts every stdio server. */
  readonly driver: SandboxDriver;
  readonly store: UpstreamStore;
  /** Tools that are not what was accepted are refused by it; without it every tool is called. */
  readonly quarantine?: Pick<Quarantine, 'refusal' | 'counts'>;
  /** Values of `{{NAME}}` in headers and environments; without it such a definition is refused. */
  readonly secrets?: SecretStore;
  /** Installs packages; definitions that need one are refused without it. */
  readonly packages?: Packages;
  readonly log: Log;
  readonly clock: Clock;
  /** Puts questions of servers to people; without one nobody is asked. */
  readonly onElicitation?: ElicitationAsker;
  /**
   * The guarded way out for HTTP servers: each reaches the host and port of its own URL, over addresses that are checked
   * when it connects. The platform's own `fetch`, which checks nothing, when absent.
   */
  readonly outbound?: OutboundHttp;
  /**
   * Makes a way out for the connection of one caller to an HTTP server, so that no two callers share a socket either; it is
   * disposed with the connection. `outbound`, whose idle sockets all share, when absent.
   */
  readonly callerOutbound?: () => OutboundHttp;
  /** How the layer names itself to servers. */
  readonly client: { readonly name: string; readonly version: string };
  readonly settings?: Partial<UpstreamSettings>;
  /** 0 (inclusive) to 1 (exclusive); `Math.random` when absent. */
  readonly random?: () => number;
}

/** No upstream is running until `start` or `add`. */
export function createUpstreams(parts: UpstreamsParts): Upstreams {
  return new OwnUpstreams(parts);
}

class OwnUpstreams implements Upstreams {
  readonly #parts: UpstreamsParts;
  readonly #settings: UpstreamSettings;
  readonly #startSlots: StartSlots;
  readonly #inTurn = createTurns();
  readonly #tenants = new Map<string, Map<string, KeptUpstream>>();
  /** Every one that may have something running, those that are being added too. */
  readonly #alive = new Set<KeptUpstream>();
  readonly #listeners = new Set<ToolsChanged>();
  /** Of every one that is known; they outlive its connections. */
  readonly #logs = new Map<string, StderrLog>();
  #closed = false;

  constructor(parts: UpstreamsParts) {
    this.#parts = parts;
    this.#settings = { ...UPSTREAM_DEFAULTS, ...parts.settings };
    this.#startSlots = createStartSlots(this.#settings.startsAtOnce, this.#settings.startHoldMs);
  }

  async start(): Promise<void> {
    for (const { tenantId, definition } of await this.#parts.store.loadAll()) {
      const known = this.#ofTenant(tenantId);
      if (!this.#closed && !known.has(definition.name)) this.#begin(tenantId, definition);
    }
  }

  async prepare(tenantId: string, definition: UpstreamDefinition, mayInstall: boolean): Promise<UpstreamDefinition> {
    this.#parts.checkDefinition?.(tenantId, definition);
    return withPackage(this.#parts.packages, definition, mayInstall);
  }

  plan(tenantId: string, definition: UpstreamDefinition): UpstreamPlan {
    return planOf(this.#parts, tenantId, definition);
  }

  add(tenantId: string, definition: UpstreamDefinition, operator: SecretCaller = {}): Promise<AddedUpstream> {
    return this.#inTurn(turnOf(tenantId, definition.name), async () => {
      checkListCredentials(definition);
      const known = this.#ofTenant(tenantId);
      const { name } = definition;
      if (this.#closed) throw closedDown();
      if (!known.has(name) && known.size >= this.#settings.perTenantMax) throw tooMany(this.#settings.perTenantMax);
      const upstream = this.#make(tenantId, definition);
      try {
        const listing = definition.disabled === true ? NO_TOOLS : await upstream.connect(operator);
        if (this.#closed) throw closedDown();
        await this.#parts.store.put({ tenantId, definition });
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

  keep(tenantId: string, definition: UpstreamDefinition): Promise<boolean> {
    return this.#inTurn(turnOf(tenantId, definition.name), async () => {
      const known = this.#ofTenant(tenantId);
      if (this.#closed) throw closedDown();
      if (known.has(definition.name)) return false;
      if (known.size >= this.#settings.perTenantMax) throw tooMany(this.#settings.perTenantMax);
      await this.#parts.store.put({ tenantId, definition });
      this.#begin(tenantId, definition);
      return true;
    });
  }

  restart(tenantId: string, name: string, disabled?: boolean): Promise<UpstreamStatus | undefined> {
    return this.#inTurn(turnOf(tenantId, name), async () => {
      const old = this.#tenants.get(tenantId)?.get(name);
      if (old === undefined) return undefined;
      const { disabled: was = false, ...rest } = old.definition();
      const definition = (disabled ?? was) ? { ...rest, disabled: true } : rest;
      if (disabled !== undefined) await this.#parts.store.put({ tenantId, definition });
      await this.#end(old);
      if (this.#closed) throw closedDown();
      return this.#statusOf(tenantId, this.#begin(tenantId, definition));
    });
  }

  logs(tenantId: string, name: string, after: number): ReturnType<StderrLog['read']> | undefined {
    const upstream = this.#tenants.get(tenantId)?.get(name);
    return upstream === undefined ? undefined : this.#logOf(tenantId, name).read(after);
  }

  remove(tenantId: string, name: string): Promise<boolean> {
    return this.#inTurn(turnOf(tenantId, name), async () => {
      const stored = await this.#parts.store.remove(tenantId, name);
      const known = this.#tenants.get(tenantId);
      const upstream = known?.get(name);
      known?.delete(name);
      this.#logs.delete(turnOf(tenantId, name));
      if (upstream !== undefined) await this.#end(upstream);
      return stored || upstream !== undefined;
    });
  }

  statuses(tenantId: string): readonly UpstreamStatus[] {
    const known = [...(this.#tenants.get(tenantId)?.values() ?? [])];
    const statuses = known.map((upstream) => this.#statusOf(tenantId, upstream));
    return statuses.sort((a, b) => (a.name < b.name ? -1 : 1));
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
    const upstream = this.#tenants.get(tenantId)?.get(name);
    if (upstream === undefined) return Promise.reject(unknownUpstream(name));
    const { invocationId } = options;
    const client = invocationId === undefined ? undefined : this.#parts.onElicitation?.clientOf(tenantId, invocationId);
    return upstream.call(tool, args, client === undefined ? options : { ...options, client });
  }

  onToolsChanged(listener: ToolsChanged): () => void {
    this.#listeners.add(listener);
    for (const [tenantId, known] of this.#tenants) {
      for (const [name, upstream] of known) {
        // What an operator has to list is not listed here after a start, and taken at once when it is.
        if (upstream.status().state !== 'ready' || isListedByOperator(upstream.definition())) continue;
        tell(listener, tenantId, name, upstream.tools(), upstream.serverVersion(), this.#parts.log);
      }
    }
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#alive].map((upstream) => this.#end(upstream)));
  }

  #begin(tenantId: string, definition: UpstreamDefinition): KeptUpstream {
    const upstream = this.#make(tenantId, definition);
    this.#ofTenant(tenantId).set(definition.name, upstream);
    if (definition.disabled !== true) upstream.startTrying();
    return upstream;
  }

  #logOf(tenantId: string, name: string): StderrLog {
    const key = turnOf(tenantId, name);
    const log = this.#logs.get(key) ?? createStderrLog();
    this.#logs.set(key, log);
    return log;
  }

  #statusOf(tenantId: string, upstream: KeptUpstream): UpstreamStatus {
    const own = upstream.status();
    const counts = this.#parts.quarantine?.counts(tenantId, own.name);
    return { ...own, quarantined_count: counts?.quarantined ?? 0 };
  }

  #ofTenant(tenantId: string): Map<string, KeptUpstream> {
    const known = this.#tenants.get(tenantId) ?? new Map<string, KeptUpstream>();
    this.#tenants.set(tenantId, known);
    return known;
  }

  #make(tenantId: string, definition: UpstreamDefinition): KeptUpstream {
    const { clock, log, random = Math.random, quarantine, callerOutbound } = this.#parts;
    const { name } = definition;
    const upstream = keepUpstream({
      definition,
      tenantId,
      link: { ...this.#parts, desk: this.#parts.onElicitation, stderrLog: this.#logOf(tenantId, name) },
      callerOutbound,
      settings: this.#settings,
      startSlots: this.#startSlots,
      clock,
      log,
      random,
      onTools: (tools, serverVersion) => {
        for (const listener of this.#listeners) tell(listener, tenantId, name, tools, serverVersion, log);
      },
      ...(quarantine === undefined
        ? {}
        : { refusal: (tool, servedHash) => quarantine.refusal(tenantId, name, tool, servedHash) }),
    });
    this.#alive.add(upstream);
    return upstream;
  }

  async #end(upstream: KeptUpstream): Promise<void> {
    await upstream.close();
    this.#alive.delete(upstream);
  }
}

const NO_TOOLS = { tools: [], malformed: [] };

function turnOf(tenantId: string, name: string): string {
  return `${name} ${tenantId}`;
}

function tell(
  listener: ToolsChanged,
  tenantId: string,
  name: string,
  tools: readonly ListedMcpTool[],
  version: string,
  log: Log,
): void {
  try {
    listener(tenantId, name, tools, version);
  } catch (thrown) {
    log.error('upstream-listener-failed', { upstream: name, error: String(thrown) });
  }
}

function unknownUpstream(name: string): ToolLayerError {
  return new ToolLayerError('E3809', `There is no upstream '${name}'.`, { details: { reached: false } });
}

function tooMany(max: number): ToolLayerError {
  return new ToolLayerError('E3102', `The tenant has ${max} upstreams, as many as it may. Remove one first.`);
}

function closedDown(): ToolLayerError {
  return new ToolLayerError('E3811', 'The layer is stopping.', { details: { reached: false } });
}
