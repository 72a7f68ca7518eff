import { boolean, seconds, text } from '../../domain/settings/rows.ts';

/** Records besides the ledger. */
export const AUDIT_ROWS = [
  boolean('audit.jsonl', { default: true, sentence: 'Whether events also go to audit.jsonl in the data folder.' }),
  text('audit.anchor_file', {
    default: '',
    sentence:
      'File to which each signed head of the hash chain is appended; best where who runs the database cannot write. Empty for none.',
  }),
];

/** Signing of the hash chain. */
export const CHECKPOINT_SETTINGS = {
  everyMs: seconds('audit.checkpoint_seconds', {
    timed: true,
    minimum: 0.05,
    default: 60,
    sentence: 'How often the head of the hash chain is signed while there are new events.',
  }),
};
