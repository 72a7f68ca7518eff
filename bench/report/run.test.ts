import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Runs the benchmark with no program on its PATH, so that nothing can be installed either. */
function bench(...args: readonly string[]) {
  const env = { PATH: join(import.meta.dirname, 'none') };
  return spawnSync(process.execPath, [join(import.meta.dirname, '..', 'run.ts'), ...args], { env, encoding: 'utf8' });
}

test.each(['gateway', 'egress', 'upstream', 'sandbox'])(
  '%s says what it lacks and what to type, with no stack',
  (name) => {
    const { status, stderr, stdout } = bench(name, '--seconds', '0.1');
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`${name} could not be measured: bubblewrap is missing`);
    expect(stderr).toContain('Type: sudo apt-get update && sudo apt-get install -y bubblewrap\n');
    expect(stderr).not.toMatch(/^ +at /m);
  },
);

test('microvm names QEMU and what to type', () => {
  const { status, stderr } = bench('microvm');
  expect(status).toBe(1);
  expect(stderr).toMatch(/^microvm could not be measured: .*qemu-system-\w+ is missing\. Type: apt-get install .*\n$/);
});

test('a name that no benchmark has is answered with all of them', () => {
  const { status, stderr } = bench('speed');
  expect(status).toBe(2);
  expect(stderr).toContain('npm run bench -- NAME');
});
