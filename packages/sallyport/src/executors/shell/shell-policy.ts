import { type CommandPolicy, type CommandScreen, createCommandScreen } from '@sallyport/guards';

/** The policy of shell commands, which can be changed while calls run (002): a call takes the one that holds when it is screened. */
export interface ShellPolicy {
  /** The screen of the policy that holds now; another function after each `replace`. */
  screen(): CommandScreen;
  /** Puts another policy in force, for all calls that are screened from now on. */
  replace(policy: CommandPolicy): void;
}

/** @param policy what an operator adds to the rules; nothing when absent */
export function createShellPolicy(policy: CommandPolicy = {}): ShellPolicy {
  let current = createCommandScreen(policy);
  return {
    screen: () => current,
    replace(next) {
      current = createCommandScreen(next);
    },
  };
}
