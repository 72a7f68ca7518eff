import type { Clock } from '@sallyport/std/clock';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import type { DocumentPinStore } from '../../bridges/document-stores.port.ts';
import type { Retention } from '../../bridges/retention.ts';
import type { ThreadStore } from '../../bridges/thread-store.port.ts';
import type { StoredRates } from '../../external/rate-limiter.port.ts';
import type { OverflowStore } from '../../model-facing/overflow-store.port.ts';
import type { OutcomeStore } from '../../pipeline/outcome-store.port.ts';
import { OUTPUTS_KEPT_MS, type OutputStore } from '../../pipeline/output-store.port.ts';
import type { ContextStore } from '../../reference-servers/context-store.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { SideEffects } from '../side-effects.ts';
import { repeat } from '../workers/repeat.ts';
import { type DailyParts, onceADay } from './daily.ts';

/** Dependencies of the periodic work that belongs to no ongoing call. */
export interface UpkeepParts {
  readonly records: Pick<LedgerStore, 'forgetResults'>;
  readonly outcomes: Pick<OutcomeStore, 'forgetResults'>;
  readonly outputs: Pick<OutputStore, 'forget'>;
  /** Whole texts of shortened results, which can be read for `keptMs`. */
  readonly overflows: Pick<OverflowStore, 'forget'> & { readonly keptMs: number };
  /** Kept as long as results, and for calls that a later run may continue. */
  readonly documentPins: Pick<DocumentPinStore, 'forget'>;
  /** Of checkpoints: what has expired in each turn, the archive once a day. */
  readonly retention: Retention;
  readonly daily: Omit<DailyParts, 'clock'> & { readonly hour: number };
  /** Contexts of tasks, which are kept for `keptMs` after their last change. */
  readonly contexts: Pick<ContextStore, 'forget'> & { readonly keptMs: number };
  /** Threads of agents, which are kept for `keptMs` after their last change; 0 for good. */
  readonly threads: Pick<ThreadStore, 'forget'> & { readonly keptMs: number };
  readonly rates: Pick<StoredRates, 'forget'>;
  readonly sideEffects: Pick<SideEffects, 'settleOpen'>;
  /** Records credentials that end. */
  readonly credentialEndings: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the result of a completed call is kept, and what it pinned, in ms; for good when absent. */
  readonly keepResultsMs?: number;
  /** Ms between two turns, moved by up to half of it. Default 60 000. */
  readonly everyMs?: number;
}

/** Periodic work of one instance. Several instances may do it at once. */
export interface Upkeep extends AsyncDisposable {
  /** Records credentials that end, at once, and takes turns until it is disposed. */
  start(): void;
  /** Makes one turn now. Never rejects: the next turn repeats what failed. */
  turn(): Promise<void>;
}

const EVERY_MS = 60_000;
/** Rows of one statement: a result may take a MiB. */
const RESULTS_AT_ONCE = 64;
/** Rows of one statement: each is short. */
const SHORT_AT_ONCE = 1000;
/** Threads of one statement: each may have thousands of rows. */
const THREADS_AT_ONCE = 16;
/** Statements of one turn; the next turn continues from there. */
const STATEMENTS_MAX = 200;
/** Ms before the next turn while more is to be deleted. */
const MORE_MS = 1_000;

/** Deletes what is older than a time, epoch ms. @returns how much, at most `limit` */
type Forgets = { forget(before: number, limit: number): Promise<number> };

type Place = NonNullable<Awaited<ReturnType<LedgerStore['forgetResults']>>['next']>;

/**
 * Records the outcome of compensations whose asker is gone, and credentials that end; deletes results and
 * their overflows, outputs of deterministic tools, pins of documents, checkpoints, contexts of tasks, threads of agents and counts of rates after their
 * time, or archives them (VIS-03, EXT-06, PIPE-07, PIPE-10, DOC-04, STA-06, STA-07, EXT-02).
 */
export function createUpkeep(parts: UpkeepParts): Upkeep {
  const { log, everyMs = EVERY_MS } = parts;
  let after: Place | undefined;
  let stopped = false;
  const isStopped = (): boolean => stopped;
  let stop: (() => Promise<void>) | undefined;
  let first: Promise<void> | undefined;
  const daily = onceADay(
    { ...parts.daily, clock: parts.clock },
    { name: 'retention', hour: parts.daily.hour, run: (mayContinue) => retain(parts, isStopped, mayContinue) },
  );
  const attempt = async (event: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (thrown) {
      log.warn(event, { reason: failureOf(thrown).message });
    }
  };
  const recordEndings = (): Promise<void> => attempt('credential-endings-not-recorded', parts.credentialEndings);
  const turn = async (): Promise<void> => {
    await attempt('compensations-not-settled', async () => {
      const settled = await parts.sideEffects.settleOpen();
      if (settled > 0) log.info('compensations-settled', { settled });
    });
    await recordEndings();
    await attempt('results-not-forgotten', async () => {
      after = await forget(parts, after, isStopped);
    });
    const { outputs, overflows, documentPins, keepResultsMs, contexts, threads, rates, clock } = parts;
    const forgetOld = (event: string, keptMs: number, store: Forgets, atOnce = SHORT_AT_ONCE): Promise<void> =>
      attempt(event, () => inPortions(atOnce, isStopped, (limit) => store.forget(clock.now() - keptMs, limit)));
    await forgetOld('outputs-not-forgotten', OUTPUTS_KEPT_MS, outputs);
    await forgetOld('overflows-not-forgotten', overflows.keptMs, overflows, RESULTS_AT_ONCE);
    if (keepResultsMs !== undefined) await forgetOld('document-pins-not-forgotten', keepResultsMs, documentPins);
    await attempt('checkpoints-not-expired', () => parts.retention.expire(isStopped));
    await attempt('checkpoints-not-archived', () => daily(isStopped));
    await forgetOld('contexts-not-forgotten', contexts.keptMs, contexts);
    if (threads.keptMs > 0) await forgetOld('threads-not-forgotten', threads.keptMs, threads, THREADS_AT_ONCE);
    await attempt('rates-not-forgotten', () => inPortions(SHORT_AT_ONCE, isStopped, rates.forget));
  };
  return {
    start() {
      first ??= recordEndings();
      stop ??= repeat(turn, () => (after === undefined ? everyMs * (0.5 + Math.random()) : MORE_MS));
    },
    turn,
    async [Symbol.asyncDispose]() {
      stopped = true;
      await Promise.all([first, stop?.()]);
    },
  };
}

/** @returns the cursor for the next turn; undefined when it begins anew */
async function forget(
  { records, outcomes, clock, log, keepResultsMs }: UpkeepParts,
  from: Place | undefined,
  isStopped: () => boolean,
): Promise<Place | undefined> {
  if (keepResultsMs === undefined) return undefined;
  const at = clock.now();
  const before = at - keepResultsMs;
  let after = from;
  let forgotten = await outcomes.forgetResults(before, RESULTS_AT_ONCE);
  for (let statements = 0; statements < STATEMENTS_MAX && !isStopped(); statements += 1) {
    const page = await records.forgetResults({
      before,
      at,
      limit: RESULTS_AT_ONCE,
      ...(after === undefined ? {} : { after }),
    });
    forgotten += page.forgotten;
    after = page.next;
    if (after === undefined) break;
  }
  if (forgotten > 0) log.info('results-forgotten', { forgotten });
  return after;
}

/** Deletes portion after portion, until one is not full. */
async function inPortions(
  atOnce: number,
  isStopped: () => boolean,
  forgetSome: (limit: number) => Promise<number>,
): Promise<void> {
  for (let statements = 0; statements < STATEMENTS_MAX && !isStopped(); statements += 1) {
    if ((await forgetSome(atOnce)) < atOnce) return;
  }
}

/** The whole retention of checkpoints (000 §3.3.8: daily at 2 o'clock). */
async function retain(
  { retention }: UpkeepParts,
  isStopped: () => boolean,
  mayContinue: () => Promise<boolean>,
): Promise<void> {
  await retention.expire(isStopped);
  await retention.forgetWork(isStopped);
  await retention.archive(mayContinue);
}
