import { MiB } from '@sallyport/std/bytes';
import { boolean, integer, seconds, text } from '../../domain/settings/rows.ts';
import type { ValuesOf } from '../../domain/settings/setting.ts';

/** Settings of documents for tools (000 §3.3.7). */
export const DOCUMENT_SETTINGS = {
  upstream: text('document_bridge.upstream', {
    default: 'documents',
    sentence:
      'Name of the upstream that documents for tools come from: an MCP server with the tools of a document server.',
  }),
  requestMs: seconds('document_bridge.request_timeout_seconds', {
    timed: true,
    minimum: 0.001,
    default: 30,
    sentence: 'How long the document server may take for one request.',
  }),
  retriesMax: integer('document_bridge.retries_max', {
    unit: 'requests',
    minimum: 0,
    default: 3,
    sentence: 'How often a request that failed is made again, unless it ran out of time.',
  }),
  retryMs: seconds('document_bridge.retry_seconds', {
    timed: true,
    minimum: 0,
    default: 0.1,
    sentence: 'Pause before the first of them; it doubles with each.',
  }),
  contentMs: seconds('document_bridge.content_ttl_seconds', {
    minimum: 0,
    default: 300,
    sentence: 'How long the newest version of a document is taken from the cache.',
  }),
  metadataMs: seconds('document_bridge.metadata_ttl_seconds', {
    minimum: 0,
    default: 600,
    sentence: 'How long the status of a document is taken from the cache.',
  }),
  staleMs: seconds('document_bridge.stale_seconds', {
    minimum: 0,
    default: 86_400,
    sentence: 'How long answers are kept for when the document server fails: then an old one is better than none.',
  }),
  cacheBytesMax: integer('document_bridge.cache_bytes_max', {
    unit: 'bytes',
    minimum: 0,
    default: 64 * MiB,
    sentence: 'Most that an instance remembers of newest versions and of statuses; 0 remembers none.',
  }),
  versionBytesMax: integer('document_bridge.version_bytes_max', {
    unit: 'bytes',
    minimum: 0,
    default: 64 * MiB,
    sentence: 'Most that an instance remembers of versions, which never change; 0 remembers none.',
  }),
  isPinning: boolean('document_bridge.version_pinning', {
    default: true,
    sentence:
      'Whether a call and the calls that resume it get the same versions, unless the call or the manifest says otherwise.',
  }),
  callBytesMax: integer('document_bridge.call_bytes_max', {
    unit: 'bytes',
    minimum: 1,
    default: 16 * MiB,
    sentence: 'Most that the contents of all documents of one call have; more is refused with E3102.',
  }),
};

/** Values of the settings of documents. */
export type DocumentSettings = ValuesOf<typeof DOCUMENT_SETTINGS>;
