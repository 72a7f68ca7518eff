import { seconds } from './rows.ts';

/** How everything that serves calls stops. */
export const STOP_SETTINGS = {
  graceMs: seconds('shutdown.grace_seconds', {
    minimum: 0,
    default: 10,
    sentence:
      'How long running calls of every door may go on after the layer was told to stop. What runs longer ends with E3811.',
  }),
};
