import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Command } from 'commander';
import { type CliParts, EXIT, type LayerOptions, type OpenedLayer, type WhenAbsent } from './cli-parts.ts';
import { isUsageError } from './input/usage-error.ts';
import { createPrinter, type Printer } from './output/printer.ts';

/** Options that every command takes, before or after its name. */
export interface CommonOptions {
  readonly dataFolder?: string;
  readonly json?: boolean;
}

/** Everything a command works with: the layer, the caller and the printer. */
export interface CommandWork extends Omit<OpenedLayer, 'close'> {
  readonly print: Printer;
  readonly parts: CliParts;
}

/** Builds commands; their actions resolve with the exit code. */
export interface CommandKit {
  readonly parts: CliParts;
  /**
   * Gives a command the common options and its action, which receives the positional arguments and all options.
   * @param whenFailed exit code of a failure, default 1
   */
  action<O extends object>(
    command: Command,
    run: (
      args: readonly (string | string[] | undefined)[],
      options: O & CommonOptions,
      print: Printer,
    ) => Promise<number>,
    whenFailed?: number,
  ): void;
  /**
   * As `action`, for commands that ask the layer, which is opened before and closed after. A data folder that no layer
   * has used yet is refused: it holds nothing to read, to end or to change.
   */
  asking<O extends object>(command: Command, run: AskingRun<O>): void;
  /** As `asking`, for commands that write into the layer: a missing data folder is created. */
  adding<O extends object>(command: Command, run: AskingRun<O>, whenAbsent?: (options: O) => WhenAbsent): void;
}

/** The run of a command that asks the layer; resolves with the exit code. */
export type AskingRun<O extends object> = (
  work: CommandWork,
  args: readonly (string | string[] | undefined)[],
  options: O & CommonOptions,
) => Promise<number>;

/** @param finish receives the exit code of the command that ran */
export function createCommandKit(parts: CliParts, finish: (code: number) => void): CommandKit {
  const action: CommandKit['action'] = (command, run, whenFailed) => {
    withCommonOptions(command).action(async (...given: unknown[]) => {
      const self = given.at(-1) as Command;
      const options = self.optsWithGlobals<CommonOptions>();
      const print = createPrinter(parts.io, options.json === true);
      const args = self.processedArgs as (string | string[] | undefined)[];
      finish(await guarded(print, () => run(args, options as never, print), whenFailed));
    });
  };
  const adding: CommandKit['adding'] = (command, run, whenAbsent = () => 'make') => {
    action(command, async (args, options, print) => {
      const opened = await open(parts, options, whenAbsent(options as never), print);
      if (opened === undefined) return EXIT.unreachable;
      try {
        const { close: _, caller, ...rest } = opened;
        const asker = { ...caller, signal: parts.io.signal };
        return await guarded(print, () => run({ ...rest, caller: asker, print, parts }, args, options as never));
      } finally {
        await opened.close();
      }
    });
  };
  return { parts, action, adding, asking: (command, run) => adding(command, run, () => 'refuse') };
}

/** Adds the options that are the same everywhere. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--data-folder <folder>', 'where the layer keeps its data')
    .option('--json', 'answer as JSON, for programs');
}

/** Picks the options that concern the layer from the options of a command. */
export function layerOptions({ dataFolder }: CommonOptions): LayerOptions {
  return dataFolder === undefined ? {} : { dataFolder };
}

async function open(
  parts: CliParts,
  options: CommonOptions,
  whenAbsent: WhenAbsent,
  print: Printer,
): Promise<OpenedLayer | undefined> {
  try {
    return await parts.openLayer(layerOptions(options), whenAbsent);
  } catch (thrown) {
    print.failure(failureOf(thrown));
    return undefined;
  }
}

/** Runs a command: reports a failure and turns it into an exit code. Usage errors are reported by the caller. */
async function guarded(print: Printer, run: () => Promise<number>, whenFailed: number = EXIT.refused): Promise<number> {
  try {
    return await run();
  } catch (thrown) {
    if (isUsageError(thrown)) {
      print.usage(thrown.message);
      return EXIT.usage;
    }
    const failed = failureOf(thrown);
    print.failure(failed);
    return failed.details?.['layer'] === 'unreachable' ? EXIT.unreachable : whenFailed;
  }
}
