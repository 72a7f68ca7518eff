import type { Clock } from '@sallyport/std/clock';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Log } from '../../../telemetry/log.ts';
import { OUTPUTS_KEPT_MS, type OutputKey, type OutputStore, type SeenOutput } from '../../output-store.port.ts';

/** What is known of an input: its first output, nothing, or `unknown` when the store could not be asked. */
export type Recalled = SeenOutput | undefined | 'unknown';

/** Remembers outputs of tools that claim to be deterministic (PIPE-10). */
export interface OutputMemory {
  /**
   * Remembers the output of an input, unless one is remembered already. Never throws or rejects.
   * @returns the earlier output of the same input; undefined when the input is new. A promise only when the store has
   *   to be asked
   */
  seen(key: OutputKey, output: SeenOutput): Recalled | Promise<Recalled>;
}

/** How much this process caches in front of the store (least recently used goes first), and how it asks the store. */
export interface OutputMemoryBounds {
  readonly toolsMax: number;
  readonly inputsPerToolMax: number;
  /** Queries to the store under way at once; beyond them nothing is asked. */
  readonly askedMax: number;
  /** How long a call waits for the store, in ms. */
  readonly waitMs: number;
}

/** Some 20 MB when full. */
export const OUTPUT_MEMORY_BOUNDS: OutputMemoryBounds = {
  toolsMax: 256,
  inputsPerToolMax: 256,
  askedMax: 1024,
  waitMs: 1000,
};

/** Dependencies of the output memory. */
export interface OutputMemoryParts {
  readonly store: OutputStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly bounds?: OutputMemoryBounds;
}

interface Held {
  readonly output: SeenOutput;
  /** True when the store has confirmed that this output is the first of all instances. */
  readonly isStored: boolean;
}

/**
 * A cache of this process in front of the store: each input is queried once, which costs its call one round trip to the
 * database (0.12 ms on an idle machine), and nothing from then on. An unavailable store fails no call, since a result
 * is as right as before, and counts no result as compared: outputs that this process saw itself are still compared,
 * others are `unknown`, and the next call with the input asks again.
 */
export function createOutputMemory(parts: OutputMemoryParts): OutputMemory {
  const { store, clock, bounds = OUTPUT_MEMORY_BOUNDS } = parts;
  const held = createHeld(bounds);
  const noteAway = createAwayNote(parts.log);
  let asked = 0;

  const ask = async (key: OutputKey, first: SeenOutput): Promise<SeenOutput | 'unknown'> => {
    asked += 1;
    try {
      const standing = await store.remember(key, first);
      held.put(key, { output: standing, isStored: true });
      noteAway(undefined);
      return standing;
    } catch (thrown) {
      noteAway(failureOf(thrown).message);
      return 'unknown';
    } finally {
      asked -= 1;
    }
  };
  return {
    seen(key, output) {
      const known = held.get(key);
      const before = known !== undefined && clock.now() - known.output.at < OUTPUTS_KEPT_MS ? known : undefined;
      if (before?.isStored === true) return before.output;
      // The first output that this process saw while the store was away is the one to remember now.
      const first = before?.output ?? output;
      if (before === undefined) held.put(key, { output, isStored: false });
      if (asked >= bounds.askedMax) return alone(first, output);
      return within(bounds.waitMs, ask(key, first)).then((standing) =>
        standing === 'unknown' ? alone(first, output) : earlier(standing, output),
      );
    },
  };
}

/** The earlier output; undefined when the call's own output is the first. */
const earlier = (first: SeenOutput, own: SeenOutput): SeenOutput | undefined =>
  first.invocationId === own.invocationId && first.outputHash === own.outputHash ? undefined : first;

/** Without the store: a difference is still a difference, but an equal result proves nothing. */
const alone = (first: SeenOutput, own: SeenOutput): Recalled =>
  first.outputHash === own.outputHash ? 'unknown' : first;

/** @param asking never rejects. Not cancelled on timeout; its result is cached for the next call */
async function within<Answer>(ms: number, asking: Promise<Answer>): Promise<Answer | 'unknown'> {
  const { promise: over, resolve } = Promise.withResolvers<'unknown'>();
  const timer = setTimeout(resolve, ms, 'unknown');
  try {
    return await Promise.race([asking, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Logs once that the store is away, and once that it is back. */
function createAwayNote(log: Log): (reason: string | undefined) => void {
  let isAway = false;
  return (reason) => {
    if ((reason !== undefined) === isAway) return;
    isAway = reason !== undefined;
    if (reason === undefined) log.info('outputs-compared-again');
    else log.warn('outputs-not-compared', { reason });
  };
}

function createHeld({ toolsMax, inputsPerToolMax }: OutputMemoryBounds) {
  const tools = new Map<string, Map<string, Held>>();
  const inputsOf = ({ tenantId, ownerId, contentHash }: OutputKey): Map<string, Held> => {
    const tool = `${tenantId.length} ${tenantId}${contentHash}${ownerId}`;
    const inputs = tools.get(tool) ?? new Map<string, Held>();
    renew(tools, tool, inputs, toolsMax);
    return inputs;
  };
  return {
    get(key: OutputKey): Held | undefined {
      const inputs = inputsOf(key);
      const found = inputs.get(key.inputHash);
      if (found !== undefined) renew(inputs, key.inputHash, found, inputsPerToolMax);
      return found;
    },
    put(key: OutputKey, value: Held): void {
      renew(inputsOf(key), key.inputHash, value, inputsPerToolMax);
    },
  };
}

/** Moves the entry to the end, and evicts the first one when there is no room. */
function renew<Value>(entries: Map<string, Value>, key: string, value: Value, max: number): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= max) return;
  const oldest = entries.keys().next();
  if (oldest.done !== true) entries.delete(oldest.value);
}
