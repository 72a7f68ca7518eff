import type { Command } from 'commander';
import type { ApprovalApproveRequest, ApprovalDecision } from '../../../../../api/schemas/calls/approvals.ts';
import type { CommandKit } from '../../command-kit.ts';
import { oneOf, seconds } from '../../input/option-values.ts';
import { usageError } from '../../input/usage-error.ts';
import { flag, type GivenOptions, operationCommands } from '../../operation/operation-command.ts';
import type { Printer } from '../../output/printer.ts';
import { readCredential } from '../token/read-credential.ts';

const DIGEST = {
  flags: '--digest <digest>',
  help: 'only if the approval is still about what "approvals show" showed',
};

/** Options of an approval that becomes a standing rule. */
const ALWAYS = {
  always: {
    flags: '--always <scope>',
    help: 'also to calls that come later: exact_arguments or tool; see "approvals rules"',
    parse: oneOf(['exact_arguments', 'tool']),
  },
  for: { flags: '--for <duration>', help: 'how long --always holds, for example 8h', parse: seconds },
  anyAgent: flag('--any-agent', 'with --always: for every agent of the tenant; takes the role admin'),
  anyPolicy: flag('--any-policy', 'with --always: also once the policies have changed'),
};

/** `approvals approve|edit|deny|answer`. */
export function addDecideCommands(approvals: Command, kit: CommandKit): void {
  const operation = operationCommands(approvals, kit);
  operation('approvals.approve', {
    command: 'approve',
    help: 'approve a call, as it is',
    members: { binding_digest: DIGEST, parameters: false, remember: false },
    own: ALWAYS,
    input: requestOf,
    print: printDecision,
  });
  operation('approvals.approve', {
    command: 'edit',
    help: 'approve a call with other arguments; they are checked like the arguments of the call',
    args: ['approval_id', 'parameters'],
    members: {
      binding_digest: DIGEST,
      parameters: {
        flags: 'arguments',
        required: true,
        help: 'JSON, @FILE, or - for standard input; they take the place of all that came',
      },
      remember: false,
    },
    own: ALWAYS,
    input: requestOf,
    print: printDecision,
  });
  operation('approvals.deny', { command: 'deny', members: { binding_digest: DIGEST }, print: printDecision });
  // The token is the right to answer, no matter who types it, so it also names the approver.
  operation('approvals.answer', {
    command: 'answer',
    help: 'answer once with the token of a notice, in the name of the address that it was sent to',
    args: ['decision', 'answer_token'],
    members: {
      answer_token: {
        flags: 'token',
        required: false,
        help: 'the token; standard input when absent or -, which keeps it out of the list of processes',
      },
      binding_digest: DIGEST,
    },
    input: async (given, { parts }) => ({ ...given, answer_token: await readCredential(given.answer_token, parts.io) }),
    print: printDecision,
  });
}

type Typed = ApprovalApproveRequest & GivenOptions<typeof ALWAYS>;

function requestOf({ always, for: lasting, anyAgent, anyPolicy, ...given }: Typed) {
  if ((always === undefined) !== (lasting === undefined)) throw usageError('Give --always and --for together.');
  if (always === undefined || lasting === undefined) {
    if (anyAgent === true || anyPolicy === true) throw usageError('--any-agent and --any-policy go with --always.');
    return given;
  }
  const remember = {
    scope: always,
    for_seconds: Math.round(lasting),
    ...(anyAgent === true ? { agent_only: false } : {}),
    ...(anyPolicy === true ? { any_policy_version: true } : {}),
  };
  return { ...given, remember };
}

function printDecision(decision: ApprovalDecision, print: Printer): void {
  const { state, approval_id: id, invocation_id: call, votes, quorum, binding_digest: digest, rule } = decision;
  if (state === 'pending') print.line(`${votes} of ${quorum} approved ${digest}: ${id} waits on.`, 'warning');
  else print.line(`${state} ${id}: the call ${call} ${state === 'approved' ? 'goes on' : 'has ended'}`);
  if (rule !== undefined) print.note(`always until ${rule.expires_at}: approvals revoke-rule ${rule.rule_id}`);
}
