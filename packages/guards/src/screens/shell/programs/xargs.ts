import { SHELL_SCREEN_BOUNDS } from '../bounds.ts';
import { EMPTY_STREAM, type Field, joinStreams, literal, restOf, type Stream, unknownField } from '../field.ts';
import { readOptions } from '../options.ts';
import type { Context, Shell } from '../shell.ts';
import { replaceAllBounded } from '../words/replace-text.ts';

/** Follows the command of xargs with the words that come in, once for each line where it replaces a mark. */
export function runXargs(shell: Shell, args: readonly Field[], context: Context): Stream {
  const shape = {
    valued: 'aEeIiLlnPsd',
    longValued: ['--replace', '--max-args', '--max-procs', '--delimiter'],
    stopsAtOperand: true,
  } as const;
  const options = readOptions(args, shape);
  const inner = args.slice(options.firstOperand);
  const mark = options.value('-I', '--replace')?.text ?? (options.has('-i') ? '{}' : undefined);
  const command = inner.length === 0 ? [literal('echo')] : inner;
  const separator = options.has('-0', '--null') ? '\0' : options.value('-d', '--delimiter')?.text;
  let output = EMPTY_STREAM;
  for (const words of rounds(restOf(context.input), mark !== undefined, separator)) {
    const filled =
      mark === undefined
        ? [...command, ...words]
        : command.map((field) => replaced(field, mark, words[0] ?? unknownField()));
    const alone = { ...context, input: undefined, assigned: [], viaProgram: true };
    output = joinStreams(output, shell.run.command(shell, filled, alone));
  }
  return output;
}

function rounds(stream: Stream | undefined, byLine: boolean, separator: string | undefined): Field[][] {
  if (stream?.text === undefined) return [[unknownField(stream?.origin)]];
  const { certain, origin } = stream;
  const field = (text: string): Field => ({ ...literal(text), certain: certain && origin === 'text', origin });
  if (separator !== undefined && separator.length === 1) {
    const words = stream.text.split(separator).filter((word) => word !== '');
    return byLine ? words.slice(0, SHELL_SCREEN_BOUNDS.roundsMax).map((word) => [field(word)]) : [words.map(field)];
  }
  const lines = stream.text.split('\n').filter((line) => line.trim() !== '');
  if (byLine) return lines.slice(0, SHELL_SCREEN_BOUNDS.roundsMax).map((line) => [field(line.trim())]);
  return [
    lines
      .flatMap((line) => line.split(/[\s\0]+/).filter((word) => word !== ''))
      .map((word) => field(word.replace(/^(['"])(.*)\1$/, '$2'))),
  ];
}

function replaced(field: Field, mark: string, by: Field): Field {
  if (!field.text.includes(mark)) return field;
  const text = replaceAllBounded(field.text, mark, by.text);
  if (text === undefined) return unknownField(by.origin);
  return { ...field, text, certain: field.certain && by.certain, blank: field.blank || by.blank, origin: by.origin };
}
