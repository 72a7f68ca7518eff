import { errorBody } from '@sallyport/std/error/failure';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../../../domain/shape/is-object.ts';
import { errorAnswer, type Params, RPC, type RpcAnswer, type RpcRequest } from '../../../json-rpc.ts';
import type { Peer } from '../../../mcp-server.ts';
import { type ResultFrame, unhappyAnswer } from '../call-result.ts';
import { argumentFaults } from './meta-arguments.ts';
import type { OwnTool } from './meta-tools.ts';

/** Runs a tool of the gateway with valid arguments. */
export type RunOwnTool = (given: Params, request: RpcRequest, peer: Peer) => Promise<RpcAnswer>;

/** Checks the arguments of a tool of the gateway and runs it; what goes wrong is a result that the model can read. */
export async function callOwnTool(
  { name, inputSchema }: Pick<OwnTool, 'name' | 'inputSchema'>,
  run: RunOwnTool,
  request: RpcRequest,
  peer: Peer,
  frame: ResultFrame,
): Promise<RpcAnswer> {
  const { arguments: given = {} } = request.params;
  if (!isObject(given)) return errorAnswer(request.id, RPC.invalidParams, 'The member arguments must be an object.');
  try {
    const faults = argumentFaults(inputSchema, given);
    if (faults.length === 0) return await run(given, request, peer);
    throw new ToolLayerError('E3509', `The arguments do not fit ${name}.`, { details: { faults } });
  } catch (thrown) {
    // The model gave the arguments, so whatever is wrong with them is for the model.
    return unhappyAnswer(request.id, errorBody(failureOf(thrown)), undefined, { ...frame, modelNames: true });
  }
}
