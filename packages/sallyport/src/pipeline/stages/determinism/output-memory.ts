import type { Clock } from '@sallyport/std/clock';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Log } from '../../../telemetry/log.ts';
import { OUTPUTS_KEPT_MS, type OutputKey, type OutputStore, type SeenOutput } from '../../output-store.port.ts';

/** What is known of an input: what it gave first, nothing, or that the store could not be asked. */
export type Recalled = SeenOutput | undefined | 'unknown';

/** Remembers outputs of tools that say that they are deterministic (PIPE-10). */
export interface OutputMemory {
  /**
   * Remembers what an input gave, unless something is remembered of it already. Never throws or rejects.
   * @returns what the same input gave before; undefined when it is new. A promise only where the store has to be asked
   */
  seen(key: OutputKey, output: SeenOutput): Recalled | Promise<Recalled>;
}

/** How much this process remembers beside the store (what was not asked for longest goes first), and how it asks. */
export interface OutputMemoryBounds {
  readonly toolsMax: number;
  readonly inputsPerToolMax: number;
  /** Questions to the store under way at once; beyond them nothing is asked. */
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

/** What the memory stands on. */
export interface OutputMemoryParts {
  readonly store: OutputStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly bounds?: OutputMemoryBounds;
}

interface Held {
  readonly output: SeenOutput;
  /** The store has said that this is the first of all instances. */
  readonly isStored: boolean;
}

/**
 * A memory of this process in front of the store: an input is asked for once, which costs its call one journey to the database
 * (0.12 ms on an idle machine), and nothing from then on. A store that is away fails no call, for a result is as right as it
 * was, and lets none pass as compared either: what this process saw itself is still compared, beyond it the answer is
 * `unknown`, and the next call with the input asks again.
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
      // What this process saw while the store was away is the first that it has seen, so that is what is remembered now.
      const first = before?.output ?? output;
      if (before === undefined) held.put(key, { output, isStored: false });
      if (asked >= bounds.askedMax) return alone(first, output);
      return within(bounds.waitMs, ask(key, first)).then((standing) =>
        standing === 'unknown' ? alone(first, output) : earlier(standing, output),
      );
    },
  };
}

/** Undefined when the call's own output is the first. */
const earlier = (first: SeenOutput, own: SeenOutput): SeenOutput | undefined =>
  first.invocationId === own.invocationId && first.outputHash === own.outputHash ? undefined : first;

/** Without the store: a difference is one all the same, and the same result proves nothing. */
const alone = (first: SeenOutput, own: SeenOutput): Recalled =>
  first.outputHash === own.outputHash ? 'unknown' : first;

/** @param asking never rejects; it goes on behind the wait, and what it brings is remembered for the next call */
async function within<Answer>(ms: number, asking: Promise<Answer>): Promise<Answer | 'unknown'> {
  const { promise: over, resolve } = Promise.withResolvers<'unknown'>();
  const timer = setTimeout(resolve, ms, 'unknown');
  try {
    return await Promise.race([asking, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Logs that the store is away, and that it is back, once each. */
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

/** Puts the entry last, and lets the first one go where there is no room. */
function renew<Value>(entries: Map<string, Value>, key: string, value: Value, max: number): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= max) return;
  const oldest = entries.keys().next();
  if (oldest.done !== true) entries.delete(oldest.value);
}
