import type { Writable } from 'node:stream';
import { noticeText } from '../../notices/notice-text.ts';
import type { Notifier } from '../../notifier.port.ts';

/**
 * Writes notices as lines for a person at a terminal, without answer tokens. @param output standard error, in a running
 * layer
 */
export function createConsoleNotifier(output: Writable): Notifier {
  return {
    name: 'console',
    notify: (notice) => {
      // A closed terminal is no reason to fail.
      if (output.writable) output.write(`${noticeText(notice)}\n`);
    },
  };
}
