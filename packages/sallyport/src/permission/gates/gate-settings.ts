import { KiB } from '@sallyport/std/bytes';
import { TIMER_MS_MAX } from '@sallyport/std/timer-max';
import { boolean, integer, list, oneOf } from '../../domain/settings/rows.ts';

/** Tools for the agent's own upkeep, where policies about the outside world only get in the way (002). */
export const GATE_EXEMPT_TOOLS: readonly string[] = [
  'memory_save',
  'memory_search',
  'read_overflow',
  'load_skill',
  'schedule_deferred',
];

/** Settings of trust. */
export const TRUST_SETTINGS = {
  sources: list('trust.sources', {
    default: [],
    sentence:
      'PREFIX=LEVEL for tools whose id begins so, for example github__=provisional; the longest prefix wins, * is every tool, others are trusted. A call is trusted the less of this and the token.',
  }),
  unconfirmed: list('trust.unconfirmed', {
    default: [],
    sentence:
      'LEVEL=EFFECT+EFFECT: what runs without confirmation, in place of untrusted=pure, provisional=pure+idempotent and trusted=pure+idempotent+compensatable+irreversible.',
  }),
  autonomous: oneOf('trust.autonomous', ['refuse', 'allow'], {
    default: 'refuse',
    sentence:
      'What becomes of a call in the phase "autonomous" that somebody would have to confirm, when nobody can be asked. Approvals stay needed either way.',
  }),
};

/** Settings of the session quota. */
export const QUOTA_SETTINGS = {
  callsPerSession: integer('quota.calls_per_session', {
    unit: 'calls',
    minimum: 0,
    default: 0,
    sentence: 'Calls that a session of an agent may make, 0 for any number; a token can only lower it (E3211).',
  }),
  idleSeconds: integer('quota.idle_seconds', {
    unit: 'seconds',
    minimum: 60,
    default: 604_800,
    sentence: 'A session that made no call for so long begins anew.',
  }),
};

/** Settings of the adversarial gate. */
export const GATE_SETTINGS = {
  failOpen: boolean('gate.fail_open', {
    default: false,
    sentence: 'Whether a call runs that the model gave no usable answer about.',
  }),
  exemptTools: list('gate.exempt_tools', {
    default: GATE_EXEMPT_TOOLS,
    sentence: 'Tools that it is not asked about, * for any run of characters.',
  }),
  timeoutMs: integer('gate.timeout_ms', {
    unit: 'ms',
    minimum: 1,
    maximum: TIMER_MS_MAX,
    default: 10_000,
    sentence: 'Longest wait for its answer.',
  }),
  argumentBytesMax: integer('gate.argument_bytes_max', {
    unit: 'bytes',
    minimum: 1,
    default: 32 * KiB,
    sentence: 'Largest arguments that it is shown; a call with larger ones counts as not judged.',
  }),
};
