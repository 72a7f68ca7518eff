import type { Setting } from './setting.ts';

/** Bounds of sandboxes that no manifest and no agent speaks of, and the share of the network. */
export const BOUNDS_SETTINGS = [
  {
    key: 'calls.processes_max',
    type: 'integer',
    unit: 'processes',
    minimum: 1,
    default: 64,
    sentence: 'Processes and threads of one sandboxed tool at once; Node alone has about a dozen.',
  },
  {
    key: 'calls.disk_mb',
    type: 'integer',
    unit: 'MB',
    minimum: 1,
    default: 64,
    sentence:
      'Scratch space of one sandboxed tool, and the largest file that it may write anywhere. Scratch space counts as memory of the tool.',
  },
  {
    key: 'agent.network_bandwidth_mbps',
    type: 'number',
    unit: 'Mbit/s',
    minimum: 0,
    default: 100,
    sentence:
      'Most that one sandboxed tool of any agent may move to and from the network, both together; 0 sets no bound.',
  },
] as const satisfies readonly Setting[];
