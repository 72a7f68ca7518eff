import { CALL_NUMBER } from '../target.ts';

/** The newest version with sessions; every peer speaks it or answers with one of its own. */
export const PROTOCOL_VERSION = '2025-11-25';

export const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: 'sallyport-bench', version: '1.0.0' },
  },
});

export const INITIALIZED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });

/** A tools/call whose id is its number. @param params JSON of its params */
export function callMessage(number: number, params: string): string {
  const filled = params.replaceAll(CALL_NUMBER, String(number));
  return `{"jsonrpc":"2.0","id":${number},"method":"tools/call","params":${filled}}`;
}
