import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import { wildcardMatcher } from '@sallyport/std/text/wildcard';
import type { GateDecision } from '../domain/invocation/gate-decision.ts';
import type { LanguageModel } from '../domain/language-model/language-model.port.ts';
import type { ValuesOf } from '../domain/settings/setting.ts';
import type { GATE_SETTINGS } from './gates/gate-settings.ts';
import type { GatePolicies } from './gates/policy-file.ts';
import { type JudgedCall, promptOf } from './gates/prompt.ts';

export { type GatePolicies, readGatePolicies } from './gates/policy-file.ts';
export type { JudgedCall } from './gates/prompt.ts';

/** Which model judges by which policies, and the outcome when it gives no answer. */
export interface AdversarialGateOptions extends ValuesOf<typeof GATE_SETTINGS> {
  readonly model: LanguageModel;
  readonly policies: GatePolicies;
  /** Removes personal data and secrets from everything shown to the model. */
  readonly redact: (value: unknown) => unknown;
  readonly clock: Clock;
}

/** Lets a language model judge calls that policies already allow (PRM-08). */
export interface AdversarialGate {
  /** State for operators. */
  readonly state: { readonly model: string; readonly policies: number; readonly failOpen: boolean };
  /**
   * Judges one call; asked once per call, never again after a DENY.
   * @returns undefined, at once, for an exempt tool and for a phase without policies
   * @throws only the signal's reason, when the call itself was aborted
   */
  judge(call: JudgedCall, signal: AbortSignal): Promise<GateDecision> | undefined;
}

const VERSION_LENGTH = 12;

type Verdict = Pick<GateDecision, 'answer' | 'because'>;

/** Makes the gate. */
export function createAdversarialGate(options: AdversarialGateOptions): AdversarialGate {
  const { model, policies, failOpen, clock } = options;
  const exempt = options.exemptTools.map(wildcardMatcher);
  const ofPhase = remembering((phase: keyof GatePolicies['phases']) => {
    const texts = [...policies.always, ...(policies.phases[phase] ?? [])];
    return { texts, version: sha256(canonicalJson(texts)).slice(0, VERSION_LENGTH) };
  });
  const count = policies.always.length + Object.values(policies.phases).reduce((sum, list) => sum + list.length, 0);
  return {
    state: { model: model.name, policies: count, failOpen },
    judge(call, signal) {
      if (exempt.some((matches) => matches(call.toolId))) return undefined;
      const { texts, version } = ofPhase(call.phase ?? 'unstated');
      if (texts.length === 0) return undefined;
      const start = clock.monotonic();
      return verdictOn(options, texts, call, signal).then((verdict) => ({
        allowed: verdict.answer === 'ALLOW' || (verdict.answer === 'UNANSWERED' && failOpen),
        ...verdict,
        model: model.name,
        version,
        ms: Math.round(clock.monotonic() - start),
      }));
    },
  };
}

async function verdictOn(
  { model, redact, timeoutMs, argumentBytesMax }: AdversarialGateOptions,
  policies: readonly string[],
  call: JudgedCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new ToolLayerError('E3306', 'The model took too long.')), timeoutMs);
  try {
    // A part cut off unseen would be the place to hide an attack, so nothing is cut.
    if (Buffer.byteLength(canonicalJson(call.parameters)) > argumentBytesMax) return unanswered('too_large');
    const shown = redacted(call, redact);
    if (shown === undefined) return unanswered('not_redacted');
    const either = AbortSignal.any([signal, timeout.signal]);
    return answerIn(await orAborted(model.complete(promptOf(policies, shown), either), either));
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    if (timeout.signal.aborted) return unanswered('timeout');
    return unanswered(thrown instanceof ToolLayerError ? thrown.code : 'E3900');
  } finally {
    clearTimeout(timer);
  }
}

/** Undefined when the redaction failed: the model is then shown nothing. */
function redacted(call: JudgedCall, redact: (value: unknown) => unknown): JudgedCall | undefined {
  try {
    const parameters = redact(call.parameters);
    if (typeof parameters !== 'object' || parameters === null) return undefined;
    const source = call.claimSource === undefined ? undefined : String(redact(call.claimSource));
    return {
      ...call,
      parameters: parameters as JudgedCall['parameters'],
      ...(source === undefined ? {} : { claimSource: source }),
    };
  } catch {
    return undefined;
  }
}

/**
 * ALLOW counts only as that single word. A DENY may have more text after it: not counting it would let a call through
 * where the gate fails open. Anything else is no answer.
 */
function answerIn(text: string): Verdict {
  const said = text.trim();
  if (said === 'ALLOW') return { answer: 'ALLOW' };
  return /^DENY(?!\w)/.test(said) ? { answer: 'DENY' } : unanswered('not_one_word');
}

const unanswered = (because: string): Verdict => ({ answer: 'UNANSWERED', because });

/** The model's answer, or the signal's reason when the model ignores the signal. */
function orAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function remembering<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}
