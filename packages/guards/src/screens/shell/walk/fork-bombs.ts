import type { Function as FunctionNode, Statement, SyntaxNode } from 'unbash';
import type { Judgement, Report } from '../report.ts';
import { visitTree } from '../words/arithmetic.ts';

const FORK_BOMB: Judgement = {
  rule: 'fork-bomb',
  why: 'it starts copies of itself without end',
  verdict: 'blocked',
  severe: true,
};
const RECURSION: Judgement = { rule: 'recursion', why: 'a function calls itself', verdict: 'ask' };

/** Reports a function that calls itself: twice, in the background or into a pipe it multiplies. */
export function noteForkBomb(name: string, body: FunctionNode['body'], report: Report): void {
  const { calls, multiplies } = ownCalls(name, body);
  if (calls > 1 || multiplies) report.add(FORK_BOMB, `${name}() { … }`);
  else if (calls > 0) report.add(RECURSION, `${name}() { … }`);
}

function ownCalls(name: string, body: FunctionNode['body']): { calls: number; multiplies: boolean } {
  let calls = 0;
  let multiplies = false;
  visitTree(body, (node) => {
    if (node.type === 'Command' && node.name?.value === name) calls += 1;
    if (node.type === 'Statement' && node.background === true && holds(node, name)) multiplies = true;
    return false;
  });
  return { calls, multiplies };
}

function holds(root: SyntaxNode, name: string): boolean {
  let found = false;
  visitTree(root, (node) => {
    if (node.type === 'Command' && node.name?.value === name) found = true;
    return found;
  });
  return found;
}

const ENDLESS = new Set(['true', ':', '1', 'yes', '/bin/true']);
const PAUSES = new Set(['sleep', 'wait', 'read', 'inotifywait', 'break', 'exit', 'return']);

/** Reports an endless loop that starts something in the background in each round and never waits. */
export function noteEndlessStarts(clause: readonly Statement[], body: readonly Statement[], report: Report): void {
  if (!isEndless(clause) || !body.some(({ background }) => background === true)) return;
  const waits = body.some((statement) => {
    let pauses = false;
    if (statement.background !== true) {
      visitTree(statement, (node) => {
        if (node.type === 'Command' && PAUSES.has(node.name?.value ?? '')) pauses = true;
        return pauses;
      });
    }
    return pauses;
  });
  if (!waits) report.add(FORK_BOMB, 'while true; do … & done');
}

function isEndless(clause: readonly Statement[]): boolean {
  if (clause.length === 0) return true;
  const [first] = clause;
  if (clause.length !== 1 || first === undefined) return false;
  if (first.command.type === 'ArithmeticCommand') return first.command.body.trim() === '1';
  return first.command.type === 'Command' && ENDLESS.has(first.command.name?.value ?? '');
}
