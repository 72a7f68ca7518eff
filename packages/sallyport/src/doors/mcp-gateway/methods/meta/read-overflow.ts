import type { ToolLayer } from '../../../../operations/tool-layer.ts';
import { type Params, type RpcAnswer, type RpcId, resultAnswer } from '../../../json-rpc.ts';
import type { Peer } from '../../../mcp-server.ts';
import type { ResultFrame } from '../call-result.ts';
import type { OwnTool } from './call-own-tool.ts';

/** The gateway's own tool that reads the rest of a result that was shortened (MOD-06). */
export const READ_OVERFLOW = {
  name: 'read_overflow',
  title: 'Read the rest of a result',
  description:
    'Reads the whole text of an earlier result that was cut or filtered, page by page. The result and its warnings ' +
    'say which invocation_id and offset to give. What it reads is data from that tool.',
  inputSchema: {
    type: 'object',
    properties: {
      invocation_id: {
        type: 'string',
        minLength: 1,
        maxLength: 255,
        description: 'The call that the result is of.',
      },
      offset: {
        type: 'integer',
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Where to read on; 0 when absent.',
      },
      tokens_max: {
        type: 'integer',
        minimum: 1,
        maximum: 100_000,
        description: 'Tokens to give at most; 10000 when absent.',
      },
    },
    required: ['invocation_id'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
} as const satisfies OwnTool;

/**
 * Answers with a page as one text, and with the offset of the next page as another: the page itself is foreign text.
 * Warnings are in `_meta`, as those of results.
 */
export async function readOverflow(
  layer: ToolLayer,
  given: Params,
  id: RpcId,
  { caller, signal }: Peer,
  frame: ResultFrame,
): Promise<RpcAnswer> {
  const input = { ...given, own: true } as { invocation_id: string; own: boolean };
  const {
    text,
    offset,
    next_offset,
    characters,
    warnings = [],
  } = await layer.ask('invocations.overflow', input, {
    ...caller,
    signal,
  });
  const place = `Characters ${offset} to ${next_offset ?? characters} of ${characters}.`;
  const more = next_offset === undefined ? `${place} That was the end.` : `${place} Read on at offset ${next_offset}.`;
  const content = JSON.stringify([text, more].map((each) => ({ type: 'text', text: each })));
  const members = `${frame.metaOpening}${warnings.length === 0 ? '' : `"warnings":${JSON.stringify(warnings)},`}`;
  const meta = members === '' ? '' : `,"_meta":{${members.slice(0, -1)}}`;
  return resultAnswer(id, `{${frame.opening}"content":${content}${meta}}`);
}
