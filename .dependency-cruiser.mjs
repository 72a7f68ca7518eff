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

// The import rules of ARCHITECTURE.md as a lint. Low to high: a file imports only from lower lines and its own folder.
export const LEVELS = [
  ['std'],
  ['domain'],
  ['telemetry', 'detectors', 'screens'],
  [
    'registry',
    'visibility',
    'validation',
    'identity',
    'permission',
    'hooks',
    'model-facing',
    'sandbox',
    'external',
    'bridges',
    'audit',
  ],
  ['mcp-servers'],
  ['executors'],
  ['pipeline'],
  ['orchestration'],
  ['operations'],
  ['doors', 'storage'],
  ['compose'],
];
const ADAPTER =
  '^(src/(?:[^/]+/(?:drivers|importers|embedders|policy-engines|language-models|secret-stores|sinks|notifiers|job-queues)|storage|doors|executors)/[^/]+)/';
const folders = (names) => `^src/(?:${names.join('|')})/`;
const forbid = (name, from, to) => ({ name, severity: 'error', from, to });

export default {
  forbidden: [
    ...LEVELS.flatMap((line, i) =>
      line.map((own) =>
        forbid(
          `${own}-imports-down-only`,
          { path: `^src/${own}/` },
          { path: '^src/', pathNot: folders([own, ...LEVELS.slice(0, i).flat()]) },
        ),
      ),
    ),
    forbid('no-cycles', {}, { circular: true }),
    forbid(
      'first-level-files-only',
      { path: '^src/([^/]+)/', pathNot: '^src/compose/' },
      { path: '^src/[^/]+/[^/]+/', pathNot: '^src/(?:$1|std|domain)/' },
    ),
    forbid('only-compose-names-an-adapter', { path: '^src/', pathNot: ['^src/compose/', ADAPTER] }, { path: ADAPTER }),
    forbid('adapters-never-meet', { path: ADAPTER }, { path: ADAPTER, pathNot: '^$1/' }),
    forbid(
      'doors-see-operations',
      { path: '^src/doors/' },
      {
        path: '^src/',
        pathNot: folders(['std', 'domain', 'telemetry', 'detectors', 'screens', 'operations', 'doors']),
      },
    ),
    forbid(
      'storage-sees-ports',
      { path: '^src/storage/' },
      { path: '^src/', pathNot: ['\\.port\\.ts$', folders(['std', 'domain', 'telemetry', 'storage'])] },
    ),
    forbid(
      'processes-start-in-sandbox',
      { path: '^src/', pathNot: '^src/(?:sandbox/(?:drivers|linux)|storage/postgres)/' },
      { path: '^(?:node:)?child_process$' },
    ),
    forbid('contract-stands-alone', { path: '^api/' }, { path: '^src/', pathNot: '^src/(?:std|domain/error)/' }),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    exclude: '\\.(?:test|fixture)\\.ts$',
    doNotFollow: { path: 'node_modules' },
    includeOnly: '^(?:src|api)/|^(?:node:)?child_process$',
  },
};
