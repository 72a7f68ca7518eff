import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresConnection } from '../postgres-connection.ts';

/** A second way to the same database, which the test can break. */
export interface BreakableWire extends AsyncDisposable {
  readonly connection: PostgresConnection;
  /** Breaks all connections; new ones can be made. */
  breakAll(): void;
  /** From now on nothing comes through, and no connection ends: as behind a firewall that lost its state. */
  silence(): void;
}

/** Opens a way to a database that is behind a socket. */
export async function breakableWire(to: PostgresConnection): Promise<BreakableWire> {
  if (!('socketFolder' in to)) throw new Error('the test database is behind a socket');
  const folder = await mkdtemp(join(tmpdir(), 'cut-'));
  const name = `.s.PGSQL.${to.port}`;
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ path: join(to.socketFolder, name), allowHalfOpen: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  await once(server.listen(join(folder, name)), 'listening');
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    connection: { ...to, socketFolder: folder },
    breakAll,
    silence() {
      for (const socket of sockets) socket.unpipe().resume();
    },
    async [Symbol.asyncDispose]() {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  };
}
