import type { Socket } from 'node:net';

/** Ends a connection so that the other side sees a reset where its kind knows one; a unix socket just ends. */
export function hangUp(socket: Socket): void {
  // Only addresses of TCP have a family, and Node refuses to reset anything else.
  if (socket.remoteFamily === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
