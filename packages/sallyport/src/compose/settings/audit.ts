import type { Setting } from './setting.ts';

/** What is written down, and where. */
export const AUDIT_SETTINGS = [
  {
    key: 'audit.jsonl',
    type: 'boolean',
    default: true,
    sentence: 'Whether events also go to audit.jsonl in the data folder.',
  },
  {
    key: 'audit.checkpoint_seconds',
    type: 'number',
    unit: 'seconds',
    minimum: 0.05,
    default: 60,
    sentence: 'How often the head of the hash chain is signed while there are new events.',
  },
  {
    key: 'audit.anchor_file',
    type: 'string',
    default: '',
    sentence:
      'File to which each signed head of the hash chain is appended; best where who runs the database cannot write. Empty for none.',
  },
] as const satisfies readonly Setting[];
