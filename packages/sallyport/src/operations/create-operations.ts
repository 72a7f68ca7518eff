import { type Failure, isFailure } from '@sallyport/std/error/failure';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Caller } from '../domain/principal/principal.ts';
import { accessRefusal } from './asking/access.ts';
import { askerOf, localAsker } from './asking/asker-of.ts';
import { type CheckInput, inputChecks } from './asking/check-input.ts';
import {
  OPERATIONS,
  type OperationEntry,
  type OperationInput,
  type OperationName,
  type OperationOutput,
  operationNamed,
} from './catalogue.ts';
import type { Asker } from './operation.ts';
import type { OperationParts } from './parts.ts';
import type { ToolLayer } from './tool-layer.ts';

/** Operations whose pipeline identifies the caller itself, so that a refusal is put on record. */
const IN_PIPELINE: ReadonlySet<OperationName> = new Set(['tools.invoke', 'tools.dry-run']);

/** The layer in this process: checks input and access in one place, then runs the operation. */
export function createOperations(parts: OperationParts): ToolLayer {
  const runs = runsOf(parts);
  const checkInput = inputChecks(parts.schemas);
  return {
    ask: (name, input, caller) => ask(parts, runs, checkInput, name, input, caller),
    // The registry notifies synchronously, in the middle of a registration; this listener is called afterwards.
    onToolsChanged(listener) {
      const later = (): void => void setImmediate(listener);
      const tools = parts.visible.onChanged(later);
      const endOffers = parts.upstreams.onOffersChanged(later);
      const endOwn = parts.programOffers.onOffersChanged(later);
      return {
        [Symbol.dispose]() {
          tools[Symbol.dispose]();
          endOffers();
          endOwn();
        },
      };
    },
  };
}

type RunOf<N extends OperationName> = (
  input: OperationInput<N>,
  asker: Asker,
) => OperationOutput<N> | Failure | Promise<OperationOutput<N> | Failure>;
type Runs = { readonly [N in OperationName]: RunOf<N> };
type MadeRuns = { readonly [N in OperationName]: ReturnType<(typeof OPERATIONS)[N]['run']> };

/** Binds the run of each operation to the parts of this layer. */
function runsOf(parts: OperationParts): Runs {
  return Object.fromEntries(Object.values(OPERATIONS).map((each) => [each.name, each.run(parts)])) as MadeRuns;
}

async function ask<N extends OperationName>(
  parts: OperationParts,
  runs: Runs,
  checkInput: CheckInput,
  name: N,
  input: OperationInput<N>,
  caller: Caller,
): Promise<OperationOutput<N>> {
  try {
    const entry = operationNamed(name);
    checkInput(name, input);
    const asker: Awaited<ReturnType<typeof identified>> = IN_PIPELINE.has(name)
      ? localAsker(parts, caller)
      : await identified(parts, entry, caller);
    if (isFailure(asker)) throw ToolLayerError.of(asker);
    const run: RunOf<N> = runs[name];
    const output = asker.refused ?? (await run(input, asker));
    if (!isFailure(output)) return output;
    if (output.code === 'E3213')
      await parts.refusedAsks.note({ operation: name, principal: asker.principal, caller, refused: output });
    throw ToolLayerError.of(output);
  } catch (thrown) {
    if (thrown instanceof ToolLayerError) throw thrown;
    parts.log.error('operation-failed', { operation: name, cause: thrown });
    throw ToolLayerError.of(failureOf(thrown));
  }
}

/** The asker, and why it may not ask for this. */
async function identified(
  parts: OperationParts,
  entry: OperationEntry,
  caller: Caller,
): Promise<(Asker & { readonly refused?: Failure }) | Failure> {
  if (entry.access === 'open') return localAsker(parts, caller);
  const asker = await askerOf(parts, caller);
  if (isFailure(asker) || asker.claims === undefined) return asker;
  const refused = accessRefusal(parts, entry, asker.principal);
  return { ...asker, ...(refused === undefined ? {} : { refused }) };
}
