import type { ExecutorKind } from '../../../api/schemas/tool-manifest.ts';

/** What is known of a kind of executor before any tool of it. */
export interface ExecutorTraits {
  /**
   * The member of `executor.config` that names the service which its tools call: a base URL or an upstream. Their calls share
   * rate limits and a circuit by it. Absent for tools of this machine, where it is up to the arguments how long they take.
   */
  readonly service?: 'base_url' | 'upstream';
  /** Arguments are carried to a service elsewhere: each is content unless the operator says otherwise. */
  readonly carriesArguments?: true;
  /** Takes arguments by name and nothing else of the schema, so the model may be shown other names. */
  readonly renamesProperties?: true;
  /** The manifest may ask for hosts by a pattern: where a call goes is an argument, and public it has to be. */
  readonly hostPatterns?: true;
  /** Every tool of it starts a program of this machine. */
  readonly startsPrograms?: true;
}

/** The kinds, one row each: a kind without a row does not compile. */
const EXECUTOR_KINDS: Readonly<Record<ExecutorKind, ExecutorTraits>> = {
  native: { renamesProperties: true },
  shell: { startsPrograms: true },
  http: { service: 'base_url', renamesProperties: true },
  mcp: { service: 'upstream', carriesArguments: true, renamesProperties: true },
  file: {},
  web: { hostPatterns: true },
  composio: { service: 'base_url', carriesArguments: true, renamesProperties: true },
  skill: { startsPrograms: true },
};

const NO_TRAITS: ExecutorTraits = {};

/** The traits of a kind; none of a word that is no kind, as a manifest that is being checked may hold it. */
export const traitsOf = (kind: string | undefined): ExecutorTraits =>
  kind !== undefined && Object.hasOwn(EXECUTOR_KINDS, kind) ? EXECUTOR_KINDS[kind as ExecutorKind] : NO_TRAITS;

/** The kinds with a trait, in the order of the table. */
export const kindsWith = (trait: keyof ExecutorTraits): readonly ExecutorKind[] =>
  (Object.keys(EXECUTOR_KINDS) as ExecutorKind[]).filter((kind) => EXECUTOR_KINDS[kind][trait] !== undefined);
