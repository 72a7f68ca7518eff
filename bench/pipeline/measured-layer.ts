import type { ToolInvokeResponse } from '../../packages/sallyport/api/schemas/invocation.ts';

/** A layer as the measurement sees it: something that is called. */
export interface MeasuredLayer {
  /** Calls one of the tools with arguments of its own. @throws Error unless the answer is right */
  call(toolId: string, number: number): Promise<void>;
  close(): Promise<void>;
}

/** Defaults but for the bounds that a benchmark would run into. */
export function benchSettings(dataFolder: string) {
  return {
    data_folder: dataFolder,
    'calls.per_agent_max': CALLS_AT_ONCE_MAX,
    'log.level': 'error',
  } as const;
}

const CALLS_AT_ONCE_MAX = 1_000;

/** Each call has other arguments, so that none can be answered from what another left. */
export function request(toolId: string, number: number) {
  return { tool_id: toolId, parameters: { a: number, b: 1 } } as const;
}

/** @throws Error unless the call with that number succeeded */
export function checkSum({ status, result, error }: ToolInvokeResponse, number: number): void {
  if (status === 'success' && (result as { readonly sum?: number }).sum === number + 1) return;
  throw new Error(`the call ended with ${status}: ${JSON.stringify(error ?? result)}`);
}
