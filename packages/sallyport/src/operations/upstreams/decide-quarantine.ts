import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import {
  QuarantineAcceptResponse,
  QuarantineDecision,
  QuarantineRejectResponse,
} from '../../../api/schemas/registry/quarantine.ts';
import { isOfferPlace, type UpstreamTool } from '../../mcp-servers/quarantine.ts';
import { callerCredentials } from '../../mcp-servers/upstreams.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { isNamed, servedManifest, type WaitingTool, waitingTools } from './list-quarantine.ts';
import { putTools } from './record-tool-changes.ts';
import { deprecateFormer, noteRecorded, registerListed, registrationOf } from './register-listed.ts';

/** Registers the definition that a server serves now as a new version, and allows calls (REG-09). */
export const acceptQuarantined = operation({
  name: 'upstreams.accept',
  summary: 'Accept what an upstream serves now, as a new version',
  method: 'POST',
  path: '/v1/upstreams/{name}/acceptance',
  status: 200,
  access: 'operator',
  input: QuarantineDecision,
  output: QuarantineAcceptResponse,
  run: (parts: OperationParts) => (decision, asker) =>
    decide(parts, asker, decision, async (chosen) => {
      const hasFindings = ({ served }: WaitingTool): boolean => served.findings.length > 0;
      const pending = decision.all === true ? chosen.filter(({ block }) => block !== 'rejected') : chosen;
      const tools = decision.all === true ? pending.filter((tool) => !hasFindings(tool)) : pending;
      const registrations = await accept(parts, asker, decision.name, tools);
      const leftOut = pending.filter((tool) => !tools.includes(tool)).map(({ toolId }) => toolId);
      return { name: decision.name, registrations, left_out: leftOut };
    }),
});

/**
 * Rejects the definition that a server serves now; the tool is allowed again by itself when it is served as accepted
 * (REG-09).
 */
export const rejectQuarantined = operation({
  name: 'upstreams.reject',
  summary: 'Refuse what an upstream serves now',
  method: 'POST',
  path: '/v1/upstreams/{name}/rejection',
  status: 200,
  access: 'operator',
  input: QuarantineDecision,
  output: QuarantineRejectResponse,
  run: (parts: OperationParts) => (decision, asker) =>
    decide(parts, asker, decision, async (chosen) => {
      const tools = chosen
        .filter(({ block }) => block !== 'rejected')
        .map((tool): UpstreamTool => ({ ...tool, block: 'rejected', rejectedHash: tool.served.hash }));
      await putTools(parts, asker, decision.name, tools, { 'tools-rejected': tools });
      return { name: decision.name, rejected: chosen.map(({ toolId }) => toolId) };
    }),
});

function decide<T>(
  parts: OperationParts,
  { principal: { tenantId } }: Asker,
  decision: QuarantineDecision,
  act: (chosen: readonly WaitingTool[]) => Promise<T>,
): Promise<T | Failure> {
  const { name, tool, all, content_hash } = decision;
  return parts.quarantine.inTurn(tenantId, name, async () => {
    if (parts.upstreams.current(tenantId, name) === undefined) return failure('E3809', `There is no upstream ${name}.`);
    if ((tool === undefined) === (all === undefined)) {
      return failure('E3801', 'Name one tool, or say all; not both and not neither.');
    }
    const waiting = waitingTools(parts, tenantId, name);
    if (tool === undefined) return act(waiting);
    const found = waiting.find((known) => isNamed(known, tool));
    if (found === undefined) {
      return failure('E3809', `The upstream ${name} has no tool ${JSON.stringify(tool.slice(0, 128))} in quarantine.`);
    }
    if (content_hash !== undefined && content_hash !== found.served.hash) {
      return failure('E3704', `The server changed ${found.toolId} once more. Look at what it serves now first.`, {
        details: { content_hash: found.served.hash },
      });
    }
    return act([found]);
  });
}

async function accept(parts: OperationParts, asker: Asker, name: string, waiting: readonly WaitingTool[]) {
  const offers = waiting.filter(({ upstream }) => isOfferPlace(upstream));
  const tools = waiting.filter((tool) => !offers.includes(tool));
  return [...(await acceptTools(parts, asker, name, tools)), ...(await acceptOffers(parts, asker, name, offers))];
}

/** Prompts and templates have no versions: what is served now is shown. */
async function acceptOffers(parts: OperationParts, asker: Asker, name: string, offers: readonly WaitingTool[]) {
  const noticedAt = new Date(parts.clock.now()).toISOString();
  const accepted = offers.map(({ block: _block, served, rejectedHash: _rejected, ...free }): UpstreamTool => {
    return { ...free, acceptedHash: served.hash, noticedAt };
  });
  await putTools(parts, asker, name, accepted, { 'tools-accepted': accepted });
  return accepted.map(({ toolId }) => ({ tool_id: toolId, version: '', outcome: 'created' as const, warnings: [] }));
}

async function acceptTools(parts: OperationParts, asker: Asker, name: string, tools: readonly WaitingTool[]) {
  const definition = parts.upstreams.current(asker.principal.tenantId, name)?.definition;
  const said =
    definition === undefined
      ? {}
      : { overrides: definition.overrides ?? {}, credentials: callerCredentials(definition) };
  const candidates = tools.flatMap((tool) => {
    const manifest = servedManifest(parts, tool, said);
    return manifest === undefined ? [] : [{ manifest, registered: tool.version, tool }];
  });
  const ends = await registerListed(parts, asker, candidates);
  const accepted: UpstreamTool[] = [];
  for (const [at, { tool }] of candidates.entries()) {
    const end = ends[at];
    if (end === undefined || isFailure(end)) continue;
    const { block: _block, served, rejectedHash: _rejected, ...free } = tool;
    const noticedAt = new Date(parts.clock.now()).toISOString();
    accepted.push({ ...free, acceptedHash: served.hash, version: end.version.manifest.version, noticedAt });
  }
  await putTools(parts, asker, name, accepted, { 'tools-accepted': accepted });
  await noteRecorded(parts, ends);
  for (const { tool } of candidates)
    await deprecateFormer(parts, asker, tool, 'An operator accepted what its server serves now.');
  return candidates.map(({ manifest }, at) => {
    return registrationOf(manifest, ends[at] ?? failure('E3900', 'The registry gave no answer.'));
  });
}
