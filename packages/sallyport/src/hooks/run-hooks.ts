// Asked for every call; without hooks nothing is made.

import { type Clock, systemClock } from '@sallyport/std/clock';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { ownCopy } from '@sallyport/std/json/own-copy';
import { wildcardMatcher } from '@sallyport/std/text/wildcard';
import type { InvocationPhase } from '../../api/schemas/invocation.ts';
import type { SideEffectPolicy } from '../../api/schemas/tool-manifest.ts';
import { isObject } from '../domain/shape/is-object.ts';
import type {
  AfterAnswer,
  AfterHook,
  BeforeAnswer,
  BeforeHook,
  Hook,
  HookedCall,
  HookedResult,
  HookPlace,
  HookVerdict,
} from './hook.ts';

/** Facts that decide whether a hook is asked. */
export interface HookSubject {
  readonly toolId: string;
  readonly sideEffect: SideEffectPolicy;
  readonly phase: InvocationPhase | undefined;
}

/** Result of one hook. */
export interface HookEnd<Answer> {
  readonly verdict: HookVerdict;
  /** Undefined when the call continues unchanged. */
  readonly answer?: Extract<Answer, { outcome: 'rewrite' }>;
  readonly refused?: Failure;
}

/** The hooks of one layer, in the order of their configuration. */
export interface Hooks {
  /** Those before a call that fit it; undefined for none. */
  before(subject: HookSubject): readonly BeforeHook[] | undefined;
  /** Those after a call that fit it; undefined for none. */
  after(subject: HookSubject): readonly AfterHook[] | undefined;
  /** Asks one; never rejects but with the reason of a signal that ended the call. */
  askBefore(hook: BeforeHook, call: HookedCall, signal: AbortSignal): Promise<HookEnd<BeforeAnswer>>;
  /** The same after the call. */
  askAfter(hook: AfterHook, call: HookedResult, signal: AbortSignal): Promise<HookEnd<AfterAnswer>>;
}

const TIMEOUT_MS = 5_000;
const TIMEOUT_MS_MAX = 60_000;
/** Hooks of one layer. */
const HOOKS_MAX = 100;
const ID = /^[A-Za-z0-9._-]{1,64}$/;
/** Most characters of a hook's reason shown to its caller. */
const REASON_MAX = 500;

/**
 * Makes the hooks ready. Each gets a copy of the call, and its answer is copied: what it changes by itself changes no call.
 * @throws ToolLayerError E3801 for an id that is not well formed or there twice, a timeout out of bounds, too many hooks
 */
export function createHooks(hooks: readonly Hook[], clock: Clock = systemClock): Hooks {
  const ids = new Set<string>();
  for (const hook of hooks) {
    checkHook(hook, ids);
    ids.add(hook.id);
  }
  if (hooks.length > HOOKS_MAX) throw new ToolLayerError('E3801', `There are more than ${HOOKS_MAX} hooks.`);
  const matching = hooks.map((hook) => ({ hook, matches: matcherOf(hook) }));
  const before = matching.filter((each): each is Matching<BeforeHook> => each.hook.at === 'before');
  const after = matching.filter((each): each is Matching<AfterHook> => each.hook.at === 'after');
  return {
    before: (subject) => fitting(before, subject),
    after: (subject) => fitting(after, subject),
    askBefore: (hook, call, signal) => askHook(hook, (own) => hook.run(ownCopy(call), own), signal, clock),
    askAfter: (hook, call, signal) => askHook(hook, (own) => hook.run(ownCopy(call), own), signal, clock),
  };
}

interface Matching<H extends Hook> {
  readonly hook: H;
  readonly matches: (subject: HookSubject) => boolean;
}

function fitting<H extends Hook>(hooks: readonly Matching<H>[], subject: HookSubject): readonly H[] | undefined {
  if (hooks.length === 0) return undefined;
  const fit = hooks.filter(({ matches }) => matches(subject));
  return fit.length === 0 ? undefined : fit.map(({ hook }) => hook);
}

function checkHook({ id, at, timeoutMs }: Hook, ids: ReadonlySet<string>): void {
  if (!ID.test(id)) throw faulty(id, 'is no id; write letters, digits, ., _ and -');
  if (ids.has(id)) throw faulty(id, 'is there twice');
  if (at !== 'before' && at !== 'after') throw faulty(id, 'stands neither before nor after a call');
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX))
    throw faulty(id, `has a timeout out of bounds; 1 to ${TIMEOUT_MS_MAX} ms`);
}

const faulty = (id: string, what: string): ToolLayerError =>
  new ToolLayerError('E3801', `The hook "${String(id).slice(0, 64)}" ${what}.`);

function matcherOf({ match }: Hook): (subject: HookSubject) => boolean {
  const { tools, sideEffects, phases } = match ?? {};
  const ids = tools?.map(wildcardMatcher);
  return ({ toolId, sideEffect, phase }) =>
    (ids === undefined || ids.some((matches) => matches(toolId))) &&
    (sideEffects === undefined || sideEffects.includes(sideEffect)) &&
    (phases === undefined || (phase !== undefined && phases.includes(phase)));
}

/** Why a hook has no say: what it said, or that it said nothing in time. Beyond repair even for one that fails open. */
export class HookForged extends Error {}

interface SomeHook {
  readonly id: string;
  readonly at: HookPlace;
  readonly timeoutMs?: number;
  readonly failOpen?: boolean;
}

async function askHook<Answer extends BeforeAnswer | AfterAnswer>(
  hook: SomeHook,
  run: (signal: AbortSignal) => Answer | undefined | Promise<Answer | undefined>,
  signal: AbortSignal,
  clock: Clock,
): Promise<HookEnd<Answer>> {
  const { id, at } = hook;
  const start = clock.monotonic();
  const verdict = (outcome: HookVerdict['outcome']): HookVerdict => ({
    id,
    at,
    outcome,
    ms: Math.round(clock.monotonic() - start),
  });
  try {
    const answer = checked(hook, ownCopy(await inTime(hook, run, signal)));
    if (answer === undefined || answer.outcome === 'allow') return { verdict: verdict('allow') };
    if (answer.outcome === 'refuse') return { verdict: verdict('refuse'), refused: refusal(hook, answer.reason) };
    return { verdict: verdict('rewrite'), answer: answer as Extract<Answer, { outcome: 'rewrite' }> };
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    const goesOn = hook.failOpen === true && !(cause instanceof HookForged);
    const failed = { ...verdict('failed'), went_on: goesOn };
    return goesOn ? { verdict: failed } : { verdict: failed, refused: noAnswer(hook, cause) };
  }
}

/** A hook that does not heed its signal is left alone with what it does. */
async function inTime<T>(
  { id, timeoutMs = TIMEOUT_MS }: SomeHook,
  run: (signal: AbortSignal) => T | Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const own = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const stop = (reason: unknown): void => {
    own.abort(reason);
    reject(reason);
  };
  const onGone = (): void => stop(signal.reason);
  const timer = setTimeout(() => stop(new Error(`The hook ${id} gave no answer within ${timeoutMs} ms.`)), timeoutMs);
  signal.addEventListener('abort', onGone, { once: true });
  try {
    return await Promise.race([run(own.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onGone);
    own.abort(new Error('The hook was asked and nobody waits for it any more.'));
  }
}

/** A hook is somebody's code, or somebody's server: what it says is looked at before it is taken. */
function checked<Answer extends BeforeAnswer | AfterAnswer>(
  hook: SomeHook,
  said: Answer | undefined,
): Answer | undefined {
  if (said === undefined || said === null) return undefined;
  if (said.outcome === 'allow') return said;
  if (said.outcome === 'refuse' && typeof said.reason === 'string') return said;
  const member = hook.at === 'before' ? 'arguments' : 'result';
  const value = (said as Partial<Record<typeof member, unknown>>)[member];
  const fits = member === 'result' ? value !== undefined : isObject(value);
  if (said.outcome === 'rewrite' && fits) return said;
  throw new Error(`The hook ${hook.id} answered with neither allow, refuse with a reason, nor rewrite with ${member}.`);
}

const refusal = ({ id, at }: SomeHook, reason: string): Failure =>
  failure('E3815', `${what(at)} is refused by the hook ${id}: ${reason.slice(0, REASON_MAX)}`, {
    details: { hook: id, at },
  });

const noAnswer = ({ id, at }: SomeHook, cause: unknown): Failure =>
  failure('E3816', `${what(at)} is refused because the hook ${id} gave no usable answer. Tell the operator.`, {
    details: { hook: id, at },
    cause,
  });

const what = (at: HookPlace): string => (at === 'before' ? 'The call' : 'The tool ran, but its result');
