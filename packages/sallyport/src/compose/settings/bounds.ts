import { number } from '../../domain/settings/rows.ts';

/** Bounds of sandboxes that no manifest and no agent speaks of, and the share of the network. */
export const BOUNDS_ROWS = [
  number('agent.network_bandwidth_mbps', {
    unit: 'Mbit/s',
    minimum: 0,
    default: 100,
    sentence:
      'Most that one sandboxed tool of any agent may move to and from the network, both together; 0 sets no bound.',
  }),
];
