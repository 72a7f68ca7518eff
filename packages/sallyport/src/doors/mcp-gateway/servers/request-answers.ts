import { isObject } from '../../../domain/shape/is-object.ts';
import { errorAnswer, RPC, type RpcAnswer, type RpcId, resultAnswer } from '../../json-rpc.ts';
import { CACHE_HINTS } from '../../mcp-protocol.ts';
import { noSuchResource, protocolError } from '../../mcp-server.ts';
import { errorOfEra, passedMeta, type ResultFrame } from '../methods/call-result.ts';
import type { CallAnswers } from '../methods/invoke-tool.ts';
import { inputRequiredAnswer, pendingBlock } from '../methods/pending-result.ts';

/** The answers of a request of a server that is no tool call, and so has no result that reports an error. */
export function requestAnswers(frame: ResultFrame): CallAnswers {
  return {
    dryRun: (id, dryRun) =>
      errorAnswer(id, RPC.internalError, 'This was a dry run: nothing was asked.', { dry_run: dryRun }),
    asks: (id, inputRequests, requestState) => inputRequiredAnswer(id, inputRequests, requestState, frame),
    waits(id, response, note) {
      const { invocation_id, status, approval, polling_info } = response;
      const data = { invocation_id, status, approval, polling_info };
      return errorAnswer(id, RPC.internalError, pendingBlock(response, note), data);
    },
    failed: (id, error) => errorOfEra(id, error, frame.era) ?? refusedByServer(id, error) ?? protocolError(id, error),
    done(id, response) {
      const { result, warnings = [] } = response;
      const cut = warnings.find(({ code }) => code === 'result_cut');
      if (cut !== undefined || !isObject(result)) {
        return errorAnswer(id, RPC.internalError, cut?.message ?? 'The server sent no result that can be read.', {
          invocation_id: response.invocation_id,
        });
      }
      const { resultType: _type, _meta, ...members } = result;
      const modern = frame.era === 'modern' ? { resultType: 'complete' } : {};
      return resultAnswer(id, JSON.stringify({ ...modern, ...members, _meta: passedMeta(_meta, response, frame) }));
    },
  };
}

/** What is wrong with the parameters is said as the server said it. */
function refusedByServer(id: RpcId, { message, e_code, details }: Parameters<CallAnswers['failed']>[1]) {
  if (details?.['rpc_code'] !== RPC.invalidParams) return undefined;
  return errorAnswer(id, RPC.invalidParams, message, { e_code });
}

/** The answers of `resources/read`: contents have the URI under which they were asked for. */
export function readAnswers(frame: ResultFrame, asked: string, uri: string): CallAnswers {
  const answers = requestAnswers(frame);
  return {
    ...answers,
    failed(id, error, response) {
      const code = error.details?.['rpc_code'];
      const isMissing = code === RPC.resourceNotFound || code === RPC.invalidParams;
      if (!isMissing) return answers.failed(id, error, response);
      return noSuchResource(id, asked, frame.era, { e_code: error.e_code, said: error.message });
    },
    done(id, response, of): RpcAnswer | Promise<RpcAnswer> {
      const { result } = response;
      if (!isObject(result) || !Array.isArray(result['contents'])) return answers.done(id, response, of);
      const contents = result['contents'].map((each: unknown) =>
        isObject(each) && each['uri'] === uri ? { ...each, uri: asked } : each,
      );
      const { ttlMs } = result;
      const isFresh = typeof ttlMs === 'number' && Number.isInteger(ttlMs) && ttlMs >= 0;
      const { cacheScope: _scope, ttlMs: _ttl, ...members } = result;
      const hints = frame.era === 'modern' ? { ...CACHE_HINTS, ...(isFresh ? { ttlMs } : {}) } : {};
      return answers.done(id, { ...response, result: { ...members, contents, ...hints } }, of);
    },
  };
}
