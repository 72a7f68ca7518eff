import type { Command } from 'commander';
import type { ActivationSetRequest, PolicyOverrides, ToolActivation } from '../../../../../api/schemas/visibility.ts';
import type { CommandKit } from '../../command-kit.ts';
import { count, oneOf, seconds } from '../../input/option-values.ts';
import { flag, type GivenOptions, operationCommands } from '../../operation/operation-command.ts';
import { list } from '../../output/templates.ts';

/** Options for what an activation changes of the manifest. */
const OVERRIDES = {
  disable: flag('--disable', 'the agent may not use it, and does not see it'),
  confirm: { flags: '--confirm <yes|no>', help: 'whether a person confirms each call', parse: oneOf(['yes', 'no']) },
  confirmationPrompt: { flags: '--confirmation-prompt <text>', help: 'what that person is asked', parse: String },
  requireApproval: flag('--require-approval', 'an approver has to agree to each call'),
  timeoutMax: { flags: '--timeout-max <duration>', help: 'longest run, for example 10s', parse: seconds },
  perMinute: { flags: '--per-minute <n>', help: 'calls of this agent in a minute', parse: count },
  burst: {
    flags: '--burst <n>',
    help: 'calls of this agent at once; as many as a minute has when absent',
    parse: count,
  },
};

/** `activations list|set|remove`. */
export function addActivationsCommands(program: Command, kit: CommandKit): void {
  const group = program.command('activations').description('see and say which agent may use which tool, and how');
  const operation = operationCommands(group, kit);
  operation('activations.list', {
    command: 'list',
    help: 'the activations; an agent without one may use the tool',
    print: list({
      head: ['AGENT', 'USER', 'TOOL', 'ENABLED', 'OVERRIDES'],
      rows: ({ activations }) => activations.map(rowOf),
      empty: 'There are no activations: every agent may use every tool.',
    }),
  });
  operation('activations.set', {
    command: 'set',
    help: 'enable a tool for an agent, or disable it, with overrides of its policy; replaces what was said before',
    args: ['agent_did', 'tool_id'],
    members: { enabled: false, policy_overrides: false },
    own: OVERRIDES,
    input: requestOf,
    whenAbsent: 'make',
    print: (said, print) =>
      print.line(`${said.tool_id} is ${said.enabled ? 'enabled' : 'disabled'} for ${named(said)}`),
  });
  operation('activations.remove', {
    command: 'remove',
    help: 'take back what was said; the tool is enabled as its manifest says',
    args: ['agent_did', 'tool_id'],
    succeeded: ({ removed }) => removed,
    print: (answer, print) => {
      if (answer.removed) print.line(`Removed the activation of ${answer.tool_id} for ${named(answer)}`);
      else print.note(`There is no activation of ${answer.tool_id} for ${named(answer)}.`);
    },
  });
}

const named = ({ agent_did, user_did }: Pick<ToolActivation, 'agent_did' | 'user_did'>): string =>
  user_did === undefined ? agent_did : `${agent_did}, user ${user_did}`;

const rowOf = ({ agent_did, user_did, tool_id, enabled, policy_overrides, reason }: ToolActivation): string[] => [
  agent_did,
  user_did ?? '',
  tool_id,
  enabled ? 'yes' : 'no',
  [...Object.entries(policy_overrides).map(([name, value]) => `${name}=${JSON.stringify(value)}`), reason ?? ''].join(
    ' ',
  ),
];

function requestOf({
  disable,
  confirm,
  confirmationPrompt,
  requireApproval,
  timeoutMax,
  perMinute,
  burst,
  ...given
}: ActivationSetRequest & GivenOptions<typeof OVERRIDES>): ActivationSetRequest {
  const policy_overrides: PolicyOverrides = {
    ...(confirm === undefined ? {} : { requires_confirmation: confirm === 'yes' }),
    ...(confirmationPrompt === undefined ? {} : { confirmation_prompt: confirmationPrompt }),
    ...(requireApproval === undefined ? {} : { requires_approval: requireApproval }),
    ...(timeoutMax === undefined ? {} : { timeout_seconds_max: timeoutMax }),
    ...(perMinute === undefined ? {} : { rate_limit: { per_minute: perMinute, burst: burst ?? perMinute } }),
  };
  return { ...given, enabled: disable !== true, policy_overrides };
}
