import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { documentModeOf, documentsNamedIn, withoutForbidden } from '../../../bridges/document-tools.ts';
import type { DocumentAccessMode } from '../../../domain/document/given-document.ts';
import { serverToolOf } from '../../../domain/tool/server-tool.ts';
import type { MadeDecision } from '../../../permission/policy-decisions.ts';
import type { Authorized, CallFact, CallRequest, Resolved, Validated } from '../../call.ts';
import type { PipelineParts } from '../../parts.ts';
import { policyQuestion } from '../grant/policy-question.ts';

type Parts = Pick<PipelineParts, 'policy' | 'clock' | 'documents'>;

/** A call whose documents are judged. */
export type JudgedCall = CallRequest & Resolved & Validated & Authorized;

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
  return failure('E3603', `The call may not ${mode} the document ${JSON.stringify(asked)}: ${by}.`, {
    details: { document_id: asked, access_mode: mode, policies: [...policies] },
  });
}

/** The mode in which a tool of the document server uses documents; undefined for every other tool. */
function ownToolMode({ documents }: Parts, { tool: { manifest } }: JudgedCall): DocumentAccessMode | undefined {
  if (documents === undefined) return undefined;
  const at = serverToolOf(manifest);
  return at?.upstream === documents.upstream ? documentModeOf(at.tool) : undefined;
}

/**
 * Judges the documents that the arguments of one of the document server's own tools name, before it runs.
 * @throws ToolLayerError E3603 E3206
 */
export async function checkNamedDocuments(
  parts: Parts,
  call: JudgedCall,
  note: (fact: CallFact) => void,
): Promise<void> {
  const mode = ownToolMode(parts, call);
  if (mode === undefined) return;
  for (const named of documentsNamedIn(call.parameters)) await checkDocument(parts, call, { ...named, mode }, note);
}

/**
 * The result of one of the document server's own tools without what the policies keep from the caller; the same for every
 * other tool.
 * @throws ToolLayerError E3606 for an answer that cannot be judged; E3206
 */
export async function judgedResult(
  parts: Parts,
  call: JudgedCall,
  result: unknown,
  note: (fact: CallFact) => void,
): Promise<unknown> {
  const mode = ownToolMode(parts, call);
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

const isResource = ({ tool: { manifest } }: JudgedCall): boolean => serverToolOf(manifest)?.tool === 'resources/read';
