import { boolean, number, text } from '../../domain/settings/rows.ts';

/** What is written down, and where. */
export const AUDIT_ROWS = [
  boolean('audit.jsonl', { default: true, sentence: 'Whether events also go to audit.jsonl in the data folder.' }),
  number('audit.checkpoint_seconds', {
    unit: 'seconds',
    minimum: 0.05,
    default: 60,
    sentence: 'How often the head of the hash chain is signed while there are new events.',
  }),
  text('audit.anchor_file', {
    default: '',
    sentence:
      'File to which each signed head of the hash chain is appended; best where who runs the database cannot write. Empty for none.',
  }),
];
