import { KiB } from '@sallyport/std/bytes';
import { boolean, integer, list, oneOf, text } from '../../domain/settings/rows.ts';

/** How far calls are trusted, how many a session may make, and who else judges them. */
export const TRUST_ROWS = [
  list('trust.sources', {
    default: [],
    sentence:
      'PREFIX=LEVEL for tools whose id begins so, for example github__=provisional; the longest prefix wins, * is every tool, others are trusted. A call is trusted the less of this and the token.',
  }),
  list('trust.unconfirmed', {
    default: [],
    sentence:
      'LEVEL=EFFECT+EFFECT: what runs without confirmation, in place of untrusted=pure, provisional=pure+idempotent and trusted=pure+idempotent+compensatable+irreversible.',
  }),
  oneOf('trust.autonomous', ['refuse', 'allow'], {
    default: 'refuse',
    sentence:
      'What becomes of a call in the phase "autonomous" that somebody would have to confirm, when nobody can be asked. Approvals stay needed either way.',
  }),
  integer('quota.calls_per_session', {
    unit: 'calls',
    minimum: 0,
    default: 0,
    sentence: 'Calls that a session of an agent may make, 0 for any number; a token can only lower it (E3211).',
  }),
  integer('quota.idle_seconds', {
    unit: 'seconds',
    minimum: 60,
    default: 604_800,
    sentence: 'A session that made no call for so long begins anew.',
  }),
  text('model.url', {
    default: '',
    sentence: 'Address of a language model that speaks as OpenAI does, with or without its /v1; empty for none.',
  }),
  text('model.name', { default: '', sentence: 'Model of that server.' }),
  text('model.secret', {
    default: '',
    sentence: 'Name of the secret that holds the key for that server; empty sends none.',
  }),
  text('model.temperature', {
    default: '0',
    sentence: 'Temperature that is asked for; empty for models that take none.',
  }),
  boolean('gate.enabled', {
    default: false,
    sentence:
      'Whether that model judges calls by policies in plain language before they run; needs model.url, model.name and policies.',
  }),
  list('gate.policies', {
    default: [],
    sentence: 'Such policies, beside those of policies/adversarial.toml in the data folder.',
  }),
  boolean('gate.fail_open', {
    default: false,
    sentence: 'Whether a call runs that the model gave no usable answer about.',
  }),
  list('gate.exempt_tools', {
    default: ['memory_save', 'memory_search', 'read_overflow', 'load_skill', 'schedule_deferred'],
    sentence: 'Tools that it is not asked about, * for any run of characters.',
  }),
  integer('gate.timeout_ms', { unit: 'ms', minimum: 1, default: 10_000, sentence: 'Longest wait for its answer.' }),
  integer('gate.argument_bytes_max', {
    unit: 'bytes',
    minimum: 1,
    default: 32 * KiB,
    sentence: 'Largest arguments that it is shown; a call with larger ones counts as not judged.',
  }),
  text('hooks.file', {
    default: '',
    sentence:
      'TOML file with webhooks before and after calls; empty is hooks.toml in the data folder, when it is there.',
  }),
];
