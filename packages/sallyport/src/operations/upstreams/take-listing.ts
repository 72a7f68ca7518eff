import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { Registration } from '../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { shipsWithLayer } from '../../mcp-servers/embedded-server.port.ts';
import {
  blockedFailure,
  definitionHash,
  type IdentifiedTool,
  isNews,
  type ListingComparison,
  type ScanVerdict,
  type ServedTool,
  type UpstreamTool,
} from '../../mcp-servers/quarantine.ts';
import { type CurrentUpstream, callerCredentials } from '../../mcp-servers/upstreams.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { isOfSameTool, sameDefinition } from './next-version.ts';
import { putTools } from './record-tool-changes.ts';
import { type Candidate, deprecateFormer, noteRecorded, registerListed, registrationOf } from './register-listed.ts';
import { removeToolsOf } from './remove-upstream.ts';

/** Dependencies of processing a listing. */
export type ListingParts = Pick<
  OperationParts,
  'upstreams' | 'quarantine' | 'importMcp' | 'registry' | 'ledger' | 'clock' | 'log'
>;

/**
 * Updates the registry to an upstream's present list of tools (REG-09). `added`: an operator just asked for it, so new
 * tools are trusted unless something in them is suspicious; else `accept_new_tools` decides. In both cases an accepted
 * tool whose definition has changed waits in quarantine. The tools of reference servers are trusted.
 * @returns one entry for each tool that is listed or was refused; empty when the upstream no longer exists
 */
export function takeListing(parts: ListingParts, asker: Asker, name: string, added: boolean): Promise<Registration[]> {
  const { tenantId } = asker.principal;
  return parts.quarantine.inTurn(tenantId, name, async () => {
    const current = parts.upstreams.current(tenantId, name);
    if (current === undefined || current.definition.disabled === true) return [];
    const isTrusted = shipsWithLayer(current.definition);
    const judge = () => {
      const listed = identify(parts, tenantId, current);
      return { listed, compared: parts.quarantine.compare(tenantId, name, listed.tools, isTrusted) };
    };
    let { listed, compared } = judge();
    if (added || isNews(compared)) {
      await parts.quarantine.reread(tenantId, name);
      ({ listed, compared } = judge());
    }
    // Another instance may have removed or replaced it: what still runs here then brings no tools back. Changed tools are
    // blocked before, whether or not the database answers.
    if ((await parts.upstreams.standing(tenantId, name)) !== 'as-stored') return [];
    const work: Work = { parts, asker, current, manifests: listed.manifests, added, isTrusted };
    const quarantined = await noteChanges(work, compared);
    const fresh = await takeUnknown(work, compared.unknown);
    const kept = await keepAccepted(work, compared.accepted);
    const refused = [...listed.refused, ...compared.refused].map(({ place, reason }) => unregistered(place, reason));
    // Removed elsewhere while its tools were registered here.
    if ((await parts.upstreams.standing(tenantId, name)) === 'removed') await removeToolsOf(parts, asker, name);
    return [...kept, ...fresh, ...quarantined, ...refused];
  });
}

interface Work {
  readonly parts: ListingParts;
  readonly asker: Asker;
  readonly current: CurrentUpstream;
  /** Keyed by tool id. */
  readonly manifests: ReadonlyMap<string, ToolManifest>;
  readonly added: boolean;
  readonly isTrusted: boolean;
}

function identify({ importMcp, quarantine, registry }: ListingParts, tenantId: string, current: CurrentUpstream) {
  const { definition, tools, serverVersion, malformed } = current;
  const ids = new Map([
    ...registry.manifests(tenantId).flatMap(({ manifest }) => registeredName(manifest, definition.name)),
    ...quarantine.tools(tenantId, definition.name).map(({ tool, toolId }) => [tool, toolId] as const),
  ]);
  const imported = importMcp(tools, {
    name: definition.name,
    version: serverVersion,
    credentials: callerCredentials(definition),
    ...(definition.overrides === undefined ? {} : { overrides: definition.overrides }),
    holderOf: (toolId) => quarantine.find(tenantId, toolId)?.tool,
    idOf: (tool) => ids.get(tool),
  });
  const byName = new Map(tools.toReversed().map((tool) => [tool.name, tool]));
  const identified = imported.manifests.flatMap(({ tool_id, executor }): IdentifiedTool[] => {
    const listed = byName.get(String(executor.config?.['tool']));
    return listed === undefined ? [] : [{ toolId: tool_id, listed }];
  });
  return {
    tools: identified,
    manifests: new Map(imported.manifests.map((manifest) => [manifest.tool_id, manifest])),
    refused: [...imported.skipped, ...malformed],
  };
}

/** The server's name for a registered tool of an upstream, with its id. */
function registeredName({ tool_id, executor }: ToolManifest, upstream: string): (readonly [string, string])[] {
  const { config } = executor;
  const isOwn = executor.kind === 'mcp' && config?.['upstream'] === upstream && tool_id.startsWith(`${upstream}__`);
  return isOwn ? [[String(config['tool']), tool_id]] : [];
}

/** Audits tools whose definition differs from the accepted one, and tools that are gone. */
async function noteChanges(work: Work, compared: ListingComparison): Promise<Registration[]> {
  const { parts, asker, current, isTrusted } = work;
  const { changed, rejected, absent } = compared;
  const name = current.definition.name;
  const verdicts = await parts.quarantine.scan(
    asker.principal.tenantId,
    name,
    changed.map(({ listed }) => listed),
    isTrusted,
  );
  const waiting = changed.map((served, at) => blocked(work, served, verdicts[at]));
  const refused = rejected.map((served) => ({ ...blocked(work, served, undefined), block: 'rejected' as const }));
  const gone = absent.map((tool): UpstreamTool => ({ ...withoutServed(tool), block: 'absent', noticedAt: now(work) }));
  const changes = { 'tools-quarantined': waiting, 'tools-absent': gone };
  await putTools(parts, asker, name, [...waiting, ...refused, ...gone], changes);
  return [...waiting, ...refused].map((tool) => refusal(work, tool));
}

/** Registers new tools, or puts them in quarantine. */
async function takeUnknown(work: Work, unknown: readonly IdentifiedTool[]): Promise<Registration[]> {
  const { parts, asker, current, added, isTrusted } = work;
  const { tenantId } = asker.principal;
  const { name, accept_new_tools: acceptNew = true } = current.definition;
  const listed = unknown.map((tool) => tool.listed);
  const verdicts = await parts.quarantine.scan(tenantId, name, listed, isTrusted);
  const trusted: ServedTool[] = [];
  const waiting: UpstreamTool[] = [];
  for (const [at, tool] of unknown.entries()) {
    const verdict = verdicts[at];
    const known: UpstreamTool = {
      tenantId,
      toolId: tool.toolId,
      upstream: name,
      tool: tool.listed.name,
      noticedAt: now(work),
    };
    const left = unrecordedVersion(work, known);
    const served = { known: left === undefined ? known : { ...known, version: left.version }, listed: tool.listed };
    if (left?.differs === true && !isTrusted) waiting.push({ ...blocked(work, served, verdict), block: 'changed' });
    else if (verdict?.verdict === 'clean' && (added || acceptNew)) trusted.push(served);
    else waiting.push(blocked(work, served, verdict));
  }
  await putTools(parts, asker, name, waiting, { 'tools-quarantined': waiting });
  return [...(await accept(work, trusted)), ...waiting.map((tool) => refusal(work, tool))];
}

/**
 * The newest version of a tool that is registered but not remembered here: a crash came between the two, or it was
 * registered before tools were remembered. Only exactly this definition is trusted.
 */
function unrecordedVersion({ parts, asker, manifests }: Work, { toolId }: UpstreamTool) {
  const newest = parts.registry.versions(asker.principal.tenantId, toolId)[0]?.manifest;
  const served = manifests.get(toolId);
  if (newest === undefined || served === undefined) return undefined;
  return { version: newest.version, differs: isOfSameTool(newest, served) && !sameDefinition(newest, served) };
}

/**
 * Lifts the block of tools that are served as accepted again; when an operator added the upstream anew, applies the
 * operator's settings. What a reference server serves otherwise since a release becomes a new version.
 */
async function keepAccepted(work: Work, accepted: readonly ServedTool[]): Promise<Registration[]> {
  const { parts, asker, current, added, isTrusted } = work;
  const restored = accepted.filter(({ known }) => known.block !== undefined);
  const lifted = restored.map(({ known }): UpstreamTool => {
    const { block: _block, ...free } = withoutServed(known);
    return { ...free, noticedAt: now(work) };
  });
  await putTools(parts, asker, current.definition.name, lifted, { 'tools-restored': lifted });
  return added || isTrusted ? accept(work, accepted) : [];
}

/** Registers definitions and marks them as accepted. */
async function accept(work: Work, tools: readonly ServedTool[]): Promise<Registration[]> {
  const { parts, asker, current, manifests } = work;
  const candidates = tools.flatMap(({ known, listed }): (Candidate & ServedTool)[] => {
    const manifest = manifests.get(known.toolId);
    return manifest === undefined ? [] : [{ manifest, registered: known.version, known, listed }];
  });
  const ends = await registerListed(parts, asker, candidates);
  const remembered: UpstreamTool[] = [];
  const created: UpstreamTool[] = [];
  for (const [at, { known, listed }] of candidates.entries()) {
    const end = ends[at];
    if (end === undefined || isFailure(end)) continue;
    const { block: _block, served: _served, ...free } = known;
    const { version } = end.version.manifest;
    const tool: UpstreamTool = { ...free, acceptedHash: definitionHash(listed), version, noticedAt: now(work) };
    if (known.acceptedHash !== tool.acceptedHash || known.version !== version) remembered.push(tool);
    if (end.outcome === 'created') created.push(tool);
  }
  await putTools(parts, asker, current.definition.name, remembered, { imported: created });
  await noteRecorded(parts, ends);
  for (const { known } of candidates) await deprecateFormer(parts, asker, known, 'Its upstream was added anew.');
  return candidates.map(({ manifest }, at) => registrationOf(manifest, ends[at] ?? NO_ANSWER));
}

function blocked(
  { parts, current }: Work,
  { known, listed }: ServedTool,
  verdict: ScanVerdict | undefined,
): UpstreamTool {
  const findings = verdict?.findings ?? [];
  const never = findings.length > 0 ? 'flagged' : 'new';
  return {
    ...known,
    block: known.acceptedHash === undefined ? never : 'changed',
    served: { hash: definitionHash(listed), definition: listed, serverVersion: current.serverVersion, findings },
    noticedAt: new Date(parts.clock.now()).toISOString(),
  };
}

function refusal({ parts, asker, manifests }: Work, { toolId }: UpstreamTool): Registration {
  const block = parts.quarantine.blocks(asker.principal.tenantId, toolId);
  const version = manifests.get(toolId)?.version ?? '';
  return registrationOf({ tool_id: toolId, version }, block === undefined ? NO_ANSWER : blockedFailure(toolId, block));
}

const unregistered = (place: string, message: string): Registration => ({
  tool_id: place,
  version: '',
  outcome: 'refused',
  warnings: [],
  error: { message },
});

const NO_ANSWER: Failure = failure('E3900', 'The registry gave no answer.');

const now = ({ parts }: Work): string => new Date(parts.clock.now()).toISOString();

function withoutServed({ served: _served, ...rest }: UpstreamTool): UpstreamTool {
  return rest;
}
