import { parseSync } from '@swc/core';

/** A node of the syntax tree. The members beside type and span differ by type, hence unknown. */
export interface SyntaxNode {
  readonly type: string;
  readonly span: { readonly start: number; readonly end: number };
  readonly [member: string]: unknown;
}

/** A parsed source file. Lines are counted from 1. */
export interface SyntaxTree {
  readonly body: readonly SyntaxNode[];
  /** Line of the node's first character. */
  firstLine(node: SyntaxNode): number;
  /** Line of the node's last character. */
  lastLine(node: SyntaxNode): number;
  /** Source text before the node. */
  textBefore(node: SyntaxNode): string;
}

/** The parser counts bytes from wherever its last run ended; a statement of our own in front shows where this run began. */
const FRONT = '0;\n';

/** Parses TypeScript. @throws Error naming the place of a syntax error */
export function parseSource(source: string): SyntaxTree {
  const text = source.replace(/^#!/, '//');
  const [front, ...body] = parseSync(FRONT + text, { syntax: 'typescript', target: 'es2024' })
    .body as unknown as SyntaxNode[];
  const bytes = Buffer.from(text);
  const base = (front?.span.start ?? 0) + FRONT.length;
  const lineStarts = startsOfLines(bytes);
  const lineOf = (position: number) => lineAt(lineStarts, position - base);
  return {
    body,
    firstLine: (node) => lineOf(node.span.start),
    lastLine: (node) => lineOf(node.span.end - 1),
    textBefore: (node) => bytes.subarray(0, node.span.start - base).toString(),
  };
}

/** Calls `visit` for every node below `root` in source order, itself included; a visit that answers false skips its children. */
export function walk(root: unknown, visit: (node: SyntaxNode) => boolean | undefined): void {
  if (Array.isArray(root)) {
    for (const item of root) walk(item, visit);
    return;
  }
  if (typeof root !== 'object' || root === null) return;
  if (isNode(root) && visit(root) === false) return;
  for (const member of Object.values(root)) walk(member, visit);
}

/** Whether a member of a node is a node itself. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'span' in value;
}

function startsOfLines(bytes: Buffer): number[] {
  const starts = [0];
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) starts.push(at + 1);
  return starts;
}

function lineAt(lineStarts: readonly number[], offset: number): number {
  let low = 0;
  let high = lineStarts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}
