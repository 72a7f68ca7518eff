import { list } from '../../domain/settings/rows.ts';

/** How people hear of approvals, and whether users confirm at their client. */
export const NOTIFIER_ROWS = [
  list('notifiers.enabled', {
    default: ['log'],
    sentence: 'How people hear of approvals: console, log, webhook, smtp.',
  }),
];
