import type { CliIo } from '../cli-parts.ts';
import type { Printer } from '../output/printer.ts';

/** Whether somebody can be asked: questions are written to standard error and read from standard input. */
export const canAsk = ({ stdin, stderr }: CliIo): boolean => stdin.isTTY === true && stderr.isTTY === true;

/**
 * Puts a question to the person at the terminal. Anything but `y` or `yes` is no.
 * @param signal ends the wait, as no
 */
export async function askYes(io: CliIo, print: Printer, question: string): Promise<boolean> {
  print.note(`${question} [y/N]`);
  const { signal } = io;
  const ended = new Promise<undefined>((resolve) => {
    if (signal?.aborted === true) resolve(undefined);
    signal?.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const answer = await Promise.race([firstLine(io.stdin), ended]);
  return answer !== undefined && /^y(?:es)?$/i.test(answer.trim());
}

const ANSWER_CHARS_MAX = 1_000;

/** Leaves what comes later to nobody: a command asks one question. */
async function firstLine(stdin: CliIo['stdin']): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    if (text.includes('\n') || text.length > ANSWER_CHARS_MAX) break;
  }
  return text.split('\n', 1)[0] ?? '';
}
