import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { TSchema } from 'typebox';
import { type Shape, shapeOf } from '../../domain/shape/shape.ts';
import type { CompiledSchema, SchemaValidator } from '../../validation/schema-validator.ts';
import { OPERATIONS, type OperationName } from '../catalogue.ts';

/** @throws ToolLayerError E3801 with `details.faults` when the input does not match the operation's schema */
export type CheckInput = (name: OperationName, input: unknown) => void;

/** Faults that the message itself names. */
const NAMED_MAX = 3;

/**
 * Checks the input of operations. Each has a fast validator, made on first use; the validator that names faults takes
 * 10 to 60 ms to make, and runs only on invalid input.
 */
export function inputChecks(schemas: SchemaValidator): CheckInput {
  const fits = new Map<string, Shape>(Object.entries(OPERATIONS).map(([name, { input }]) => [name, shapeOf(input)]));
  const validators = new Map<string, CompiledSchema>();
  return (name, input) => {
    if (fits.get(name)?.(input) === true) return;
    const validator = validators.get(name) ?? compiled(schemas, OPERATIONS[name].input);
    validators.set(name, validator);
    const { faults } = validator.check(input, { coerce: false });
    if (faults.length > 0) throw new ToolLayerError('E3801', malformed(name, faults), { details: { faults } });
  };
}

function compiled(schemas: SchemaValidator, schema: TSchema): CompiledSchema {
  const made = schemas.compile({ ...schema });
  if (isFailure(made)) throw ToolLayerError.of(made);
  return made;
}

function malformed(name: string, faults: readonly { path: string; message: string }[]): string {
  const sentence = (message: string): string => message.replace(/\.$/, '');
  const shown = faults
    .slice(0, NAMED_MAX)
    .map(({ path, message }) => `${path === '' ? 'the request' : path} ${sentence(message)}`);
  const more = faults.length > shown.length ? `, and ${faults.length - shown.length} more` : '';
  return `The request for ${name} is not well formed: ${shown.join('; ')}${more}.`;
}
