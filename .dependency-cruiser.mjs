import { createRequire } from 'node:module';

// dependency-cruiser reads code with swc's visitor, which does not know `using` yet: it declares as `const` does.
const { prototype } = createRequire(import.meta.url)('@swc/core/Visitor.js').Visitor;
for (const method of ['visitStatement', 'visitPattern']) {
  const visit = prototype[method];
  prototype[method] = function visitAlsoUsing(node) {
    if (node.type !== 'UsingDeclaration') return visit.call(this, node);
    this.visitVariableDeclarators(node.decls);
    return node;
  };
}

// The import rules of ARCHITECTURE.md as a lint. Packages, low to high: one imports those on lower lines, by their names
// only, so their `exports` are their faces. In the layer, low to high: a file imports only from lower lines and its own folder.
const PACKAGES = ['std', 'guards', 'sandbox', 'sallyport'];
export const LEVELS = [
  ['domain'],
  ['telemetry'],
  [
    'registry',
    'visibility',
    'validation',
    'identity',
    'permission',
    'hooks',
    'model-facing',
    'external',
    'bridges',
    'audit',
  ],
  ['mcp-servers'],
  ['executors', 'reference-servers'],
  ['pipeline'],
  ['orchestration'],
  ['operations'],
  ['doors', 'storage'],
  ['compose'],
];
const LAYER = '^packages/sallyport/src/';
const ADAPTER =
  '^(packages/(?:sandbox/src/drivers|sallyport/src/(?:[^/]+/(?:importers|embedders|policy-engines|language-models|secret-stores|sinks|notifiers|job-queues)|storage|doors|executors))/[^/]+)/';
const folders = (names) => `${LAYER}(?:${names.join('|')})/`;
const forbid = (name, from, to) => ({ name, severity: 'error', from, to });

export default {
  forbidden: [
    ...PACKAGES.map((own, i) =>
      forbid(
        `${own}-imports-lower-packages`,
        { path: `^packages/${own}/` },
        { path: '^packages/', pathNot: `^packages/(?:${PACKAGES.slice(0, i + 1).join('|')})/` },
      ),
    ),
    ...LEVELS.flatMap((line, i) =>
      line.map((own) =>
        forbid(
          `${own}-imports-down-only`,
          { path: `${LAYER}${own}/` },
          { path: LAYER, pathNot: folders([own, ...LEVELS.slice(0, i).flat()]) },
        ),
      ),
    ),
    forbid(
      'packages-by-name',
      { path: '^packages/([^/]+)/' },
      { path: '^packages/', pathNot: '^packages/$1/', dependencyTypes: ['local'] },
    ),
    forbid('layer-imports-no-tests', { path: LAYER }, { path: '^packages/sallyport/test/' }),
    forbid('no-cycles', {}, { circular: true }),
    forbid(
      'first-level-files-only',
      { path: `${LAYER}([^/]+)/`, pathNot: `${LAYER}compose/` },
      { path: `${LAYER}[^/]+/[^/]+/`, pathNot: `${LAYER}(?:$1|domain)/` },
    ),
    forbid(
      'only-compose-names-an-adapter',
      { path: '^packages/', pathNot: [`${LAYER}compose/`, ADAPTER] },
      { path: ADAPTER },
    ),
    forbid('adapters-never-meet', { path: ADAPTER }, { path: ADAPTER, pathNot: '^$1/' }),
    forbid(
      'detectors-and-screens-never-meet',
      { path: '^packages/guards/src/(detectors|screens)/' },
      {
        path: '^packages/guards/src/(?:detectors|screens)/',
        pathNot: '^packages/guards/src/$1/',
      },
    ),
    forbid(
      'doors-see-operations',
      { path: `${LAYER}doors/` },
      { path: `^packages/sandbox/|${LAYER}`, pathNot: folders(['domain', 'telemetry', 'operations', 'doors']) },
    ),
    forbid(
      'storage-sees-ports',
      { path: `${LAYER}storage/` },
      {
        path: `^packages/(?:guards|sandbox)/|${LAYER}`,
        pathNot: ['\\.port\\.ts$', folders(['domain', 'telemetry', 'storage'])],
      },
    ),
    forbid(
      'processes-start-in-sandbox',
      { path: '^packages/', pathNot: `^packages/sandbox/src/(?:drivers|linux)/|${LAYER}storage/postgres/` },
      { path: '^(?:node:)?child_process$' },
    ),
    forbid(
      'contract-stands-alone',
      { path: '^packages/sallyport/api/' },
      { path: `^packages/(?:guards|sandbox)/|${LAYER}` },
    ),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    exclude: '\\.(?:test|fixture)\\.ts$|/dist/',
    doNotFollow: { path: 'node_modules' },
    includeOnly: '^packages/|^(?:node:)?child_process$',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
