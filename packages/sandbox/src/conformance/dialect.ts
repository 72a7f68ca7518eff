import type { Command } from './suite.ts';

/**
 * How a driver's programs express the actions of the suite. An absent member cannot be expressed (a script without
 * processes makes no fork bomb), and its cases are skipped by name.
 */
export interface Dialect {
  /** Copies its input to stdout, then writes `argument` and a newline there, `err` and a newline to stderr; ends with 7. */
  echo(argument: string): Command;
  /** Writes `ask` and a newline to stderr, reads a line, writes it to stdout and ends, however long its input is open. */
  readonly asks: Command;
  /** Writes the environment, each variable as `NAME=value` and a newline. */
  readonly environment: Command;
  /** Exits with 0 at once and reads nothing. */
  readonly nothing: Command;
  /** Writes `out` to stdout and `err` to stderr, each with a newline. */
  readonly twoOutputs: Command;
  /** Ignores SIGTERM where there is one, writes `ready`, and never ends. The mark is an argument of it. */
  hold(mark: string): Command;
  /** Programs that do not exist. */
  readonly missing: readonly Command[];
  /** Takes between 25 and 128 MB of memory and more than 50 ms of processor time. */
  readonly work: Command;
  /** Allocates memory without end. */
  readonly memoryBomb: Command;
  /** Uses processor time without end. */
  readonly spin: Command;
  /** Writes `y` and newlines without end. */
  readonly flood: Command;
  /** Runs a script of a POSIX shell that has the usual small programs; `$1` and so on are the arguments. */
  sh?(script: string, ...args: string[]): Command;
  /** Writes its working directory. */
  readonly workingDirectory?: Command;
  /** Ends itself by SIGSEGV. */
  readonly segfault?: Command;
  /** Runs the runtime of this process: writes `42`, the name of its user and that of its host, with commas between. */
  readonly runtime?: Command;
  /** Eight processes take 40 MB each. */
  readonly manyHolding?: Command;
  /** Makes 500 processes that stay; writes how many there were when one was refused. */
  readonly forkBomb?: Command;
  /** Writes `ready`; ends with 3 and `bye` on SIGTERM. */
  readonly endOnTerm?: Command;
  /** Starts four processes in sessions of their own that ignore SIGTERM, one of them stopped, writes `ready`, and stays. */
  tree?(mark: string): Command;
  /** Leaves a process in a session of its own that holds its outputs; writes `done` and ends with 0. */
  leaveBehind?(mark: string): Command;
}
