import { chownSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';

/** A unix socket that takes one connection, the machine monitor's own. */
export interface AwaitedConnection {
  /** Rejects only by `close`. */
  readonly connection: Promise<Socket>;
  close(): void;
}

/**
 * Listens before the machine monitor is started, so that nobody has to look when its sockets are there.
 * @param uid who connects; the layer's own when undefined
 */
export async function acceptOnce(path: string, uid: number | undefined): Promise<AwaitedConnection> {
  const { promise: connection, resolve, reject } = Promise.withResolvers<Socket>();
  connection.catch(ignore);
  const server: Server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on('error', ignore);
    resolve(socket);
    server.close();
  });
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(path, () => listening.resolve());
  await listening.promise;
  if (uid !== undefined) chownSync(path, uid, uid);
  return {
    connection,
    close() {
      server.close();
      reject(new Error('the machine monitor did not connect'));
      void connection.then((socket) => socket.destroy(), ignore);
    },
  };
}

function ignore(): void {}
