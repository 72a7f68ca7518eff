import type { Command } from 'commander';
import type { ApprovalDelegation, ApprovalRule } from '../../../../../api/schemas/calls/approvals.ts';
import type { CommandKit } from '../../command-kit.ts';
import { operationCommands } from '../../operation/operation-command.ts';
import { list } from '../../output/templates.ts';

/** `approvals rules|revoke-rule|delegate|delegations|end-delegation`. */
export function addRightsCommands(approvals: Command, kit: CommandKit): void {
  const operation = operationCommands(approvals, kit);
  operation('approvals.rules', {
    command: 'rules',
    help: 'the standing rules by which calls pass without a question',
    print: list({
      head: ['RULE', 'TOOL', 'AGENT', 'ARGUMENTS', 'REASON', 'UNTIL', 'BY'],
      rows: ({ rules }) => rules.map(ruleRow),
      empty: 'There are no standing rules: every call that needs a person asks.',
    }),
  });
  operation('approvals.revoke-rule', {
    command: 'revoke-rule',
    help: 'take a standing rule back: the question comes again',
    print: ({ rule_id, tool_id }, print) => print.line(`Revoked ${rule_id}: calls of ${tool_id} ask again`),
  });
  operation('approvals.delegate', {
    command: 'delegate',
    help: 'let somebody else decide in your name, for a time',
    args: ['to'],
    members: { to: { flags: 'did' } },
    print: ({ to, from, until, delegation_id }, print) =>
      print.line(`${to} decides for ${from} until ${until} (${delegation_id})`),
  });
  operation('approvals.delegations', {
    command: 'delegations',
    help: 'who decides for whom',
    print: list({
      head: ['DELEGATION', 'FROM', 'TO', 'UNTIL', 'REASON'],
      rows: ({ delegations }) => delegations.map(delegationRow),
      empty: 'Nobody decides for anybody else.',
    }),
  });
  operation('approvals.end-delegation', {
    command: 'end-delegation',
    print: ({ to, from }, print) => print.line(`${to} no longer decides for ${from}`),
  });
}

const ruleRow = (rule: ApprovalRule): string[] => [
  rule.rule_id,
  rule.tool_id,
  rule.user_did ?? rule.agent_did ?? 'every agent',
  rule.input_hash === undefined ? 'any' : rule.input_hash.slice(0, 8),
  rule.reason,
  rule.expires_at,
  rule.made_by,
];

const delegationRow = ({ delegation_id, from, to, until, reason = '' }: ApprovalDelegation): string[] => [
  delegation_id,
  from,
  to,
  until,
  reason,
];
