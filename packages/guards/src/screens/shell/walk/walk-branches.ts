import type { Case, For, If, Select, Statement, While } from 'unbash';
import { SHELL_SCREEN_BOUNDS } from '../bounds.ts';
import { EMPTY_STREAM, type Field, type Input, joinStreams, type Stream, unknownField } from '../field.ts';
import { assign, type Shell } from '../shell.ts';
import { evaluateText, evaluateWord } from '../words/evaluate-word.ts';
import { noteEndlessStarts } from './fork-bombs.ts';
import type { Walk } from './walk.ts';

/** All branches of `if` are followed: which one is taken is not known. */
export function walkIf(node: If, walk: Walk, shell: Shell, input: Input | undefined): Stream {
  let output = walk.list(node.clause.commands, shell, input);
  shell.conditional += 1;
  output = joinStreams(output, walk.list(node.then.commands, shell, input));
  for (const { clause, then } of node.elif) {
    output = joinStreams(output, walk.list(clause.commands, shell, input));
    output = joinStreams(output, walk.list(then.commands, shell, input));
  }
  if (node.else !== undefined) output = joinStreams(output, walk.list(node.else.commands, shell, input));
  shell.conditional -= 1;
  return { ...output, certain: false };
}

/** Follows the rounds of a loop over known words with their values. */
export function walkFor(node: For | Select, walk: Walk, shell: Shell, input: Input | undefined): Stream {
  const words = node.wordlist?.flatMap((word) => evaluateWord(word, shell)) ?? shell.positional ?? [unknownField()];
  const rounds: readonly Field[] = words.length === 0 ? [unknownField()] : words;
  const name = node.name.value;
  let output = EMPTY_STREAM;
  let isFirst = true;
  shell.conditional += 1;
  for (const value of rounds.slice(0, SHELL_SCREEN_BOUNDS.roundsMax)) {
    if (shell.report.isSpent) break;
    if (isFirst) assign(shell, name, [value]);
    isFirst = false;
    shell.variables.set(name, {
      values: [value.text],
      certain: value.certain,
      blank: value.blank,
      origin: value.origin,
    });
    output = joinStreams(output, walk.list(node.body.commands, shell, input));
  }
  if (rounds.length > SHELL_SCREEN_BOUNDS.roundsMax) {
    assign(shell, name, [unknownField()]);
    walk.list(node.body.commands, shell, input);
  }
  const last = shell.variables.get(name);
  if (last !== undefined) shell.variables.set(name, { ...last, certain: false });
  shell.conditional -= 1;
  return output;
}

interface Loop {
  readonly clause: readonly Statement[];
  readonly body: readonly Statement[];
  readonly node?: While;
  readonly endless?: boolean;
}

/**
 * Follows a loop at least twice: what the first round assigns is uncertain from then on, so the second sees every use of
 * it. While there are lines to `read`, there are more rounds.
 */
export function walkWhile({ clause, body, node }: Loop, walk: Walk, shell: Shell, input: Input | undefined): Stream {
  if (node?.kind !== 'until') noteEndlessStarts(clause, body, shell.report);
  let output = EMPTY_STREAM;
  shell.conditional += 1;
  for (let round = 0; round < SHELL_SCREEN_BOUNDS.roundsMax; round += 1) {
    if (shell.report.isSpent || (round > 1 && !hasMore(input))) break;
    const taken = input?.taken;
    walk.list(clause, shell, input);
    output = joinStreams(output, walk.list(body, shell, input));
    if (round > 0 && input?.taken === taken) break;
  }
  shell.conditional -= 1;
  return { ...output, certain: false, text: hasMore(input) ? undefined : output.text };
}

function hasMore(input: Input | undefined): boolean {
  return input?.stream.text !== undefined && input.taken < input.stream.text.length;
}

/** All branches of `case` are followed. */
export function walkCase(node: Case, walk: Walk, shell: Shell, input: Input | undefined): Stream {
  evaluateText(node.word, shell);
  let output = EMPTY_STREAM;
  shell.conditional += 1;
  for (const { pattern, body } of node.items) {
    for (const word of pattern) evaluateText(word, shell);
    output = joinStreams(output, walk.list(body.commands, shell, input));
  }
  shell.conditional -= 1;
  return { ...output, certain: false };
}
