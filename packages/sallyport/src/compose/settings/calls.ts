import { list, number } from '../../domain/settings/rows.ts';

/** Bounds of calls and of the agents that make them. */
export const CALLS_ROWS = [
  list('rate.apis', {
    default: [],
    sentence: 'Other bounds for services: HOST[:PORT]=PER_MINUTE/BURST, or mcp:UPSTREAM=PER_MINUTE/BURST.',
  }),
  number('calls.result_retention_days', {
    unit: 'days',
    minimum: 0,
    default: 90,
    sentence:
      'How long the result of a completed call is kept in its row, at least as long as idempotency.ttl_seconds; the row and its events stay. 0 keeps it for good.',
  }),
  list('agent.allowed_hosts', {
    default: ['*', 'localhost', '127.0.0.1', '::1'],
    sentence:
      'Hosts that tools of any agent and upstreams may reach; the token of a call narrows them further. `*` is every public host; addresses of this machine and its network have to be named, by themselves or in CIDR ranges, and are for tenants alone that may run programs.',
  }),
  list('agent.mounts', {
    default: ['.:rw'],
    sentence:
      'Paths, each with :ro or :rw, that tools of any agent may see, and upstreams with their code and folder; the token of a call narrows them further. `.` is the folder that the layer was started in; nothing where that is `/`.',
  }),
];
