import { type Failure, failure } from '@sallyport/std/error/failure';
import { compareBuild } from 'semver';
import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { circleThrough } from '../../dependency-graph.ts';
import type { TenantCatalogue } from '../tenant-catalogue.ts';
import { newestOf } from '../version-set.ts';

/** Ids that a message names. */
const IDS_NAMED_MAX = 20;

/** Checks the dependencies of manifests that are registered together, each in view of those before it (REG-10). */
export interface DependencyJudge {
  /**
   * E3008 when the tool would close a cycle of `requires`; else warnings for the caller. A manifest that is not the
   * newest of its tool changes nothing and is not checked.
   */
  judge(manifest: ToolManifest): readonly Warning[] | Failure;
}

/** @param tenant the registered tools; undefined when the tenant has none */
export function dependencyJudge(
  tenant: TenantCatalogue | undefined,
  together: readonly ToolManifest[],
): DependencyJudge {
  const known = new Set(together.map(({ tool_id }) => tool_id));
  /** Newest of the manifests checked before, by id. */
  const planned = new Map<string, ToolManifest>();
  const newest = (toolId: string): ToolManifest | undefined => {
    const set = tenant?.byId.get(toolId);
    return planned.get(toolId) ?? (set === undefined ? undefined : newestOf(set)?.manifest);
  };
  const depended = new Set<string>();
  const isDepended = (toolId: string): boolean => depended.has(toolId) || tenant?.dependents.has(toolId) === true;

  return {
    judge(manifest) {
      const { tool_id, requires = [], prefers = [] } = manifest;
      if (!isNewest(manifest, newest(tool_id))) return [];
      // No tool depends on it, so nothing leads back to it.
      const mayClose = isDepended(tool_id) || requires.includes(tool_id) || prefers.includes(tool_id);
      const circle = (member: 'requires' | 'prefers') =>
        mayClose ? circleThrough(tool_id, (id) => (id === tool_id ? manifest : newest(id))?.[member] ?? []) : undefined;
      const hard = circle('requires');
      if (hard !== undefined) return refusal(manifest, hard);
      const soft = circle('prefers');
      planned.set(tool_id, manifest);
      for (const id of [...requires, ...prefers]) depended.add(id);
      const missing = requires.filter((id) => !known.has(id) && newest(id) === undefined);
      return [
        ...(soft === undefined ? [] : [prefersCircle(soft)]),
        ...(missing.length === 0 ? [] : [unknown(missing)]),
      ];
    },
  };
}

/** A pre-release does not replace a release. */
function isNewest({ version }: ToolManifest, held: ToolManifest | undefined): boolean {
  if (held === undefined) return true;
  const isRelease = (text: string): boolean => !text.split('+', 1)[0]?.includes('-');
  if (isRelease(version) !== isRelease(held.version)) return isRelease(version);
  return compareBuild(version, held.version) >= 0;
}

const named = (ids: readonly string[], between: string): string =>
  ids.slice(0, IDS_NAMED_MAX).join(between) + (ids.length > IDS_NAMED_MAX ? `${between}…` : '');

function refusal({ tool_id }: ToolManifest, circle: readonly string[]): Failure {
  const message = `requires close a circle: ${named(circle, ' → ')}`;
  const hint = 'Take one of these requirements out; a tool in a circle could never be called.';
  const fault = { path: '/requires', code: 'E3008', keyword: 'requires', message, hint };
  return failure('E3008', `The manifest of "${tool_id}" has one fault: its ${message}.`, {
    details: { faults: [fault], cycle: circle },
  });
}

const prefersCircle = (circle: readonly string[]): Warning => ({
  code: 'prefers_cycle',
  message: `The preferences close a circle and count for nothing within it: ${named(circle, ' → ')}.`,
  details: { cycle: circle },
});

const unknown = (missing: readonly string[]): Warning => ({
  code: 'unknown_requirement',
  message: `It requires tools that are not there yet: ${named(missing, ', ')}. It stays held back until they completed.`,
  details: { missing },
});
