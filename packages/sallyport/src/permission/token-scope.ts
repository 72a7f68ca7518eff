// Runs for every call and for every tool of a listing; each token is prepared once.

import { type Failure, failure } from '@sallyport/std/error/failure';
import { wildcardMatcher } from '@sallyport/std/text/wildcard';
import { Range, SemVer } from 'semver';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import type { AgentContext } from '../../api/schemas/invocation.ts';

interface Scope {
  readonly coversId: (toolId: string) => boolean;
  readonly coversVersion: (version: string) => boolean;
  readonly mayExecute: boolean;
  /** The scope that a tool needs and the token lacks; undefined when it lacks none. */
  readonly lacksScope: (toolId: string) => string | undefined;
  readonly scopesHeld: readonly string[];
}

const scopes = new WeakMap<CapabilityClaims, Scope>();

/**
 * Checks whether a token may be used to execute this version of a tool. `*` in `tool_id` stands for any run of
 * characters; an absent `tool_version` or `*` covers every version, a range covers as in SemVer (pre-releases only when
 * it names one), and an invalid value covers nothing.
 * @returns E3209 saying what the token is for; E3215 when another access token would do, with the scope in
 *   `details.scope` and, in `details.scopes`, the scopes that a new token needs to lose nothing (RFC 6750 §3.1)
 */
export function coversTool(claims: CapabilityClaims, toolId: string, version: string): Failure | undefined {
  const scope = scopeOf(claims);
  if (!scope.coversId(toolId)) return otherTool(claims, toolId);
  if (!scope.coversVersion(version))
    return failure(
      'E3209',
      `The capability token is for version "${claims.tool_version}" of "${claims.tool_id}", not for ${version}.`,
    );
  const lacking = scope.lacksScope(toolId);
  if (lacking !== undefined)
    return failure('E3215', `The tool "${toolId}" is called with the scope ${lacking}, which the access token lacks.`, {
      details: { scope: lacking, scopes: [...scope.scopesHeld, lacking] },
    });
  if (!scope.mayExecute)
    return failure('E3209', 'The capability token does not allow the operation "execute".', {
      details: { allowed_operations: claims.allowed_operations },
    });
  return undefined;
}

/** E3209 for a tool that the token does not cover. @param name as the caller knows it */
export function otherTool(claims: CapabilityClaims, name: string): Failure {
  return failure('E3209', `The capability token is for tool "${claims.tool_id}", not for "${name.slice(0, 128)}".`);
}

/** True when a token covers any version of a tool; for listings. */
export function coversToolId(claims: CapabilityClaims, toolId: string): boolean {
  return scopeOf(claims).coversId(toolId);
}

/**
 * Checks that the request speaks for the agent that the token was issued to. Members missing in the request agree.
 * @returns E3209 naming the member that differs
 */
export function agreesWithContext(
  claims: CapabilityClaims,
  context: Partial<AgentContext> | undefined,
): Failure | undefined {
  if (context === undefined) return undefined;
  for (const member of ['agent_did', 'tenant_id', 'user_did', 'session_id'] as const) {
    const asked = context[member];
    const given = claims[member];
    if (asked !== undefined && given !== undefined && asked !== given)
      return failure('E3209', `The capability token was given to another ${member} than the request names.`);
  }
  return undefined;
}

function scopeOf(claims: CapabilityClaims): Scope {
  const known = scopes.get(claims);
  if (known !== undefined) return known;
  const scope: Scope = {
    coversId: wildcardMatcher(claims.tool_id),
    coversVersion: versionMatcher(claims.tool_version),
    lacksScope: scopeLacking(claims.tool_scopes),
    scopesHeld: [...new Set((claims.tool_scopes ?? []).filter(({ held }) => held).map((each) => each.scope))],
    mayExecute: claims.allowed_operations.some((operation) => operation === 'execute' || operation === '*'),
  };
  scopes.set(claims, scope);
  return scope;
}

const NOTHING_LACKING = (): undefined => undefined;

function scopeLacking(given: CapabilityClaims['tool_scopes']): Scope['lacksScope'] {
  if (given === undefined) return NOTHING_LACKING;
  const rules = given.map(({ tool, scope, held }) => ({ fits: wildcardMatcher(tool), scope, held }));
  return (toolId) => {
    const rule = rules.find(({ fits }) => fits(toolId));
    return rule?.held === false ? rule.scope : undefined;
  };
}

/** Most cached answers of a token, by version; tools have few. */
const VERSIONS_REMEMBERED_MAX = 64;

function versionMatcher(range: string | undefined): (version: string) => boolean {
  if (range === undefined || range === '*') return () => true;
  const parsed = parseRange(range);
  const answers = new Map<string, boolean>();
  return (version) => {
    const known = answers.get(version);
    if (known !== undefined) return known;
    const answer = parsed?.test(new SemVer(version)) ?? false;
    if (answers.size < VERSIONS_REMEMBERED_MAX) answers.set(version, answer);
    return answer;
  };
}

function parseRange(range: string): Range | undefined {
  try {
    return new Range(range);
  } catch {
    return undefined;
  }
}
