import type { NetworkPermission } from '@sallyport/std/permissions';
import type { EgressBounds } from '../settings.ts';
import { tokenBucket } from './token-bucket.ts';

/** What went through the way out of one sandbox. */
export interface EgressUsage {
  /** From the tool to the outside; without what the layer adds or drops of a proxy's own. */
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** Connections that the tool opened, those that led nowhere too. */
  readonly connections: number;
  /** Connections that were not allowed or not possible; the first ones word for word. */
  readonly refused: number;
  readonly refusals: readonly EgressRefusal[];
}

/** One refused connection. */
export interface EgressRefusal {
  /** What the tool asked for; undefined when it could not be read. */
  readonly target: NetworkPermission | undefined;
  /** A sentence without a full stop. */
  readonly why: string;
}

/** Counts and shapes what one sandbox moves. */
export interface Traffic {
  /** @returns milliseconds to wait before more is read */
  sent(bytes: number): number;
  received(bytes: number): number;
  opened(): void;
  refuse(why: string, target?: NetworkPermission): void;
  usage(): EgressUsage;
}

/** @param onFull called once, when the bytes or the connections of the sandbox are used up */
export function createTraffic(
  bounds: Pick<EgressBounds, 'bytesMax' | 'connectionsTotalMax' | 'refusalsKeptMax'>,
  bandwidthMbps: number | undefined,
  onFull: (why: string) => void,
): Traffic {
  const bucket = bandwidthMbps === undefined ? undefined : tokenBucket(bandwidthMbps);
  const refusals: EgressRefusal[] = [];
  const counts = { bytesSent: 0, bytesReceived: 0, connections: 0, refused: 0 };
  let isFull = false;
  const full = (why: string): void => {
    if (isFull) return;
    isFull = true;
    onFull(why);
  };
  const count = (bytes: number): number => {
    if (counts.bytesSent + counts.bytesReceived > bounds.bytesMax)
      full(`more than ${bounds.bytesMax} bytes were moved`);
    return bucket === undefined ? 0 : bucket.take(bytes);
  };
  return {
    sent(bytes) {
      counts.bytesSent += bytes;
      return count(bytes);
    },
    received(bytes) {
      counts.bytesReceived += bytes;
      return count(bytes);
    },
    opened() {
      counts.connections += 1;
      if (counts.connections >= bounds.connectionsTotalMax) {
        full(`more than ${bounds.connectionsTotalMax} connections were opened`);
      }
    },
    refuse(why, target) {
      counts.refused += 1;
      if (refusals.length < bounds.refusalsKeptMax) refusals.push({ target, why });
    },
    usage: () => ({ ...counts, refusals: [...refusals] }),
  };
}
