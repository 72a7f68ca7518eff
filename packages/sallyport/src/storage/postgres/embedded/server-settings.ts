import { SOCKET_PORT } from './socket-folder.ts';

/**
 * Connections that the server accepts: the pools of a layer and of the one that takes its place, with their queues, and
 * room for an operator.
 */
const CONNECTIONS_MAX = 80;

/** Settings of the embedded server, passed at each start so that a new version of the layer changes them. */
const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  // Only processes on this machine reach it, by its socket.
  listen_addresses: '',
  port: String(SOCKET_PORT),
  unix_socket_permissions: '0700',
  max_connections: String(CONNECTIONS_MAX),
  // Nobody connects as the superuser.
  superuser_reserved_connections: '0',
  // Small when idle: no unneeded workers.
  shared_buffers: '32MB',
  io_method: 'sync',
  max_worker_processes: '2',
  max_parallel_workers: '0',
  max_parallel_workers_per_gather: '0',
  max_logical_replication_workers: '0',
  jit: 'off',
  huge_pages: 'off',
  // In the data folder, so that nothing stays in /dev/shm when the server is killed.
  dynamic_shared_memory_type: 'mmap',
  // Data folders are on solid-state disks; and a new table is read in order of its index before it has statistics.
  random_page_cost: '1.1',
  autovacuum_naptime: '20s',
  // As durable as a server: every synchronous commit is on the disk. An asynchronous one is there at most 150 ms later.
  fsync: 'on',
  // The log is written and synced by one call instead of two: as durable, and sooner for a single commit.
  wal_sync_method: 'open_datasync',
  full_page_writes: 'on',
  // After a crash one system call syncs the whole file system, instead of one for each of a thousand files.
  ...(process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}),
  synchronous_commit: 'on',
  wal_writer_delay: '50ms',
  // It has no replica.
  wal_level: 'minimal',
  // The default follows shared_buffers and is too small for bursts: writers would wait for the disk.
  wal_buffers: '8MB',
  max_wal_senders: '0',
  max_wal_size: '256MB',
  min_wal_size: '64MB',
  checkpoint_timeout: '15min',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Statements and their parameters hold results of tools, so they are not logged.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_line_prefix: '',
};

/** Arguments of `postgres`. */
export function serverArguments(clusterFolder: string, socketFolder: string): string[] {
  // The value is a list: in quotes, a folder's name may contain commas and spaces.
  const folders = `"${socketFolder.replaceAll('"', '""')}"`;
  const settings = Object.entries({ ...SERVER_SETTINGS, unix_socket_directories: folders });
  return ['-D', clusterFolder, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
