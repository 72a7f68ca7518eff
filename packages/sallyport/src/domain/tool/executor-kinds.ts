import type { ExecutorKind } from '../../../api/schemas/tool-manifest.ts';

/** Properties of a kind of executor, known without any tool of it. */
export interface ExecutorTraits {
  /**
   * The member of `executor.config` that names the called service: a base URL or an upstream. Calls of one service
   * share rate limits and a circuit. Absent for local tools, whose duration depends on their arguments.
   */
  readonly service?: 'base_url' | 'upstream';
  /** True when arguments are passed to a remote service: each counts as content unless the operator says otherwise. */
  readonly carriesArguments?: true;
  /**
   * True when it takes arguments by name and needs nothing else of the schema, so the model may be shown other names.
   */
  readonly renamesProperties?: true;
  /**
   * True when the manifest may request hosts by a pattern: then the host of a call is an argument, and it must be
   * public.
   */
  readonly hostPatterns?: true;
  /**
   * How its tools get documents: with what else they are given, or in the parameter that the manifest marks. Absent: they
   * get none.
   */
  readonly takesDocuments?: 'always' | 'marked';
  /** True when its tools can read the context of the session of their call. */
  readonly readsSession?: true;
  /** True when each of its tools starts a program on this machine. */
  readonly startsPrograms?: true;
}

/** The kinds, one row each: a kind without a row does not compile. */
const TRAITS_OF_KINDS: Readonly<Record<ExecutorKind, ExecutorTraits>> = {
  native: { renamesProperties: true, takesDocuments: 'always', readsSession: true },
  shell: { startsPrograms: true, takesDocuments: 'always', readsSession: true },
  http: { service: 'base_url', renamesProperties: true, takesDocuments: 'marked' },
  mcp: { service: 'upstream', carriesArguments: true, renamesProperties: true, takesDocuments: 'marked' },
  file: {},
  web: { hostPatterns: true },
  composio: { service: 'base_url', carriesArguments: true, renamesProperties: true },
  skill: { startsPrograms: true, takesDocuments: 'always', readsSession: true },
};

const NO_TRAITS: ExecutorTraits = {};

/** The traits of a kind; none for an unknown kind, which an unchecked manifest may contain. */
export const traitsOf = (kind: string | undefined): ExecutorTraits =>
  kind !== undefined && Object.hasOwn(TRAITS_OF_KINDS, kind) ? TRAITS_OF_KINDS[kind as ExecutorKind] : NO_TRAITS;

/** The kinds with a trait, in the order of the table. */
export const kindsWith = (trait: keyof ExecutorTraits): readonly ExecutorKind[] =>
  (Object.keys(TRAITS_OF_KINDS) as ExecutorKind[]).filter((kind) => TRAITS_OF_KINDS[kind][trait] !== undefined);
