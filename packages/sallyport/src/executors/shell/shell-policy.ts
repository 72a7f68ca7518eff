import { type CommandPolicy, type CommandScreen, createCommandScreen } from '@sallyport/guards';

/**
 * The policy of shell commands, which can change while calls run (002): a call uses the policy at the time of its
 * screening.
 */
export interface ShellPolicy {
  /** The screen of the current policy; a new function after each `replace`. */
  screen(): CommandScreen;
  /** Replaces the policy for all calls screened from now on. */
  replace(policy: CommandPolicy): void;
}

/** @param policy an operator's additions to the rules; default: none */
export function createShellPolicy(policy: CommandPolicy = {}): ShellPolicy {
  let current = createCommandScreen(policy);
  return {
    screen: () => current,
    replace(next) {
      current = createCommandScreen(next);
    },
  };
}
