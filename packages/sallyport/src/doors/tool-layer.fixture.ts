import { errorBody, type Failure } from '@sallyport/std/error/failure';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { Check, Errors } from 'typebox/value';
import type { ToolInvokeRequest, ToolInvokeResponse } from '../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { Caller } from '../domain/principal/principal.ts';
import { OPERATIONS, type OperationName } from '../operations/catalogue.ts';
import type { ToolLayer } from '../operations/tool-layer.ts';

/** The function of a tool of the double. */
export type RunTool = (parameters: Record<string, unknown>, caller: Caller) => unknown;

/**
 * A layer in memory for tests of doors, with made-up tokens. The holders of `agent` and `agent-…` may call tools, those
 * of `operator` and `operator-…` may do everything; tokens that end with `-elsewhere` belong to another tenant.
 */
export interface LayerDouble extends ToolLayer {
  readonly asked: { operation: OperationName; input: unknown; caller: Caller }[];
  readonly tools: Map<string, { manifest: ToolManifest; run: RunTool }>;
  /** Functions that answer operations in place of the double. */
  readonly answers: Map<OperationName, (input: Record<string, unknown>, caller: Caller) => unknown>;
  addTool(manifest: ToolManifest, run: RunTool): void;
  notifyToolsChanged(): void;
  /** Listeners that are still attached. */
  readonly listeners: Set<() => void>;
}

export function createLayerDouble(): LayerDouble {
  const asked: LayerDouble['asked'] = [];
  const tools: LayerDouble['tools'] = new Map();
  const listeners = new Set<() => void>();
  const answers: LayerDouble['answers'] = new Map(Object.entries(standardAnswers(tools)) as never);
  const ask = async (operation: OperationName, input: Record<string, unknown>, caller: Caller): Promise<unknown> => {
    asked.push({ operation, input, caller });
    checkInput(operation, input);
    checkToken(
      operation,
      caller,
      operation === 'tools.invoke' ? (input as ToolInvokeRequest).capability_token : undefined,
    );
    const answer = answers.get(operation);
    if (answer === undefined) throw new ToolLayerError('E3901', `The double has no answer for ${operation}.`);
    return answer(input, caller);
  };
  return {
    asked,
    tools,
    answers,
    listeners,
    ask: ask as ToolLayer['ask'],
    addTool: (manifest, run) => tools.set(manifest.tool_id, { manifest, run }),
    notifyToolsChanged: () => {
      for (const listener of listeners) setImmediate(listener);
    },
    onToolsChanged: (listener) => {
      listeners.add(listener);
      return { [Symbol.dispose]: () => listeners.delete(listener) };
    },
  };
}

/** A manifest with defaults for all members that a test does not set. */
export function manifestOf(toolId: string, more: Partial<ToolManifest> = {}): ToolManifest {
  return {
    tool_id: toolId,
    tool_name: toolId,
    version: '1.0.0',
    description: `Does ${toolId}.`,
    parameters_schema: { type: 'object' },
    executor: { kind: 'native' },
    ...more,
  };
}

function checkInput(operation: OperationName, input: unknown): void {
  const { input: schema } = OPERATIONS[operation];
  if (Check(schema, input)) return;
  const faults = Errors(schema, input).map((error) => ({
    path: error.instancePath,
    code: 'E3801',
    keyword: error.keyword,
    message: error.message,
  }));
  throw new ToolLayerError('E3801', `The input of ${operation} is not well formed.`, { details: { faults } });
}

function checkToken(operation: OperationName, caller: Caller, inBody?: string): void {
  const { access } = OPERATIONS[operation];
  const token = caller.token ?? inBody;
  if (access === 'open' || (operation !== 'tools.invoke' && caller.local === true)) return;
  if (token === undefined) throw new ToolLayerError('E3212', 'The request carries no capability token.');
  if (token === 'expired') throw new ToolLayerError('E3202', 'The capability token has expired.');
  if (!/^(?:agent|operator)(?:-|$)/.test(token)) throw new ToolLayerError('E3201', 'The token is not valid.');
  if (access !== 'token' && !token.startsWith('operator')) throw new ToolLayerError('E3213', 'Operators only.');
}

type Answers = Record<string, (input: Record<string, unknown>, caller: Caller) => unknown>;

function standardAnswers(tools: LayerDouble['tools']): Answers {
  return {
    health: () => ({ status: 'ready', ready: true, version: '0.1.0', uptime_seconds: 1, parts: {} }),
    'tokens.inspect': (_input, { token }) => ({
      tenant_id: token?.endsWith('-elsewhere') === true ? 'globex' : 'acme',
      agent_did: 'did:example:a',
      roles: [token?.startsWith('operator') ? 'operator' : 'agent'],
    }),
    'tools.manifests': (input) => manifestPage(tools, input),
    'tools.get': (input) => detailOf(tools, String(input['tool_id'])),
    'tools.list': (input) => listPage(tools, input),
    // No upstream offers anything.
    'offers.list': () => ({ offers: [], total_count: 0, page: 1, page_size: 1 }),
    'tools.invoke': (input, caller) => invoke(tools, input as ToolInvokeRequest, caller),
    'tools.remove': (input) => ({ tool_id: input['tool_id'], removed: ['1.0.0'] }),
    'tools.register': (input) => {
      const manifest = input['manifest'] as ToolManifest;
      tools.set(manifest.tool_id, { manifest, run: () => 'done' });
      return { tool_id: manifest.tool_id, version: manifest.version, outcome: 'created', warnings: [] };
    },
  };
}

function manifestPage(tools: LayerDouble['tools'], input: Record<string, unknown>): object {
  const { page = 1, page_size = 200 } = input as { page?: number; page_size?: number };
  const all = [...tools.values()].map(({ manifest }) => manifest);
  const manifests = all.slice((page - 1) * page_size, page * page_size).map(withoutConfig);
  return { manifests, total_count: all.length, page, page_size };
}

/**
 * Leaves `executor.config` out. What the real layer shows of it is tested in test/e2e/tool-kinds/tool-metadata.test.ts.
 */
function withoutConfig(manifest: ToolManifest): ToolManifest {
  return { ...manifest, executor: { kind: manifest.executor.kind } };
}

function detailOf(tools: LayerDouble['tools'], toolId: string): object {
  const tool = tools.get(toolId);
  if (tool === undefined) throw new ToolLayerError('E3001', `There is no tool ${toolId}.`);
  const manifest = withoutConfig(tool.manifest);
  const registered_at = '2026-01-01T00:00:00.000Z';
  return { manifest, content_hash: 'c0', state: 'active', versions: [manifest.version], registered_at, warnings: [] };
}

function listPage(tools: LayerDouble['tools'], input: Record<string, unknown>): object {
  const { page = 1, page_size = 50 } = input as { page?: number; page_size?: number };
  const summaries = [...tools.values()].map(({ manifest }) => ({
    tool_id: manifest.tool_id,
    tool_name: manifest.tool_name,
    description: manifest.description,
    category: manifest.category ?? 'computation',
    versions: [manifest.version],
    latest_version: manifest.version,
    tags: manifest.tags ?? [],
    requires_approval: false,
    executor: manifest.executor.kind,
  }));
  return { tools: summaries, pagination: { total_count: summaries.length, page, page_size } };
}

let invocations = 0;

async function invoke(
  tools: LayerDouble['tools'],
  input: ToolInvokeRequest,
  caller: Caller,
): Promise<ToolInvokeResponse> {
  invocations += 1;
  const invocation_id = input.invocation_id ?? `call-${invocations}`;
  const tool = tools.get(input.tool_id);
  const answered = { invocation_id, tool_id: input.tool_id, execution_metadata: METADATA };
  const unhappy = (failed: Failure, status: ToolInvokeResponse['status'] = 'error'): ToolInvokeResponse => ({
    ...answered,
    status,
    error: errorBody(failed),
  });
  if (tool === undefined) return unhappy(new ToolLayerError('E3001', `There is no tool ${input.tool_id}.`).failure);
  try {
    const result = await tool.run(input.parameters ?? {}, caller);
    return { ...answered, status: 'success', tool_version: tool.manifest.version, result };
  } catch (thrown) {
    return unhappy(failureOf(thrown));
  }
}

const METADATA: ToolInvokeResponse['execution_metadata'] = {
  duration_ms: 1,
  started_at: '2026-01-01T00:00:00.000Z',
  cpu_used_millicore_seconds: 0,
  memory_peak_mb: 0,
  network_bytes_sent: 0,
  network_bytes_received: 0,
  documents_accessed: [],
  checkpoints_created: [],
  attempts: 1,
  cached: false,
};
