import { TIMER_MS_MAX } from '@sallyport/std/timer-max';
import { integer, number } from '../../domain/settings/rows.ts';

/** Settings of policy servers (000 §4.2.2). */
export const POLICY_SERVER_SETTINGS = {
  timeoutMs: integer('permission.timeout_ms', {
    unit: 'ms',
    minimum: 1,
    maximum: TIMER_MS_MAX,
    default: 500,
    sentence: 'How long a policy server may take; after that the call is denied with E3206.',
  }),
};

/** Settings of the decision cache (PRM-05). */
export const DECISION_SETTINGS = {
  ttlSeconds: number('permission.cache_ttl_seconds', {
    unit: 'seconds',
    minimum: 0,
    default: 300,
    sentence: 'How long a decision is kept when its engine does not say; 0 keeps none.',
  }),
};
