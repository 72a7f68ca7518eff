import type { Failure } from '@sallyport/std/error/failure';
import { compareBuild } from 'semver';
import type { Warning } from '../../../api/schemas/invocation.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';

/** A tool version for a request, with warnings for the caller. */
export interface Found {
  readonly tool: ToolVersion;
  readonly warnings: readonly Warning[];
}

/** Every version of one tool, with cached answers. */
export interface VersionSet {
  readonly toolId: string;
  readonly byVersion: Map<string, ToolVersion>;
  /** By range as it was asked. Emptied by each change. */
  readonly answers: Map<string, Found | Failure>;
  /** Newest first, including pre-releases, without removed ones. */
  live: readonly ToolVersion[];
}

/** A tool without versions. */
export function versionSet(toolId: string): VersionSet {
  return { toolId, byVersion: new Map(), answers: new Map(), live: [] };
}

/** Adds a version or replaces it. */
export function putVersion(set: VersionSet, version: ToolVersion): void {
  set.byVersion.set(version.manifest.version, version);
  set.answers.clear();
  set.live = [...set.byVersion.values()]
    .filter(({ state }) => state !== 'removed')
    .sort((a, b) => compareBuild(b.manifest.version, a.manifest.version));
}

/** The version shown in lists: the newest release, or the newest pre-release when there is no release. */
export function newestOf(set: VersionSet): ToolVersion | undefined {
  return set.live.find(({ manifest }) => !manifest.version.split('+', 1)[0]?.includes('-')) ?? set.live[0];
}
