import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/** When a running tool is stopped. Measured by a monotonic clock. */
export interface Deadline {
  /** Another attempt begins: the silence of the tool is counted from now on. */
  touch(): void;
  /** The tool has reported progress, so it is alive: its timeout starts anew as far as the terms allow. */
  progressed(): void;
  /** A person is asked: silence of the tool is not counted until the handle is disposed. */
  asking(): Disposable;
  /**
   * Extends the total time of the run.
   * @param ms on top of the timeout it began with; less than an earlier extension changes nothing
   */
  extendTo(ms: number): void;
  /** Ms until the run is stopped; 0 when it is over. */
  leftMs(): number;
  /** The run is over. */
  stop(): void;
}

/** How long a run may last, and how long it may be silent. */
export interface DeadlineTerms {
  readonly timeoutMs: number;
  /** How long signs of life may keep the run alive in total; when absent they extend nothing. */
  readonly timeoutMsMax?: number | undefined;
  /** Silence after which the tool counts as dead; none when absent (PIPE-12). */
  readonly idleMs?: number;
}

/**
 * Starts the time of a run.
 * @param onOver called once, with E3103 and `details.timeout_ms` or `details.heartbeat_ms`
 */
export function startDeadline(
  clock: Pick<Clock, 'monotonic'>,
  { timeoutMs, timeoutMsMax = timeoutMs, idleMs }: DeadlineTerms,
  onOver: (error: ToolLayerError) => void,
): Deadline {
  const startedAt = clock.monotonic();
  let allowedMs = timeoutMs;
  let touchedAt = startedAt;
  let progressedAt = startedAt;
  let asked = 0;
  /** True when the tool has reported progress, or a person has been asked, since the call began. */
  let hasSigns = false;
  let timer: NodeJS.Timeout | undefined;
  const leftMs = (): number => {
    const now = clock.monotonic();
    const aliveAt = asked > 0 ? now : progressedAt;
    return Math.max(startedAt + allowedMs, Math.min(startedAt + timeoutMsMax, aliveAt + timeoutMs)) - now;
  };
  const idleLeftMs = (): number => {
    if (idleMs === undefined) return Number.POSITIVE_INFINITY;
    return asked > 0 ? idleMs : touchedAt + idleMs - clock.monotonic();
  };
  const progressed = (): void => {
    hasSigns = true;
    progressedAt = clock.monotonic();
    touchedAt = progressedAt;
  };
  const look = (): void => {
    // A timer may fire a little early by the other clock.
    if (leftMs() < EARLY_MS)
      onOver(
        hasSigns ? overdue(clock.monotonic() - startedAt, allowedMs, { timeoutMs, timeoutMsMax }) : timedOut(allowedMs),
      );
    else if (idleLeftMs() < EARLY_MS) onOver(silent(idleMs ?? 0));
    else arm(nextMs());
  };
  const arm = (ms: number): void => {
    timer = setTimeout(look, ms);
  };
  // The timer for silence is set once and checked when it fires: a progress report only changes a number.
  const nextMs = (): number => Math.min(leftMs(), idleLeftMs());
  arm(Math.min(timeoutMs, idleMs ?? timeoutMs));
  return {
    touch() {
      if (idleMs !== undefined) touchedAt = clock.monotonic();
    },
    progressed,
    asking() {
      asked += 1;
      hasSigns = true;
      return {
        [Symbol.dispose]() {
          asked -= 1;
          progressed();
        },
      };
    },
    extendTo(ms) {
      if (timer === undefined || timeoutMs + ms <= allowedMs) return;
      allowedMs = timeoutMs + ms;
      clearTimeout(timer);
      arm(nextMs());
    },
    leftMs: () => Math.max(0, leftMs()),
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** Ms by which two clocks may differ. */
const EARLY_MS = 2;

/** The failure of a run that took `ms` and gave signs of life. */
function overdue(
  ms: number,
  allowedMs: number,
  { timeoutMs, timeoutMsMax }: Record<'timeoutMs' | 'timeoutMsMax', number>,
) {
  if (timeoutMsMax <= allowedMs) return timedOut(allowedMs);
  return ms < timeoutMsMax - EARLY_MS ? withoutProgress(timeoutMs) : tooLong(timeoutMsMax);
}

const timedOut = (timeoutMs: number): ToolLayerError =>
  new ToolLayerError('E3103', `The tool did not end within ${timeoutMs / 1000} s and was stopped.`, {
    details: { timeout_ms: timeoutMs },
  });

const withoutProgress = (timeoutMs: number): ToolLayerError =>
  new ToolLayerError('E3103', `The tool reported no progress for ${timeoutMs / 1000} s and was stopped.`, {
    details: { timeout_ms: timeoutMs },
  });

const tooLong = (mostMs: number): ToolLayerError =>
  new ToolLayerError(
    'E3103',
    `The tool did not end within ${mostMs / 1000} s and was stopped, though it reported progress. Call it with execution_options.async_mode, or have the operator raise upstreams.timeout_seconds_max.`,
    { details: { timeout_ms: mostMs } },
  );

const silent = (idleMs: number): ToolLayerError =>
  new ToolLayerError(
    'E3103',
    `The tool gave no sign of life for ${idleMs / 1000} s and was stopped. Have it report its progress more often, or raise execution_config.heartbeat_seconds.`,
    { details: { heartbeat_ms: idleMs } },
  );
