import { setTimeout as sleep } from 'node:timers/promises';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Ledger } from '../../audit/ledger.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Log } from '../../telemetry/log.ts';
import { commitUnlessOver } from './commit-unless-over.ts';

/** What is written at the end of a call. */
export type CallEnd = Parameters<Ledger['commit']>[0] & { readonly record: InvocationRecord };

/**
 * Ends of calls that the store did not take at first, because it was unavailable. A tool ran, so its end is not given
 * up: it is written as soon as the store is back. The next start settles what this process cannot write before it ends.
 */
export interface LateEnds extends AsyncDisposable {
  /**
   * Keeps trying to put an end on record.
   * @returns the row in force; undefined when the caller of the call has waited long enough: the end is then written
   *   later
   */
  write(end: CallEnd): Promise<InvocationRecord | undefined>;
  /** Number of ends that are not on record yet. */
  readonly size: number;
}

/** Dependencies of the late ends. */
export interface LateEndsParts {
  readonly ledger: Pick<Ledger, 'commit'>;
  readonly records: Pick<LedgerStore, 'findInvocation'>;
  readonly log: Log;
  /** How long a caller waits for a late end, ms; default 10 000. */
  readonly patienceMs?: number;
  /** Ends that are kept at once; more are left to the next start. Default 10 000. */
  readonly endsMax?: number;
}

const PATIENCE_MS = 10_000;
const ENDS_MAX = 10_000;
/**
 * How long an end is kept, ms: a store that refuses it for an hour will not take it. The next start then settles the
 * call.
 */
const KEPT_MS = 3_600_000;
/** Ends that are written at once, so that they share commits and leave room for other writes. */
const AT_ONCE = 100;
const PAUSE_MS = 50;
const PAUSE_MS_MAX = 1_000;

interface Late {
  readonly end: CallEnd;
  /** Monotonic ms. */
  readonly since: number;
  readonly resolve: (record: InvocationRecord | undefined) => void;
}

/** Creates the queue of late ends, empty. */
export function createLateEnds(parts: LateEndsParts): LateEnds {
  const { log, patienceMs = PATIENCE_MS, endsMax = ENDS_MAX } = parts;
  const waiting = new Set<Late>();
  let writing: Promise<void> | undefined;
  const closing = new AbortController();

  const writeAll = async (): Promise<void> => {
    for (let pauseMs = PAUSE_MS; waiting.size > 0 && !closing.signal.aborted; ) {
      await sleep(pauseMs, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      const all = [...waiting];
      let isAway = false;
      for (let at = 0; at < all.length && !isAway; at += AT_ONCE) {
        const written = await Promise.all(all.slice(at, at + AT_ONCE).map((late) => settle(parts, waiting, late)));
        isAway = written.includes(false);
      }
      pauseMs = isAway ? Math.min(pauseMs * 2, PAUSE_MS_MAX) : PAUSE_MS;
    }
    writing = undefined;
  };
  return {
    async write(end) {
      if (closing.signal.aborted || waiting.size >= endsMax) return undefined;
      const { promise, resolve } = Promise.withResolvers<InvocationRecord | undefined>();
      waiting.add({ end, since: performance.now(), resolve });
      if (waiting.size === 1) log.warn('ends-are-late', { invocation_id: end.record.invocationId });
      writing ??= writeAll();
      const timer = setTimeout(() => resolve(undefined), patienceMs);
      return promise.finally(() => clearTimeout(timer));
    },
    get size() {
      return waiting.size;
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await writing;
      for (const { resolve } of waiting) resolve(undefined);
    },
  };
}

/** Writes one end; false while the store is unavailable. */
async function settle({ ledger, records, log }: LateEndsParts, waiting: Set<Late>, late: Late): Promise<boolean> {
  const { record } = late.end;
  const { tenantId, invocationId } = record;
  try {
    // The first try may have succeeded although its answer was lost.
    const standing = await records.findInvocation(tenantId, invocationId);
    const isOver = standing !== undefined && isFinal(standing.state);
    const isWritten = !isOver && (await commitUnlessOver(ledger, late.end));
    late.resolve(isWritten ? record : isOver ? standing : await records.findInvocation(tenantId, invocationId));
  } catch (thrown) {
    const { code, message } = failureOf(thrown);
    const isAway = code === 'E3812' || code === 'E3803';
    if (isAway && performance.now() - late.since < KEPT_MS) return false;
    log.error('end-not-recorded', { invocation_id: invocationId, reason: message });
    late.resolve(undefined);
  }
  waiting.delete(late);
  return true;
}
