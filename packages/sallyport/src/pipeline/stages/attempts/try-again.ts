import { setTimeout as wait } from 'node:timers/promises';
import { entryOf, type Failure, failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { isoTime } from '@sallyport/std/iso-time';
import { isCutOff } from '../../../domain/retry/cut-off.ts';
import { mayRetry, type RetryTerms } from '../../../domain/retry/may-retry.ts';
import { nextWait, type RetryBudget } from '../../../domain/retry/next-wait.ts';
import { RETRY_DEFAULTS } from '../../../domain/tool/effective-manifest.ts';
import { isSafeToRepeat } from '../../../domain/tool/tool-version.ts';
import type { Authorized, CallRequest, Ran, Resolved } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';
import type { FailedAttempt } from '../../ongoing/tool-run.ts';
import type { PipelineParts } from '../../parts.ts';
import type { StageEnd } from '../../stage.ts';
import { endOfAborted } from './outcome-unknown.ts';
import type { RetryRules } from './retry-rules.ts';
import { takeRate } from './take-rate.ts';

type Call = CallRequest & Resolved & Authorized;
type Parts = Pick<PipelineParts, 'clock' | 'log' | 'limits' | 'rateLimiter' | 'circuits' | 'retries'>;

/** The first attempt, and how to make another. */
interface First {
  readonly failed: Failure;
  /** Monotonic ms at which the first attempt began. */
  readonly startedAt: number;
  /** Makes one more attempt; rejects as an executor does. */
  readonly attempt: () => Promise<Ran>;
}

/** The codes of an external service's failures (EXT-03). */
const EXTERNAL = /^E33/;

/**
 * Handles a call whose first attempt failed: retries after a wait, where the failure, the tool and the time allow it
 * (PIPE-05). Timeout and cancel of the call stay in force, and end a wait too.
 */
export async function tryAgain(
  parts: Parts,
  call: Call,
  ongoing: OngoingCall,
  { failed, startedAt, attempt }: First,
): Promise<StageEnd<Ran>> {
  const { clock, retries: rules } = parts;
  const { signal } = ongoing.controller;
  const terms = termsOf(call, rules);
  const budget = budgetOf(rules, call);
  const leftMs = (): number =>
    Math.min(startedAt + rules.budgetMs - clock.monotonic(), ongoing.toolRun.deadline?.leftMs() ?? 0);
  let last = failedAttempt(clock, failed, 1, startedAt, 0);
  for (;;) {
    const waitMs = waitAfter(last, terms, budget, leftMs());
    if (waitMs === undefined || signal.aborted) return ended(ongoing, last, terms);
    // The changes of the attempt are undone first; when that fails, no other attempt may build upon them.
    if ((await ongoing.undo.rollBackAttempt(parts.log)) === 'failed') return ended(ongoing, last, terms);
    note(ongoing, last, clock.now());
    const stopped = await waited(parts, call, ongoing, waitMs);
    if (stopped !== undefined) return stopped;
    ongoing.toolRun.beginAttempt();
    const begunAt = clock.monotonic();
    try {
      return await attempt();
    } catch (thrown) {
      // A cancelled attempt is not retried.
      if (signal.aborted) return endOfAborted(thrown, signal);
      last = failedAttempt(clock, failureOf(thrown), ongoing.toolRun.attempts, begunAt, waitMs);
    }
  }
}

function termsOf({ tool, executor }: Call, { statusCodes }: RetryRules): RetryTerms {
  const safeToRepeat = isSafeToRepeat(tool.manifest) && executor.isRetryable(tool);
  const { retryable_errors: onlyErrors, retryable_status_codes: own } =
    tool.manifest.execution_config?.retry_policy ?? {};
  return {
    safeToRepeat,
    statusCodes: own === undefined ? statusCodes : new Set(own),
    ...(onlyErrors === undefined ? {} : { onlyErrors }),
  };
}

function budgetOf({ jitter, attemptsMax }: RetryRules, { tool }: Call): RetryBudget {
  const policy = { ...RETRY_DEFAULTS, ...tool.manifest.execution_config?.retry_policy };
  return {
    jitter,
    attemptsMax: Math.min(attemptsMax, policy.max_attempts),
    baseMs: policy.base_delay_ms,
    maxMs: policy.max_delay_ms,
  };
}

function failedAttempt(
  clock: Parts['clock'],
  failed: Failure,
  attempt: number,
  startedAt: number,
  waitedMs: number,
): FailedAttempt {
  const durationMs = Math.max(0, clock.monotonic() - startedAt);
  return { attempt, failure: failed, startedAt: clock.now() - durationMs, durationMs, waitedMs };
}

function waitAfter(last: FailedAttempt, terms: RetryTerms, budget: RetryBudget, leftMs: number): number | undefined {
  if (!mayRetry(last.failure, terms)) return undefined;
  const { attempt: attempts, waitedMs, failure: failed } = last;
  const previousMs = attempts === 1 ? undefined : waitedMs;
  const standing = { attempts, leftMs, previousMs, retryAfterMs: failed.retryAfterMs };
  return nextWait(budget, standing, Math.random);
}

/** Goes on record, and is audited with the end of the call. */
function note({ toolRun }: OngoingCall, failed: FailedAttempt, now: number): void {
  toolRun.noteFailedAttempt(failed);
  toolRun.noteFact({ type: 'ai.agent.tool.attempt_failed', at: now, data: { attempt: attemptOf(failed) } });
}

/** A failed attempt as record and event hold it; its message may quote the tool, and stays out. */
export function attemptOf({ attempt, failure: failed, startedAt, durationMs, waitedMs }: FailedAttempt) {
  return {
    attempt,
    e_code: failed.code,
    category: entryOf(failed.code).category,
    started_at: isoTime(Math.round(startedAt)),
    duration_ms: Math.round(durationMs * 1000) / 1000,
    waited_ms: Math.round(waitedMs),
  };
}

/** Waits before the next attempt. Undefined when the wait is over, and circuit and rate allow another attempt. */
async function waited(parts: Parts, call: Call, ongoing: OngoingCall, waitMs: number): Promise<Failure | undefined> {
  const { signal } = ongoing.controller;
  await wait(waitMs, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) return failureOf(signal.reason);
  const refused = await parts.circuits?.take(call, ongoing);
  if (refused !== undefined) return refused;
  return takeRate(parts, call);
}

/** The final failure of the call: the last one itself, or E3305 when every attempt at a service failed. */
function ended(ongoing: OngoingCall, last: FailedAttempt, { safeToRepeat }: RetryTerms): Failure {
  const { failure: failed, attempt: attempts } = last;
  if (attempts === 1) return failed;
  note(ongoing, last, Math.round(last.startedAt + last.durationMs));
  const isUnknown = !safeToRepeat && isCutOff(failed);
  if (isUnknown || !EXTERNAL.test(failed.code)) return failed;
  const { code, message, details, retryAfterMs, cause } = failed;
  return failure('E3305', `All ${attempts} attempts failed. The last one: ${message}`, {
    details: { ...details, attempts, last: code },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(cause === undefined ? {} : { cause }),
  });
}
