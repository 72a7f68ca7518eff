import type { Command } from 'commander';
import type { ApprovalDelegation, ApprovalRule } from '../../../../../api/schemas/calls/approvals.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { seconds } from '../../input/option-values.ts';
import { usageError } from '../../input/usage-error.ts';

interface ReasonOptions {
  readonly reason?: string;
}

/** `approvals rules|revoke-rule|delegate|delegations|end-delegation`. */
export function addRightsCommands(approvals: Command, kit: CommandKit): void {
  addRuleCommands(approvals, kit);
  addDelegationCommands(approvals, kit);
}

function addRuleCommands(approvals: Command, kit: CommandKit): void {
  const rules = approvals.command('rules').description('the standing rules by which calls pass without a question');
  kit.asking(rules, async ({ layer, caller, print }) => {
    const answer = await layer.ask('approvals.rules', {}, caller);
    if (print.json) print.value(answer);
    else if (answer.rules.length === 0) print.note('There are no standing rules: every call that needs a person asks.');
    else print.table(['RULE', 'TOOL', 'AGENT', 'ARGUMENTS', 'REASON', 'UNTIL', 'BY'], answer.rules.map(ruleRow));
    return EXIT.ok;
  });
  const revoke = approvals
    .command('revoke-rule')
    .description('take a standing rule back: the question comes again')
    .argument('<rule-id>')
    .option('--reason <text>', 'why; on record');
  kit.asking<ReasonOptions>(revoke, async ({ layer, caller, print }, [id], { reason }) => {
    const input = { rule_id: String(id), ...(reason === undefined ? {} : { reason }) };
    const answer = await layer.ask('approvals.revoke-rule', input, caller);
    if (print.json) print.value(answer);
    else print.line(`Revoked ${answer.rule_id}: calls of ${answer.tool_id} ask again`);
    return EXIT.ok;
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

function addDelegationCommands(approvals: Command, kit: CommandKit): void {
  interface DelegateOptions extends ReasonOptions {
    readonly for?: number;
  }
  const delegate = approvals
    .command('delegate')
    .description('let somebody else decide in your name, for a time')
    .argument('<did>', 'user or agent, who needs the role approver too')
    .option('--for <duration>', 'how long, for example 3d', seconds)
    .option('--reason <text>', 'why; on record');
  kit.asking<DelegateOptions>(delegate, async ({ layer, caller, print }, [to], { for: lasting, reason }) => {
    if (lasting === undefined) throw usageError('Say how long with --for, for example --for 3d.');
    const because = reason === undefined ? {} : { reason };
    const input = { to: String(to), for_seconds: Math.round(lasting), ...because };
    const answer = await layer.ask('approvals.delegate', input, caller);
    if (print.json) print.value(answer);
    else print.line(`${answer.to} decides for ${answer.from} until ${answer.until} (${answer.delegation_id})`);
    return EXIT.ok;
  });
  const list = approvals.command('delegations').description('who decides for whom');
  kit.asking(list, async ({ layer, caller, print }) => {
    const answer = await layer.ask('approvals.delegations', {}, caller);
    if (print.json) print.value(answer);
    else if (answer.delegations.length === 0) print.note('Nobody decides for anybody else.');
    else print.table(['DELEGATION', 'FROM', 'TO', 'UNTIL', 'REASON'], answer.delegations.map(delegationRow));
    return EXIT.ok;
  });
  const end = approvals
    .command('end-delegation')
    .description('end a delegation: its maker may, and every admin')
    .argument('<delegation-id>');
  kit.asking(end, async ({ layer, caller, print }, [id]) => {
    const answer = await layer.ask('approvals.end-delegation', { delegation_id: String(id) }, caller);
    if (print.json) print.value(answer);
    else print.line(`${answer.to} no longer decides for ${answer.from}`);
    return EXIT.ok;
  });
}

const delegationRow = ({ delegation_id, from, to, until, reason = '' }: ApprovalDelegation): string[] => [
  delegation_id,
  from,
  to,
  until,
  reason,
];
