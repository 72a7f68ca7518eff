import type { Setting } from './setting.ts';

/** Calls that are accepted now and run later. */
export const WORKERS_SETTINGS = [
  {
    key: 'workers.enabled',
    type: 'boolean',
    default: true,
    sentence: 'Whether calls may be asynchronous; they are refused with E3901 otherwise.',
  },
  {
    key: 'workers.queue',
    type: 'string',
    oneOf: ['auto', 'postgres', 'memory'],
    default: 'auto',
    sentence:
      'Where jobs stand that an instance has no room for. memory serves one instance; auto takes it with the embedded database, and postgres (BullMQ) with one of your own.',
  },
  {
    key: 'workers.slots',
    type: 'integer',
    unit: 'calls',
    minimum: 1,
    default: 64,
    sentence: 'Asynchronous calls that this instance runs at once.',
  },
  {
    key: 'workers.queue_max',
    type: 'integer',
    unit: 'calls',
    minimum: 1,
    default: 10_000,
    sentence: 'Asynchronous calls that wait; more are refused with E3803.',
  },
  {
    key: 'workers.wait_seconds_max',
    type: 'number',
    unit: 'seconds',
    minimum: 1,
    default: 600,
    sentence: 'Estimated wait beyond which asynchronous calls are refused with E3803.',
  },
  {
    key: 'workers.timeout_seconds_max',
    type: 'number',
    unit: 'seconds',
    minimum: 0.001,
    default: 86_400,
    sentence: 'Longest timeout of an asynchronous call, extensions included.',
  },
  {
    key: 'workers.lease_seconds',
    type: 'number',
    unit: 'seconds',
    minimum: 1,
    default: 10,
    sentence: 'After this time without a sign of life an instance loses its calls to the others.',
  },
  {
    key: 'workers.preemptions_max',
    type: 'integer',
    minimum: 0,
    default: 2,
    sentence: 'How often a call of low priority makes way for an urgent one at most.',
  },
] as const satisfies readonly Setting[];
