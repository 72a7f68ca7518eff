// The outside, in a process of its own: what it costs is no part of what the gate costs. Prints its port.
import { type AddressInfo, createServer } from 'node:net';
import { KiB } from '@sallyport/std/bytes';

const BLOCK = Buffer.alloc(256 * KiB);

/** `e` is echoed, `d` begins a flood until the client hangs up, `u` is swallowed and so is all that follows. */
const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => {});
  socket.on('data', (part) => {
    const first = String.fromCharCode(part[0] ?? 0);
    if (first === 'e') socket.write(part);
    if (first === 'u') socket.removeAllListeners('data').resume();
    if (first !== 'd') return;
    const flood = (): void => {
      while (socket.writable && socket.write(BLOCK));
    };
    socket.on('drain', flood);
    flood();
  });
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
// The parent is gone: nobody is left to measure for.
process.stdin.on('end', () => process.exit()).resume();
