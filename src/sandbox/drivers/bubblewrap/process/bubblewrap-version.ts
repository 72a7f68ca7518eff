import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const TIMEOUT_MS = 5000;

/** Version that bubblewrap says of itself, such as 0.8.0; undefined when it says none. */
export async function bubblewrapVersion(program: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { env: {}, cwd: '/', timeout: TIMEOUT_MS });
    return /\d+(?:\.\d+)+/.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}
