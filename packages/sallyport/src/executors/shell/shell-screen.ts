import type { CommandScreen } from '@sallyport/guards';
import type { Failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { blockedFailure, questionOf, unconfirmedFailure } from '../command-verdict.ts';
import { fillCommand } from './command/argument-template.ts';
import { inputText, planOf, type ShellPlan } from './shell-plan.ts';
import type { ShellPolicy } from './shell-policy.ts';

type Parameters = Readonly<Record<string, unknown>>;

/** The screen's verdict on the command of one call. */
export interface ScreenedCommand {
  /** The refusal of the call, confirmed or not. */
  readonly refused?: Failure | undefined;
  /** The question for a person before it runs. */
  readonly question?: string | undefined;
  /** The refusal while no person has confirmed the call; present with `question`. */
  readonly unconfirmed?: Failure | undefined;
}

/** Screens the filled command of a call. */
export type ShellScreen = (tool: ToolVersion, parameters: Parameters) => ScreenedCommand;

interface Seen {
  readonly plan: ShellPlan;
  readonly screen: CommandScreen;
  readonly screened: ScreenedCommand;
}

/** Caches the verdict: the same call under the same policy is screened once. */
export function createShellScreen(policy: ShellPolicy): ShellScreen {
  const seen = new WeakMap<Parameters, Seen>();
  return ({ manifest }, parameters) => {
    const plan = planOf(manifest);
    const screen = policy.screen();
    const before = seen.get(parameters);
    if (before?.plan === plan && before.screen === screen) return before.screened;
    const screened = screenedBy(screen, plan, parameters);
    seen.set(parameters, { plan, screen, screened });
    return screened;
  };
}

function screenedBy(screen: CommandScreen, plan: ShellPlan, parameters: Parameters): ScreenedCommand {
  let command: readonly string[];
  try {
    command = fillCommand(plan.command, parameters, plan.config.allow_leading_dash === true);
  } catch (error) {
    if (error instanceof ToolLayerError) return { refused: error.failure };
    throw error;
  }
  const findings = findingsOf(screen, command, plan, inputText(plan, parameters));
  return {
    refused: blockedFailure(findings, 'command'),
    question: questionOf(findings, 'command'),
    unconfirmed: unconfirmedFailure(findings, 'command'),
  };
}

const OPEN = {
  rule: 'open-parameter',
  command: '',
  why: 'a parameter may choose what its program runs',
  verdict: 'ask',
} as const;

/**
 * When a parameter may choose the program, the tool's owner cannot vouch for it: every command that is not known to be
 * read-only needs a confirmation.
 */
function findingsOf(
  screen: CommandScreen,
  command: readonly string[],
  { isOpen, fixedWords }: ShellPlan,
  input?: string,
) {
  const { findings, verdict } = screen(command, input, fixedWords);
  if (!isOpen || verdict !== 'safe') return findings;
  const undeclared = screen(command, input);
  return undeclared.verdict === 'ask' ? [OPEN, ...undeclared.findings] : undeclared.findings;
}
