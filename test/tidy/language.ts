import { parseSource, walk } from '../../scripts/syntax-tree.ts';

/** Comments that switch a check off in place. Assembled here, so that this file does not contain them. */
const SUPPRESSIONS = [
  ['biome', 'ignore'],
  ['@ts', 'ignore'],
  ['@ts', 'expect-error'],
  ['@ts', 'nocheck'],
  ['eslint', 'disable'],
  ['knip', 'ignore'],
].map((words) => words.join('-'));

/** Configuration files that a program reads by their default export. */
const DEFAULT_EXPORT_FILES =
  /^(?:(?:scripts\/mutate\/)?vitest\.config\.ts|scripts\/mutate\/runner\.ts|\.dependency-cruiser\.mjs|console\/vite\.config\.ts)$/;

/** Finds places where a file switches a check off, exports by default, uses `any` or, in a package, has `export *`. */
export function bannedLanguage(path: string, source: string): string[] {
  return [...suppressions(path, source), ...bannedSyntax(path, source)];
}

function suppressions(path: string, source: string): string[] {
  return source.split('\n').flatMap((line, index) => {
    const found = SUPPRESSIONS.find((words) => line.includes(words));
    return found === undefined ? [] : [`${path}:${index + 1} ${found} switches a check off; mend the code instead`];
  });
}

function bannedSyntax(path: string, source: string): string[] {
  const tree = parseSource(source);
  const found: string[] = [];
  walk(tree.body, (node) => {
    const fault = faultOf(path, node);
    if (fault !== undefined) found.push(`${path}:${tree.firstLine(node)} ${fault}`);
    return true;
  });
  return found;
}

function faultOf(
  path: string,
  node: { readonly type: string; readonly [member: string]: unknown },
): string | undefined {
  switch (node.type) {
    case 'TsKeywordType':
      return node['kind'] === 'any' ? 'any: say what it is, or unknown' : undefined;
    case 'ExportDefaultDeclaration':
    case 'ExportDefaultExpression':
      return DEFAULT_EXPORT_FILES.test(path) ? undefined : 'a default export: give it its name';
    case 'ExportSpecifier':
      return isDefault(node['exported']) && !DEFAULT_EXPORT_FILES.test(path)
        ? 'a default export: give it its name'
        : undefined;
    case 'ExportAllDeclaration':
      return path.startsWith('packages/') ? 'export *: name what is exported' : undefined;
    default:
      return undefined;
  }
}

function isDefault(exported: unknown): boolean {
  return (exported as { value?: unknown } | null)?.value === 'default';
}
