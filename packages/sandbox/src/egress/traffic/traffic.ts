import type { NetworkPermission } from '@sallyport/std/permissions';
import type { EgressBounds } from '../settings.ts';
import { tokenBucket } from './token-bucket.ts';

/** Network traffic of one sandbox. */
export interface EgressUsage {
  /** From the tool to the outside; without a proxy's own data that the layer adds or removes. */
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** Connections that the tool opened, failed ones included. */
  readonly connections: number;
  /** Refused or impossible connections; the first ones with their text. */
  readonly refused: number;
  readonly refusals: readonly EgressRefusal[];
}

/** One refused connection. */
export interface EgressRefusal {
  /** The tool's target; undefined when unreadable. */
  readonly target: NetworkPermission | undefined;
  /** A sentence without a full stop. */
  readonly why: string;
}

/** Counts and shapes the traffic of one sandbox. */
export interface Traffic {
  /** @returns milliseconds to wait before more is read */
  sent(bytes: number): number;
  received(bytes: number): number;
  opened(): void;
  refuse(why: string, target?: NetworkPermission): void;
  usage(): EgressUsage;
}

/** @param onFull called once, when the sandbox's bytes or connections are used up */
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
