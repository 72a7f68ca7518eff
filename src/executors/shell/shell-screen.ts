// Hot path: looks at the command of every call, once before the policy is asked and once before it runs.
import { type Failure, failure } from '../../domain/error/failure.ts';
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { CommandCheck, CommandScreen } from '../../screens/check-command.ts';
import { fillCommand } from './command/argument-template.ts';
import { inputText, planOf, type ShellPlan } from './shell-plan.ts';
import type { ShellPolicy } from './shell-policy.ts';

type Parameters = Readonly<Record<string, unknown>>;

/** Says why a call must not run; undefined when nothing speaks against it. */
export type ShellScreen = (tool: ToolVersion, parameters: Parameters) => Failure | undefined;

interface Screened {
  readonly plan: ShellPlan;
  readonly screen: CommandScreen;
  readonly refused: Failure | undefined;
}

/** Screens the filled command of a call. The same call under the same policy is looked at once. */
export function createShellScreen(policy: ShellPolicy): ShellScreen {
  const seen = new WeakMap<Parameters, Screened>();
  return ({ manifest }, parameters) => {
    const plan = planOf(manifest);
    const screen = policy.screen();
    const before = seen.get(parameters);
    if (before?.plan === plan && before.screen === screen) return before.refused;
    const refused = refusalOf(plan, parameters, screen);
    seen.set(parameters, { plan, screen, refused });
    return refused;
  };
}

function refusalOf(plan: ShellPlan, parameters: Parameters, screen: CommandScreen): Failure | undefined {
  let command: readonly string[];
  try {
    command = fillCommand(plan.command, parameters, plan.config.allow_leading_dash === true);
  } catch (error) {
    if (error instanceof ToolLayerError) return error.failure;
    throw error;
  }
  const check = screen(command, inputText(plan, parameters));
  return check.verdict === 'blocked' ? blocked(check) : undefined;
}

/** The words of the command stay out of it: they may hold what the caller must not see again. */
function blocked({ findings }: CommandCheck): Failure {
  const found = findings.filter(({ verdict }) => verdict === 'blocked');
  const reasons = [...new Set(found.map(({ rule, why }) => `${why} (${rule})`))].slice(0, REASONS_MAX);
  const rules = [...new Set(found.map(({ rule }) => rule))];
  return failure('E3210', `The command is blocked, because ${reasons.join(', and ')}. Do it in another way.`, {
    details: { screen: 'shell', rules },
  });
}

/** Reasons that a message tells. */
const REASONS_MAX = 3;
