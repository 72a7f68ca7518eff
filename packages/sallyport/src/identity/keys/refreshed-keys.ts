import type { Clock } from '@sallyport/std/clock';
import { messageOf } from '@sallyport/std/error/message-of';
import type { ValuesOf } from '../../domain/settings/setting.ts';
import type { Log } from '../../telemetry/log.ts';
import type { KeySource, VerificationKey } from '../key-source.ts';
import type { KEY_SETTINGS } from './key-settings.ts';

/** Longest time of one refresh of the keys, in ms. */
const LOAD_TIMEOUT_MS = 5_000;
/** Most keys of one source remembered, vanished ones included; the source itself may name 64. */
const ENTRIES_MAX = 128;
/** Least time between two refreshes caused by unknown keys or failures, in ms. */
const RETRY_MS = 10_000;

/** Source of keys, and how long they are valid. */
export interface RefreshOptions extends ValuesOf<typeof KEY_SETTINGS> {
  readonly load: (signal: AbortSignal) => Promise<readonly VerificationKey[]>;
  /** Name of the source in messages. */
  readonly name: string;
  /** Issuers that the keys speak for; absent: every accepted one. */
  readonly issuers?: readonly string[];
  /** Default 10 000. */
  readonly retryMs?: number;
  /** Default 5 000. */
  readonly timeoutMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keys that are refreshed from time to time, until closed. */
export interface RefreshedKeys extends KeySource, AsyncDisposable {
  /** First refresh; the caller handles its failure: rejects with the error of `load`. */
  loadFirst(): Promise<void>;
  /** Starts refreshing: at once, unless done already, and then regularly. */
  start(): void;
}

interface Entry {
  readonly key: VerificationKey;
  vanishedAt?: number;
}

interface State extends RefreshOptions {
  readonly retryMs: number;
  readonly entries: Map<string, Entry>;
  readonly closing: AbortController;
  /** Wall time of the last successful refresh; undefined before the first. */
  goodAt: number | undefined;
  /** Monotonic. */
  lookedAt: number;
  looking: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
  failures: number;
}

/**
 * Keeps the keys of a source: vanished keys stay valid for an overlap, the last answer stays valid for a maximum age,
 * and failures meanwhile are logged and change nothing (PRM-02).
 */
export function refreshedKeys(options: RefreshOptions): RefreshedKeys {
  const state: State = {
    ...options,
    retryMs: options.retryMs ?? RETRY_MS,
    entries: new Map(),
    closing: new AbortController(),
    goodAt: undefined,
    lookedAt: Number.NEGATIVE_INFINITY,
    looking: undefined,
    timer: undefined,
    failures: 0,
  };
  return {
    keys: () => {
      const now = state.clock.now();
      return [...state.entries.values()].filter((entry) => now < goodUntil(state, entry)).map(({ key }) => key);
    },
    lookAgain: () => lookAgain(state),
    problem: (issuer) => problemOf(state, issuer),
    loadFirst: () => look(state),
    start: () => {
      if (state.timer !== undefined || state.closing.signal.aborted) return;
      if (state.goodAt === undefined) void lookLoudly(state);
      plan(state);
    },
    async [Symbol.asyncDispose]() {
      state.closing.abort(new Error('closed'));
      clearTimeout(state.timer);
      await state.looking?.catch(() => undefined);
    },
  };
}

function goodUntil({ goodAt = Number.NEGATIVE_INFINITY, maxAgeMs, overlapMs }: State, { vanishedAt }: Entry): number {
  const aged = goodAt + maxAgeMs;
  return vanishedAt === undefined ? aged : Math.min(aged, vanishedAt + overlapMs);
}

/** Sooner than usual after a failure. */
function plan(state: State): void {
  const wait = state.failures > 0 ? Math.min(state.retryMs, state.refreshMs) : state.refreshMs;
  state.timer = setTimeout(async () => {
    await lookLoudly(state);
    if (!state.closing.signal.aborted) plan(state);
  }, wait).unref();
}

async function lookAgain(state: State): Promise<boolean> {
  if (state.looking === undefined && state.clock.monotonic() - state.lookedAt < state.retryMs) return false;
  await lookLoudly(state);
  return true;
}

async function lookLoudly(state: State): Promise<void> {
  try {
    await look(state);
  } catch (cause) {
    if (state.closing.signal.aborted) return;
    const reason = messageOf(cause);
    state.log.error('keys-not-refreshed', { source: state.name, reason, failures: state.failures });
  }
}

/** Concurrent requests share one refresh. */
function look(state: State): Promise<void> {
  state.looking ??= load(state).finally(() => {
    state.looking = undefined;
  });
  return state.looking;
}

async function load(state: State): Promise<void> {
  state.lookedAt = state.clock.monotonic();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('did not answer in time')), state.timeoutMs ?? LOAD_TIMEOUT_MS);
  const signal = AbortSignal.any([late.signal, state.closing.signal]);
  try {
    take(state, await Promise.race([state.load(signal), aborted(signal)]));
    state.failures = 0;
  } catch (cause) {
    state.failures += 1;
    throw cause;
  } finally {
    clearTimeout(timer);
  }
}

/** Rejects when the signal aborts, even if the work ignores it. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

function take(state: State, loaded: readonly VerificationKey[]): void {
  const now = state.clock.now();
  const present = new Set(loaded.map(identityOf));
  for (const key of loaded) {
    const id = identityOf(key);
    const known = state.entries.get(id);
    if (known === undefined) state.entries.set(id, entryOf(state, key));
    else delete known.vanishedAt;
  }
  for (const [id, entry] of state.entries) {
    if (present.has(id)) continue;
    if (entry.vanishedAt === undefined) {
      entry.vanishedAt = now;
      state.log.warn('key-vanished', { source: state.name, kid: entry.key.kid, accepted_for_ms: state.overlapMs });
    }
    // In order of arrival: a source that publishes new keys without end loses its oldest vanished ones.
    if (now >= entry.vanishedAt + state.overlapMs || state.entries.size > ENTRIES_MAX) {
      entry.vanishedAt = Number.NEGATIVE_INFINITY;
      state.entries.delete(id);
    }
  }
  state.goodAt = now;
}

function entryOf(state: State, key: VerificationKey): Entry {
  const { issuers } = state;
  const entry: Entry = {
    key: { ...key, ...(issuers === undefined ? {} : { issuers }), goodUntil: () => goodUntil(state, entry) },
  };
  return entry;
}

/** The same name with other key material is another key. */
const identityOf = ({ kid, key, algorithm }: VerificationKey): string =>
  JSON.stringify([kid, algorithm, key.export({ type: 'spki', format: 'der' }).toString('base64')]);

function problemOf(state: State, issuer: string | undefined): string | undefined {
  if (state.issuers?.every((each) => each !== issuer) === true) return undefined;
  if (state.goodAt === undefined) return `${state.name} has not been read yet`;
  return state.clock.now() < state.goodAt + state.maxAgeMs ? undefined : `${state.name} could not be read for too long`;
}
