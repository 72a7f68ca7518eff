import { isNode, parseSource, type SyntaxNode } from '../../scripts/syntax-tree.ts';

/** The face of a package: what others may import; in the layer and the guards, also what components show to each other. */
const FACES = [
  /^packages\/sandbox\/src\/[^/]+\.ts$/,
  /^packages\/(?:guards|sallyport)\/src\/(?:[^/]+\/)?[^/]+\.ts$/,
  /^packages\/(?:std\/src|sallyport\/src\/domain)\//,
];

/** Whether a file belongs to a face. */
export function isFace(path: string): boolean {
  return FACES.some((face) => face.test(path)) && !/\.(?:test|fixture|conformance|generated)\.ts$/.test(path);
}

/** Says which exports of a face file have no TSDoc block before them. A type named like a documented value has its doc. */
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
