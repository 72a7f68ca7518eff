import { classify, errorAnswer, RPC, type RpcAnswer } from '../../json-rpc.ts';
import type { RefusedJson } from '../../wire-json.ts';

/** The answer to a line that is refused as JSON; with the id of its request where that is known, since its client waits. */
export function refusedLine({ refusal, failure, value }: RefusedJson): RpcAnswer {
  const isUnreadable = refusal === 'syntax' || refusal === 'encoding';
  const message = classify(value);
  const id = message.kind === 'request' ? message.id : null;
  return errorAnswer(id, isUnreadable ? RPC.parseError : RPC.invalidRequest, failure.message);
}
