import type { Clock } from '@sallyport/std/clock';
import { type Failure, failure } from '@sallyport/std/error/failure';
import type { ListedMcpTool } from '../registry/importer.port.ts';
import type { Log } from '../telemetry/log.ts';
import { repeatedly } from './pacing/repeatedly.ts';
import { createTurns } from './pacing/turns.ts';
import type { BlockReason, QuarantineStore, ServedDefinition, UpstreamTool } from './quarantine-store.port.ts';
import {
  compareListing,
  type IdentifiedTool,
  type ListingComparison,
  type ServedTool,
} from './trust/compare-listing.ts';
import { definitionHash } from './trust/definition-hash.ts';
import type { DescriptionScanner, ScanVerdict } from './trust/description-scanner.port.ts';
import { type Block, createKnownTools, type QuarantineChange } from './trust/known-tools.ts';
import { scanAll } from './trust/scan-all.ts';
import { scanDescription } from './trust/scan-description.ts';

export type {
  Block,
  DescriptionScanner,
  IdentifiedTool,
  ListingComparison,
  QuarantineChange,
  ScanVerdict,
  ServedDefinition,
  ServedTool,
  UpstreamTool,
};
export { definitionHash };

/** Tools that the layer remembers of one upstream, absent ones too; further ones are refused. */
export const TOOLS_PER_UPSTREAM_MAX = 20_000;

/**
 * Which tools of upstreams are what an operator accepted (REG-09). What blocks a tool takes effect at once and is then
 * written; what lifts a block is written first.
 */
export interface Quarantine {
  /** Reads everything from the store anew, so that what other instances decided holds here too. */
  load(): Promise<void>;
  /** Loads every `intervalMs` until it is disposed; failures are logged. A longer load makes a longer pause. */
  follow(intervalMs: number): AsyncDisposable;
  /** Undefined for a tool that may be called, and for one that belongs to no upstream. One look into a map. */
  blocks(tenantId: string, toolId: string): Block | undefined;
  /**
   * Whether a tool may be run as it is served at this moment.
   * @param servedHash of the definition in the current listing; undefined when it is not listed
   * @returns E3813, or E3001 for a tool that is not listed; undefined when it may run, or belongs to nobody here
   */
  refusal(tenantId: string, upstream: string, tool: string, servedHash: string | undefined): Failure | undefined;
  /** How many tools of an upstream wait or were rejected, and how many are absent. */
  counts(tenantId: string, upstream: string): { readonly quarantined: number; readonly absent: number };
  /** The tool that has an id. */
  find(tenantId: string, toolId: string): UpstreamTool | undefined;
  /** Of one upstream, or of all; ordered by id. */
  tools(tenantId: string, upstream?: string): readonly UpstreamTool[];
  /** What a listing means; what it shows to be changed or absent is blocked at once, until `put` says otherwise. */
  compare(tenantId: string, upstream: string, listing: readonly IdentifiedTool[]): ListingComparison;
  /** Verdicts on definitions, in their order; lets others work in between. One that cannot be judged is `suspicious`. */
  scan(tenantId: string, upstream: string, tools: readonly ListedMcpTool[]): Promise<readonly ScanVerdict[]>;
  /** Writes what is now known of tools, then acts by it. Idempotent. */
  put(tools: readonly UpstreamTool[]): Promise<void>;
  /** Forgets an upstream; its next listing is its first. */
  forget(tenantId: string, upstream: string): Promise<void>;
  /** Runs work on one upstream after what runs on it already. */
  inTurn<T>(tenantId: string, upstream: string, work: () => Promise<T>): Promise<T>;
  /** Tells of changes after they took effect, until the handle is disposed. */
  onChanged(listener: (change: QuarantineChange) => void): Disposable;
}

/** What a quarantine stands on. */
export interface QuarantineParts {
  readonly store: QuarantineStore;
  readonly clock: Clock;
  readonly log: Log;
  /** The plain first line of `trust/scan-description.ts` when absent. */
  readonly scanner?: DescriptionScanner;
}

/** Knows nothing until `load`. */
export function createQuarantine({ store, clock, log, scanner = scanDescription }: QuarantineParts): Quarantine {
  const known = createKnownTools(log);
  const turns = createTurns();
  const { load, written } = onRecord(store, known);
  return {
    load,
    follow: (intervalMs) => repeatedly(intervalMs, load, log),
    blocks: known.blockOf,
    refusal(tenantId, upstream, tool, servedHash) {
      const found = known.named(tenantId, upstream)?.get(tool);
      if (found === undefined) return undefined;
      const block = known.blockOf(tenantId, found.toolId);
      if (block !== undefined) return blockedFailure(found.toolId, block);
      // The listing is newer than what is known: nothing runs that was not accepted, not even for a moment.
      if (servedHash === found.acceptedHash) return undefined;
      return blockedFailure(found.toolId, { reason: servedHash === undefined ? 'absent' : 'changed', upstream, tool });
    },
    counts(tenantId, upstream) {
      const counts = { quarantined: 0, absent: 0 };
      for (const { block } of known.named(tenantId, upstream)?.values() ?? []) {
        if (block === 'absent') counts.absent += 1;
        else if (block !== undefined) counts.quarantined += 1;
      }
      return counts;
    },
    find: known.find,
    tools: known.list,
    compare(tenantId, upstream, listing) {
      const ofUpstream = known.named(tenantId, upstream);
      const values = ofUpstream?.values() ?? [];
      const compared = compareListing(upstream, listing, values, (toolId) => known.find(tenantId, toolId));
      known.blockNow(compared.changed, 'changed');
      known.blockNow(compared.rejected, 'rejected');
      known.blockNow(
        compared.absent.map((tool) => ({ known: tool })),
        'absent',
      );
      return withinBounds(compared, upstream, TOOLS_PER_UPSTREAM_MAX - (ofUpstream?.size ?? 0));
    },
    scan(tenantId, upstream, tools) {
      return scanAll(tools, known.foreignNames(tenantId, upstream, tools), { scanner, clock, log, upstream });
    },
    async put(tools) {
      if (tools.length === 0) return;
      await written(
        () => store.putAll(tools),
        () => known.put(tools),
      );
    },
    async forget(tenantId, upstream) {
      await written(
        () => store.removeUpstream(tenantId, upstream),
        () => known.forget(tenantId, upstream),
      );
    },
    inTurn: (tenantId, upstream, work) => turns(`${upstream} ${tenantId}`, work),
    onChanged: known.onChanged,
  };
}

/** Reads and writes of the store that do not undo each other in memory. */
function onRecord(store: QuarantineStore, known: ReturnType<typeof createKnownTools>) {
  const writes = { begun: 0, open: 0 };
  return {
    async load(): Promise<void> {
      const { begun, open } = writes;
      const tools = await store.loadAll();
      // What was read while something was written here may be older than it; the next load comes soon.
      if (open === 0 && begun === writes.begun) known.agreeWith(tools);
    },
    /** Writes, then acts by it. */
    async written(write: () => Promise<void>, act: () => void): Promise<void> {
      writes.begun += 1;
      writes.open += 1;
      try {
        await write();
        act();
      } finally {
        writes.open -= 1;
      }
    },
  };
}

/** The refusal of a call to a blocked tool: E3813, or E3001 for one that its server no longer lists. */
export function blockedFailure(toolId: string, { reason, upstream, tool }: Block): Failure {
  const details = { tool_id: toolId, upstream, reason, reached: false };
  if (reason === 'absent') {
    const message = `The upstream '${upstream}' no longer lists the tool ${quoted(tool)}. It comes back by itself when it is listed again.`;
    return failure('E3001', message, { details });
  }
  return failure('E3813', `${toolId} is in quarantine: ${WHY[reason]}`, { details });
}

const WHY: Readonly<Record<Exclude<BlockReason, 'absent'>, string>> = {
  changed: 'its server changed the definition that was accepted. An operator has to accept the change or refuse it.',
  flagged: 'its description may hold hidden instructions. An operator has to look at it.',
  new: 'its server added it later. An operator has to accept it.',
  rejected: 'an operator refused what its server serves now.',
};

function withinBounds(compared: ListingComparison, upstream: string, room: number): ListingComparison {
  if (compared.unknown.length <= room) return compared;
  const reason = `The upstream '${upstream}' has had ${TOOLS_PER_UPSTREAM_MAX} different tools, as many as it may. Remove it and add it again.`;
  const left = compared.unknown.slice(Math.max(0, room));
  const refused = [...compared.refused, ...left.map(({ listed }) => ({ place: listed.name.slice(0, 200), reason }))];
  return { ...compared, unknown: compared.unknown.slice(0, Math.max(0, room)), refused };
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 128));
