import type { CallKey } from '../../domain/invocation/call-key.ts';
import type { CallQuestionsByKey } from '../../domain/invocation/tasks/call-question.ts';
import type { ParametersSeal } from '../../domain/invocation/tasks/sealed-parameters.ts';
import type { AttendedCall, CallLeaseStore, HeldProgress } from '../../orchestration/call-lease-store.port.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Encrypts the questions of running calls to their users, and the answers, while they wait in the row of the lease: a
 * user may have written anything. What this key does not open is left out, so that nobody sees or answers it.
 */
export function withSealedLeases(store: CallLeaseStore, seal: ParametersSeal): CallLeaseStore {
  const sealed = (call: CallKey, values: Values): Values =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, seal.seal({ value }, placeOf(call, key))]));
  const opened = (call: CallKey, values: Values): Values =>
    Object.fromEntries(
      Object.entries(values).flatMap(([key, value]) => {
        const found = seal.open(value as Values, placeOf(call, key));
        return found === undefined ? [] : [[key, found['value']]];
      }),
    );
  const hidden = (call: AttendedCall): AttendedCall => {
    const { progress } = call;
    if (progress?.questions === undefined) return call;
    return { ...call, progress: { ...progress, questions: sealed(call, progress.questions) as CallQuestionsByKey } };
  };
  const shown = (call: CallKey, progress: HeldProgress): HeldProgress => {
    const { questions } = progress;
    return questions === undefined
      ? progress
      : { ...progress, questions: opened(call, questions) as CallQuestionsByKey };
  };
  return {
    ...store,
    async beat(holder, ttlMs, attended) {
      const { held, ...others } = await store.beat(holder, ttlMs, attended.map(hidden));
      return {
        ...others,
        held: held.map((call) =>
          call.answers === undefined ? call : { ...call, answers: opened(call, call.answers) },
        ),
      };
    },
    async find(call) {
      const lease = await store.find(call);
      return lease?.progress === undefined ? lease : { ...lease, progress: shown(call, lease.progress) };
    },
    notifyHolder: (call, wish) =>
      store.notifyHolder(call, wish.answers === undefined ? wish : { ...wish, answers: sealed(call, wish.answers) }),
  };
}

/** What is stored for one call and one question cannot be moved to another. */
const placeOf = ({ tenantId, invocationId }: CallKey, key: string): readonly string[] => [
  tenantId,
  invocationId,
  'question',
  key,
];
