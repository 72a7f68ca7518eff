import type { Command } from 'commander';
import type { ApprovalApproveRequest, ApprovalDecision } from '../../../../../api/schemas/calls/approvals.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { oneOf, seconds } from '../../input/option-values.ts';
import { readArguments } from '../../input/read-json.ts';
import { usageError } from '../../input/usage-error.ts';
import type { Printer } from '../../output/printer.ts';
import { readCredential } from '../token/read-credential.ts';

interface DecisionOptions {
  readonly digest?: string;
  readonly reason?: string;
}

interface ApproveOptions extends DecisionOptions {
  readonly always?: 'exact_arguments' | 'tool';
  readonly for?: number;
  readonly anyAgent?: boolean;
  readonly anyPolicy?: boolean;
}

/** `approvals approve|edit|deny|answer`. */
export function addDecideCommands(approvals: Command, kit: CommandKit): void {
  const approve = withYesOptions(
    approvals.command('approve').description('say yes to a call, as it is').argument('<approval-id>'),
  );
  kit.asking<ApproveOptions>(approve, async ({ layer, caller, print }, [id], options) => {
    const answer = await layer.ask('approvals.approve', requestOf(String(id), options), caller);
    tellDecision(answer, print);
    return EXIT.ok;
  });
  const edit = withYesOptions(
    approvals
      .command('edit')
      .description('say yes to a call with other arguments; they are checked like those that came')
      .argument('<approval-id>')
      .argument('<arguments>', 'JSON, @FILE, or - for standard input; they take the place of all that came'),
  );
  kit.asking<ApproveOptions>(edit, async ({ layer, caller, print, parts }, [id, given], options) => {
    const parameters = await readArguments(String(given), parts.io);
    const answer = await layer.ask('approvals.approve', { ...requestOf(String(id), options), parameters }, caller);
    tellDecision(answer, print);
    return EXIT.ok;
  });
  const deny = withOptions(
    approvals.command('deny').description('say no to a call; it ends and never runs').argument('<approval-id>'),
  );
  kit.asking<DecisionOptions>(deny, async ({ layer, caller, print }, [id], options) => {
    const answer = await layer.ask('approvals.deny', { approval_id: String(id), ...saidOf(options) }, caller);
    tellDecision(answer, print);
    return EXIT.ok;
  });
  addAnswerCommand(approvals, kit);
}

/** The token is the right to answer, whoever types it; so it says in whose name. */
function addAnswerCommand(approvals: Command, kit: CommandKit): void {
  const answer = withOptions(
    approvals
      .command('answer')
      .description('answer once with the token of a notice, in the name of the address that it was sent to')
      .argument('<approve|deny>')
      .argument('[token]', 'the token; standard input when absent or -, which keeps it out of the list of processes'),
  );
  kit.asking<DecisionOptions>(answer, async ({ layer, caller, print, parts }, [word, given], options) => {
    if (word !== 'approve' && word !== 'deny') throw usageError('Say approve or deny before the token.');
    const answer_token = await readCredential(given, parts.io);
    const input = { answer_token, decision: word, ...saidOf(options) } as const;
    tellDecision(await layer.ask('approvals.answer', input, caller), print);
    return EXIT.ok;
  });
}

const withOptions = (command: Command): Command =>
  command
    .option('--digest <digest>', 'only if the approval is still about what "approvals show" showed')
    .option('--reason <text>', 'why; on record, and told to the caller');

const withYesOptions = (command: Command): Command =>
  withOptions(command)
    .option(
      '--always <scope>',
      'also to calls that come later: exact_arguments or tool; see "approvals rules"',
      oneOf(['exact_arguments', 'tool']),
    )
    .option('--for <duration>', 'how long --always holds, for example 8h', seconds)
    .option('--any-agent', 'with --always: for every agent of the tenant; takes the role admin')
    .option('--any-policy', 'with --always: also once the policies have changed');

function requestOf(id: string, options: ApproveOptions): ApprovalApproveRequest {
  const { always, for: lasting, anyAgent, anyPolicy } = options;
  if ((always === undefined) !== (lasting === undefined)) throw usageError('Give --always and --for together.');
  if (always === undefined || lasting === undefined) {
    if (anyAgent === true || anyPolicy === true) throw usageError('--any-agent and --any-policy go with --always.');
    return { approval_id: id, ...saidOf(options) };
  }
  return {
    approval_id: id,
    ...saidOf(options),
    remember: {
      scope: always,
      for_seconds: Math.round(lasting),
      ...(anyAgent === true ? { agent_only: false } : {}),
      ...(anyPolicy === true ? { any_policy_version: true } : {}),
    },
  };
}

const saidOf = ({ digest, reason }: DecisionOptions) => ({
  ...(digest === undefined ? {} : { binding_digest: digest }),
  ...(reason === undefined ? {} : { reason }),
});

function tellDecision(decision: ApprovalDecision, print: Printer): void {
  const { state, approval_id: id, invocation_id: call, votes, quorum, binding_digest: digest, rule } = decision;
  if (print.json) print.value(decision);
  else if (state === 'pending') print.line(`${votes} of ${quorum} said yes to ${digest}: ${id} waits on.`, 'warning');
  else print.line(`${state} ${id}: the call ${call} ${state === 'approved' ? 'goes on' : 'has ended'}`);
  if (rule !== undefined && !print.json)
    print.note(`always until ${rule.expires_at}: approvals revoke-rule ${rule.rule_id}`);
}
