import type { CommandNode, PipelineNode, Statement } from 'unbash';
import { SHELL_SCREEN_BOUNDS } from '../bounds.ts';
import { EMPTY_STREAM, type Input, joinStreams, type Stream, unknownStream } from '../field.ts';
import { noteErrors, parseScript } from '../parse-script.ts';
import type { Runner, Shell } from '../shell.ts';
import { followSubstitutions } from '../words/evaluate-word.ts';
import { noteForkBomb } from './fork-bombs.ts';
import type { Walk } from './walk.ts';
import { walkCase, walkFor, walkIf, walkWhile } from './walk-branches.ts';
import { redirect, walkCommand } from './walk-command.ts';

/** Makes what follows scripts, given what judges one command. */
export function createRunner(command: Runner['command']): Runner {
  return {
    command,
    script(shell, script, input) {
      noteErrors(script, shell.report, '');
      return nested(shell, () => walkList(script.commands, shell, input), '');
    },
    text(shell, text, input) {
      const script = parseScript(text, shell.report);
      if (script === undefined) return unknownStream();
      return nested(shell, () => walkList(script.commands, shell, input), text.slice(0, 200));
    },
    call: (shell, body, input) => nested(shell, () => walkBody(body, shell, input), ''),
  };
}

const WALK: Walk = { list: walkList, node: walkNode };

function nested(shell: Shell, follow: () => Stream, shown: string): Stream {
  if (shell.report.isSpent) return unknownStream();
  if (shell.depth >= SHELL_SCREEN_BOUNDS.depthMax) {
    shell.report.exhaust('scripts lie in scripts too deeply', shown);
    return unknownStream();
  }
  shell.depth += 1;
  const stream = follow();
  shell.depth -= 1;
  return stream;
}

function walkList(statements: readonly Statement[], shell: Shell, input: Input | undefined): Stream {
  let output = EMPTY_STREAM;
  for (const { command: node, background } of statements) {
    if (shell.report.isSpent) return unknownStream();
    if (background === true) shell.conditional += 1;
    output = joinStreams(output, walkNode(node, shell, input));
    if (background === true) shell.conditional -= 1;
  }
  return output;
}

/** Two words without an operator between them are no sum. */
const COMMAND_LIKE = /^[^\w$"'\\]*[\w$"'\\./{}()]+\s+[-\w./~$"']|\$[({]/;

function walkNode(node: Statement['command'], shell: Shell, input: Input | undefined): Stream {
  switch (node.type) {
    case 'Command':
      return walkCommand(node, shell, input, false);
    case 'Pipeline':
      return walkPipeline(node.commands, shell, input);
    case 'AndOr':
      return walkAndOr(node.commands, shell, input);
    case 'Redirected': {
      const from = redirect(node.redirects, shell, input);
      const output = walkNode(node.command, shell, from.input);
      return from.keep(output);
    }
    case 'Subshell':
      return inside(shell, () => walkList(node.body.commands, shell, input));
    case 'BraceGroup':
      return walkList(node.body.commands, shell, input);
    case 'If':
      return walkIf(node, WALK, shell, input);
    case 'For':
    case 'Select':
      return walkFor(node, WALK, shell, input);
    case 'ArithmeticFor':
      for (const part of [node.initialize, node.test, node.update]) if (part) followSubstitutions(part, shell);
      return walkWhile({ clause: [], body: node.body.commands, endless: false }, WALK, shell, input);
    case 'While':
      return walkWhile({ clause: node.clause.commands, body: node.body.commands, node }, WALK, shell, input);
    case 'Case':
      return walkCase(node, WALK, shell, input);
    case 'TestCommand':
      followSubstitutions(node, shell);
      return EMPTY_STREAM;
    case 'ArithmeticCommand':
      followSubstitutions(node, shell);
      // Shells without arithmetic commands read `((…))` as a subshell in a subshell.
      return COMMAND_LIKE.test(node.body) ? inside(shell, () => shell.run.text(shell, node.body)) : EMPTY_STREAM;
    case 'Function':
      return define(node.name.value, node.body, shell);
    case 'Coproc':
      return inside(shell, () => walkBody(node.body, shell, input));
  }
}

function walkBody(
  body: Extract<CommandNode, { type: 'Coproc' }>['body'],
  shell: Shell,
  input: Input | undefined,
): Stream {
  return body.type === 'CompoundList' ? walkList(body.commands, shell, input) : walkNode(body, shell, input);
}

function walkPipeline(commands: readonly CommandNode[], shell: Shell, input: Input | undefined): Stream {
  if (commands.length === 1 && commands[0] !== undefined) return walkNode(commands[0], shell, input);
  let from = input;
  let output = EMPTY_STREAM;
  shell.conditional += 1;
  for (const [index, node] of commands.entries()) {
    const isLast = index === commands.length - 1;
    output = node.type === 'Command' ? walkCommand(node, shell, from, !isLast) : walkNode(node, shell, from);
    from = { stream: output, taken: 0 };
  }
  shell.conditional -= 1;
  return output;
}

function walkAndOr(commands: readonly PipelineNode[], shell: Shell, input: Input | undefined): Stream {
  let output = EMPTY_STREAM;
  for (const [index, node] of commands.entries()) {
    if (index > 0) shell.conditional += 1;
    output = joinStreams(output, walkNode(node, shell, input));
    if (index > 0) shell.conditional -= 1;
  }
  return output;
}

function inside(shell: Shell, follow: () => Stream): Stream {
  shell.conditional += 1;
  const stream = follow();
  shell.conditional -= 1;
  return stream;
}

/** The body is also followed at its definition: it is not always known whether it is called. */
function define(name: string, body: Extract<CommandNode, { type: 'Function' }>['body'], shell: Shell): Stream {
  noteForkBomb(name, body, shell.report);
  const outer = shell.positional;
  shell.positional = undefined;
  shell.calls.push(name);
  inside(shell, () => shell.run.call(shell, body));
  shell.calls.pop();
  shell.positional = outer;
  const others = shell.conditional > 0 ? (shell.functions.get(name) ?? []) : [];
  shell.functions.set(name, [...others.slice(0, 3), body]);
  return EMPTY_STREAM;
}
