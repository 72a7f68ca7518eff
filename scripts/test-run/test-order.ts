import { BaseSequencer, type TestSequencer, type TestSpecification, type Vitest } from 'vitest/node';

/** Files that take longest, mostly because they wait. One that starts last would leave the other workers without work. */
export const LONGEST: readonly string[] = [
  'test/adversarial/kill.test.ts',
  'test/e2e/readme/readme.test.ts',
  'packages/sandbox/src/drivers/bubblewrap/warm-sandboxes.test.ts',
  'packages/sandbox/src/drivers/bubblewrap/bubblewrap-driver.test.ts',
  'test/mcp-conformance/through-layer.test.ts',
  'test/conformance/storage.test.ts',
  'test/adversarial/resume/killed-work.test.ts',
  'packages/sallyport/src/storage/postgres/embedded/embedded-postgres.test.ts',
  'test/adversarial/sandboxes/hostile-tools.test.ts',
  'examples/first-call/first-call.test.ts',
  'test/adversarial/sandboxes/exchanged-folders.test.ts',
  'examples/trust/trust.test.ts',
  'packages/sallyport/src/storage/postgres/embedded/access.test.ts',
  'packages/sandbox/src/drivers/wasm/hostile-scripts.test.ts',
  'test/adversarial/tenancy-over-mcp.test.ts',
  'examples/approvals/approvals.test.ts',
  'test/adversarial/crash-during-start.test.ts',
  'examples/tool-registry/tool-registry.test.ts',
  'test/e2e/bad-input.test.ts',
  'test/e2e/calls/ordinary-work/ordinary-work.test.ts',
  'test/e2e/identity/revoked-while-running.test.ts',
  'test/e2e/calls/mcp/upstream-tasks.test.ts',
  'packages/sallyport/src/mcp-servers/connection/calls/supervised.test.ts',
  'test/e2e/upstreams/installed-packages.test.ts',
  'test/e2e/upstreams/kept-secrets.test.ts',
];

/** What the order of a file depends on. */
export interface OrderedFile {
  /** Index of its project. */
  readonly project: number;
  /** From the root folder. */
  readonly path: string;
}

/**
 * The files of a project together, since they share processes, and of these the longest first; otherwise as they were.
 */
export function inOrder<File>(files: readonly File[], of: (file: File) => OrderedFile): File[] {
  const rank = (path: string): number => {
    const place = LONGEST.indexOf(path);
    return place === -1 ? LONGEST.length : place;
  };
  return files.toSorted((a, b) => {
    const [first, second] = [of(a), of(b)];
    return first.project - second.project || rank(first.path) - rank(second.path);
  });
}

/** The order in which vitest starts the files of tests. */
export class LongestFirst implements TestSequencer {
  readonly #vitest: Vitest;
  readonly #usual: BaseSequencer;

  constructor(vitest: Vitest) {
    this.#vitest = vitest;
    this.#usual = new BaseSequencer(vitest);
  }

  shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    return this.#usual.shard(files);
  }

  async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = this.#vitest.projects.map(({ name }) => name);
    const usual = await this.#usual.sort(files);
    return inOrder(usual, ({ project, testModule, moduleId }) => ({
      project: projects.indexOf(project.name),
      path: testModule?.relativeModuleId ?? moduleId.slice(project.config.root.length + 1),
    }));
  }
}
