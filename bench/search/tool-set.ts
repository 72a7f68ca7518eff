import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ToolVersion } from '../../packages/sallyport/src/domain/tool/tool-version.ts';

/** Tools, and requests of which it is known which tools serve them. */
export interface ToolSet {
  readonly name: string;
  readonly tools: readonly ToolVersion[];
  readonly queries: readonly SetQuery[];
}

export interface SetQuery {
  readonly query: string;
  /** What the request needs, each with the ids of the tools that do it. */
  readonly groups: readonly (readonly string[])[];
}

interface SetTool {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly schema?: Record<string, unknown>;
}

/**
 * Reads `tools.jsonl` {id, name, description, schema?} and `queries.jsonl` {query, groups} of a folder.
 * @returns undefined when the folder has no such files
 */
export function readToolSet(folder: string): ToolSet | undefined {
  const [tools, queries] = ['tools.jsonl', 'queries.jsonl'].map((file) => join(folder, file));
  if (tools === undefined || queries === undefined || !existsSync(tools) || !existsSync(queries)) return undefined;
  return {
    name: basename(folder),
    tools: linesOf<SetTool>(tools).map(versionOf),
    queries: linesOf<SetQuery>(queries),
  };
}

function linesOf<T>(path: string): T[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as T);
}

function versionOf({ id, name, description, schema = {} }: SetTool): ToolVersion {
  return {
    tenantId: 'bench',
    manifest: {
      tool_id: id,
      tool_name: name,
      version: '1.0.0',
      description,
      parameters_schema: schema,
      executor: { kind: 'native' },
    },
    contentHash: id,
    state: 'active',
    registeredAt: '2026-01-01T00:00:00.000Z',
  };
}
