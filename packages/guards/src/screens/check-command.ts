import { SHELL_SCREEN_BOUNDS } from './shell/bounds.ts';
import { knownStream, literal, type Stream, unknownStream } from './shell/field.ts';
import { noteWords } from './shell/parse-script.ts';
import { judgeCommand } from './shell/programs/judge-command.ts';
import { createMatcher } from './shell/programs/policy.ts';
import { createReport, worstOf } from './shell/report.ts';
import { createShell, type PolicyMatchers } from './shell/shell.ts';
import { createRunner } from './shell/walk/walk-script.ts';

/** `safe`: known to read only, may run without a question; `ask`: its effect is not known; `blocked`: never. */
export type CommandVerdict = 'safe' | 'ask' | 'blocked';

/** Why a command is not safe. */
export interface CommandFinding {
  /** Name of the rule, for example `deletes-system`. docs/detectors.md lists them. */
  readonly rule: string;
  /** The simple command, words joined, at most 200 characters. */
  readonly command: string;
  /** Half a sentence that begins with "it". */
  readonly why: string;
  readonly verdict: CommandVerdict;
}

/** What is to be said of a command. */
export interface CommandCheck {
  /** The worst of the findings. */
  readonly verdict: CommandVerdict;
  /** At most 100. */
  readonly findings: readonly CommandFinding[];
  /**
   * Every simple command that was found, nested ones too, in order of appearance. A word that is only known when it runs
   * is undefined; `depth` counts the scripts around it: substitutions, `sh -c`, functions.
   */
  readonly commands: readonly {
    readonly name: string;
    readonly words: readonly (string | undefined)[];
    readonly depth: number;
  }[];
  /** Targets of redirections and operands that are known to be written. */
  readonly writes: readonly string[];
}

/** What an operator adds to the rules. Entries are words that a command begins with; `*` stands for any characters of a word. */
export interface CommandPolicy {
  /** `blocklist` (default): what no rule blocks is safe or asked; `allowlist`: what is neither allowed nor known to read only is blocked. */
  readonly mode?: 'blocklist' | 'allowlist';
  /** Blocked beside what the rules block, for example `git push` or `kubectl delete *`. */
  readonly blocked?: readonly string[];
  /** Safe although the rules do not know them. Never lifts what is blocked. */
  readonly allowed?: readonly string[];
  /**
   * Names of rules that ask: instead of blocking (`deletes-by-force`), or also about the program that the definition of a
   * tool names (`unknown-program`, `has-effect`, `runs-file`, `runs-code`).
   */
  readonly asked?: readonly string[];
}

/**
 * Checks commands under one policy.
 * @param input what the command will read, where that is known; it matters to `xargs` and shells
 * @param declared how many leading words of the command the definition of a tool fixes. That the program they name, or the
 *   file that it is to run, is not known is then no finding: who registered the tool knows it. Default 0
 */
export type CommandScreen = (command: string | readonly string[], input?: string, declared?: number) => CommandCheck;

/**
 * Judges a command without running anything: it is parsed as bash would, every command in it is followed through
 * substitutions, wrappers, quotes, variables and encodings, and each is judged by what it does. What cannot be read or told
 * is never safe; what is beyond the bounds of the parser is blocked (EXE-02).
 * @param command a script for a shell, or the words of one command as a program gets them
 */
export function checkCommand(command: string | readonly string[], options: CommandPolicy = NO_POLICY): CommandCheck {
  let screen = screens.get(options);
  if (screen === undefined) {
    screen = createCommandScreen(options);
    screens.set(options, screen);
  }
  return screen(command);
}

const NO_POLICY: CommandPolicy = {};
const screens = new WeakMap<CommandPolicy, CommandScreen>();

/** Reads a policy once, for many commands. */
export function createCommandScreen({
  mode = 'blocklist',
  blocked,
  allowed,
  asked,
}: CommandPolicy = NO_POLICY): CommandScreen {
  const policy: PolicyMatchers = {
    blocked: createMatcher(blocked),
    allowed: createMatcher(allowed),
    lowered: new Set(asked),
    isStrict: mode === 'allowlist',
  };
  return (command, input, declared = 0) => check(command, input, declared, policy);
}

const RUNNER = createRunner(judgeCommand);

function check(
  command: string | readonly string[],
  text: string | undefined,
  declared: number,
  policy: PolicyMatchers,
): CommandCheck {
  const report = createReport(policy.lowered);
  const words = typeof command === 'string' ? [] : command.map(literal);
  const shell = createShell(RUNNER, policy, report, words.slice(0, declared));
  const input = text === undefined ? undefined : { stream: streamOf(text), taken: 0 };
  if (typeof command === 'string') {
    // The script itself is no script within a script.
    shell.depth -= 1;
    RUNNER.text(shell, command, input);
  } else {
    noteWords(command, report);
    RUNNER.command(shell, words, {
      input,
      assigned: [],
      redirects: [],
      piped: false,
      viaProgram: true,
    });
  }
  const { commands, writes } = report;
  const findings = policy.isStrict
    ? report.findings.map((finding) => ({ ...finding, verdict: 'blocked' as const }))
    : report.findings;
  return { verdict: worstOf(findings), findings, commands, writes };
}

/** A long input is data, and what reads it as a script is asked about. */
function streamOf(text: string): Stream {
  return text.length > SHELL_SCREEN_BOUNDS.textCharactersMax ? unknownStream() : knownStream(text);
}
