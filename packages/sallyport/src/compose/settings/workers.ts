import { boolean, oneOf } from '../../domain/settings/rows.ts';

/** Calls that are accepted now and run later. */
export const WORKERS_ROWS = [
  boolean('workers.enabled', {
    default: true,
    sentence: 'Whether calls may be asynchronous; they are refused with E3901 otherwise.',
  }),
  oneOf('workers.queue', ['auto', 'postgres', 'memory'], {
    default: 'auto',
    sentence:
      'Where jobs stand that an instance has no room for. memory serves one instance; auto takes it with the embedded database, and postgres (BullMQ) with one of your own.',
  }),
];
