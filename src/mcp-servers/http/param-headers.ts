import type { ListedMcpTool } from '../../registry/importer.port.ts';

/** Where a tool's arguments are repeated as HTTP headers (protocol 2026-07-28, streamable HTTP, `x-mcp-header`). */
export interface ParamHeader {
  readonly header: string;
  readonly path: readonly string[];
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Space to tilde, and tabs: what an HTTP field value may hold as it is. */
const PLAIN = /^[\t\x20-\x7e]+$/;
/** Properties deeper than this are not searched. */
const DEPTH_MAX = 16;

/** The headers that a tool's input schema asks for; most ask for none. */
export function paramHeadersOf({ inputSchema }: ListedMcpTool): readonly ParamHeader[] {
  const found: ParamHeader[] = [];
  const visit = (schema: unknown, path: readonly string[]): void => {
    if (typeof schema !== 'object' || schema === null || path.length > DEPTH_MAX) return;
    const { properties, 'x-mcp-header': name } = schema as Record<string, unknown>;
    if (typeof name === 'string' && path.length > 0 && TOKEN.test(name))
      found.push({ header: `Mcp-Param-${name}`, path });
    if (typeof properties !== 'object' || properties === null) return;
    for (const [key, child] of Object.entries(properties)) visit(child, [...path, key]);
  };
  visit(inputSchema, []);
  return found;
}

/** The headers for these arguments. A value that is absent, null or no text, number or boolean has none. */
export function headersFor(
  declared: readonly ParamHeader[],
  args: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { header, path } of declared) {
    let value: unknown = args;
    for (const key of path) {
      value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
    }
    const sendable = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
    if (sendable) headers[header] = encode(String(value));
  }
  return headers;
}

function encode(text: string): string {
  const plain = PLAIN.test(text) && text === text.trim() && !(text.startsWith('=?base64?') && text.endsWith('?='));
  return plain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
