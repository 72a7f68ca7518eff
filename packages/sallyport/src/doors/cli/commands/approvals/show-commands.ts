import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Approval, ApprovalDetail } from '../../../../../api/schemas/calls/approvals.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit, CommandWork } from '../../command-kit.ts';
import { flag, operationCommands } from '../../operation/operation-command.ts';
import type { Printer } from '../../output/printer.ts';
import { list } from '../../output/templates.ts';

/** Time between two polls while watching, in ms. */
const WATCH_MS = 2000;
/** Approvals asked for in one poll. */
const PAGE_MAX = 200;

/** `approvals list|show|watch`. */
export function addShowCommands(approvals: Command, kit: CommandKit): void {
  const operation = operationCommands(approvals, kit);
  operation('approvals.list', {
    command: 'list',
    help: 'the calls that wait for a person, the oldest first',
    members: { state: false },
    own: { decided: flag('--decided', 'decided approvals instead, the latest first') },
    input: ({ decided, ...given }) => ({ ...given, state: decided === true ? 'decided' : 'pending' }),
    print: (answer, print, { decided }) =>
      list<typeof answer>({
        head: ['APPROVAL', 'STATE', 'TOOL', 'AGENT', 'REASON', 'UNTIL', 'BY'],
        rows: (found) => found.approvals.map(rowOf),
        empty: decided === true ? 'Nothing was decided.' : 'Nothing waits.',
      })(answer, print),
  });
  operation('approvals.get', {
    command: 'show',
    help: 'one approval, with its arguments and what an approval is bound to',
    print: printApproval,
  });
  const watch = approvals.command('watch').description('show each call that begins to wait, until stopped');
  kit.asking(watch, async (work) => {
    await follow(work);
    return EXIT.ok;
  });
}

const rowOf = (approval: Approval): string[] => [
  approval.approval_id,
  approval.state,
  `${approval.tool_id} ${approval.tool_version}`,
  approval.user_did ?? approval.agent_did,
  approval.reason,
  approval.expires_at,
  approval.decided_by ?? approval.approvers.join(', '),
];

async function follow({ layer, caller, print, parts }: CommandWork): Promise<void> {
  const { signal } = parts.io;
  // A request under way when the run ends is abandoned; cancelling it would report an error.
  const { signal: _signal, ...asking } = caller;
  let known = new Set<string>();
  while (signal?.aborted !== true) {
    const { approvals } = await layer.ask('approvals.list', { page_size: PAGE_MAX }, asking);
    for (const { approval_id: id } of approvals.filter((each) => !known.has(each.approval_id))) {
      const shown = await layer.ask('approvals.get', { approval_id: id }, asking);
      if (print.json) print.valueLine(shown);
      else printApproval(shown, print);
    }
    known = new Set(approvals.map(({ approval_id }) => approval_id));
    await wait(WATCH_MS, undefined, signal === undefined ? {} : { signal }).catch(() => {});
  }
}

function printApproval({ approval, parameters, tool_description, votes }: ApprovalDetail, print: Printer): void {
  const pending = approval.state === 'pending';
  print.line(`${approval.approval_id}: ${approval.state}`, pending ? 'warning' : 'strong');
  print.facts([
    ['tool', `${approval.tool_id} ${approval.tool_version}`],
    ['says', tool_description],
    ['leaves', approval.side_effect_policy],
    ['agent', approval.agent_did],
    ['user', approval.user_did],
    ['because', approval.question === undefined ? approval.reason : `${approval.reason}: ${approval.question}`],
    ['question', approval.prompt],
    ['arguments', parameters === undefined ? undefined : JSON.stringify(parameters, null, 2)],
    ['asked', approval.requested_at],
    ['until', approval.expires_at],
    [pending ? 'ask' : 'counted', approval.approvers.join(', ')],
    ['decided by', approval.decided_by],
    ['reason', approval.decision_reason],
    ['bound to', approval.binding_digest],
  ]);
  for (const vote of votes) {
    const edited =
      vote.parameters === undefined ? '' : ` to ${JSON.stringify(vote.parameters)} (${vote.binding_digest})`;
    print.line(`  approved by ${vote.approver}${edited}${vote.reason === undefined ? '' : `: ${vote.reason}`}`);
  }
  if (pending)
    print.line(`  sallyport approvals approve ${approval.approval_id} --digest ${approval.binding_digest}`, 'dim');
}
