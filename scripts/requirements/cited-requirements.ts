import { isNode, parseSource, type SyntaxNode, walk } from '../syntax-tree.ts';

/** How a test that names requirements is run. */
export type CitationKind = 'run' | 'expected-failure' | 'skipped';

/** One test and the requirement ids that it says it proves. */
export interface Citation {
  /** Of rows (PIPE-04) and of clauses (PIPE-04.2). */
  readonly ids: readonly string[];
  readonly name: string;
  readonly line: number;
  readonly kind: CitationKind;
}

/** Functions whose first argument is the name of a test: the runner's, and those of ours that many cases go through. */
const TEST_CALLS = new Set(['test', 'it', 'check', 'timed']);
const GROUP_CALLS = new Set(['describe', 'suite']);
const SKIPPING = new Set(['skip', 'todo']);

const IDS_IN_FRONT = /^(?:[A-Z]{2,5}-\d+(?:\.\d+)?[ ,:;]*)+/;
const ID = /[A-Z]{2,5}-\d+(?:\.\d+)?/g;

/**
 * Ids at the start of a test's name, in order. What has the form of an id counts when its group is known or when it has two
 * digits as ids have; encodings and hashes (UTF-16, SHA-256) do not.
 */
export function idsInFront(name: string, groups: ReadonlySet<string>): string[] {
  const front = IDS_IN_FRONT.exec(name)?.[0] ?? '';
  return (front.match(ID) ?? []).filter((id) => {
    const [group = '', digits = ''] = id.split(/[-.]/);
    return groups.has(group) || (digits.length === 2 && !NOT_GROUPS.has(group));
  });
}

const NOT_GROUPS = new Set(['UTF', 'SHA', 'ISO', 'RFC']);

/**
 * Tests of a file that cite requirements. A test within a group whose name cites ids cites them too; a test whose name is
 * filled in from a table (`test.each`) cites the ids that start a text in that table.
 */
export function citationsIn(source: string, groups: ReadonlySet<string>): Citation[] {
  const tree = parseSource(source);
  const found: Citation[] = [];
  const visitFrom = (outer: Scope) => (node: SyntaxNode) => {
    const call = namedCall(node);
    if (call === undefined) return true;
    const inner = scopeOf(call, outer);
    const names = namesOf(call);
    if (isGroup(call)) {
      const ids = [...outer.ids, ...names.flatMap((name) => idsInFront(name, groups))];
      walk(call.rest, visitFrom({ ...inner, ids }));
      return false;
    }
    for (const name of names) {
      const ids = [...new Set([...outer.ids, ...idsInFront(name, groups)])];
      if (ids.length > 0) found.push({ ids, name, line: tree.firstLine(node), kind: inner.kind });
    }
    walk(call.rest, visitFrom(inner));
    return false;
  };
  walk(tree.body, visitFrom({ ids: [], kind: 'run' }));
  return found;
}

interface Scope {
  readonly ids: readonly string[];
  readonly kind: CitationKind;
}

/** A call of a function that takes a test's name. */
interface NamedCall {
  /** Names from the outside in: `test.fails(…)` gives test, fails. */
  readonly chain: readonly string[];
  readonly name: SyntaxNode;
  /** Arguments after the name. */
  readonly rest: readonly SyntaxNode[];
  /** Arguments of the call before, as in `test.each(table)(name, …)`. */
  readonly table: readonly SyntaxNode[];
}

function namedCall(node: SyntaxNode): NamedCall | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const chain = chainOf(node['callee']);
  if (!chain.some((name) => TEST_CALLS.has(name) || GROUP_CALLS.has(name))) return undefined;
  const [name, ...rest] = argumentsOf(node);
  const callee = node['callee'];
  const table = isNode(callee) && callee.type === 'CallExpression' ? argumentsOf(callee) : [];
  return name !== undefined && textOf(name) !== undefined ? { chain, name, rest, table } : undefined;
}

function isGroup(call: NamedCall): boolean {
  return call.chain.some((name) => GROUP_CALLS.has(name));
}

function scopeOf(call: NamedCall, outer: Scope): Scope {
  if (outer.kind === 'skipped') return outer;
  const marks = [...call.chain, ...call.rest.flatMap(marksOf)];
  if (marks.some((mark) => SKIPPING.has(mark))) return { ...outer, kind: 'skipped' };
  return marks.includes('fails') ? { ...outer, kind: 'expected-failure' } : outer;
}

/** `{ fails: true, skip: true }` as an argument. */
function marksOf(argument: SyntaxNode): string[] {
  if (argument.type !== 'ObjectExpression' || !Array.isArray(argument['properties'])) return [];
  return argument['properties'].flatMap(({ key, value }: Record<string, unknown>) => {
    return isNode(key) && isNode(value) && value['value'] === true ? [String(key['value'])] : [];
  });
}

function namesOf(call: NamedCall): string[] {
  const name = textOf(call.name) ?? '';
  const names = [name];
  if (/^[%$]/.test(name)) {
    walk(call.table, (node) => {
      const text = textOf(node);
      if (text !== undefined) names.push(text);
      return true;
    });
  }
  return names;
}

/** The text of a string or template literal; each expression of a template stands as `…`. */
function textOf(node: SyntaxNode): string | undefined {
  if (node.type === 'StringLiteral') return String(node['value']);
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node['quasis'])) return undefined;
  return node['quasis'].map((quasi: { cooked?: string }) => quasi.cooked ?? '').join('…');
}

function argumentsOf(call: SyntaxNode): SyntaxNode[] {
  const values: unknown[] = Array.isArray(call['arguments']) ? call['arguments'] : [];
  return values.map((argument) => (argument as { expression?: unknown }).expression).filter(isNode);
}

function chainOf(callee: unknown): string[] {
  if (!isNode(callee)) return [];
  if (callee.type === 'Identifier') return [String(callee['value'])];
  if (callee.type === 'MemberExpression') return [...chainOf(callee['object']), ...chainOf(callee['property'])];
  if (callee.type === 'CallExpression') return chainOf(callee['callee']);
  return [];
}
