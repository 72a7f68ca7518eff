import { type Failure, failure } from '@sallyport/std/error/failure';
import { satisfies } from 'semver';
import type { Warning } from '../../../api/schemas/invocation.ts';
import type { ToolVersion } from './tool-version.ts';

/**
 * Compares the version that an agent states with the versions of agents that the tool fits (REG-17).
 * @param stated SemVer version from `agent_context.agent_version`
 * @returns E3006 when the tool does not fit that agent; a warning when the agent states no version
 */
export function agentCompatibility(
  { manifest: { compatibility_range: range, version } }: ToolVersion,
  stated: string | undefined,
): Failure | readonly Warning[] {
  if (range === undefined || range === 'latest') return NO_WARNINGS;
  const details = { compatibility_range: range, tool_version: version };
  if (stated === undefined) {
    const message = `Version ${version} of the tool is for agents of version ${range}. State yours in agent_context.agent_version.`;
    return [{ code: 'agent_version_unstated', message, details }];
  }
  if (satisfies(stated, range, { includePrerelease: true })) return NO_WARNINGS;
  return failure(
    'E3006',
    `Version ${version} of the tool is for agents of version ${range}, and the call is from an agent of version ${stated}. Ask for another version of the tool.`,
    { details: { ...details, agent_version: stated } },
  );
}

const NO_WARNINGS: readonly Warning[] = [];
