import { readFileSync } from 'node:fs';

/** A range of uids; each is lent to one sandbox at a time, so that per-uid limits apply per sandbox. */
export interface UidSlots {
  /** A free uid; undefined when all are lent. */
  take(): number | undefined;
  giveBack(uid: number): void;
}

/** Most concurrent sandboxes with their own uid, when the layer is root. */
export const UID_SLOTS_MAX = 1000;
/** Far from every range that distributions, systemd and container tools use. */
const FAVOURITE_FIRST = 2_100_000_000;

let shared: { readonly slots: UidSlots | undefined } | undefined;

/** The slots of this process, shared by all drivers: two sandboxes must never have one uid at once. */
export function sharedUidSlots(): UidSlots | undefined {
  shared ??= { slots: createUidSlots() };
  return shared.slots;
}

/** Slots of uids that this process may become. Undefined when it may become none (not root, or too few mapped). */
export function createUidSlots(uidMap = readUidMap(), count: number = UID_SLOTS_MAX): UidSlots | undefined {
  const first = firstOf(uidMap, count);
  if (first === undefined) return undefined;
  const free: number[] = [];
  let fresh = 0;
  return {
    take() {
      const used = free.shift();
      if (used !== undefined || fresh >= count) return used;
      fresh += 1;
      return first + fresh - 1;
    },
    giveBack: (uid) => free.push(uid),
  };
}

function readUidMap(): string {
  return process.getuid?.() === 0 ? readFileSync('/proc/self/uid_map', 'utf8') : '';
}

function firstOf(uidMap: string, count: number): number | undefined {
  for (const line of uidMap.split('\n')) {
    const [inside, , length] = line.trim().split(/\s+/).map(Number);
    if (inside === undefined || length === undefined || length < 2 * count) continue;
    const end = inside + length;
    return end > FAVOURITE_FIRST + count ? FAVOURITE_FIRST : end - count - 1;
  }
  return undefined;
}
