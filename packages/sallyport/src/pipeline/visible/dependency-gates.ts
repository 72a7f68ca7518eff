// Asked at every list and after every call; without sessions it costs two comparisons.

import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { LRUCache } from 'lru-cache';
import { ownerKey } from '../../domain/invocation/call-owner.ts';
import type { Principal } from '../../domain/principal/principal.ts';
import { boolean, list } from '../../domain/settings/rows.ts';
import type { ValuesOf } from '../../domain/settings/setting.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { createDependencyGraph } from '../../registry/dependency-graph.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Log } from '../../telemetry/log.ts';
import type { SessionToolStore } from '../../visibility/session-tools.port.ts';

/** Settings of the gates. */
export const DEPENDENCY_GATE_SETTINGS = {
  enabled: boolean('visibility.dependency_gates', {
    default: false,
    sentence:
      'Whether lists of tools hold back a tool until all tools that it requires completed in the session of the token; without a session nothing is held back.',
  }),
  always: list('visibility.always_on', {
    default: [],
    sentence: 'Ids of tools that these gates never hold back.',
  }),
};

/** The tools that a caller is not shown yet, by id, each with those it waits for. */
export type HeldTools = ReadonlyMap<string, readonly string[]>;

/** What completed in a session decides how its tools are shown. */
export interface SessionTools {
  readonly held: HeldTools;
  /** Added to the similarity of a tool in searches, 0 to 0.2; tools without a boost are absent. */
  readonly boosts: ReadonlyMap<string, number>;
}

/**
 * Holds back, in lists, tools whose requirements have not completed in the session, and ranks those higher in searches
 * whose preferences have (MOD-05). Calls pass.
 */
export interface DependencyGates {
  /** Notes that a tool completed in the caller's session. Never rejects: the gate that it would open stays shut. */
  completed(principal: Principal, tool: ToolVersion): Promise<void>;
  /**
   * How the tools that the caller may see are shown in its session.
   * @throws ToolLayerError E3812 when the store cannot say what completed
   */
  shown(principal: Principal, tools: readonly ToolVersion[]): Promise<SessionTools>;
  /** Notifies the listener when a tool completed that others wait for. */
  onCompleted(listener: () => void): Disposable;
}

/** Dependencies of the gates. */
export interface DependencyGateParts extends Pick<ValuesOf<typeof DEPENDENCY_GATE_SETTINGS>, 'always'> {
  readonly store: SessionToolStore;
  readonly registry: Pick<Registry, 'dependencies'>;
  readonly catalogTenant: string;
  readonly log: Pick<Log, 'warn'>;
}

/** How long a completion is remembered. */
const KEPT_MS = 7 * 86_400_000;
/** Completions that need not be noted again, and for how long: well below `KEPT_MS`. */
const NOTED_MAX = 10_000;
const NOTED_MS = 3_600_000;

const NONE: SessionTools = { held: new Map(), boosts: new Map() };

/** Makes the gates; sessions are those of capability tokens. */
export function createDependencyGates(parts: DependencyGateParts): DependencyGates {
  const { store, registry, catalogTenant, log } = parts;
  const always = new Set(parts.always);
  const noted = new LRUCache<string, true>({ max: NOTED_MAX, ttl: NOTED_MS });
  const listeners = new Set<() => void>();
  const isNamed = (tenantId: string, toolId: string): boolean =>
    [tenantId, catalogTenant].some((tenant) => registry.dependencies(tenant).isNamed(toolId));
  return {
    async completed(principal, { manifest: { tool_id } }) {
      const { tenantId, sessionId } = principal;
      if (sessionId === undefined || !isNamed(tenantId, tool_id)) return;
      const key = JSON.stringify([ownerKey(principal), sessionId, tool_id]);
      if (noted.has(key)) return;
      try {
        await store.note({ owner: principal, sessionId }, tool_id, KEPT_MS);
      } catch (thrown) {
        log.warn('completion-not-noted', { tool_id, reason: failureOf(thrown).message });
        return;
      }
      noted.set(key, true);
      for (const listener of listeners) listener();
    },
    async shown(principal, tools) {
      const { sessionId, tenantId, agentDid } = principal;
      if (sessionId === undefined || !tools.some(dependsOnOthers)) return NONE;
      const graph = createDependencyGraph(tools.map(({ manifest }) => dependenciesOf(manifest)));
      const ids = tools.map(({ manifest }) => manifest.tool_id);
      const { held, boosts, deadlock } = graph.gate(
        ids,
        await store.completed({ owner: principal, sessionId }),
        always,
      );
      if (deadlock) log.warn('dependency-gates-opened', { tenant_id: tenantId, agent_did: agentDid });
      return { held: new Map(held.map(({ toolId, missing }) => [toolId, missing])), boosts };
    },
    onCompleted(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

const dependsOnOthers = ({ manifest: { requires = [], prefers = [] } }: ToolVersion): boolean =>
  requires.length + prefers.length > 0;

const dependenciesOf = ({ tool_id: toolId, requires, prefers }: ToolVersion['manifest']) => ({
  toolId,
  ...(requires === undefined ? {} : { requires }),
  ...(prefers === undefined ? {} : { prefers }),
});
