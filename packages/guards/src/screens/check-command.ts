import { SHELL_SCREEN_BOUNDS } from './shell/bounds.ts';
import { knownStream, literal, type Stream, unknownStream } from './shell/field.ts';
import { noteWords } from './shell/parse-script.ts';
import { judgeCommand } from './shell/programs/judge-command.ts';
import { createMatcher } from './shell/programs/policy.ts';
import { createReport, worstOf } from './shell/report.ts';
import { createShell, type PolicyMatchers } from './shell/shell.ts';
import { createRunner } from './shell/walk/walk-script.ts';

/** `safe`: known to be read-only, may run without a question; `ask`: its effect is unknown; `blocked`: never. */
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

/** Result of checking a command. */
export interface CommandCheck {
  /** The worst verdict of the findings. */
  readonly verdict: CommandVerdict;
  /** At most 100. */
  readonly findings: readonly CommandFinding[];
  /**
   * Every simple command found, nested ones included, in order of appearance. A word known only at run time is
   * undefined; `depth` counts the surrounding scripts: substitutions, `sh -c`, functions.
   */
  readonly commands: readonly {
    readonly name: string;
    readonly words: readonly (string | undefined)[];
    readonly depth: number;
  }[];
  /** Targets of redirections, and operands known to be written. */
  readonly writes: readonly string[];
}

/**
 * An operator's additions to the rules. Entries are the first words of a command; `*` stands for any characters of a
 * word.
 */
export interface CommandPolicy {
  /**
   * `blocklist` (default): a command that no rule blocks is safe or asked about; `allowlist`: a command that is neither
   * allowed nor known to be read-only is blocked.
   */
  readonly mode?: 'blocklist' | 'allowlist';
  /** Blocked in addition to the rules, for example `git push` or `kubectl delete *`. */
  readonly blocked?: readonly string[];
  /** Safe although the rules do not know them. Never unblocks a command. */
  readonly allowed?: readonly string[];
  /**
   * Names of rules that ask: instead of blocking (`deletes-by-force`), or also about the program that a tool's
   * definition names (`unknown-program`, `has-effect`, `runs-file`, `runs-code`).
   */
  readonly asked?: readonly string[];
}

/**
 * Checks commands under one policy.
 * @param input the command's standard input, when known; it matters to `xargs` and shells
 * @param declared number of leading words of the command that a tool's definition fixes. An unknown program or file
 *   among them is then no finding: who registered the tool knows it. Default 0
 */
export type CommandScreen = (command: string | readonly string[], input?: string, declared?: number) => CommandCheck;

/**
 * Judges a command without running anything: it is parsed as bash would, every command in it is followed through
 * substitutions, wrappers, quotes, variables and encodings, and each is judged by its effects. Unreadable or unknown
 * parts are never safe; a script beyond the parser's limits is blocked (EXE-02).
 * @param command a script for a shell, or the argument list of one command
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

/** Parses a policy once, for many commands. */
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
    // The script itself does not count as nested.
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

/** A long input is data; a program that reads it as a script is asked about. */
function streamOf(text: string): Stream {
  return text.length > SHELL_SCREEN_BOUNDS.textCharactersMax ? unknownStream() : knownStream(text);
}
