import type { Writable } from 'node:stream';
import { noticeText } from '../../notices/notice-text.ts';
import type { Notifier } from '../../notifier.port.ts';

/** Lines for whoever sits at a terminal; answer tokens are never among them. @param output standard error, in a running layer */
export function createConsoleNotifier(output: Writable): Notifier {
  return {
    name: 'console',
    notify: (notice) => {
      // A terminal that is gone is no reason to fail.
      if (output.writable) output.write(`${noticeText(notice)}\n`);
    },
  };
}
