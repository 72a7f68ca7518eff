// Starts the command that follows the name of a file, and keeps in that file all that the command reads.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [, , file, command, ...args] = process.argv;
const server = spawn(command, args, { stdio: ['pipe', 'inherit', 'inherit'] });
server.on('exit', (code) => process.exit(code ?? 1));
process.stdin.on('data', (chunk) => {
  appendFileSync(file, chunk);
  server.stdin.write(chunk);
});
process.stdin.on('end', () => server.stdin.end());
