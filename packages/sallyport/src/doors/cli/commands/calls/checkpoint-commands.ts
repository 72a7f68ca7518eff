import type { Command } from 'commander';
import type { Checkpoint } from '../../../../../api/schemas/calls/checkpoint.ts';
import type { CommandKit } from '../../command-kit.ts';
import { operationCommands } from '../../operation/operation-command.ts';
import { list, members } from '../../output/templates.ts';

/** `checkpoints list|show|diff|restore|remove`. A call resumes one with `invoke --resume`. */
export function addCheckpointsCommands(program: Command, kit: CommandKit): void {
  const checkpoints = program.command('checkpoints').description('see and remove the states that tools saved');
  const operation = operationCommands(checkpoints, kit);
  operation('checkpoints.list', {
    command: 'list',
    args: ['invocation_id'],
    help: 'checkpoints of a call, and of the calls whose work it continued, newest first',
    print: list({
      head: ['CHECKPOINT', 'TYPE', 'LABEL', 'CALL', 'PHASE', 'BYTES', 'AT', 'ARCHIVED', 'EXPIRES'],
      rows: ({ checkpoints: found }) => found.map(rowOf),
      empty: 'The call has saved no checkpoint, or none is left.',
    }),
  });
  operation('checkpoints.get', { command: 'show', help: 'one checkpoint with its state', print: members });
  operation('checkpoints.diff', {
    command: 'diff',
    args: ['checkpoint_id', 'with'],
    help: 'what changed from the state of one checkpoint to that of another',
    print: list({
      head: ['PLACE', 'BEFORE', 'AFTER'],
      rows: ({ changes }) => changes.map(({ path, before, after }) => [path, shortText(before), shortText(after)]),
      empty: 'The states are equal.',
    }),
  });
  operation('checkpoints.restore', {
    command: 'restore',
    help: 'bring the state of a checkpoint back from the archive; ask again while it is on its way',
    print: members,
  });
  operation('checkpoints.remove', {
    command: 'remove',
    help: 'remove a checkpoint, and micro checkpoints stored as the difference from it',
    print: members,
  });
}

/** Characters of a value in a table. */
const SHOWN_MAX = 60;

function shortText(value: unknown): string {
  const text = value === undefined ? '' : JSON.stringify(value);
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX - 1)}…`;
}

const rowOf = (checkpoint: Checkpoint): string[] => [
  checkpoint.checkpoint_id,
  checkpoint.checkpoint_type,
  checkpoint.label ?? '',
  checkpoint.invocation_id,
  checkpoint.current_phase ?? '',
  String(checkpoint.state_bytes),
  checkpoint.timestamp,
  checkpoint.archived_at ?? '',
  checkpoint.expires_at ?? 'never',
];
