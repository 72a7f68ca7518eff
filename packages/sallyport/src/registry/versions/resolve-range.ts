import { type Failure, failure } from '@sallyport/std/error/failure';
import { compareBuild, gt, prerelease, Range, satisfies, valid } from 'semver';
import type { Warning } from '../../../api/schemas/invocation.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { Found, VersionSet } from './version-set.ts';

/** Longest range that is read, in characters; the contract allows no more. */
const RANGE_CHARS_MAX = 128;
/** Versions that an error names. */
const VERSIONS_NAMED_MAX = 10;

/** Most cached answers per tool; other ranges are computed each time. */
const ANSWERS_MAX = 64;

/** The version for a range, cached. */
export function answerOf(set: VersionSet, range: string): Found | Failure {
  const known = set.answers.get(range);
  if (known !== undefined) return known;
  const answer = resolveRange(set, range);
  if (set.answers.size < ANSWERS_MAX) set.answers.set(range, answer);
  return answer;
}

/**
 * The highest version in the range (REG-03). Pre-releases count only when the range names one of the same
 * major.minor.patch, as in npm.
 */
function resolveRange(set: VersionSet, asked: string): Found | Failure {
  const exact = set.byVersion.get(asked);
  if (exact !== undefined) return exact.state === 'removed' ? removed(set, exact) : found(set, exact, asked);
  if (valid(asked) !== null) {
    return failure('E3002', `${set.toolId} has no version ${asked}. ${available(set)}`, { details: { ...names(set) } });
  }
  const range = rangeOf(asked);
  if (range === undefined) {
    const text = JSON.stringify(asked.slice(0, RANGE_CHARS_MAX));
    return failure('E3006', `${text} is neither a version, a SemVer range such as ^2.1.0, nor latest.`);
  }
  const highest = set.live.find(({ manifest }) => satisfies(manifest.version, range));
  if (highest !== undefined) return found(set, highest, asked);
  return nothingIn(set, range, asked);
}

function rangeOf(asked: string): Range | undefined {
  if (asked === 'latest' || asked === '') return new Range('*');
  if (asked.length > RANGE_CHARS_MAX) return undefined;
  try {
    return new Range(asked);
  } catch {
    return undefined;
  }
}

function found(set: VersionSet, tool: ToolVersion, asked: string): Found {
  const warnings = [deprecation(withSuccessor(set, tool)), newerExcluded(set, tool, asked)].filter(
    (warning) => warning !== undefined,
  );
  return { tool, warnings };
}

function deprecation(tool: ToolVersion): Warning | undefined {
  const { manifest, state, removableAt } = tool;
  if (state !== 'deprecated' && state !== 'sunset') return undefined;
  return {
    code: 'E3003',
    message: `${manifest.tool_id} ${manifest.version} is ${state}.${instead(tool)}`,
    details: { state, ...(removableAt === undefined ? {} : { removable_at: removableAt }), ...wayOn(tool) },
  };
}

/** A removed version is not a valid successor. */
function withSuccessor(set: VersionSet, tool: ToolVersion): ToolVersion {
  const { deprecatedInFavorOf: successor, ...rest } = tool;
  return successor !== undefined && set.byVersion.get(successor)?.state === 'removed' ? rest : tool;
}

const instead = ({ deprecatedInFavorOf }: ToolVersion): string =>
  deprecatedInFavorOf === undefined ? '' : ` Use ${deprecatedInFavorOf} instead.`;

/** Hints for moving on from a retiring version. */
function wayOn({ manifest, deprecatedInFavorOf, migrationGuide, stateChanges }: ToolVersion): Record<string, string> {
  const guide = migrationGuide ?? manifest.migration_guide;
  const reason = stateChanges?.findLast((change) => change.reason !== undefined)?.reason;
  return {
    ...(deprecatedInFavorOf === undefined ? {} : { deprecated_in_favor_of: deprecatedInFavorOf }),
    ...(guide === undefined ? {} : { migration_guide: guide }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function newerExcluded(set: VersionSet, { manifest }: ToolVersion, asked: string): Warning | undefined {
  const newest = set.live.find(({ manifest: { version } }) => prerelease(version) === null)?.manifest.version;
  if (newest === undefined || !gt(newest, manifest.version)) return undefined;
  return {
    code: 'newer_version_excluded',
    message: `${asked} chose ${manifest.tool_id} ${manifest.version}; version ${newest} is there too.`,
    details: { asked, chosen: manifest.version, newest },
  };
}

function nothingIn(set: VersionSet, range: Range, asked: string): Failure {
  const gone = [...set.byVersion.values()]
    .filter(({ state, manifest }) => state === 'removed' && satisfies(manifest.version, range))
    .sort((one, other) => compareBuild(other.manifest.version, one.manifest.version))[0];
  if (gone !== undefined) return removed(set, gone);
  return failure('E3006', `No version of ${set.toolId} lies in ${asked}. ${available(set)}`, {
    details: { range: asked, ...names(set) },
  });
}

function removed(set: VersionSet, version: ToolVersion): Failure {
  const tool = withSuccessor(set, version);
  const { tool_id, version: number } = tool.manifest;
  return failure('E3004', `${tool_id} ${number} was removed.${instead(tool)}`, { details: wayOn(tool) });
}

const names = (set: VersionSet): { available: string[] } => ({
  available: set.live.slice(0, VERSIONS_NAMED_MAX).map(({ manifest }) => manifest.version),
});

function available(set: VersionSet): string {
  const { available: versions } = names(set);
  return versions.length === 0 ? 'It has none at all.' : `Ask for one of ${versions.join(', ')}.`;
}
