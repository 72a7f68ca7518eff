import { ok } from 'node:assert/strict';
import { isAsStrong } from './choose-driver.ts';
import { closedCases, type OpenClosed } from './conformance/closed-cases.ts';
import { contractCases } from './conformance/contract-cases.ts';
import type { Dialect } from './conformance/dialect.ts';
import { endsCases } from './conformance/ends-cases.ts';
import { exchangeCases } from './conformance/exchange-cases.ts';
import { filesCases } from './conformance/files-cases.ts';
import { hostDialect } from './conformance/host-dialect.ts';
import { limitsCases } from './conformance/limits-cases.ts';
import { networkCases } from './conformance/network-cases.ts';
import { checkWith, type Open, type OpenedDriver, type Test } from './conformance/suite.ts';
import type { SandboxDriver } from './driver.port.ts';
import { HOSTILE_PROGRAMS, type HostileProgram } from './hostile-programs.ts';

export type { Dialect, OpenedDriver };
export { hostDialect };

/** Programs that must be contained in every sandbox. The host must have sh and perl in /usr. */
export function sandboxContainmentConformance(test: Test, adapter: string, open: Open): void {
  const check = checkWith(test, adapter, open);
  for (const program of HOSTILE_PROGRAMS) {
    check(`a program that ${program.name} is contained`, async ({ driver, run }) => {
      const { stdout, stderr } = await run(program.command);
      ok(isContained(program, driver, stdout), `${stdout}${stderr}`);
    });
  }
  networkCases(check);
}

/** Whether a hostile program's output shows that the program was contained. */
export function isContained(program: HostileProgram, driver: SandboxDriver, answer: string): boolean {
  if (answer === 'contained\n') return true;
  return program.ownKernelMay === true && isAsStrong(driver.isolation, 'user_kernel') && answer === 'ESCAPED\n';
}

/** Every driver with `supports.mounts` hides the private files of its layer from sandboxes. */
export function sandboxClosedConformance(test: Test, adapter: string, open: OpenClosed): void {
  closedCases(
    checkWith(test, adapter, () => open([])),
    open,
    hostDialect,
  );
}

/**
 * Conformance of every SandboxDriver; capabilities that it claims in `supports` are tested, and the refusal of those
 * that it does not claim.
 * @param dialect how the driver's programs express the actions of the suite; default: the host's own programs, which
 *   must have sh and perl in /usr
 */
export function sandboxDriverConformance(
  test: Test,
  adapter: string,
  open: Open,
  dialect: Dialect = hostDialect,
): void {
  const check = checkWith(test, adapter, open);
  contractCases(check, dialect);
  filesCases(check, dialect);
  exchangeCases(check, dialect);
  limitsCases(check, dialect);
  endsCases(check, dialect);
}
