import type { Command } from 'commander';
import type { ThreadListResponse, TypedValue } from '../../../../../api/schemas/calls/thread.ts';
import type { CommandKit } from '../../command-kit.ts';
import { operationCommands } from '../../operation/operation-command.ts';
import { list, members } from '../../output/templates.ts';

type State = ThreadListResponse['states'][number];

/** `threads list|show|remove`, for the threads of the agent and user whose token the command has. */
export function addThreadsCommands(program: Command, kit: CommandKit): void {
  const threads = program.command('threads').description('see and remove the states that graphs of an agent saved');
  const operation = operationCommands(threads, kit);
  operation('threads.list', {
    command: 'list',
    help: 'states of the threads of an agent, newest first',
    asAgent: true,
    members: { thread_id: '--thread <id>' },
    print(answer, print) {
      list<ThreadListResponse>({
        head: ['THREAD', 'NAMESPACE', 'STATE', 'PARENT', 'CHANNELS', 'WRITES', 'BYTES'],
        rows: ({ states }) => states.map(rowOf),
        empty: 'The agent has no thread.',
      })(answer, print);
      if (answer.next_cursor !== undefined) print.note(`More: --cursor ${answer.next_cursor}`);
    },
  });
  operation('threads.list', {
    command: 'show',
    help: 'the newest state of a thread, or the one that is named, with the values of its channels',
    asAgent: true,
    args: ['thread_id'],
    members: {
      thread_id: { required: true },
      checkpoint_id: '--state <id>',
      before: false,
      cursor: false,
      limit: false,
    },
    input: (given) => ({ ...given, limit: 1 }),
    print({ states: [state] }, print) {
      if (state === undefined) print.note('The agent has no such thread, or it has no such state.');
      else members(shown(state), print);
    },
  });
  operation('threads.remove', {
    command: 'remove',
    help: 'remove a thread with all its states',
    asAgent: true,
    print: ({ thread_id }, print) => print.line(`${thread_id} is removed.`),
  });
}

const rowOf = (state: State): string[] => [
  state.thread_id,
  state.namespace,
  state.checkpoint_id,
  state.parent_checkpoint_id ?? '',
  String(Object.keys(state.versions).length),
  String(state.writes.length),
  String(bytesOf(state)),
];

const bytesOf = ({ state, metadata, values, writes }: State): number =>
  [state, metadata, ...values.map(({ value }) => value), ...writes.map(({ value }) => value)].reduce(
    (sum, { base64 }) => sum + Buffer.byteLength(base64, 'base64'),
    0,
  );

/** A state with what its values say. */
const shown = ({ state, metadata, versions: _versions, values, writes, ...place }: State): object => ({
  ...place,
  metadata: saidBy(metadata),
  state: saidBy(state),
  ...Object.fromEntries(values.map(({ channel, value }) => [`channel ${channel}`, saidBy(value)])),
  ...Object.fromEntries(writes.map(({ task_id, channel, value }) => [`write ${task_id} ${channel}`, saidBy(value)])),
});

/** The text of JSON, and of any other form its size: only who wrote it can read it. */
const saidBy = ({ type, base64 }: TypedValue): string =>
  type === 'json'
    ? Buffer.from(base64, 'base64').toString('utf8')
    : `${Buffer.byteLength(base64, 'base64')} bytes of ${type}`;
