import { KiB } from '@sallyport/std/bytes';
import type { Setting } from './setting.ts';

/** How far calls are trusted, how many a session may make, and who else judges them. */
export const TRUST_SETTINGS = [
  {
    key: 'trust.sources',
    type: 'list',
    default: [],
    sentence:
      'PREFIX=LEVEL for tools whose id begins so, for example github__=provisional; the longest prefix wins, * is every tool, others are trusted. A call is trusted the less of this and the token.',
  },
  {
    key: 'trust.unconfirmed',
    type: 'list',
    default: [],
    sentence:
      'LEVEL=EFFECT+EFFECT: what runs without confirmation, in place of untrusted=pure, provisional=pure+idempotent and trusted=pure+idempotent+compensatable+irreversible.',
  },
  {
    key: 'trust.autonomous',
    type: 'string',
    oneOf: ['refuse', 'allow'],
    default: 'refuse',
    sentence:
      'What becomes of a call in the phase "autonomous" that somebody would have to confirm, when nobody can be asked. Approvals stay needed either way.',
  },
  {
    key: 'quota.calls_per_session',
    type: 'integer',
    unit: 'calls',
    minimum: 0,
    default: 0,
    sentence: 'Calls that a session of an agent may make, 0 for any number; a token can only lower it (E3211).',
  },
  {
    key: 'quota.idle_seconds',
    type: 'integer',
    unit: 'seconds',
    minimum: 60,
    default: 604_800,
    sentence: 'A session that made no call for so long begins anew.',
  },
  {
    key: 'model.url',
    type: 'string',
    default: '',
    sentence: 'Address of a language model that speaks as OpenAI does, with or without its /v1; empty for none.',
  },
  {
    key: 'model.name',
    type: 'string',
    default: '',
    sentence: 'Model of that server.',
  },
  {
    key: 'model.secret',
    type: 'string',
    default: '',
    sentence: 'Name of the secret that holds the key for that server; empty sends none.',
  },
  {
    key: 'model.temperature',
    type: 'string',
    default: '0',
    sentence: 'Temperature that is asked for; empty for models that take none.',
  },
  {
    key: 'gate.enabled',
    type: 'boolean',
    default: false,
    sentence:
      'Whether that model judges calls by policies in plain language before they run; needs model.url, model.name and policies.',
  },
  {
    key: 'gate.policies',
    type: 'list',
    default: [],
    sentence: 'Such policies, beside those of policies/adversarial.toml in the data folder.',
  },
  {
    key: 'gate.fail_open',
    type: 'boolean',
    default: false,
    sentence: 'Whether a call runs that the model gave no usable answer about.',
  },
  {
    key: 'gate.exempt_tools',
    type: 'list',
    default: ['memory_save', 'memory_search', 'read_overflow', 'load_skill', 'schedule_deferred'],
    sentence: 'Tools that it is not asked about, * for any run of characters.',
  },
  {
    key: 'gate.timeout_ms',
    type: 'integer',
    unit: 'ms',
    minimum: 1,
    default: 10_000,
    sentence: 'Longest wait for its answer.',
  },
  {
    key: 'gate.argument_bytes_max',
    type: 'integer',
    unit: 'bytes',
    minimum: 1,
    default: 32 * KiB,
    sentence: 'Largest arguments that it is shown; a call with larger ones counts as not judged.',
  },
  {
    key: 'hooks.file',
    type: 'string',
    default: '',
    sentence:
      'TOML file with webhooks before and after calls; empty is hooks.toml in the data folder, when it is there.',
  },
] as const satisfies readonly Setting[];
