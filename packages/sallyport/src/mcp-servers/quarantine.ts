import type { Clock } from '@sallyport/std/clock';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { gt } from 'semver';
import type { EventsOf } from '../domain/event/events-of.ts';
import type { ListedMcpTool } from '../registry/importer.port.ts';
import type { Log } from '../telemetry/log.ts';
import { followPrints } from './connection/pacing/follow-prints.ts';
import { createTurns } from './connection/pacing/turns.ts';
import type { BlockReason, QuarantineStore, ServedDefinition, UpstreamTool } from './quarantine-store.port.ts';
import {
  compareListing,
  type IdentifiedTool,
  isNews,
  type ListingComparison,
  type ServedTool,
} from './trust/compare-listing.ts';
import { definitionHash } from './trust/definition-hash.ts';
import type { DescriptionScanner, ScanVerdict } from './trust/description-scanner.port.ts';
import { type Block, createKnownTools } from './trust/known-tools.ts';
import { isOfferPlace, placesOf, upstreamAt } from './trust/offer-places.ts';
import { scanAll } from './trust/scan-all.ts';
import { scanDescription } from './trust/scan-description.ts';
import type { StoredPlace } from './upstream-store.port.ts';

export type {
  Block,
  DescriptionScanner,
  IdentifiedTool,
  ListingComparison,
  ScanVerdict,
  ServedDefinition,
  ServedTool,
  UpstreamTool,
};
export { definitionHash, isNews, isOfferPlace, placesOf, upstreamAt };

/** Most tools remembered of one upstream, absent ones included; further tools are refused. */
export const TOOLS_PER_UPSTREAM_MAX = 20_000;

/**
 * Compares tools of upstreams with the definitions that an operator accepted (REG-09). A block takes effect at once and
 * is then written; the lifting of a block is written first.
 */
export interface Quarantine {
  /** Reads everything from the store. To be called before anything is written here. */
  load(): Promise<void>;
  /**
   * Takes over what is on record of one upstream or other place: another instance may have accepted or blocked since
   * `load`. To be called in its turn, before anything of it is written.
   */
  reread(tenantId: string, upstream: string): Promise<void>;
  /**
   * Takes over what other instances accept and block, every `intervalMs` until disposed; see `Follower.follow`.
   */
  follow(intervalMs: number): AsyncDisposable;
  /** The block of a tool; undefined when it may be called or belongs to no upstream. One map lookup. */
  blocks(tenantId: string, toolId: string): Block | undefined;
  /**
   * The version of a tool that its server serves now, when this one came before it; undefined when this one may run. An
   * instance that does not know the newest version yet lets it run.
   */
  supersededBy(tenantId: string, toolId: string, version: string): string | undefined;
  /**
   * The refusal of a tool as it is listed at this moment.
   * @param servedHash of the definition in the current listing; undefined when it is not listed
   * @param isTrusted see `compare`
   * @returns E3813, or E3001 for a tool that is not listed; undefined when it may run, or belongs to no upstream here
   */
  refusal(
    tenantId: string,
    upstream: string,
    tool: string,
    servedHash: string | undefined,
    isTrusted?: boolean,
  ): Failure | undefined;
  /** Number of an upstream's tools, prompts and templates that wait or were rejected. */
  waitingAt(tenantId: string, upstream: string): number;
  /** The tool with an id. */
  find(tenantId: string, toolId: string): UpstreamTool | undefined;
  /** Tools of one upstream or other place, or of all; ordered by id. */
  tools(tenantId: string, upstream?: string): readonly UpstreamTool[];
  /**
   * Compares a listing with what is known; changed and absent tools are blocked at once, until `put` changes that.
   * @param isTrusted that of a reference server (`shipsWithLayer`), whose changed definitions are accepted; default false
   */
  compare(
    tenantId: string,
    upstream: string,
    listing: readonly IdentifiedTool[],
    isTrusted?: boolean,
  ): ListingComparison;
  /**
   * Verdicts on definitions, in order; yields to other work in between. A definition that cannot be judged is
   * `suspicious`.
   * @param isTrusted that of a reference server, whose words are the layer's own: clean without a look; default false
   */
  scan(
    tenantId: string,
    upstream: string,
    tools: readonly ListedMcpTool[],
    isTrusted?: boolean,
  ): Promise<readonly ScanVerdict[]>;
  /**
   * Writes the new state of tools, then applies it. Idempotent.
   * @throws E3704 when another instance wrote one of them since it was read here; it is read anew then
   */
  put(tools: readonly UpstreamTool[], events?: EventsOf<readonly UpstreamTool[]>): Promise<void>;
  /** Forgets an upstream; its next listing counts as its first. */
  forget(tenantId: string, upstream: string): Promise<void>;
  /**
   * Runs work on one upstream after the work already running on it, and again when another instance wrote meanwhile what it
   * had read.
   */
  inTurn<T>(tenantId: string, upstream: string, work: () => Promise<T>): Promise<T>;
  /** Notifies of changes after they took effect, until the handle is disposed. */
  onChanged(listener: () => void): Disposable;
}

const CLEAN: ScanVerdict = { verdict: 'clean', findings: [] };

/** Dependencies of a quarantine. */
export interface QuarantineParts {
  readonly store: QuarantineStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: the basic scanner of `trust/scan-description.ts`. */
  readonly scanner?: DescriptionScanner;
}

/** Makes the quarantine, empty until `load`. */
export function createQuarantine({ store, clock, log, scanner = scanDescription }: QuarantineParts): Quarantine {
  const known = createKnownTools(log);
  return {
    ...onRecord(store, known, log),
    blocks: known.blockOf,
    supersededBy(tenantId, toolId, version) {
      const served = known.find(tenantId, toolId)?.version;
      return served !== undefined && served !== version && gt(served, version) ? served : undefined;
    },
    refusal(tenantId, upstream, tool, servedHash, isTrusted = false) {
      const found = known.named(tenantId, upstream)?.get(tool);
      if (found === undefined) return undefined;
      const block = known.blockOf(tenantId, found.toolId);
      if (block !== undefined) return blockedFailure(found.toolId, block);
      // The listing is newer than the known state: nothing unaccepted may run, not even for a moment.
      if (servedHash === found.acceptedHash || (isTrusted && servedHash !== undefined)) return undefined;
      return blockedFailure(found.toolId, { reason: servedHash === undefined ? 'absent' : 'changed', upstream, tool });
    },
    waitingAt: (tenantId, upstream) =>
      placesOf(upstream)
        .flatMap((place) => [...(known.named(tenantId, place)?.values() ?? [])])
        .filter(({ block }) => block !== undefined && block !== 'absent').length,
    find: known.find,
    tools: known.list,
    compare(tenantId, upstream, listing, isTrusted) {
      const ofUpstream = known.named(tenantId, upstream);
      const values = ofUpstream?.values() ?? [];
      const compared = compareListing(upstream, listing, values, (toolId) => known.find(tenantId, toolId), isTrusted);
      known.blockNow(compared.changed, 'changed');
      known.blockNow(compared.rejected, 'rejected');
      known.blockNow(
        compared.absent.map((tool) => ({ known: tool })),
        'absent',
      );
      return withinBounds(compared, upstream, TOOLS_PER_UPSTREAM_MAX - (ofUpstream?.size ?? 0));
    },
    async scan(tenantId, upstream, tools, isTrusted = false) {
      // The scanner takes 0.1 s for its first words, which every start would wait for.
      if (isTrusted) return tools.map(() => CLEAN);
      return scanAll(tools, known.foreignNames(tenantId, upstream, tools), { scanner, clock, log, upstream });
    },
    onChanged: known.onChanged,
  };
}

/** The part that reads and writes the store. */
function onRecord(
  store: QuarantineStore,
  known: ReturnType<typeof createKnownTools>,
  log: Log,
): Pick<Quarantine, 'load' | 'reread' | 'follow' | 'put' | 'forget' | 'inTurn'> {
  const turns = createTurns();
  const turnOf = (tenantId: string, upstream: string): string => `${upstream} ${tenantId}`;
  const reread = async (place: StoredPlace): Promise<void> => known.agree(place, await store.load(place));
  const follower = followPrints(
    {
      name: 'quarantine',
      prints: () => store.prints(),
      here: known.places,
      // In turn, so that it never undoes what is being written here.
      agree: (place) => turns(turnOf(place.tenantId, upstreamAt(place.name)), () => reread(place)),
    },
    log,
  );
  return {
    async load() {
      const prints = await store.prints();
      known.put(await store.load());
      follower.agreed(prints);
    },
    reread: (tenantId, name) => reread({ tenantId, name }),
    follow: follower.follow,
    async put(tools, events) {
      if (tools.length === 0) return;
      // Within a turn nothing else changes what is known here.
      const revisionOf = ({ tenantId, toolId }: UpstreamTool) => known.find(tenantId, toolId)?.revision;
      const revised = tools.map((tool) => ({ ...tool, revision: revisionOf(tool) }));
      const written = await store.putAll(revised, events);
      if (written !== undefined) return known.put(written);
      const places = new Map(tools.map(({ tenantId, upstream }) => [upstream, { tenantId, name: upstream }]));
      for (const place of places.values()) await reread(place);
      throw writtenElsewhere();
    },
    async forget(tenantId, upstream) {
      for (const name of placesOf(upstream)) {
        await store.removeUpstream(tenantId, name);
        known.agree({ tenantId, name }, []);
      }
    },
    inTurn: (tenantId, upstream, work) =>
      turns(turnOf(tenantId, upstream), async () => {
        for (let left = WRITES_MAX - 1; left > 0; left -= 1) {
          try {
            return await work();
          } catch (thrown) {
            if (!isWrittenElsewhere(thrown)) throw thrown;
          }
        }
        return work();
      }),
  };
}

/** Most times that work is begun whose tools another instance writes at the same time. */
const WRITES_MAX = 5;

const writtenElsewhere = (): ToolLayerError =>
  new ToolLayerError('E3704', 'Another instance changed tools of the upstream at the same time. Try again.');

const isWrittenElsewhere = (thrown: unknown): boolean => thrown instanceof ToolLayerError && thrown.code === 'E3704';

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
