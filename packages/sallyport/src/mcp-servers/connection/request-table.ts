// Hot path: every tools/call of every upstream goes through here.
import { type JSONRPCMessage, ProtocolError } from '@modelcontextprotocol/client';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Progress } from '../../domain/principal/principal.ts';
import { isObject } from '../../domain/shape/is-object.ts';
import type { Asker, Askers } from '../incoming/asker.ts';
import { createEndedOwners } from '../incoming/ended-owners.ts';
import { createFloodGate, type FloodGate } from './pacing/flood-gate.ts';

/** Ids of our own requests start here, far from those that the SDK counts from 0, and fit 32 bits. */
export const FIRST_ID = 1_000_000;
const LAST_ID = 2_000_000_000;
const PROGRESS_MESSAGE_CHARS_MAX = 1024;
/** Progress reports of one request passed on per window; further ones only count as signs of life. */
const PROGRESS_MAX = 100;
const PROGRESS_WINDOW_MS = 1_000;
/** Most abandoned requests remembered, whose answers may still come. */
const GIVEN_UP_MAX = 1024;
/**
 * How long a server's question may belong to an abandoned request, and a log message to one that was answered, in ms: the
 * server may not have stopped at once.
 */
const GIVEN_UP_ASKS_MS = 60_000;
/** Key of a progress report's `_meta` under which a server saves a checkpoint. */
const META_CHECKPOINT = 'sallyport/checkpoint';
/** JSON-RPC: code assumed for an error without one. */
const INTERNAL_ERROR = -32603;

/** Options of one request. */
export interface RequestOptions {
  /** Its reason becomes the rejection; the server is notified with `notifications/cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** Absolute, ms; E3103 when it passes. */
  readonly timeoutMs?: number | undefined;
  /** Longest time without an answer or progress, ms; E3103 when it passes (EXE-12). */
  readonly idleMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Receives what progress reports hold as a checkpoint; absent: it is ignored. */
  readonly onCheckpoint?: ((given: unknown) => void) | undefined;
  /** Receives pointers to the whole numbers of the result that were rounded, before it is there; empty for none. */
  readonly onRounded?: ((places: readonly string[]) => void) | undefined;
  /** Members of `_meta` beside those of the protocol. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** HTTP headers of this request alone; ignored by other transports. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Extensions that the client declares with this request, beside its other capabilities (2026-07-28). */
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
  /** The call that the request is part of, so that a question of the server can be assigned to it. */
  readonly asker?: Asker | undefined;
}

/** A result object as the server sent it. */
export type RawResult = Record<string, unknown>;

/** Requests that wait for their answer. */
export interface RequestTable {
  size(): number;
  /**
   * The calls that the server may ask for.
   * @param id the request that it asks for, when known; otherwise all that wait or were abandoned within a minute
   */
  askers(id?: number): Askers;
  /** While held, no request times out for idleness: a person is being asked. */
  holdIdle(isHeld: boolean): void;
  /**
   * Opens a request.
   * @param onGiveUp called when the caller no longer waits, after the request was removed
   */
  open(
    options: RequestOptions,
    onGiveUp: (id: number, why: string) => void,
  ): { id: number; answer: Promise<RawResult> };
  /** Takes in which places of an answer, which comes next, whole numbers were rounded. */
  noteRounded(id: unknown, places: readonly string[]): void;
  /** Takes an answer; false when no request of ours waits for it or was abandoned lately. */
  settle(message: JSONRPCMessage & { readonly id?: unknown }): boolean;
  /**
   * Takes the parameters of a progress notification; false when it concerns no request of ours, or exceeds the rate
   * limit.
   */
  progress(params: unknown): boolean;
  fail(id: number, error: unknown): boolean;
  failAll(error: () => unknown): void;
}

/** An abandoned request that the server may still be working on. */
interface GivenUp {
  readonly asker: Asker | undefined;
  /** Monotonic, ms. */
  readonly at: number;
}

interface Waiting {
  readonly resolve: (result: RawResult) => void;
  readonly reject: (error: unknown) => void;
  readonly options: RequestOptions;
  readonly onAbort: (() => void) | undefined;
  readonly timer: NodeJS.Timeout | undefined;
  readonly idleTimer: NodeJS.Timeout | undefined;
  reports: FloodGate | undefined;
  rounded: readonly string[];
}

/** Owner and listeners of the requests. */
export interface RequestTableParts {
  readonly label: string;
  readonly clock: Clock;
  /** Text added to a timeout's message, about what the connection has seen. */
  hint(): string;
  /** Called when the last waiting request is gone. */
  onEmpty(): void;
}

/** Makes an empty table. */
export function createRequestTable(parts: RequestTableParts): RequestTable {
  const { clock } = parts;
  const ended = createEndedOwners();
  const table = tableOf(parts, (asker) => {
    if (asker !== undefined) ended.note(asker.owner, clock.monotonic());
  });
  return {
    ...table,
    askers: (id) => ({
      ...table.askers(id),
      ended: id === undefined ? ended.since(clock.monotonic() - GIVEN_UP_ASKS_MS) : OF_ONE,
    }),
  };
}

type PlainTable = Omit<RequestTable, 'askers'> & { askers(id?: number): Omit<Askers, 'ended'> };

/** @param onAnswered called with the call whose request was answered, in time or late */
function tableOf(
  { label, clock, hint, onEmpty }: RequestTableParts,
  onAnswered: (asker: Asker | undefined) => void,
): PlainTable {
  const waiting = new Map<number, Waiting>();
  const givenUp = new Map<number, GivenUp>();
  let lastId = FIRST_ID;
  let held = false;

  const take = (id: unknown): Waiting | undefined => {
    const request = typeof id === 'number' ? waiting.get(id) : undefined;
    if (request === undefined) return undefined;
    waiting.delete(id as number);
    stopWaiting(request);
    if (waiting.size === 0) onEmpty();
    return request;
  };
  const fail = (id: number, error: unknown): boolean => {
    const request = take(id);
    request?.reject(error);
    return request !== undefined;
  };

  return {
    size: () => waiting.size,
    askers: (id) => askersOf(waiting, givenUp, clock.monotonic() - GIVEN_UP_ASKS_MS, id),
    holdIdle(isHeld) {
      held = isHeld;
      // The time that a person took does not count as the server's.
      for (const { idleTimer } of waiting.values()) idleTimer?.refresh();
    },
    fail,
    open(options, onGiveUp) {
      lastId = lastId >= LAST_ID ? FIRST_ID : lastId + 1;
      const id = lastId;
      const { signal, timeoutMs, idleMs } = options;
      const giveUp = (error: unknown, why: string): void => {
        if (!fail(id, error)) return;
        remember(givenUp, id, { asker: options.asker, at: clock.monotonic() });
        onGiveUp(id, why);
      };
      const late = (ms: number) => () => giveUp(timedOut(label, ms, hint()), 'timed out');
      const idle = (ms: number) => () => (held ? waiting.get(id)?.idleTimer?.refresh() : late(ms)());
      const onAbort = signal === undefined ? undefined : () => giveUp(signal.reason, 'cancelled by the caller');
      if (onAbort !== undefined) signal?.addEventListener('abort', onAbort, { once: true });
      const answer = new Promise<RawResult>((resolve, reject) => {
        const timer = timeoutMs === undefined ? undefined : setTimeout(late(timeoutMs), timeoutMs);
        const idleTimer = idleMs === undefined ? undefined : setTimeout(idle(idleMs), idleMs);
        waiting.set(id, { resolve, reject, options, onAbort, timer, idleTimer, reports: undefined, rounded: [] });
      });
      return { id, answer };
    },
    noteRounded(id, places) {
      const request = typeof id === 'number' ? waiting.get(id) : undefined;
      if (request !== undefined) request.rounded = places;
    },
    settle(message) {
      const request = take(message.id);
      if (request === undefined) return isLate(givenUp, message.id, onAnswered);
      onAnswered(request.options.asker);
      request.options.onRounded?.(request.rounded);
      end(request, outcomeOf(message, label));
      return true;
    },
    progress: (params) => takeProgress(waiting, params, clock),
    failAll(error) {
      for (const id of [...waiting.keys()]) fail(id, error());
    },
  };
}

/** What comes on the stream of one request is about its call, also when that is over. */
const OF_ONE: Askers['ended'] = [undefined];

const PROGRESS_BOUNDS = {
  itemsMax: PROGRESS_MAX,
  bytesMax: Number.POSITIVE_INFINITY,
  windowMs: PROGRESS_WINDOW_MS,
} as const;

function takeProgress(waiting: ReadonlyMap<number, Waiting>, params: unknown, clock: Clock): boolean {
  const { progressToken, ...members } = (params ?? {}) as Record<string, unknown>;
  const request = typeof progressToken === 'number' ? waiting.get(progressToken) : undefined;
  return request !== undefined && takeReport(request, members, clock);
}

/** False when the report exceeds the rate limit. */
function takeReport(request: Waiting, members: Record<string, unknown>, clock: Clock): boolean {
  request.idleTimer?.refresh();
  request.reports ??= createFloodGate(clock, PROGRESS_BOUNDS);
  if (!request.reports.admits(0)) return false;
  const progress = progressOf(members);
  report(() => {
    if (progress !== undefined) request.options.onProgress?.(progress);
  });
  report(() => giveCheckpoint(request.options, members['_meta']));
  return true;
}

function askersOf(
  waiting: ReadonlyMap<number, Waiting>,
  givenUp: ReadonlyMap<number, GivenUp>,
  since: number,
  id: number | undefined,
): Omit<Askers, 'ended'> {
  const one = id === undefined ? undefined : waiting.get(id)?.options.asker;
  if (id !== undefined) return { running: one === undefined ? [] : [one], gone: [] };
  const running: Asker[] = [];
  const gone: Asker[] = [];
  for (const { options } of waiting.values()) if (options.asker !== undefined) running.push(options.asker);
  for (const { asker, at } of givenUp.values()) if (asker !== undefined && at >= since) gone.push(asker);
  return { running, gone };
}

function stopWaiting({ timer, idleTimer, onAbort, options }: Waiting): void {
  clearTimeout(timer);
  clearTimeout(idleTimer);
  if (onAbort !== undefined) options.signal?.removeEventListener('abort', onAbort);
}

function end({ resolve, reject }: Waiting, outcome: RawResult | Error): void {
  if (outcome instanceof Error) reject(outcome);
  else resolve(outcome);
}

/** True for the answer of a request that was given up. */
function isLate(givenUp: Map<number, GivenUp>, id: unknown, onAnswered: (asker: Asker | undefined) => void): boolean {
  if (typeof id !== 'number') return false;
  onAnswered(givenUp.get(id)?.asker);
  return givenUp.delete(id);
}

/** Its answer may still come; only the latest abandoned requests are remembered. */
function remember(givenUp: Map<number, GivenUp>, id: number, request: GivenUp): void {
  givenUp.set(id, request);
  if (givenUp.size <= GIVEN_UP_MAX) return;
  for (const oldest of givenUp.keys()) {
    givenUp.delete(oldest);
    return;
  }
}

function outcomeOf(message: JSONRPCMessage, label: string): RawResult | Error {
  if ('error' in message) {
    // Read defensively: members may be missing or have no textual form.
    const { code, message: text, data } = (message.error ?? {}) as unknown as Record<string, unknown>;
    return new ProtocolError(
      typeof code === 'number' ? code : INTERNAL_ERROR,
      typeof text === 'string' ? text : 'the error has no message',
      data,
    );
  }
  const result: unknown = 'result' in message ? message.result : undefined;
  if (typeof result === 'object' && result !== null && !Array.isArray(result)) return result as RawResult;
  return new ToolLayerError('E3308', `The upstream '${label}' answered with something that is no result object.`, {
    details: { reached: true },
  });
}

function giveCheckpoint({ onCheckpoint }: RequestOptions, meta: unknown): void {
  if (onCheckpoint !== undefined && isObject(meta) && Object.hasOwn(meta, META_CHECKPOINT)) {
    onCheckpoint(meta[META_CHECKPOINT]);
  }
}

/** A listener that fails must not fail the connection. */
function report(give: () => void): void {
  try {
    give();
  } catch {
    // The listener gets the next report.
  }
}

function progressOf({ progress, total, message }: Record<string, unknown>): Progress | undefined {
  if (typeof progress !== 'number') return undefined;
  return {
    progress,
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof message === 'string' ? { message: message.slice(0, PROGRESS_MESSAGE_CHARS_MAX) } : {}),
  };
}

function timedOut(label: string, ms: number, hint: string): ToolLayerError {
  return new ToolLayerError('E3103', `The upstream '${label}' did not answer within ${Math.round(ms)} ms.${hint}`, {
    details: { reached: true },
  });
}
