import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { expect, test } from 'vitest';
import { createToolLayer, type EmbeddedToolLayer, LOCAL_CALLER, type Log } from '../../packages/sallyport/src/index.ts';
import { prepareDatabase } from '../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { hostileManifest, scriptIn, UNASKED } from './sandboxes/hostile-calls.ts';

const SECRET = 'planted-4f1c-for-one-tool';
/** Reports that it runs, waits, and prints its secret. */
const KEEPER =
  ': >"$1/began"; while ! test -e "$1/enough"; do sleep 0.05; done; echo "it is <$PLANTED_KEY>"; printf %s "$PLANTED_KEY" | wc -c';
/** Looks in every place where the secret of another tool could be. */
const THIEF = 'env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"; ls -R /tmp; echo looked';

const { works } = await createBubblewrapDriver().probe();

test.skipIf(!works)(
  'SBX-05.1 SBX-05.2 SBX-05.3 EXT-01.2 EXT-01.8 a credential reaches the tool that asked, and no other tool, command line, log, event, record or file of the layer',
  async () => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'secret-of-a-tool-')));
    const [scripts, shared] = [join(home, 'scripts'), join(home, 'shared')] as const;
    for (const folder of [scripts, shared]) mkdirSync(folder);
    for (const folder of [home, scripts]) chmodSync(folder, 0o755);
    const logged: string[] = [];
    await prepareDatabase(join(home, 'data'));
    const layer = await createToolLayer({
      settings: { data_folder: join(home, 'data'), 'agent.mounts': [`${home}:rw`], 'log.level': 'debug', ...UNASKED },
      log: logInto(logged),
      environment: { SALLYPORT_SECRET_PLANTED_KEY: SECRET },
    });
    const register = (manifest: ReturnType<typeof hostileManifest>) =>
      layer.ask('tools.register', { manifest }, LOCAL_CALLER);
    const folders = [{ path: scripts, mode: 'ro' as const }];
    const keeper = hostileManifest({ id: 'keeper', folders: [...folders, { path: shared, mode: 'rw' }] });
    await register({ ...keeper, permissions: { ...keeper.permissions, credentials: ['PLANTED_KEY'] } });
    await register(hostileManifest({ id: 'thief', folders }));
    const { capability_token: token } = await layer.mintToken({ paths: ['/'], mode: 'rw', secrets: ['PLANTED_KEY'] });
    const call = (tool_id: string, parameters: Record<string, string>) =>
      layer.invoke({ tool_id, parameters }, { token });

    const keeping = call('keeper', { script: scriptIn(scripts, KEEPER), folder: shared });
    while (!existsSync(join(shared, 'began'))) await sleep(20);
    expect(commandLines().filter((line) => line.includes(SECRET))).toEqual([]);
    const thief = scriptIn(scripts, THIEF);
    const beside = await call('thief', { script: thief });
    const enough = call('thief', { script: scriptIn(scripts, `${THIEF}; true`) });
    rmSync(join(shared, 'began'));
    mkdirSync(join(shared, 'enough'));
    const [kept, after] = [await keeping, await enough];

    // The tool had the whole secret, and the secret was removed from its output.
    expect(kept).toMatchObject({
      status: 'success',
      result: { stdout: expect.stringMatching(`\\n${SECRET.length}\n$`) },
    });
    for (const { result } of [beside, after])
      expect(result).toMatchObject({ stdout: expect.stringContaining('looked') });
    const told = [kept, beside, after, ...(await recordsOf(layer, token, [kept, beside, after])), logged.join('\n')];
    expect(JSON.stringify(told)).not.toContain(SECRET);
    await layer.close();
    expect(filesWith(join(home, 'data'), SECRET)).toEqual([]);
    rmSync(home, { recursive: true });
  },
  60_000,
);

function logInto(lines: string[]): Log {
  const keep = (event: string, fields?: Record<string, unknown>): void => {
    lines.push(`${event} ${JSON.stringify(fields ?? {})}`);
  };
  return { debug: keep, info: keep, warn: keep, error: keep };
}

/** Status and events of calls, as the layer returns them. */
async function recordsOf(
  layer: EmbeddedToolLayer,
  token: string,
  calls: readonly { readonly invocation_id: string }[],
): Promise<readonly unknown[]> {
  const found = await Promise.all(
    calls.map(({ invocation_id }) =>
      Promise.all([
        layer.ask('invocations.get', { invocation_id }, { door: 'library', token }),
        layer.ask('audit.query', { invocation_id, limit: 1000 }, LOCAL_CALLER),
      ]),
    ),
  );
  for (const [, { events }] of found) expect(events.length).toBeGreaterThan(0);
  return found.flat();
}

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => readIfThere(`/proc/${pid}/cmdline`).toString('latin1'));
}

function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readIfThere(path).includes(text));
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
