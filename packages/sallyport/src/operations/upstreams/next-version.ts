import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { gt, inc, valid } from 'semver';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { compareManifests } from '../../registry/compare-manifests.ts';

/** The size of a change in SemVer terms. */
export type ChangeLevel = 'major' | 'minor' | 'patch';

/**
 * The version of a changed tool: its server's when that is higher than every live one, else one of our own, higher than
 * the newest. The server's is then kept in `executor.config.server_version`.
 * @param live versions of the tool, newest first
 */
export function nextVersion(manifest: ToolManifest, live: readonly ToolVersion[], level: ChangeLevel): ToolManifest {
  const newest = live[0]?.manifest.version;
  if (newest === undefined || gt(manifest.version, newest)) return manifest;
  return underVersion(manifest, inc(valid(newest) ?? '0.0.0', level) ?? newest);
}

/** The manifest under the patch version after it. */
export function patchAfter(manifest: ToolManifest): ToolManifest {
  return underVersion(manifest, inc(manifest.version, 'patch') ?? manifest.version);
}

/**
 * How much a manifest's definition differs from the previous one: `major` when something breaks for callers, `minor`
 * for any other change of a schema, `patch` for texts, hints and settings of an operator.
 */
export function changeLevel(before: ToolManifest | undefined, after: ToolManifest): ChangeLevel {
  if (before === undefined) return 'patch';
  const { result_schema: _served, ...rest } = after;
  const { parameters_schema, result_schema } = before;
  const from = { ...rest, parameters_schema, ...(result_schema === undefined ? {} : { result_schema }) };
  if (!differ(from, after)) return 'patch';
  return compareManifests(from, after).breaking ? 'major' : 'minor';
}

/** True when two manifests differ at most in their version. */
export function sameButVersion(one: ToolManifest, other: ToolManifest): boolean {
  return !differ(withoutVersion(one), withoutVersion(other));
}

/** True when two manifests of a tool come from the same definition, whatever the settings of an operator. */
export function sameDefinition(one: ToolManifest, other: ToolManifest): boolean {
  return !differ(definitionOf(one), definitionOf(other));
}

/** True when two manifests are of one tool of one upstream. */
export function isOfSameTool({ executor: one }: ToolManifest, { executor: other }: ToolManifest): boolean {
  const member = (name: string): boolean => one.config?.[name] === other.config?.[name];
  return one.kind === 'mcp' && other.kind === 'mcp' && member('upstream') && member('tool');
}

/** A server's definition of a tool, as far as the manifest holds it, under MCP's names. */
export function definitionOf({ tool_name, description, parameters_schema, executor }: ToolManifest) {
  const { title, annotations, output_schema: outputSchema, icons, _meta } = executor.config ?? {};
  const said = { title: title ?? tool_name, description, inputSchema: parameters_schema };
  return { ...said, outputSchema, annotations, icons, _meta };
}

function withoutVersion({ version: _version, executor, ...rest }: ToolManifest): unknown {
  const { server_version: _served, ...config } = executor.config ?? {};
  return { ...rest, executor: { ...executor, config } };
}

function underVersion(manifest: ToolManifest, version: string): ToolManifest {
  const { config } = manifest.executor;
  const server_version = config?.['server_version'] ?? manifest.version;
  return { ...manifest, version, executor: { ...manifest.executor, config: { ...config, server_version } } };
}

const differ = (one: unknown, other: unknown): boolean => canonicalJson(one) !== canonicalJson(other);
