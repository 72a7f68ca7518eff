import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ReadDocuments } from '../../../bridges/documents.ts';
import type { DocumentPin, WantedDocument } from '../../../domain/document/given-document.ts';
import { isOwner } from '../../../domain/invocation/call-owner.ts';
import type { Admitted, Authorized, CallFact, CallRequest, Fresh, Resolved, Validated } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../../parts.ts';
import { checkDocument } from './document-access.ts';
import { wantedDocuments } from './wanted-documents.ts';

/** A call whose documents are read. */
export type DocumentedCall = CallRequest & Admitted & Resolved & Validated & Authorized & Fresh;
type Parts = Pick<PipelineParts, 'documents' | 'checkpoints' | 'policy' | 'clock'>;

/**
 * The documents of a call, the same versions for all its runs and for the calls that resume it; undefined for a call
 * without documents.
 * @param secrets granted to the call, for a document server that is asked with the caller's own
 * @param note called for a document that the policies refuse, which the caller may not learn of, but the audit must
 * @throws ToolLayerError E3601 to E3608, E3801, E3901, E3102
 */
export async function callDocuments(
  parts: Parts,
  call: DocumentedCall,
  ongoing: OngoingCall,
  secrets: ReadonlyMap<string, string>,
  note: (fact: CallFact) => void,
): Promise<ReadDocuments | undefined> {
  const { documents } = parts;
  const wanted = wantedDocuments(call.request, call.tool.manifest, documents);
  if (isFailure(wanted)) throw ToolLayerError.of(wanted);
  if (wanted.length === 0) return undefined;
  const { tenantId, agentDid, userDid } = call.principal;
  const pins = await earlierPins(parts, call, ongoing, wanted);
  const read = await documents.bridge.read({
    wanted,
    pins,
    reader: { tenantId, agentDid, ...(userDid === undefined ? {} : { userDid }), secrets },
    checkAccess: (id, mode, asked) => checkDocument(parts, call, { id, mode, asked }, note),
    signal: ongoing.controller.signal,
  });
  if (read.pins.length > 0) await storePins(documents.pins, call, read.pins);
  return read;
}

/** The versions that an earlier run of this call had, or the call whose work it resumes. */
async function earlierPins(
  { documents, checkpoints }: Parts,
  { principal, tool, request, invocationId }: DocumentedCall,
  { resumed }: OngoingCall,
  wanted: readonly WantedDocument[],
): Promise<readonly DocumentPin[]> {
  if (!wanted.some(({ isPinned }) => isPinned)) return [];
  const { tenantId } = principal;
  const own = resumed === undefined ? undefined : await documents.pins.find(tenantId, invocationId);
  const checkpointId = request.checkpoint_config?.resume_from_checkpoint_id;
  if (own !== undefined || checkpointId === undefined) return own ?? [];
  const facts = await checkpoints.find(tenantId, checkpointId);
  // Another's checkpoint is refused when the call opens it.
  if (facts === undefined || !isOwner(principal, facts.owner) || facts.toolId !== tool.manifest.tool_id) return [];
  return (await documents.pins.find(tenantId, facts.invocationId)) ?? [];
}

/** A tool whose later runs would see other versions does not run. */
async function storePins(
  pins: Parts['documents']['pins'],
  { principal, invocationId }: DocumentedCall,
  found: readonly DocumentPin[],
): Promise<void> {
  try {
    await pins.put(principal.tenantId, invocationId, found);
  } catch (cause) {
    throw new ToolLayerError('E3608', 'The versions of the documents could not be pinned. Try again later.', { cause });
  }
}
