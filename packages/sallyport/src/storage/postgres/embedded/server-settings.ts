import { SOCKET_PORT } from './socket-folder.ts';

/** Connections that the server takes: the layer's pool, and room for its queues and for an operator. */
const CONNECTIONS_MAX = 40;

/** Settings of the embedded server, given at each start so that a new version of the layer changes them. */
const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  // Nothing but this machine's user reaches it.
  listen_addresses: '',
  port: String(SOCKET_PORT),
  unix_socket_permissions: '0700',
  max_connections: String(CONNECTIONS_MAX),
  // Nobody connects as the superuser.
  superuser_reserved_connections: '0',
  // Small when idle: no workers that nothing needs.
  shared_buffers: '32MB',
  io_method: 'sync',
  max_worker_processes: '2',
  max_parallel_workers: '0',
  max_parallel_workers_per_gather: '0',
  max_logical_replication_workers: '0',
  jit: 'off',
  huge_pages: 'off',
  // In the data folder, so that nothing is left behind in /dev/shm when the server is killed.
  dynamic_shared_memory_type: 'mmap',
  // Folders lie on solid-state disks; and a young table is read in order of its index before it has statistics.
  random_page_cost: '1.1',
  autovacuum_naptime: '20s',
  // Durable as a server: every synchronous commit is on the disk. An asynchronous one is there at most 150 ms later.
  fsync: 'on',
  // The log is written and brought to the disk by one call instead of two: as durable, and sooner for a lonely commit.
  wal_sync_method: 'open_datasync',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  wal_writer_delay: '50ms',
  // No replica reads its log.
  wal_level: 'minimal',
  // The default follows shared_buffers and is too small for bursts: writers would wait for the disk to make room.
  wal_buffers: '8MB',
  max_wal_senders: '0',
  max_wal_size: '256MB',
  min_wal_size: '64MB',
  checkpoint_timeout: '15min',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Statements and their parameters hold results of tools: they stay out of the log.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_line_prefix: '',
};

/** Arguments of `postgres`. */
export function serverArguments(clusterFolder: string, socketFolder: string): string[] {
  // The value is a list: quoted, a folder's name may hold commas and spaces.
  const folders = `"${socketFolder.replaceAll('"', '""')}"`;
  const settings = Object.entries({ ...SERVER_SETTINGS, unix_socket_directories: folders });
  return ['-D', clusterFolder, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
