import { parseSource, type SyntaxNode, walk } from '../../scripts/syntax-tree.ts';

/** Hard limits; the targets are much lower (files 120 lines, functions 12, folders 12). */
export const LINES_PER_FILE_MAX = 400;
export const LINES_PER_FUNCTION_MAX = 70;
export const ENTRIES_PER_FOLDER_MAX = 20;

/** Files that may be longer, because each is a table or a list that is read from top to bottom. */
const EXEMPT_FILES: readonly RegExp[] = [
  /\.conformance\.ts$/,
  /\.generated\.ts$/,
  /^packages\/std\/src\/error\/catalogue\.ts$/,
  /^packages\/sallyport\/src\/operations\/catalogue\.ts$/,
  /^packages\/sallyport\/src\/compose\/settings\.ts$/,
  /^test\/requirements\.ts$/,
];
/**
 * `src/` has one folder for each component, the root has files where programs expect them, and decisions are numbered
 * in one list.
 */
const EXEMPT_FOLDER = /^$|^packages\/[^/]+\/src$|^docs\/adr$/;

const FUNCTIONS = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ClassMethod',
  'PrivateMethod',
  'Constructor',
  'MethodProperty',
  'GetterProperty',
  'SetterProperty',
]);

/** Finds files and functions that are too long. Bodies of test groups are lists of tests and have no limit. */
export function longCode(path: string, source: string): string[] {
  if (EXEMPT_FILES.some((pattern) => pattern.test(path))) return [];
  const lines = source.replace(/\n$/, '').split('\n').length;
  const file =
    lines > LINES_PER_FILE_MAX ? [`${path} has ${lines} lines, ${LINES_PER_FILE_MAX} at most: split it`] : [];
  return [...file, ...longFunctions(path, source)];
}

function longFunctions(path: string, source: string): string[] {
  const tree = parseSource(source);
  const groups = new Set<unknown>();
  const found: string[] = [];
  walk(tree.body, (node) => {
    if (isGroupCall(node)) for (const body of bodiesOf(node)) groups.add(body);
    if (!FUNCTIONS.has(node.type) || groups.has(node)) return true;
    const first = tree.firstLine(node);
    const lines = tree.lastLine(node) - first + 1;
    if (lines > LINES_PER_FUNCTION_MAX) {
      found.push(`${path}:${first} a function has ${lines} lines, ${LINES_PER_FUNCTION_MAX} at most: split it`);
    }
    return true;
  });
  return found;
}

/** Finds folders with too many entries. */
export function fullFolders(paths: readonly string[]): string[] {
  const folders = Map.groupBy(paths, (path) => path.slice(0, Math.max(0, path.lastIndexOf('/'))));
  return [...folders]
    .filter(([folder, entries]) => !EXEMPT_FOLDER.test(folder) && entries.length > ENTRIES_PER_FOLDER_MAX)
    .map(
      ([folder, entries]) => `${folder} holds ${entries.length} entries, ${ENTRIES_PER_FOLDER_MAX} at most: group them`,
    );
}

function isGroupCall(node: SyntaxNode): boolean {
  let isGroup = false;
  if (node.type === 'CallExpression') {
    walk(node['callee'], (part) => {
      isGroup ||= part.type === 'Identifier' && (part['value'] === 'describe' || part['value'] === 'suite');
      return !isGroup;
    });
  }
  return isGroup;
}

function bodiesOf(call: SyntaxNode): unknown[] {
  const values: unknown[] = Array.isArray(call['arguments']) ? call['arguments'] : [];
  return values.map((argument) => (argument as { expression?: unknown }).expression);
}
