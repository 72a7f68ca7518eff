import { isNode, parseSource, type SyntaxNode } from '../../scripts/syntax-tree.ts';

/**
 * Files of each package that others may import; in the layer and the guards, also files that other components may
 * import.
 */
const FACES = [
  /^packages\/sandbox\/src\/[^/]+\.ts$/,
  /^packages\/(?:guards|sallyport)\/src\/(?:[^/]+\/)?[^/]+\.ts$/,
  /^packages\/(?:std\/src|sallyport\/src\/domain)\//,
];

/** Whether a file is part of a package's face. */
export function isFace(path: string): boolean {
  return FACES.some((face) => face.test(path)) && !/\.(?:test|fixture|conformance|generated)\.ts$/.test(path);
}

/** Finds exports without a TSDoc block before them. A type with the same name as a documented value needs none. */
export function undocumentedExports(path: string, source: string): string[] {
  const tree = parseSource(source);
  const documented = new Set<string>();
  const bare: { readonly name: string; readonly line: number }[] = [];
  for (const node of tree.body) {
    if (node.type !== 'ExportDeclaration') continue;
    const hasDoc = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.test(tree.textBefore(node));
    for (const name of namesDeclared(node['declaration'])) {
      if (hasDoc) documented.add(name);
      else bare.push({ name, line: tree.firstLine(node) });
    }
  }
  return bare
    .filter(({ name }) => !documented.has(name))
    .map(({ name, line }) => `${path}:${line} ${name} has no TSDoc block`);
}

function namesDeclared(declaration: unknown): string[] {
  if (!isNode(declaration)) return [];
  const declarators = declaration['declarations'];
  const named: SyntaxNode[] = Array.isArray(declarators) ? declarators : [declaration];
  return named.flatMap((node) => {
    const identifier = node['identifier'] ?? node['id'];
    return isNode(identifier) ? [String(identifier['value'])] : [];
  });
}
