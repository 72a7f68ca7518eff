import type { Command } from 'commander';
import type { ActivationListRequest, PolicyOverrides, ToolActivation } from '../../../../../api/schemas/visibility.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { count, oneOf, seconds } from '../../input/option-values.ts';

/** `activations list|set|remove`. */
export function addActivationsCommands(program: Command, kit: CommandKit): void {
  const activations = program.command('activations').description('see and say which agent may use which tool, and how');
  addListCommand(activations, kit);
  addSetCommand(activations, kit);
  const remove = activations
    .command('remove')
    .description('take back what was said; the tool is enabled as its manifest says')
    .argument('<agent-did>')
    .argument('<tool-id>')
    .option('--user <did>', 'of this user of the agent alone');
  kit.asking<OfUser>(remove, async ({ layer, caller, print }, [agent, tool], { user }) => {
    const input = { agent_did: String(agent), ...ofUser(user), tool_id: String(tool) };
    const answer = await layer.ask('activations.remove', input, caller);
    if (print.json) print.value(answer);
    else if (answer.removed) print.line(`Removed the activation of ${answer.tool_id} for ${named(answer)}`);
    else print.note(`There is no activation of ${answer.tool_id} for ${named(answer)}.`);
    return answer.removed ? EXIT.ok : EXIT.refused;
  });
}

interface OfUser {
  readonly user?: string;
}

const ofUser = (user: string | undefined) => (user === undefined ? {} : { user_did: user });

const named = ({ agent_did, user_did }: Pick<ToolActivation, 'agent_did' | 'user_did'>): string =>
  user_did === undefined ? agent_did : `${agent_did}, user ${user_did}`;

function addListCommand(activations: Command, kit: CommandKit): void {
  const list = activations
    .command('list')
    .description('the activations; an agent without one may use the tool')
    .option('--agent <did>', 'of this agent')
    .option('--user <did>', 'of this user')
    .option('--tool <id>', 'of this tool');
  interface Options extends OfUser {
    readonly agent?: string;
    readonly tool?: string;
  }
  kit.asking<Options>(list, async ({ layer, caller, print }, _args, { agent, user, tool }) => {
    const input: ActivationListRequest = {
      ...(agent === undefined ? {} : { agent_did: agent }),
      ...ofUser(user),
      ...(tool === undefined ? {} : { tool_id: tool }),
    };
    const answer = await layer.ask('activations.list', input, caller);
    if (print.json) print.value(answer);
    else if (answer.activations.length === 0) print.note('There are no activations: every agent may use every tool.');
    else print.table(['AGENT', 'USER', 'TOOL', 'ENABLED', 'OVERRIDES'], answer.activations.map(rowOf));
    return EXIT.ok;
  });
}

const rowOf = ({ agent_did, user_did, tool_id, enabled, policy_overrides, reason }: ToolActivation): string[] => [
  agent_did,
  user_did ?? '',
  tool_id,
  enabled ? 'yes' : 'no',
  [...Object.entries(policy_overrides).map(([name, value]) => `${name}=${JSON.stringify(value)}`), reason ?? ''].join(
    ' ',
  ),
];

interface SetOptions extends OfUser {
  readonly disable?: boolean;
  readonly reason?: string;
  readonly confirm?: 'yes' | 'no';
  readonly confirmationPrompt?: string;
  readonly requireApproval?: boolean;
  readonly timeoutMax?: number;
  readonly perMinute?: number;
  readonly burst?: number;
}

function addSetCommand(activations: Command, kit: CommandKit): void {
  const set = activations
    .command('set')
    .description(
      'enable a tool for an agent, or disable it, with overrides of its policy; replaces what was said before',
    )
    .argument('<agent-did>')
    .argument('<tool-id>')
    .option('--user <did>', 'for this user of the agent alone; without it for all its users')
    .option('--disable', 'the agent may not use it, and does not see it')
    .option('--reason <text>', 'why, for people and agents')
    .option('--confirm <yes|no>', 'whether a person confirms each call', oneOf(['yes', 'no']))
    .option('--confirmation-prompt <text>', 'what that person is asked')
    .option('--require-approval', 'an approver has to agree to each call')
    .option('--timeout-max <duration>', 'longest run, for example 10s', seconds)
    .option('--per-minute <n>', 'calls of this agent in a minute', count)
    .option('--burst <n>', 'calls of this agent at once; as many as a minute has when absent', count);
  kit.adding<SetOptions>(set, async ({ layer, caller, print }, [agent, tool], options) => {
    const input = {
      agent_did: String(agent),
      ...ofUser(options.user),
      tool_id: String(tool),
      enabled: options.disable !== true,
      policy_overrides: overridesOf(options),
      ...(options.reason === undefined ? {} : { reason: options.reason }),
    };
    const said = await layer.ask('activations.set', input, caller);
    if (print.json) print.value(said);
    else print.line(`${said.tool_id} is ${said.enabled ? 'enabled' : 'disabled'} for ${named(said)}`);
    return EXIT.ok;
  });
}

function overridesOf(options: SetOptions): PolicyOverrides {
  const { confirm, confirmationPrompt, requireApproval, timeoutMax, perMinute, burst } = options;
  return {
    ...(confirm === undefined ? {} : { requires_confirmation: confirm === 'yes' }),
    ...(confirmationPrompt === undefined ? {} : { confirmation_prompt: confirmationPrompt }),
    ...(requireApproval === true ? { requires_approval: true } : {}),
    ...(timeoutMax === undefined ? {} : { timeout_seconds_max: timeoutMax }),
    ...(perMinute === undefined ? {} : { rate_limit: { per_minute: perMinute, burst: burst ?? perMinute } }),
  };
}
