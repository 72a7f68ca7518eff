import { boolean, list, number, oneOf, text } from '../../domain/settings/rows.ts';

/** Settings of calls and agents that `from-settings` reads, or that choose a part. */
export const CALL_ROWS = [
  list('rate.apis', {
    default: [],
    sentence:
      'Other rate limits of services: HOST[:PORT]=PER_MINUTE/BURST, or mcp:UPSTREAM=PER_MINUTE/BURST, either with /ALGORITHM added.',
  }),
  oneOf('rate.store', ['auto', 'postgres', 'memory'], {
    default: 'auto',
    sentence:
      'Where calls are counted against rate limits. memory counts in each instance by itself; postgres counts those of all instances together, for a round trip to the database; auto takes memory with the embedded database, and postgres with one of your own.',
  }),
  oneOf('calls.slot_store', ['auto', 'postgres', 'memory'], {
    default: 'auto',
    sentence:
      'Where the running calls of an agent are counted. memory counts in each instance by itself; postgres counts those of all instances together, for a round trip to the database when the slots that an instance holds do not suffice; auto takes memory with the embedded database, and postgres with one of your own.',
  }),
  text('calls.output_filters_file', {
    default: '',
    sentence:
      'TOML file with output filters, which leave lines out of results; empty is output-filters.toml in the data folder, when it is there.',
  }),
  number('calls.result_retention_days', {
    unit: 'days',
    minimum: 0,
    default: 90,
    sentence:
      'How long the result of a completed call is kept in its row, at least as long as idempotency.ttl_seconds, and which versions of documents it had; the row and its events stay. 0 keeps them for good.',
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
  number('agent.network_bandwidth_mbps', {
    unit: 'Mbit/s',
    minimum: 0,
    default: 100,
    sentence:
      'Most that one sandboxed tool of any agent may move to and from the network, both together; 0 sets no bound.',
  }),
  boolean('circuits.enabled', { default: true, sentence: 'Whether calls to services go through circuits.' }),
  oneOf('circuits.unknown_state', ['open', 'closed'], {
    default: 'open',
    sentence: 'What a circuit counts as whose state is not known: open refuses with E3402.',
  }),
  boolean('workers.enabled', {
    default: true,
    sentence: 'Whether calls may be asynchronous; they are refused with E3901 otherwise.',
  }),
  oneOf('workers.queue', ['auto', 'postgres', 'memory'], {
    default: 'auto',
    sentence:
      'Where jobs stand that an instance has no room for. memory serves one instance; auto takes it with the embedded database, and postgres (BullMQ) with one of your own.',
  }),
  text('approvals.file', {
    default: '',
    sentence:
      'TOML file that says who approves which tools, how many of them, and when others are asked; approvals.toml in the data folder when empty.',
  }),
  boolean('approvals.show_arguments', {
    default: true,
    sentence:
      'Whether notices show the arguments, without secrets and personal data; the approvals themselves always do.',
  }),
  list('notifiers.enabled', {
    default: ['log'],
    sentence: 'How people are notified of approvals: console, log, webhook, smtp.',
  }),
];
