import { failure } from '@sallyport/std/error/failure';
import { CommanderError } from 'commander';
import { type CliParts, EXIT } from './cli-parts.ts';
import { createProgram } from './create-program.ts';
import { createPrinter } from './output/printer.ts';

/**
 * Runs one command of the command line (API-05).
 * @param argv arguments after the name of the program
 * @returns the exit code; never throws and never ends the process
 */
export async function runCli(argv: readonly string[], parts: CliParts): Promise<number> {
  let code: number = EXIT.ok;
  const json = wantsJson(argv);
  const program = createProgram(parts, json, (finished) => {
    code = finished;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (thrown) {
    const print = createPrinter(parts.io, json);
    if (!(thrown instanceof CommanderError)) {
      const said = `The command failed in an unexpected way: ${String(thrown)}`;
      if (json) print.failure(failure('E3900', said));
      else print.note(said);
      return EXIT.refused;
    }
    if (thrown.exitCode === 0) return EXIT.ok;
    // For people commander printed it when it was thrown, with the help.
    if (json) print.usage(messageOf(thrown));
    return EXIT.usage;
  }
}

/** Determined before parsing: errors of parsing are reported in the same form. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}

/** For a missing command, commander throws its help text, which is for people. */
const messageOf = ({ code, message }: CommanderError): string =>
  code === 'commander.help' ? 'Name a command. See --help.' : message.replace(/^error: /, '');
