import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { SandboxProcess } from '@sallyport/sandbox';
import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CheckpointNote, RunCheckpoints } from '../../domain/checkpoint/checkpoint.ts';
import { linesWithMark } from './lines-with-mark.ts';

/** Variable that holds the mark of the lines of standard error that are checkpoints. */
export const CHECKPOINTS_VARIABLE = 'SALLYPORT_CHECKPOINTS';

/**
 * The checkpoints of a program (STA-01). A line of its standard error that begins with the mark is a checkpoint: `micro
 * STATE`, `macro NAME STATE` or `named NAME STATE`. The first line of its input, after what else it gets there, is the
 * state that it continues from, empty when it begins at its beginning; then a line follows for each checkpoint, once it
 * is stored: `saved ID`, or `refused CODE REASON`.
 */
export interface ProgramCheckpoints {
  /** Not to be guessed, so that a text that the program passes on is never taken for a checkpoint. */
  readonly mark: string;
  /**
   * The same process, with its checkpoints taken out of `stderr`. Its input is written and stays open.
   * @param input lines before the restored state, each with its end
   */
  over(process: SandboxProcess, input?: string): SandboxProcess;
}

/**
 * Makes the checkpoints of one run of a program.
 * @throws ToolLayerError E3703 for a restored state that is not one line
 */
export function programCheckpoints(checkpoints: RunCheckpoints | undefined): ProgramCheckpoints {
  const mark = `checkpoint-${randomBytes(MARK_BYTES).toString('hex')}`;
  const restored = Buffer.from(checkpoints?.restored?.bytes ?? []);
  if (restored.includes(LINE_END)) throw severalLines();
  return {
    mark,
    over(process, input = '') {
      const { stdin, stderr } = process;
      // A program that does not read its input is no failure.
      stdin.on('error', () => {});
      if (input !== '') stdin.write(input);
      stdin.write(restored);
      stdin.write('\n');
      // Whatever waits to be written is given up with it.
      void process.exited.then(() => stdin.destroy());
      let unread = 0;
      const answer = async (line: Uint8Array | undefined): Promise<void> => {
        const text = `${await answerTo(checkpoints, line)}\n`;
        unread += text.length;
        const written = new Promise<void>((resolve) => {
          stdin.write(text, () => {
            unread -= text.length;
            resolve();
          });
        });
        if (unread > UNREAD_MAX) await written;
      };
      const bytesMax = (checkpoints?.stateBytesMax ?? 0) + HEAD_BYTES_MAX;
      const others = Readable.from(linesWithMark(stderr, { mark: `${mark} `, bytesMax, take: answer }), {
        objectMode: false,
      });
      return {
        stdin,
        stdout: process.stdout,
        stderr: others,
        exited: process.exited,
        kill: (graceMs) => process.kill(graceMs),
        [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
      };
    },
  };
}

const MARK_BYTES = 12;
const LINE_END = 10;
/** Most bytes of a line before its state: the type and the name. */
const HEAD_BYTES_MAX = 512;
const HEAD = /^(?:micro|(macro|named) ([^ ]{1,256})) /;
/** Most characters of answers that wait until the program reads them; then its next checkpoints wait too. */
const UNREAD_MAX = MiB;
/** Most characters of the reason of a refusal. */
const REASON_CHARS_MAX = 500;

/** @param line a checkpoint without its mark; undefined when it is too long */
async function answerTo(checkpoints: RunCheckpoints | undefined, line: Uint8Array | undefined): Promise<string> {
  try {
    if (checkpoints === undefined) throw notKept();
    if (line === undefined) throw tooLong(checkpoints.stateBytesMax);
    const { note, state } = checkpointIn(line);
    const { checkpointId } = await checkpoints.save(state, note);
    return `saved ${checkpointId}`;
  } catch (thrown) {
    const { code, message } = thrown instanceof ToolLayerError ? thrown : notSaved(thrown);
    return `refused ${code} ${message.replaceAll(/\s+/g, ' ').slice(0, REASON_CHARS_MAX)}`;
  }
}

/** @throws ToolLayerError E3109 for a line that is no checkpoint */
function checkpointIn(line: Uint8Array): { readonly note: CheckpointNote; readonly state: Uint8Array } {
  const head = HEAD.exec(Buffer.from(line.subarray(0, HEAD_BYTES_MAX)).toString('utf8'));
  if (head === null) throw noCheckpoint();
  const [whole, type, name = ''] = head;
  const note = type === undefined ? {} : type === 'macro' ? { milestone: name } : { name };
  return { note, state: line.subarray(Buffer.byteLength(whole)) };
}

const notSaved = (cause: unknown): ToolLayerError =>
  new ToolLayerError('E3701', 'The checkpoint was not saved. Try again later.', { cause });

const notKept = (): ToolLayerError => new ToolLayerError('E3109', 'This layer keeps no state of tools.');

const noCheckpoint = (): ToolLayerError =>
  new ToolLayerError(
    'E3109',
    'After the mark write "micro STATE", "macro NAME STATE" or "named NAME STATE" in one line; a NAME has no spaces and at most 256 characters.',
  );

const tooLong = (max: number): ToolLayerError =>
  new ToolLayerError('E3102', `A checkpoint holds at most ${max} bytes.`, {
    details: { limit: 'checkpoints.state_bytes_max', max },
  });

const severalLines = (): ToolLayerError =>
  new ToolLayerError(
    'E3703',
    'The state has several lines, and a program gets it as one. Call the tool as it was when it saved the state, or without a checkpoint.',
  );
