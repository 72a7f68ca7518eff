import { KiB } from '@sallyport/std/bytes';
import { boolean, integer, seconds, text } from '../../domain/settings/rows.ts';
import type { ValuesOf } from '../../domain/settings/setting.ts';

/** Settings of the layer as a client of context servers (000 §3.3.8). */
export const CONTEXT_SETTINGS = {
  upstream: text('context.upstream', {
    default: 'context',
    sentence:
      'Upstream that is the context server of a tenant, or of all where it is one of the catalogue; empty for none.',
  }),
  reportsCheckpoints: boolean('context.report_checkpoints', {
    default: true,
    sentence: 'Whether checkpoints of tools are reported to the context server too.',
  }),
  timeoutMs: seconds('context.timeout_seconds', {
    timed: true,
    minimum: 1,
    default: 10,
    sentence: 'Longest wait for an answer of the context server.',
  }),
  stateBytesMax: integer('context.report_bytes_max', {
    unit: 'bytes',
    minimum: KiB,
    default: 64 * KiB,
    sentence: 'Largest state that is reported; of a larger one only its size and hash are.',
  }),
  reportsMax: integer('context.reports_max', {
    unit: 'reports',
    minimum: 1,
    default: 500,
    sentence: 'Reports that wait for the context server in an instance; beyond that, new ones are dropped.',
  }),
  cacheMs: seconds('context.cache_seconds', {
    minimum: 0,
    default: 300,
    sentence: 'How long the context of a session is remembered; 0 for not at all.',
  }),
};

/** Values of the settings of the client. */
export type ContextSettings = ValuesOf<typeof CONTEXT_SETTINGS>;
