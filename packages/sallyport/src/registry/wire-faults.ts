import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import { nearestName } from '@sallyport/std/text/nearest-name';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import type { Fault } from '../../api/schemas/error.ts';
import { shapeOf } from '../domain/shape/shape.ts';

/** Most faults that one check reports; a caller who fixes these asks again. */
export const FAULTS_MAX = 100;

/**
 * Validates a value against one of our own wire schemas. Empty when valid; else the faults, at most {@link FAULTS_MAX}.
 */
export type WireCheck = (value: unknown) => readonly Fault[];

/**
 * Makes the check of one wire schema. Nothing is compiled before the first use, nor the code that names faults before
 * the first fault.
 * @param code catalogue row that each fault carries
 * @param pointer JSON Pointer to the checked value within the caller's input; empty for the whole
 */
export function wireCheck(schema: TSchema, code: ErrorCode, pointer = ''): WireCheck {
  const fits = shapeOf(schema);
  let validate: ValidateFunction | undefined;
  return (value) => {
    if (fits(value)) return [];
    validate ??= compiler().compile(schema);
    if (validate(value)) return [];
    return (validate.errors ?? [])
      .filter(({ keyword }) => keyword !== 'if')
      .slice(0, FAULTS_MAX)
      .map((error) => faultOf(error, code, pointer));
  };
}

let shared: Ajv2020 | undefined;

/**
 * Our own schemas are written by TypeBox and need no strict mode. One shared instance, since each compiles its
 * meta-schema.
 */
function compiler(): Ajv2020 {
  shared ??= new Ajv2020({
    strict: false,
    allErrors: true,
    messages: true,
    // Hints are made from the schema that a value does not fit.
    verbose: true,
    validateSchema: false,
    code: { optimize: false },
  });
  return shared;
}

function faultOf(error: ErrorObject, code: ErrorCode, pointer: string): Fault {
  const place = placeOf(error);
  const hint = hintOf(error);
  return {
    path: pointer + (place === undefined ? error.instancePath : pointerTo(error.instancePath, place)),
    code,
    keyword: error.keyword,
    message: error.message ?? 'does not fit',
    ...(hint === undefined ? {} : { hint }),
  };
}

/** The missing or surplus member, so that the pointer names it and not its parent. */
function placeOf({ keyword, params }: ErrorObject): string | undefined {
  if (keyword === 'required') return String(params['missingProperty']);
  if (keyword === 'additionalProperties') return String(params['additionalProperty']);
  return undefined;
}

function hintOf({ keyword, params, parentSchema = {} }: ErrorObject): string | undefined {
  if (keyword === 'required') return 'Add this member.';
  if (keyword === 'enum') return `One of ${(params['allowedValues'] as unknown[]).join(', ')}.`;
  const { description, properties = {} } = parentSchema as { description?: string; properties?: object };
  if (keyword !== 'additionalProperties') return description;
  const near = nearestName(String(params['additionalProperty']), Object.keys(properties));
  return near === undefined ? 'Remove this member; it is not part of the contract.' : `Write ${near}, or remove it.`;
}
