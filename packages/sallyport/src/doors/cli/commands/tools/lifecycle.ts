import type { ToolLifecycleResponse } from '../../../../../api/schemas/registry/tool-lifecycle.ts';
import type { AddOperation } from '../../operation/operation-command.ts';
import { HISTORY_HEAD, historyRow } from '../../output/history.ts';
import type { Printer } from '../../output/printer.ts';

/** `tools deprecate|sunset|restore|remove`. */
export function addToolsLifecycleCommands(operation: AddOperation): void {
  const version = { help: 'only this version' };
  operation('tools.deprecate', {
    command: 'deprecate',
    help: 'warn the callers of a version',
    members: { version, in_favor_of: '--in-favor-of <version or tool>', migration_guide: '--guide <words>' },
    print: moved,
  });
  operation('tools.sunset', {
    command: 'sunset',
    help: 'announce the end of deprecated versions',
    members: { version },
    print: moved,
  });
  operation('tools.restore', { command: 'restore', args: ['tool_id', 'version'], print: moved });
  operation('tools.remove', {
    command: 'remove',
    help: 'remove versions whose days of warning are over',
    members: { version },
    print: ({ tool_id, removed }, print) => print.line(`Removed ${tool_id} ${removed.join(', ')}`),
  });
}

const moved = ({ versions }: Pick<ToolLifecycleResponse, 'versions'>, print: Printer): void =>
  print.table(HISTORY_HEAD, versions.map(historyRow));
