import type { CliIo } from '../cli-parts.ts';
import type { Printer } from '../output/printer.ts';

/** True when a person can be asked: questions go to standard error, answers come from standard input. */
export const canAsk = ({ stdin, stderr }: CliIo): boolean => stdin.isTTY === true && stderr.isTTY === true;

/**
 * Asks the person at the terminal. Anything but `y` or `yes` is no.
 * @param signal ends the wait; the answer is then no
 */
export async function askConsent(io: CliIo, print: Printer, question: string): Promise<boolean> {
  print.note(`${question} [y/N]`);
  const { signal } = io;
  const ended = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const answer = await Promise.race([firstLine(io.stdin), ended]);
  return answer !== undefined && /^y(?:es)?$/i.test(answer.trim());
}

const ANSWER_CHARS_MAX = 16_384;

/** Reads one line and leaves the rest unread: a command asks one question. */
export async function firstLine(stdin: CliIo['stdin']): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    if (text.includes('\n') || text.length > ANSWER_CHARS_MAX) break;
  }
  return text.split('\n', 1)[0] ?? '';
}
