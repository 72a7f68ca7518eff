import type { Clock } from '@sallyport/std/clock';

/** Counts unsolicited messages in windows of a fixed length. */
export interface FloodGate {
  /** Counts one item; false when the current window exceeds its limit. */
  admits(bytes: number): boolean;
}

/** @param windowMs length of the window in ms; the counts start again at its end */
export function createFloodGate(
  clock: Clock,
  bounds: { readonly itemsMax: number; readonly bytesMax: number; readonly windowMs: number },
): FloodGate {
  let windowStart = clock.monotonic();
  let items = 0;
  let bytes = 0;
  return {
    admits(size) {
      const now = clock.monotonic();
      if (now - windowStart > bounds.windowMs) {
        windowStart = now;
        items = 0;
        bytes = 0;
      }
      items += 1;
      bytes += size;
      return items <= bounds.itemsMax && bytes <= bounds.bytesMax;
    },
  };
}
