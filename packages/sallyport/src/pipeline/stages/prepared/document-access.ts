import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isPattern } from '../../../domain/document/document-ref.ts';
import { documentModeOf, documentsNamedIn, withoutForbidden } from '../../../domain/document/document-tools.ts';
import type { CheckDocument, DocumentAccessMode, WantedDocument } from '../../../domain/document/given-document.ts';
import { serverToolOf } from '../../../domain/tool/server-tool.ts';
import type { MadeDecision } from '../../../permission/policy-decisions.ts';
import type { Authorized, CallFact, CallRequest, Resolved, Validated } from '../../call.ts';
import type { PipelineParts } from '../../parts.ts';
import { policyQuestion } from '../grant/policy-question.ts';

/** What judges the documents of the document server's own tools. */
export type DocumentJudges = Pick<PipelineParts, 'policy' | 'clock' | 'documents'>;

/** A call whose documents are judged. */
export type JudgedCall = CallRequest & Resolved & Validated & Pick<Authorized, 'grant' | 'trust'>;

/**
 * Asks the policies for a document, whatever is remembered: they decide by agent, tool and document.
 * @param note called when they refuse it: the caller may not learn of the document, but the audit must
 * @throws ToolLayerError E3603; E3206 when the engine gives no answer
 */
export function checkDocument(
  parts: Pick<PipelineParts, 'policy' | 'clock'>,
  call: JudgedCall,
  document: JudgedDocument,
  note: (fact: CallFact) => void,
): void | Promise<void> {
  const { policy, clock } = parts;
  const { id, mode } = document;
  const decided = policy.decide({ ...policyQuestion(call, call.grant, call.trust), document: { id, mode } });
  const judge = (decision: MadeDecision | Failure): void => {
    const refused = accessRefusal(decision, document);
    if (refused === undefined) return;
    note({ type: 'ai.agent.tool.document_refused', at: clock.now(), data: { document_id: id, access_mode: mode } });
    throw ToolLayerError.of(refused);
  };
  // A decision that is remembered takes no turn of the event loop.
  return decided instanceof Promise ? decided.then(judge) : judge(decided);
}

/** A document that the call wants, and what the call asked for. */
export interface JudgedDocument {
  readonly id: string;
  readonly mode: DocumentAccessMode;
  readonly asked: string;
}

function accessRefusal(decision: MadeDecision | Failure, { mode, asked }: JudgedDocument): Failure | undefined {
  if (isFailure(decision)) return decision;
  if (decision.allowed) return undefined;
  const { policies } = decision;
  const by = policies.length === 0 ? 'no policy permits it' : `forbidden by ${policies.join(', ')}`;
  const which =
    asked === '' ? 'a document without an id, which its server would make' : `the document ${JSON.stringify(asked)}`;
  return failure('E3603', `The call may not ${mode} ${which}: ${by}.`, {
    details: { document_id: asked, access_mode: mode, policies: [...policies] },
  });
}

/** A tool of a document server. */
interface OwnTool {
  readonly name: string;
  readonly mode: DocumentAccessMode;
  readonly serverAt: 'here' | 'elsewhere';
}

/** What a tool of a document server does; undefined for every other tool. */
function ownTool(
  { documents }: DocumentJudges,
  { tool: { manifest, tenantId } }: Pick<Resolved, 'tool'>,
): OwnTool | undefined {
  const at = serverToolOf(manifest);
  if (at === undefined) return undefined;
  const serverAt = documents.serverAt(tenantId, at.upstream);
  const mode = documentModeOf(at.tool);
  return serverAt === undefined || mode === undefined ? undefined : { name: at.tool, mode, serverAt };
}

/** True for the own tools of a document server: few calls are, and the others pay for nothing more. */
export const isDocumentTool = (parts: DocumentJudges, call: Pick<Resolved, 'tool'>): boolean =>
  ownTool(parts, call) !== undefined;

/**
 * Judges the documents that the arguments of one of the document server's own tools name, before it runs. A document to be
 * stored without an id is judged by the server, once it has made one (`checkOf`); where that is elsewhere, with an empty id.
 * @throws ToolLayerError E3603 E3206
 */
export async function checkNamedDocuments(
  parts: DocumentJudges,
  call: JudgedCall,
  note: (fact: CallFact) => void,
): Promise<void> {
  const own = ownTool(parts, call);
  if (own === undefined) return;
  const { name, mode, serverAt } = own;
  const named = documentsNamedIn(call.parameters);
  const isUnknown = name === 'ingest_document' && named.length === 0 && serverAt === 'elsewhere';
  for (const one of isUnknown ? [UNKNOWN] : named) {
    // What may not be written may not be deleted either.
    if (mode === 'delete') await checkDocument(parts, call, { ...one, mode: 'write' }, note);
    await checkDocument(parts, call, { ...one, mode }, note);
  }
}

const UNKNOWN = { id: '', asked: '' };

/**
 * Judges the documents that a call asks for by their ids, before a person is asked about the call. What a pattern or a
 * question finds is judged when it is read.
 * @throws ToolLayerError E3603 E3206
 */
export async function checkWantedDocuments(
  parts: Pick<PipelineParts, 'policy' | 'clock'>,
  call: JudgedCall,
  wanted: readonly WantedDocument[],
  note: (fact: CallFact) => void,
): Promise<void> {
  for (const { ref, isQuestion, mode } of wanted) {
    if (!isQuestion && !isPattern(ref)) await checkDocument(parts, call, { id: ref, mode, asked: ref }, note);
  }
}

/** Lets the document server ask the policies for a document that its caller did not name; undefined for every other tool. */
export function checkOf(
  parts: DocumentJudges,
  call: JudgedCall,
  note: (fact: CallFact) => void,
): CheckDocument | undefined {
  if (ownTool(parts, call) === undefined) return undefined;
  return async (id, mode) => checkDocument(parts, call, { id, mode, asked: id }, note);
}

/**
 * The result of one of the document server's own tools without what the policies keep from the caller; the same for every
 * other tool. A deletion is noted.
 * @throws ToolLayerError E3606 for an answer that cannot be judged; E3206
 */
export async function judgedResult(
  parts: DocumentJudges,
  call: JudgedCall,
  result: unknown,
  note: (fact: CallFact) => void,
): Promise<unknown> {
  const mode = ownTool(parts, call)?.mode;
  if (mode === 'delete') note(deletionOf(call, parts.clock.now()));
  // What a caller has written it may know; a resource was named.
  if (mode !== 'read' || isResource(call)) return result;
  return withoutForbidden(result, async (id) => {
    try {
      await checkDocument(parts, call, { id, mode, asked: id }, note);
      return true;
    } catch (thrown) {
      if (thrown instanceof ToolLayerError && thrown.code === 'E3603') return false;
      throw thrown;
    }
  });
}

function deletionOf({ parameters }: JudgedCall, at: number): CallFact {
  const { document_id, version } = parameters;
  const one = version === undefined ? {} : { document_version: version };
  return { type: 'ai.agent.tool.document_deleted', at, data: { document_id, ...one } };
}

const isResource = ({ tool: { manifest } }: JudgedCall): boolean => serverToolOf(manifest)?.tool === 'resources/read';
