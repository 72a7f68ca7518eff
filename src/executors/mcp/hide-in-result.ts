import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { HideSecrets } from '../hide-secrets.ts';

/** Levels of objects and lists in a result that is searched for secrets; no honest one is this deep. */
const DEPTH_MAX = 512;

/**
 * The same result without secrets, in its texts and in the names of its members.
 * @throws ToolLayerError E3308 for one that is nested too deeply to be searched
 */
export function hideInResult<Result>(result: Result, hide: HideSecrets): Result {
  return shown(result, hide, DEPTH_MAX) as Result;
}

function shown(value: unknown, hide: HideSecrets, levels: number): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) throw tooDeep();
  if (Array.isArray(value)) return value.map((entry) => shown(entry, hide, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [hide(name), shown(member, hide, levels - 1)]),
  );
}

function tooDeep(): ToolLayerError {
  const message = `The result is nested more than ${DEPTH_MAX} levels deep, so that no credential can be taken out of it.`;
  return new ToolLayerError('E3308', message, { details: { reached: true } });
}
