import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { valid } from 'semver';
import type { DeprecationState } from '../../../../api/schemas/registry.ts';
import { mayFollow, wayOut } from '../../../domain/tool/lifecycle.ts';
import type { StateChange, ToolVersion } from '../../../domain/tool/tool-version.ts';
import type { StateMove, VersionLifecycle } from '../../tool-store.port.ts';
import { unknownTool, versionsOf } from '../catalogue.ts';
import type { VersionSet } from '../version-set.ts';
import type { RegistryState } from './registry-state.ts';
import { DAY_MS } from './retention.ts';

/** Most steps of a version that are kept; older ones are only in the audit. */
const STATE_CHANGES_MAX = 32;
/** How often a move is retried after a concurrent one. */
const ATTEMPTS_MAX = 3;

/** Details of a move of a version in its lifecycle. */
export interface MoveDetails {
  /** Agent DID of the requester. */
  readonly by?: string;
  readonly reason?: string;
  /** With a deprecation: a version of the same tool, or the id of another tool. */
  readonly inFavorOf?: string;
  /** With a deprecation: how to move on. */
  readonly migrationGuide?: string;
  /** With a removal: at once, regardless of state and notice period. */
  readonly force?: boolean;
}

/** Target state of one version of a tool, or of every version that can go there. */
export interface VersionMove extends MoveDetails {
  readonly tenantId: string;
  readonly toolId: string;
  readonly version?: string;
  readonly to: DeprecationState;
}

/** Moves versions; all of them, or none when one may not move. Returns them in their new state. */
export async function moveVersions(state: RegistryState, move: VersionMove): Promise<readonly ToolVersion[]> {
  return moveAll(state, chosen(state, move), move);
}

/** Removes all versions of many tools at once, whatever their state; unknown ids and removed versions are ignored. */
export function removeTools(
  state: RegistryState,
  tenantId: string,
  toolIds: readonly string[],
): Promise<readonly ToolVersion[]> {
  const leaving = toolIds.flatMap((toolId) => versionsOf(state.catalogue, tenantId, toolId)?.live ?? []);
  return moveAll(state, leaving, { to: 'removed', force: true });
}

async function moveAll(
  state: RegistryState,
  moving: readonly ToolVersion[],
  move: MoveDetails & Pick<VersionMove, 'to'>,
): Promise<readonly ToolVersion[]> {
  let left = moving;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    for (const version of left) judge(state, version, move);
    const moved = await state.store.changeStates(left.map((version) => stateMove(state, version, move.to, move)));
    await state.refresh();
    // Another instance moved these meanwhile: they are checked again in their current state.
    left = left.filter((_, at) => moved[at] === false).map((version) => latest(state, version));
    if (left.length === 0) return moving.map((version) => latest(state, version));
  }
  throw conflict(`${left[0]?.manifest.tool_id} is being changed by others. Look at it and ask again.`);
}

const latest = ({ catalogue }: RegistryState, version: ToolVersion): ToolVersion =>
  versionsOf(catalogue, version.tenantId, version.manifest.tool_id)?.byVersion.get(version.manifest.version) ?? version;

/** Writes one move, through every state in between. False when the version is not in the expected state. */
export async function step(
  state: RegistryState,
  version: ToolVersion,
  to: DeprecationState,
  details: MoveDetails,
): Promise<boolean> {
  const [moved = false] = await state.store.changeStates([stateMove(state, version, to, details)]);
  return moved;
}

function stateMove(state: RegistryState, version: ToolVersion, to: DeprecationState, details: MoveDetails): StateMove {
  const { tenantId, manifest } = version;
  const key = { tenantId, toolId: manifest.tool_id, version: manifest.version };
  return { key, expected: version.state, lifecycle: lifecycleAfter(state, version, to, details) };
}

function lifecycleAfter(
  { clock, retention }: RegistryState,
  version: ToolVersion,
  to: DeprecationState,
  { by, reason, inFavorOf = version.deprecatedInFavorOf, migrationGuide = version.migrationGuide }: MoveDetails,
): VersionLifecycle {
  const now = clock.now();
  const at = new Date(now).toISOString();
  const states = to === 'active' ? [to] : wayOut(version.state, to);
  const said = { ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) };
  const steps: StateChange[] = states.map((state) => ({ state, at, ...said }));
  const stateChanges = [...(version.stateChanges ?? []), ...steps].slice(-STATE_CHANGES_MAX);
  if (to === 'active') return { state: to, stateChanges };
  return {
    state: to,
    stateChanges,
    deprecatedAt: version.deprecatedAt ?? at,
    removableAt: version.removableAt ?? new Date(now + retention.warningDays * DAY_MS).toISOString(),
    ...(inFavorOf === undefined ? {} : { deprecatedInFavorOf: inFavorOf }),
    ...(migrationGuide === undefined ? {} : { migrationGuide }),
  };
}

function chosen(state: RegistryState, { tenantId, toolId, version, to }: VersionMove): readonly ToolVersion[] {
  const set = versionsOf(state.catalogue, tenantId, toolId);
  if (set === undefined) throw ToolLayerError.of(unknownTool(toolId));
  if (version === undefined) {
    const able = set.live.filter((one) => (to === 'removed' ? true : mayFollow(one.state, to)));
    if (able.length === 0) throw conflict(`No version of ${toolId} can become ${to}: ${statesOf(set)}.`);
    return able;
  }
  const named = set.byVersion.get(version);
  if (named === undefined)
    throw new ToolLayerError('E3002', `${toolId} has no version ${version.slice(0, 64)}; nothing was changed.`);
  return [named];
}

const statesOf = (set: VersionSet): string =>
  [...set.byVersion.values()].map(({ manifest, state }) => `${manifest.version} is ${state}`).join(', ') ||
  'it has none';

function judge(state: RegistryState, version: ToolVersion, move: MoveDetails & Pick<VersionMove, 'to'>): void {
  const name = `${version.manifest.tool_id} ${version.manifest.version}`;
  if (move.to !== 'removed') {
    if (!mayFollow(version.state, move.to))
      throw conflict(`${name} is ${version.state} and cannot become ${move.to} from there.`, version);
    judgeSuccessor(state, version, move);
    return;
  }
  if (version.state === 'removed') throw conflict(`${name} was removed before.`, version);
  if (move.force === true) return;
  const { removableAt } = version;
  if (removableAt === undefined) {
    const days = state.retention.warningDays;
    const advice = `Deprecate it first; ${days} days later it can be removed. With force it is removed at once.`;
    throw conflict(`${name} is ${version.state}. ${advice}`, version);
  }
  if (Date.parse(removableAt) > state.clock.now())
    throw conflict(`${name} can be removed from ${removableAt} on. With force it is removed at once.`, version);
}

/** The successor of a deprecated version must exist. */
function judgeSuccessor({ catalogue }: RegistryState, version: ToolVersion, { inFavorOf }: MoveDetails): void {
  if (inFavorOf === undefined) return;
  const { tenantId, manifest } = version;
  const isVersion = valid(inFavorOf) !== null;
  const successors = versionsOf(catalogue, tenantId, isVersion ? manifest.tool_id : inFavorOf)?.live ?? [];
  if (isVersion && inFavorOf === manifest.version)
    throw conflict(`${manifest.tool_id} ${inFavorOf} cannot be deprecated in favour of itself.`, version);
  if (isVersion && !successors.some((one) => one.manifest.version === inFavorOf))
    throw new ToolLayerError('E3002', `${manifest.tool_id} has no version ${inFavorOf.slice(0, 64)} to move on to.`);
  if (successors.length === 0) throw ToolLayerError.of(unknownTool(inFavorOf));
}

function conflict(message: string, version?: ToolVersion): ToolLayerError {
  if (version === undefined) return new ToolLayerError('E3814', message);
  const { state, removableAt } = version;
  return new ToolLayerError('E3814', message, {
    details: { state, ...(removableAt === undefined ? {} : { removable_at: removableAt }) },
  });
}
