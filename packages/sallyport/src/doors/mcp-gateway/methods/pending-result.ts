import { KiB } from '@sallyport/std/bytes';
import { visibleLine } from '@sallyport/std/text/visible-text';
import type { ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import { type Params, type RpcAnswer, type RpcId, resultAnswer } from '../../json-rpc.ts';
import type { ResultFrame } from './call-result.ts';

const PROMPT_CHARACTERS_MAX = 2 * KiB;

const WAITS_FOR: Readonly<Record<NonNullable<ToolInvokeResponse['approval']>['reason'], string>> = {
  requires_approval: 'an approver: its tool runs with an approval only',
  require_approval: 'an approver: the call asks for an approval',
  requires_confirmation: 'a confirmation: its tool runs with one only',
  policy: 'a confirmation: a policy asks for it',
  trust: 'a confirmation: what it may leave behind is beyond the trust in it',
  executor: 'a confirmation: what it would do is for a person to decide',
};

/**
 * The answer of a call that is not over, in words that a model can act on. Clients get it as an error, because there is
 * no result yet: in a success they would validate the structured content against the tool's output schema.
 * @param note further facts for the model
 */
export function pendingAnswer(
  id: RpcId,
  response: ToolInvokeResponse,
  note: string | undefined,
  frame: ResultFrame,
): RpcAnswer {
  const { invocation_id, status, approval, polling_info } = response;
  const content = JSON.stringify([{ type: 'text', text: pendingBlock(response, note) }]);
  const members = { invocation_id, status, ...(approval && { approval }), ...(polling_info && { polling_info }) };
  const meta = `{${frame.metaOpening}${JSON.stringify(members).slice(1)}`;
  return resultAnswer(id, `{${frame.opening}"content":${content},"isError":true,"_meta":${meta}}`);
}

/** The answer that asks the client for input before there is a result (2026-07-28). */
export function inputRequiredAnswer(
  id: RpcId,
  inputRequests: Params,
  requestState: string,
  frame: ResultFrame,
): RpcAnswer {
  const meta = frame.metaOpening === '' ? '' : `,"_meta":{${frame.metaOpening.slice(0, -1)}}`;
  const asked = `"inputRequests":${JSON.stringify(inputRequests)},"requestState":${JSON.stringify(requestState)}`;
  return resultAnswer(id, `{"resultType":"input_required",${asked}${meta}}`);
}

/** One line per member, so that foreign text cannot imitate another member. */
export function pendingBlock(
  { invocation_id, approval, status, polling_info }: ToolInvokeResponse,
  note?: string,
): string {
  const lines = [
    approval === undefined ? '[pending]' : '[pending_approval]',
    approval === undefined
      ? `message: The call was accepted and is ${status === 'running' ? 'running' : 'waiting for its turn'}; there is no result yet.`
      : `message: The call waits for ${WAITS_FOR[approval.reason]}. Nothing was run.`,
    ...(note === undefined ? [] : [`note: ${visibleLine(note, PROMPT_CHARACTERS_MAX)}`]),
    ...(approval?.question === undefined ? [] : [`question: ${visibleLine(approval.question, PROMPT_CHARACTERS_MAX)}`]),
    ...(approval?.prompt === undefined ? [] : [`asked: ${visibleLine(approval.prompt, PROMPT_CHARACTERS_MAX)}`]),
    ...(approval === undefined ? [] : [`approval_id: ${approval.approval_id}`]),
    `invocation_id: ${invocation_id}`,
    ...(approval === undefined ? [] : [`expires_at: ${approval.expires_at}`]),
    ...(polling_info === undefined ? [] : [`status_url: ${polling_info.status_url}`]),
    `suggestion: ${approval === undefined ? '' : 'Tell the user that the call waits, and do not try another way round. '}To learn what became of it, repeat the same call with the same arguments later: it is not run twice.`,
  ];
  return lines.join('\n');
}
