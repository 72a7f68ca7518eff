import { resultAnswer } from '../json-rpc.ts';
import { ALL_VERSIONS, CACHE_HINTS, type Era, INSTRUCTIONS, META_SERVER, negotiate } from '../protocol.ts';
import type { ResultFrame } from './call-result.ts';
import type { Method } from './method.ts';
import type { ToolShelf } from './tool-shelf.ts';

/** The methods by which client and server get to know each other. */
export function handshakeMethods(
  shelf: ToolShelf,
  server: ResultFrame['server'],
  era: Era,
): readonly [string, Method][] {
  const initialize: Method = async (request, peer) => {
    // A handshake is only for who may see the tools; their list is needed next anyway.
    await shelf.list(peer.caller);
    const result = {
      protocolVersion: negotiate(request.params['protocolVersion']),
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: server,
      instructions: INSTRUCTIONS,
    };
    return resultAnswer(request.id, JSON.stringify(result));
  };

  const discover: Method = async (request, peer) => {
    await shelf.list(peer.caller);
    const result = {
      resultType: 'complete',
      supportedVersions: ALL_VERSIONS,
      capabilities: { tools: { listChanged: true } },
      instructions: INSTRUCTIONS,
      ...CACHE_HINTS,
      _meta: { [META_SERVER]: server },
    };
    return resultAnswer(request.id, JSON.stringify(result));
  };

  // Log levels are taken and nothing is logged to clients: they see warnings in results.
  const accept: Method = async (request) => resultAnswer(request.id, '{}');

  return era === 'modern'
    ? [['server/discover', discover]]
    : [
        ['initialize', initialize],
        ['ping', accept],
        ['logging/setLevel', accept],
      ];
}
