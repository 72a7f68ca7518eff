import { hiddenShown } from '@sallyport/std/text/hidden-characters';
import { Command } from 'commander';
import type { CliParts } from './cli-parts.ts';
import { createCommandKit, withCommonOptions } from './command-kit.ts';
import { addApprovalsCommands } from './commands/approvals.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addCallsCommands } from './commands/calls/call-commands.ts';
import { addCheckpointsCommands } from './commands/calls/checkpoint-commands.ts';
import { addCircuitsCommands } from './commands/calls/circuit-commands.ts';
import { addThreadsCommands } from './commands/calls/thread-commands.ts';
import { addCheckCommands } from './commands/check/check-commands.ts';
import { addConfigCommands } from './commands/config/config-commands.ts';
import { addConnectCommand } from './commands/connect/connect-command.ts';
import { addInvokeCommand } from './commands/invoke.ts';
import { addOutcomesCommands } from './commands/outcomes.ts';
import { addPolicyCommands } from './commands/policy/policy-commands.ts';
import { addSideEffectsCommands } from './commands/side-effects.ts';
import { addStartCommands } from './commands/start.ts';
import { addTokenCommands } from './commands/token/token-commands.ts';
import { addToolsCommands } from './commands/tools.ts';
import { addUpstreamsCommands } from './commands/upstreams.ts';
import { addActivationsCommands } from './commands/visibility/activations.ts';
import { addAvailabilityCommands } from './commands/visibility/availability.ts';
import { addViewsCommands } from './commands/visibility/views.ts';

const AFTER_HELP = `
Exit codes: 0 done, 1 refused or failed, 2 used wrongly, 3 the layer cannot be reached or opened.`;

/**
 * Builds all commands with their options and arguments.
 * @param json true when the caller prints commander's own messages
 * @param finish receives the exit code of the command that ran
 */
export function createProgram(parts: CliParts, json: boolean, finish: (code: number) => void): Command {
  const { stdout, stderr } = parts.io;
  // Commands that are added later inherit the settings of the program.
  const program = new Command('sallyport')
    .description('The tool execution layer for AI agents.')
    .version(parts.version, '-V, --version', 'print the version')
    .enablePositionalOptions()
    .showHelpAfterError('Add --help for how to use it.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(hiddenShown(text)),
      writeErr: (text) => void (json || stderr.write(hiddenShown(text))),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText('after', AFTER_HELP);
  withCommonOptions(program);
  const kit = createCommandKit(parts, finish);
  addStartCommands(program, kit);
  addConfigCommands(program, kit);
  addConnectCommand(program, kit);
  addInvokeCommand(program, kit);
  addToolsCommands(program, kit);
  addUpstreamsCommands(program, kit);
  addCircuitsCommands(program, kit);
  addAvailabilityCommands(program, kit);
  addActivationsCommands(program, kit);
  addViewsCommands(program, kit);
  addPolicyCommands(program, kit);
  addCallsCommands(program, kit);
  addApprovalsCommands(program, kit);
  addOutcomesCommands(program, kit);
  addCheckpointsCommands(program, kit);
  addThreadsCommands(program, kit);
  addSideEffectsCommands(program, kit);
  addTokenCommands(program, kit);
  addCheckCommands(program, kit);
  addAuditCommands(program, kit);
  return program;
}
